"""Runs statements on the embedded server and on the databases that they are translated for, and compares the rows."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
import math
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import informix_arrow as ifx

HERE = Path(__file__).parent
NULL = "\\N"
Row = tuple[Any, ...]
Outcome = "list[Row] | str"


def lines(name: str) -> list[str]:
    """Return the statements of a file, one per line."""
    return [line.strip().rstrip(";") for line in (HERE / name).read_text().splitlines() if line.strip()]


def informix_rows(connection: ifx.Connection, sql: str) -> list[Row] | str:
    """Return the rows of a query, with CHARs stripped of trailing blanks as in the other databases, or the error."""
    try:
        found = connection.read_arrow(sql, floating_decimals="string", char_padding="strip")
    except ifx.Error as error:
        return f"{type(error).__name__}: {error}".split("\n")[0]
    declared = [(field.metadata or {}).get(b"informix.type", b"") for field in found.schema]
    columns = [
        [
            Decimal(v) if kind.startswith((b"DECIMAL", b"MONEY")) and isinstance(v, str) else v
            for v in column.to_pylist()
        ]
        for kind, column in zip(declared, found.columns, strict=True)
    ]
    return list(zip(*columns, strict=True)) if columns else []


class DuckDB:
    """A DuckDB database in memory."""

    name = "duckdb"

    def __init__(self) -> None:
        import duckdb

        self.connection = duckdb.connect()

    def run(self, statements: list[str]) -> list[list[Row] | str]:
        found: list[list[Row] | str] = []
        for sql in statements:
            try:
                found.append(self.connection.execute(sql).fetchall())
            except Exception as error:  # noqa: BLE001 (every error of the engine is an outcome)
                found.append(f"error: {error}".split("\n")[0])
        return found


class Postgres:
    """A PostgreSQL database, used through psql, whose output has the values as texts."""

    name = "postgres"

    def __init__(self, url: str) -> None:
        self.url = url
        self.program = shutil.which("psql")
        if self.program is None:
            pytest.skip("psql is not installed: apt-get install postgresql-client")

    def run(self, statements: list[str]) -> list[list[Row] | str]:
        script = "".join(f"\\echo @@@@{i}\n{sql};\n" for i, sql in enumerate(statements))
        done = subprocess.run(
            [str(self.program), "-X", "-q", "--csv", "-t", "-P", f"null={NULL}", self.url],
            input=script,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        found: list[list[Row] | str] = []
        for part in done.stdout.split("@@@@")[1:]:
            text = part.partition("\n")[2]
            if text.startswith(("ERROR", "psql:")):
                found.append(f"error: {text}".split("\n")[0])
            else:
                found.append([tuple(row) or ("",) for row in csv.reader(io.StringIO(text))])
        assert len(found) == len(statements), done.stdout[-2000:]
        return found


def same_value(expected: Any, found: Any) -> bool:
    """Return whether a value of another database equals Informix's. A text of psql is read as the type of that
    value."""
    if expected is None or found is None or found == NULL:
        return expected is None and found in (None, NULL)
    if isinstance(expected, bool):
        return found in ("t", "true", True) if expected else found in ("f", "false", False)
    if isinstance(expected, str):
        return (
            isinstance(found, str)
            and expected.rstrip(" ") == found.rstrip(" ")
            and (expected == found or len(found) <= len(expected))
        )
    if isinstance(expected, float) or isinstance(found, float):
        return math.isclose(float(expected), float(found), rel_tol=1e-12, abs_tol=1e-12)
    if isinstance(expected, (int, Decimal)):
        return Decimal(str(expected)) == Decimal(str(found))
    if isinstance(expected, dt.datetime):
        moment = dt.datetime.fromisoformat(found) if isinstance(found, str) else found
        if isinstance(moment, dt.date) and not isinstance(moment, dt.datetime):
            moment = dt.datetime.combine(moment, dt.time())
        return bool(moment == expected)
    if isinstance(expected, dt.date):
        day = dt.datetime.fromisoformat(found) if isinstance(found, str) else found
        if isinstance(day, dt.datetime):
            return day.date() == expected and day.time() == dt.time()
        return bool(day == expected)
    if isinstance(expected, dt.time):
        return (dt.time.fromisoformat(found) if isinstance(found, str) else found) == expected
    return bool(expected == found)


def same_rows(expected: list[Row], found: list[Row], *, ordered: bool) -> bool:
    """Return whether both results have the same rows, in the same order if the query has an ORDER BY."""
    if len(expected) != len(found):
        return False
    if ordered:
        return all(same_row(a, b) for a, b in zip(expected, found, strict=True))
    left = list(found)
    for row in expected:
        match = next((i for i, other in enumerate(left) if same_row(row, other)), None)
        if match is None:
            return False
        del left[match]
    return True


def same_row(a: Row, b: Row) -> bool:
    return len(a) == len(b) and all(same_value(x, y) for x, y in zip(a, b, strict=True))


@contextmanager
def informix_tables(server: Any, name: str) -> Iterator[ifx.Connection]:
    """Create a database with the tables of tables.sql and yield a connection to it."""
    with ifx.connect(server.url("sysmaster"), autocommit=True) as connection:
        connection.execute(f"create database {name} with log")
    try:
        with ifx.connect(server.url(name), autocommit=True, env={"DBDATE": "MDY4/"}) as connection:
            for sql in lines("tables.sql"):
                connection.execute(sql)
            yield connection
    finally:
        with ifx.connect(server.url("sysmaster"), autocommit=True) as connection:
            connection.execute(f"drop database if exists {name}")


class Spark:
    """PySpark in a virtual environment, started for each run."""

    name = "spark"

    def __init__(self, python: str, folder: Path) -> None:
        self.python = python
        self.folder = folder
        self.setup: list[str] = []

    def run(self, statements: list[str]) -> list[list[Row] | str]:
        if not self.setup:  # statements before the first queries create the tables
            self.setup = statements
            return [[] for _ in statements]
        source, out = self.folder / "statements.json", self.folder / "rows.json"
        source.write_text(json.dumps([self.setup, statements]))
        job = HERE.parent / "ecosystem" / "translation_job.py"
        subprocess.run([self.python, str(job), str(source), str(out)], check=True, cwd=self.folder)
        return [
            part if isinstance(part, str) else [tuple(read_back(v) for v in row) for row in part]
            for part in json.loads(out.read_text())
        ]


def read_back(value: Any) -> Any:
    """Return the Python value of a value that translation_job.py has written."""
    if value is None:
        return None
    kind, text = value
    read = {"datetime": dt.datetime.fromisoformat, "date": dt.date.fromisoformat, "Decimal": Decimal}.get(
        kind
    )
    return text if read is None else read(text)
