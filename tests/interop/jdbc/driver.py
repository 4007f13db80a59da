"""The Python side of DriverBridge.java: one JVM for the session, with one line of JSON for each request and each
reply."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Sequence
from typing import IO, Any

from .toolchain import Java

#: Seconds that one request may take. If the server stops replying, the test must fail, and not the whole suite hang.
PATIENCE = 60.0


class JdbcError(Exception):
    """An SQLException: ``code``, ``state`` and the driver's own text."""

    def __init__(self, code: int, state: str, message: str) -> None:
        super().__init__(f"{code} ({state}) {message}")
        self.code, self.state = code, state


class Jdbc:
    """IBM's JDBC driver as an object: connect, then send requests. Values are text in both directions, NULL is None."""

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
        """Send one command and return its reply. Raises JdbcError for an SQLException."""
        if op in ("connect", "close"):
            self.connected_to = None
        print(json.dumps({"op": op, **fields}), file=self.stdin, flush=True)
        try:
            line = self.lines.get(timeout=PATIENCE)
        except queue.Empty:
            # The reply may still arrive and would be taken for the reply to the next request. The JVM cannot be used
            # again, and does not end by itself.
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
        """Call Statement.executeUpdate and return the number of rows."""
        return int(self.ask("update", sql=sql)["count"])

    def insert(
        self, sql: str, setters: Sequence[str], rows: Sequence[Sequence[str | None]], *, batch: bool = False
    ) -> list[int]:
        """Execute one PreparedStatement for all rows, row by row or as one batch. Return the update counts."""
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
        """Return the result's column descriptions and its rows. `timeout` is the setQueryTimeout of a query without
        parameters, in seconds."""
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
        """Execute one CallableStatement once for each item of `given` (number, setter, value; for a NULL, the setter is
        a name of java.sql.Types). Return the rows and the OUT parameters of `out` (number, a name of java.sql.Types,
        getter)."""
        answers = self.ask("call", sql=sql, out=out, rows=given)["answers"]
        return [(answer["rows"], answer["out"]) for answer in answers]

    def metadata(self, call: str, *arguments: str) -> list[dict[str, str | None]]:
        """Call a method of DatabaseMetaData, ``metadata("getColumns", "orders")``. Return its rows, texts without
        surrounding blanks."""
        return list(self.ask("metadata", call=call, arguments=arguments)["rows"])

    @property
    def alive(self) -> bool:
        """Return whether the JVM accepts requests."""
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
