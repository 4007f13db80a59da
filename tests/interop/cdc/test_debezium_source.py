"""`source` of `capture --format debezium-json` equals that of Debezium's connector, for the same changes of one log.

Set INFORMIX_ARROW_RECORD=1 to store Debezium's output for tests/cli/test_capture.py.
"""

from __future__ import annotations

import json
import os
import subprocess
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.interop.reference_clients import reference_client_missing

import informix_arrow as ifx
from informix_arrow.cli import main
from informix_arrow.server import Server

from ..jdbc.toolchain import Unavailable
from ..programs.toolchain import compile_programs
from .source_fields import RECORDED, TABLES, comparable, create_tables, make_changes, never_decreasing
from .test_cdc_clients import HERE, sources_of

pytestmark = [pytest.mark.reference_client, pytest.mark.program, pytest.mark.timeout(300)]

SECONDS = 120


class Recorder:
    """Debezium's embedded engine in a JVM, and the envelopes that it has printed."""

    def __init__(self, command: list[str], log: Path) -> None:
        self.log = log
        with open(log, "w", encoding="utf-8") as errors:
            self.process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=errors, text=True, encoding="utf-8"
            )
        self.envelopes: list[dict[str, Any]] = []
        self.reader = threading.Thread(target=self.read_envelopes, daemon=True)
        self.reader.start()

    def read_envelopes(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.envelopes.append(json.loads(line))

    def marks(self) -> set[int]:
        return {
            each["after"]["id"]
            for each in list(self.envelopes)
            if each["source"]["table"] == "marks" and each["op"] == "c"
        }

    def check(self, until: float) -> None:
        if self.process.poll() is not None or time.monotonic() > until:
            pytest.fail(f"Debezium gave nothing more: {self.log.read_text(encoding='utf-8')[-2000:]}")

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self.reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


def test_source_has_the_values_of_debezium(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    try:
        java = compile_programs(
            tmp_path, sources_of("debezium"), HERE / "debezium" / "pom.xml", "capture-debezium"
        )
    except Unavailable as missing:
        reference_client_missing(str(missing))
    with Server() as server:
        server.create_database("shop")
        connect = partial(ifx.connect, server.url("shop"), autocommit=True, lock_wait=60)
        with connect() as conn:
            create_tables(conn)
            conn.execute("CREATE TABLE marks (id INTEGER PRIMARY KEY)")
            with ifx.capture(server.url("shop"), TABLES, idle=0, timeout=1) as changes:
                list(changes)
                (tmp_path / "state").write_text(str(changes.token))
            host, port = server.address
            arguments = (host, str(port), "shop", server.user, server.password, str(tmp_path))
            watched = ",".join(f"shop.{server.user}.{table}" for table in (*TABLES, "marks"))
            recorder = Recorder(
                java.command("cdcclient.Recorder", *arguments, watched, "w"), tmp_path / "log"
            )
            try:
                until, number = time.monotonic() + SECONDS, 0
                while not recorder.marks():  # its snapshot has ended, and it follows the log
                    recorder.check(until)
                    number += 1
                    conn.execute("INSERT INTO marks VALUES (?)", (number,))
                    time.sleep(0.5)
                make_changes(connect)
                conn.execute("INSERT INTO marks VALUES (0)")
                while 0 not in recorder.marks():
                    recorder.check(until)
                    time.sleep(0.1)
            finally:
                recorder.close()
        capfdbinary.readouterr()
        state = ["--state", str(tmp_path / "state"), "--idle", "0"]
        options = ["--format", "debezium-json", "--topic-prefix", "w"]
        assert main(["capture", server.url("shop"), *TABLES, *state, *options]) == 0
    own = [json.loads(line) for line in capfdbinary.readouterr().out.decode().splitlines()]
    assert len({each["source"]["change_lsn"] for each in own}) == len(own), "each change has its own position"
    ours = never_decreasing(own)
    theirs = [each for each in recorder.envelopes if each["source"]["table"] in TABLES and each["op"] != "r"]
    if os.environ.get("INFORMIX_ARROW_RECORD"):
        RECORDED.write_text("".join(f"{json.dumps(each)}\n" for each in theirs), encoding="utf-8")
    assert comparable(ours) == comparable(theirs)
    exact = (
        "commit_lsn",
        "change_lsn",
        "begin_lsn",
        "txId",
        "db",
        "schema",
        "table",
        "name",
        "snapshot",
        "sequence",
    )
    for mine, other in zip(ours, theirs, strict=True):
        assert {name: mine["source"][name] for name in exact} == {
            name: other["source"][name] for name in exact
        }
        assert abs(mine["source"]["ts_ms"] - other["source"]["ts_ms"]) < 60_000
    assert len(ours) == 10
