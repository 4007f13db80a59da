"""The Python end of DriverBridge.java: one JVM for the session, one line of JSON each way for each question."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from typing import IO, Any

from .toolchain import Java

#: Seconds that one question may take. A server that falls silent must fail a test, not hang the suite.
PATIENCE = 60.0


class JdbcError(Exception):
    """An SQLException: ``code``, ``state`` and the driver's own text."""

    def __init__(self, code: int, state: str, message: str) -> None:
        super().__init__(f"{code} ({state}) {message}")
        self.code, self.state = code, state


class Jdbc:
    """IBM's JDBC driver as an object: connect, then ask. Values are text both ways, NULL is None."""

    def __init__(self, java: Java, **properties: str) -> None:
        """Start the JVM with these system properties."""
        self.connected_to: str | None = None
        self.process = subprocess.Popen(
            java.command("DriverBridge", **properties),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.stdin = self.process.stdin
        self.lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.reader = threading.Thread(target=self.pump, args=(self.process.stdout,), daemon=True)
        self.reader.start()

    def pump(self, stdout: IO[str]) -> None:
        for line in stdout:
            self.lines.put(line)
        self.lines.put("")

    def ask(self, op: str, **fields: object) -> dict[str, Any]:
        """Put one command and return its answer; JdbcError for an SQLException."""
        if op in ("connect", "close"):
            self.connected_to = None
        print(json.dumps({"op": op, **fields}), file=self.stdin, flush=True)
        try:
            line = self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            # The answer may still come and would be taken for the next question's: this JVM is spent, and as it waits
            # for something it would not end of itself.
            self.process.kill()
            self.stop()
            raise AssertionError(f"JDBC got no answer in {PATIENCE:.0f} s to {op} {fields}") from None
        try:
            answer: dict[str, Any] = json.loads(line)
        except ValueError:
            raise AssertionError(f"the JVM said, in place of an answer to {op} {fields}: {line!r}") from None
        if "error" in answer:
            error = answer["error"]
            raise JdbcError(error["code"], error["state"], error["message"])
        assert "fault" not in answer, f"the driver failed on {op} {fields}: {answer['fault']}"
        if op == "connect":
            self.connected_to = str(fields["url"])
        return answer

    def update(self, sql: str) -> int:
        """Statement.executeUpdate: the number of rows."""
        return int(self.ask("update", sql=sql)["count"])

    def insert(
        self, sql: str, setters: Sequence[str], rows: Sequence[Sequence[str | None]], *, batch: bool = False
    ) -> list[int]:
        """One PreparedStatement for all rows, executed row by row or as one batch: the update counts."""
        return list(self.ask("insert", sql=sql, setters=setters, rows=rows, batch=batch)["counts"])

    def query(
        self,
        sql: str,
        getters: Sequence[str],
        setters: Sequence[str] = (),
        parameters: Sequence[str | None] = (),
        *,
        timeout: int = 0,
    ) -> tuple[list[dict[str, Any]], list[list[str | None]]]:
        """The result's column descriptions and its rows. `timeout`: setQueryTimeout of a query without parameters,
        seconds."""
        answer = self.ask(
            "query", sql=sql, getters=getters, setters=setters, parameters=parameters, timeout=timeout
        )
        return answer["columns"], answer["rows"]

    def call(
        self,
        sql: str,
        out: Sequence[tuple[int, str, str]],
        *given: Sequence[tuple[int, str, str | None]],
    ) -> list[tuple[list[list[str | None]], list[str | None]]]:
        """One CallableStatement, executed once for each of `given` (number, setter, value; a NULL has a name of
        java.sql.Types for its setter): the rows that it returned and the OUT parameters of `out` (number, a name of
        java.sql.Types, getter)."""
        answers = self.ask("call", sql=sql, out=out, rows=given)["answers"]
        return [(answer["rows"], answer["out"]) for answer in answers]

    def metadata(self, call: str, *arguments: str) -> list[dict[str, str | None]]:
        """A call of DatabaseMetaData, ``metadata("getColumns", "orders")``: its rows, texts stripped of blanks."""
        return list(self.ask("metadata", call=call, arguments=arguments)["rows"])

    @property
    def alive(self) -> bool:
        """Whether the JVM can be asked."""
        return self.process.poll() is None

    def stop(self) -> None:
        """End the JVM."""
        self.stdin.close()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()
