"""Harlequin with our adapter: its app, controlled by keys like those of users, and its commands."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.server import Server

from .environments import environment, run

JOB = Path(__file__).with_name("harlequin_job.py")
HARLEQUIN = "harlequin==2.17.0"
#: A column of each kind, and a value.
KINDS = (
    ("SMALLINT", "-32767"), ("INT", "1"), ("BIGINT", "1152921504606846976"), ("DECIMAL(12,2)", "-0.01"),
    ("DECIMAL(32)", "1.5"), ("FLOAT", "0.1"), ("SMALLFLOAT", "0.5"), ("MONEY(10,2)", "3.25"), ("CHAR(3)", "'a'"),
    ("VARCHAR(9)", "'é'"), ("LVARCHAR(99)", "''"), ("NCHAR(4)", "'ü'"), ("DATE", "MDY(1, 31, 2026)"),
    ("DATETIME YEAR TO FRACTION(5)", "DATETIME(2026-01-31 10:00:00.12345) YEAR TO FRACTION(5)"),
    ("DATETIME HOUR TO MINUTE", "DATETIME(23:59) HOUR TO MINUTE"),
    ("INTERVAL DAY TO SECOND", "INTERVAL(-1 00:00:01) DAY TO SECOND"),
    ("INTERVAL YEAR TO MONTH", "INTERVAL(1-02) YEAR TO MONTH"), ("BOOLEAN", "'t'"), ("TEXT", "NULL"),
    ("BYTE", "NULL"), ("CLOB", "NULL"), ("BLOB", "NULL"), ("LIST(INT NOT NULL)", "LIST{1, 2}"),
    ("SET(INT NOT NULL)", "SET{3}"), ("ROW(a INT, b INT)", "ROW(1, 2)"), ("INT", "7"),
)  # fmt: skip

SIGNS = [
    "#", "#", "##", "#.#", "#.#", "#.#", "#.#", "#.#", "s", "s", "s", "s", "d", "dt", "tm", "|-|", "#", "t/f", "s",
    "b", "s", "b", "[]", "[]", "{}", "#",
]  # fmt: skip


@pytest.fixture
def url() -> Iterator[str]:
    with Server() as server:
        server.create_database("shop")
        with ifx.connect(server.url("shop"), autocommit=True) as conn:
            conn.execute(
                "CREATE TABLE orders (id INT, customer VARCHAR(20), total DECIMAL(12,2), sentinel INT)"
            )
            for row in ((1, "réveil", "12.50", 7), (2, None, None, 7), (3, "", "-0.01", 7)):
                conn.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
            conn.execute("CREATE VIEW large AS SELECT * FROM orders WHERE total > 1")
            conn.execute("CREATE TABLE many (n INT)")
            conn.write_arrow("many", pa.table({"n": range(2000)}))
            fields = ", ".join(f"c{number} {kind}" for number, (kind, _) in enumerate(KINDS))
            conn.execute(f"CREATE TABLE kinds ({fields})")
            conn.execute(f"INSERT INTO kinds VALUES ({', '.join(value for _, value in KINDS)})")
        yield server.url("shop")


@pytest.fixture(scope="module")
def python() -> Path:
    return environment("harlequin", HARLEQUIN)


def settings(home: Path) -> dict[str, str]:
    """Return environment variables that hide the user's own settings."""
    return {name: str(home) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME")}


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_its_app_shows_catalogue_and_results_cancels_and_keeps_transactions(
    url: str, python: Path, tmp_path: Path
) -> None:
    printed = run(str(python), str(JOB), url, env=settings(tmp_path), cwd=tmp_path)
    reported = dict(item for line in printed.splitlines() for item in json.loads(line).items())
    assert reported["relations"] == ["kinds t", "large v", "many t", "orders t"]
    assert reported["columns"] == ["customer s", "id #", "sentinel #", "total #.#"]
    assert reported["rows"] == [[[1, "réveil", "12.50", 7], [2, None, None, 7], [3, "", "-0.01", 7]], [["3"]]]
    assert reported["types"] == ["int32", "string", "decimal128(12, 2)", "int32"]
    assert reported["shown"] == ["réveil", None, ""]
    assert reported["none"] == [[]]
    assert reported["kinds"] == [len(KINDS), 1, 7]
    assert "SQLCODE -206" in reported["error"][0]  # and later statements were not executed:
    assert reported["within"] == [[["4"]], [["0"]]]
    assert reported["still"] == "Tx: Manual"
    assert reported["after"] == [[["4"]]]
    assert "SQLCODE -213" in reported["canceled"]
    assert reported["usable"] == [[[7]]]
    assert reported["closed"] is True


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_its_commands_find_the_adapter_and_say_what_is_wrong(url: str, python: Path, tmp_path: Path) -> None:
    def hsql(*words: str, password: str = "") -> tuple[str, str, int]:
        done = subprocess.run(
            [str(python.with_name("hsql")), "-a", "informix", *words],
            capture_output=True,
            text=True,
            env={**os.environ, **settings(tmp_path), "INFORMIX_ARROW_PASSWORD": password},
            cwd=tmp_path,
            check=False,
        )
        return done.stdout, done.stderr, done.returncode

    query = ("--format", "csv", "-c", "SELECT customer, sentinel FROM orders ORDER BY id")
    lines = ["customer,sentinel", "réveil,7", ",7", '"",7']
    assert hsql(url, *query)[0].splitlines() == lines
    bare = url.replace(":in4mix@", "@")
    assert hsql(bare, *query, password="in4mix")[0].splitlines() == lines
    assert hsql(bare, *query, password="wrong")[2] != 0
    few, warned, _ = hsql(url, "--limit", "2", *query)
    assert few.splitlines() == lines[:3]
    assert warned
    columns = hsql(url, "--format", "csv", "--catalog", "--path", "shop.kinds")[0]
    reported = {
        line["name"]: (line["type"], line["type_label"]) for line in csv.DictReader(columns.splitlines())
    }
    assert reported["c3"] == ("DECIMAL(12,2)", "#.#")
    assert [reported[f"c{number}"][1] for number in range(len(KINDS))] == SIGNS
    said = [
        hsql(*words, "-c", "SELECT 1")[1]
        for words in ((f"{url}&lok_wait=3",), (url, "another"), (f"{url}0x",))
    ]
    assert "Did you mean 'lock_wait'" in said[0]
    assert "This adapter takes a single connection string" in said[1]
    for text in said:
        assert "in4mix" not in text
        assert "Traceback" not in text
