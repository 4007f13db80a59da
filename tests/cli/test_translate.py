"""informix-arrow translate: a script for another database, and what has no translation, by line."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from .conftest import Cli

SCRIPT = """create table t (a serial, b varchar(10), c int) in dbs1 lock mode row;
select first 2 b from t where b = 'x ' and c / 2 > 1;

set isolation to dirty read;
select months_between(c, c)
from t;
"""


def test_what_can_be_translated_is_printed_and_the_rest_listed_by_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "script.sql"
    path.write_text(SCRIPT)
    ran = cli("translate", "--to", "snowflake", str(path))
    assert ran.code == 3
    assert ran.out == (
        "/* left out: IN dbs1; LOCK MODE ROW */ CREATE TABLE t (a INT IDENTITY(1, 1) NOT NULL, b VARCHAR(10), c INT);\n"
    )
    assert [line.split(": ", 2)[1] for line in ran.err.splitlines()[:-1]] == [
        f"{path}:2",
        f"{path}:4",
        f"{path}:5",
    ]
    assert "MONTHS_BETWEEN" in ran.err
    assert ran.err.splitlines()[-1] == "informix-arrow: 3 statements have no translation for snowflake."


def test_a_script_without_problems_ends_with_0(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "latin.sql"
    path.write_bytes("select a from t where c = 'ä';".encode("latin-1"))
    ran = cli("translate", "--to", "duckdb", str(path))
    assert (ran.code, ran.out, ran.err) == (0, "SELECT a FROM t WHERE RTRIM(c) = 'ä';\n", "")


def test_tables_come_from_a_file_of_their_own(cli: Cli, tmp_path: Path) -> None:
    tables, queries = tmp_path / "tables.sql", tmp_path / "queries.sql"
    tables.write_text("create table t (a float, d date); grant all on t to joe;")
    queries.write_text("select a / 2 from t where d = '01/31/2024'")
    assert cli("translate", "--to", "postgres", str(queries)).code == 3
    ran = cli("translate", "--to", "postgres", "--schema", str(tables), str(queries))
    assert (ran.code, ran.out) == (
        0,
        "SELECT a / CAST(2 AS DOUBLE PRECISION) FROM t WHERE d = CAST('2024-01-31' AS DATE);\n",
    )


def test_stdin_is_read(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'select "A b" from t')))
    assert cli("translate", "--to", "duckdb", "--delimident", "-").out == 'SELECT "a b" FROM t;\n'


def test_mistakes_end_with_one_line(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "open.sql"
    path.write_text("select 'x")
    ran = cli("translate", "--to", "duckdb", str(path))
    assert (ran.code, ran.out) == (1, "")
    assert "open.sql" in ran.err
    assert "-282" in ran.err
    ran = cli("translate", "--to", "duckdb", str(tmp_path / "none.sql"))
    assert ran.code == 1
    assert "No such file" in ran.err
