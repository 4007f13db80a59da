"""Filters that Spark pushes down to our data source: the same rows as without, and WHERE is sent to the server."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from pathlib import Path

import pytest
from tests.ecosystem.environments import environment, run
from tests.ecosystem.test_spark import COLUMNS, PYSPARK, ROWS
from tests.interop.jdbc import toolchain

import informix_arrow as ifx
from informix_arrow.server import Server

JOB = str(Path(__file__).with_name("spark_filter_job.py"))
REACHING = {
    "i = 0": "i = ?",
    "i <= 0 AND v LIKE 'r%'": "v LIKE ?",
    "s IN (7, 9, NULL)": "s = ?|s IN (?, ?)",
    "b >= 9223372036854775807": "b >= ?",
    "dec > 0.00": "dec > ?",
    "m = 3.5": "m = ?",
    "c = 'ab'": "c = ?",
    "v = 'réveil'": "v = ?",
    "v = '語'": "v IS NOT NULL",
    "nv IS NULL": "nv IS NULL",
    "lv IS NOT NULL": "lv IS NOT NULL",
    "lv LIKE 'xxx%'": "lv LIKE ?",
    "d < DATE'2000-01-01'": "d < ?",
    "dt >= TIMESTAMP_NTZ'2026-01-31 12:34:56'": "dt >= ?",
    "df = TIMESTAMP_NTZ'2026-01-31 12:34:56.12345'": "df = ?",
    "t = true": "t = ?",
    "i <=> 0": "i = ?",
}
"""The condition that the server receives for each filter; ``|`` separates alternatives."""
SILENT = {
    "f = 1.5": "f = ?",
    "v > 'a'": "v > ?",
    "c = 'ab   '": "c < ?",
    "v = ''": "v = ?",
    "v LIKE 'r_v%'": "v LIKE ?",
    "df > TIMESTAMP_NTZ'2026-01-31 12:34:56.123456'": "df > ?",
    "dt = TIMESTAMP_NTZ'2026-01-31 12:34:56.5'": "dt = ?",
    "NOT i = 0": "i <> ?",
    "i = 0 OR k = 1": "i = ?",
    "te = 'long é'": "te = ?",
}
"""Filters that Spark evaluates itself, each with the condition that the server must not receive."""


class Overheard:
    """A proxy to a server that records what clients send."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.said = bytearray()
        self.target = target
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self.listening.getsockname()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self.listening.accept()
            server = socket.create_connection(self.target)
            threading.Thread(target=self.relay, args=(client, server), daemon=True).start()

    def relay(self, client: socket.socket, server: socket.socket) -> None:
        with client, server:
            back = threading.Thread(target=self.pump, args=(server, client, None), daemon=True)
            back.start()
            self.pump(client, server, self.said)
            back.join()

    @staticmethod
    def pump(source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        with suppress(OSError):
            while data := source.recv(1 << 16):
                if kept is not None:
                    kept += data
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_filters_that_are_pushed_down_give_the_same_rows(tmp_path: Path) -> None:
    try:
        toolchain.program("java", "Spark needs Java 17 (Debian: apt-get install openjdk-17-jre-headless)")
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    python = str(environment("spark", PYSPARK))
    with Server() as server:
        server.create_database("shop", locale="en_US.8859-1")
        url = server.url("shop")
        with ifx.connect(url, autocommit=True) as connection:
            connection.execute(
                f"CREATE TABLE plain ({COLUMNS}, tm DATETIME HOUR TO MINUTE, te TEXT, tail INT)"
            )
            for number, row in enumerate(ROWS):
                more = (None, None) if number == 1 else ("23:59", "long é")
                marks = ", ".join("?" * (len(row) + 2))
                connection.execute(f"INSERT INTO plain VALUES ({marks}, 77)", (*row, *more))
        overheard = Overheard(server.address)
        host, port = server.address
        through = url.replace(f"{host}:{port}", "{}:{}".format(*overheard.address))
        assert through != url
        filters = [*REACHING, *SILENT]
        lines = run(python, JOB, through, *filters, env={"PYSPARK_PYTHON": python, "TZ": "UTC"}, cwd=tmp_path)
        said = overheard.said.decode("latin-1")
    reported = dict(item for line in lines.splitlines() for item in json.loads(line).items())
    assert reported["not enabled"] == [[1, 2, 3], [1]]
    for each in filters:
        alone, pushed = reported[each]
        assert alone == pushed, each
    assert reported["i = 0"][0] == [3]
    assert reported["c = 'ab'"][0] == [1]
    assert reported["in parts"] == [1, 3]
    assert reported["typed"] == [3]
    for each, condition in REACHING.items():
        assert any(
            f"SELECT * FROM plain WHERE {one}" in said or f" AND {one}" in said
            for one in condition.split("|")
        ), each
    for each, condition in SILENT.items():
        if condition not in "|".join(REACHING.values()):
            assert condition not in said, each
    assert "WHERE (" in said
    assert ") AS " in said
    assert "more < ?" in said
