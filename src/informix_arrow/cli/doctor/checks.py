"""Checks of everything but types: login, statements, cursors, transactions, interrupts, large objects."""

from __future__ import annotations

import contextlib
import datetime as dt
import io
import threading
import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from typing import Literal

import pyarrow as pa

from ...ingest.report import WriteReport
from ...observing import Operation, add_observer, remove_observer
from ...operations.io_steps import Exchange
from ...operations.request_reply import pipeline
from ...operations.session import Session
from ...wire import messages as m
from ...wire.code_sets import can_encode
from ...wire.errors import DataError, Error, OperationalError, QueryCanceled, QueryTimeout
from ...wire.intervals import parse_interval
from ...wire.qualifiers import Qualifier
from .harness import (
    CheckSkipped,
    Harness,
    ServerDiffers,
    check,
    expect,
    expect_equal,
    first_line,
    require_logged,
    skip_unsupported,
)

_LONG = "SELECT COUNT(*) FROM syscolumns a, syscolumns b, syscolumns c, syscolumns d, syscolumns e"
_ROWS = 20_000


@check("login", "login and server version", "C2", "C37", "SQLI 4")
def _(bench: Harness) -> str:
    version = bench.value("SELECT DBINFO('version','full') FROM systables WHERE tabid = 1")
    return f"{version}; protocol version {bench.connection.server_version}"


@check("capabilities", "capabilities that client and server agree on", "C3", "SQLI 5")
def _(bench: Harness) -> str:
    framing = bench.connection._session.framing
    agreed = [each.name for each in fields(framing) if getattr(framing, each.name) is True]
    if not framing.large_fetch or not framing.four_byte_offset:
        raise ServerDiffers(f"an old layout: {', '.join(agreed)}")
    return ", ".join(agreed)


@check("refused login", "a login with the name of a server that does not exist", "C1")
def _(bench: Harness) -> str:
    try:
        bench.connect(server=bench.name()).close()
    except OperationalError as error:
        if error.sqlcode is None:
            raise
        return f"SQLCODE {error.sqlcode}"
    raise ServerDiffers("it takes any name of a server")


@check("refused database", "a database that does not exist")
def _(bench: Harness) -> str:
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(bench.connect(database=bench.name()))
        except Error as error:
            expect(error.sqlcode, -329, "SQLCODE")
            return "-329"
    raise AssertionError("it was opened")


@check("sessions", "ten sessions at once")
def _(bench: Harness) -> str:
    with contextlib.ExitStack() as stack, ThreadPoolExecutor(10) as threads:
        logins = [threads.submit(bench.connect) for _ in range(10)]
        sessions = [stack.enter_context(login.result()) for login in logins]
        for ping in [threads.submit(session.ping) for session in sessions]:
            ping.result()
        for close in [threads.submit(session.close) for session in sessions]:
            close.result()
    return "10"


@check("database", "logging mode of the database", "SQLI 5")
def _(bench: Harness) -> str:
    connection = bench.connection
    kind = "ANSI" if connection.ansi else "logged" if connection.logged else "unlogged"
    return kind


@check("code set", "the code set of the database, and text in it", "TYPES 9")
def _(bench: Harness) -> str:
    connection = bench.connection
    text = "".join(each for each in "aé€Жあ漢" if can_encode(each, connection.encoding))
    table = bench.table("v VARCHAR(60), tail CHAR(1)")
    connection.execute(f"INSERT INTO {table} VALUES (?, 'x')", (text,))
    expect_equal(
        connection.read_arrow(f"SELECT v, tail FROM {table}").to_pylist(), [{"v": text, "tail": "x"}], "text"
    )
    return f"{connection.locale or 'no locale reported'}, {connection.encoding}"


@check("another locale", "a DB_LOCALE at login that is not that of the database", "C35")
def _(bench: Harness) -> str:
    other = "en_us.8859-1" if bench.connection.encoding.startswith("utf") else "en_us.utf8"
    try:
        with bench.connect(db_locale=other) as connection:
            actual = connection.encoding
    except Error as error:
        raise ServerDiffers(f"refused: {first_line(error)}") from error
    expect(actual, bench.connection.encoding, "encoding after the warning")
    return "reported by a warning"


@check("isolation", "all isolation levels, and lock waits", alone=True)  # locks the catalogue
def _(bench: Harness) -> str:
    connection = bench.connection
    levels = ["dirty"]
    if connection.logged:
        levels += ["committed", "last committed", "cursor stability", "repeatable"]
    for level in levels:
        with connection.query("SELECT COUNT(*) FROM systables", isolation=level, lock_wait=1) as result:
            result.read_all()
    return ", ".join(levels)


@check("parameters", "described parameters, and statements without parameters", "C4", "C26")
def _(bench: Harness) -> str:
    table = bench.table("a INTEGER NOT NULL, b VARCHAR(20), tail DATE")
    day = dt.date(2026, 1, 2)
    bench.connection.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (1, None, day))
    bench.connection.execute(f"INSERT INTO {table} VALUES (2, 'b', NULL)")
    actual = bench.connection.read_arrow(f"SELECT * FROM {table} WHERE a >= ? ORDER BY a", (1,)).to_pylist()
    expect_equal(actual, [{"a": 1, "b": None, "tail": day}, {"a": 2, "b": "b", "tail": None}], "rows")
    return "a parameter of each kind"


@check("long text", "a parameter longer than 32,000 bytes", "C6")
def _(bench: Harness) -> str:
    table = bench.table("v LVARCHAR(32700), tail CHAR(1)")
    text = "x" * 32_700
    bench.connection.execute(f"INSERT INTO {table} VALUES (?, 'x')", (text,))
    expect_equal(bench.value(f"SELECT v FROM {table}") == text, True, "it is the same")
    return "32,700 bytes"


@check("wide rows", "rows of more than 32,767 bytes", "C5")
def _(bench: Harness) -> str:
    table = bench.table("v CHAR(20000), tail CHAR(1)")
    bench.connection.execute(f"INSERT INTO {table} VALUES ('y', 'x')")
    try:
        actual = bench.connection.read_arrow(f"SELECT v a, v b, tail FROM {table}").to_pylist()
    except Error as error:
        if error.sqlcode is None:
            raise
        raise ServerDiffers(f"refused: {first_line(error)}") from error
    expect_equal(actual, [{"a": "y", "b": "y", "tail": "x"}], "row")
    return "40,001 bytes"


@check("overlong text", "text that is too long for its column", "TYPES 9", alone=True)  # warnings are global
def _(bench: Harness) -> str:
    table = bench.table("v VARCHAR(3), tail CHAR(1)")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            bench.connection.execute(f"INSERT INTO {table} VALUES ('abcdef', 'x')")
        except Error as error:
            expect((error.sqlcode, bench.connection.ansi), (-1279, True), "SQLCODE, ANSI")
            return "refused with -1279"
    expect_equal(bench.value(f"SELECT v FROM {table}"), "abc", "what was stored")
    if not caught:
        raise ServerDiffers("cut without a warning")
    return "truncated, with a warning"


@check("errors", "codes and positions of common errors", "C33", "SQLI 10")
def _(bench: Harness) -> str:
    table = bench.table("a INTEGER PRIMARY KEY, b INTEGER NOT NULL")
    bench.connection.execute(f"INSERT INTO {table} VALUES (1, 1)")
    actual = []
    for sql in (
        "SELECT * FRM systables",
        f"SELECT * FROM {bench.name()}",
        f"SELECT nothing FROM {table}",
        f"INSERT INTO {table} VALUES (1, 1)",
        f"INSERT INTO {table} VALUES (2, NULL)",
    ):
        try:
            bench.connection.execute(sql)
        except Error as error:
            actual.append(error.sqlcode)
    expect(actual, [-201, -206, -217, -268, -391], "codes")
    return ", ".join(map(str, actual))


@check("guessed codes", "undocumented codes of views and CHR", "code -886", "code -313", "code -1214")
def _(bench: Harness) -> str:
    table, view = bench.table("a INTEGER, tail CHAR(1)"), bench.name()
    bench.make(f"CREATE VIEW {view} AS SELECT a FROM {table}", f"DROP VIEW {view}")
    actual = []
    for sql in (
        f"DROP TABLE {table} RESTRICT",
        f"TRUNCATE TABLE {view}",
        f"ALTER TABLE {view} ADD (b INTEGER)",
        "SELECT CHR(300) FROM systables WHERE tabid = 1",
    ):
        try:
            bench.connection.execute(sql).fetchall()
        except Error as error:
            actual.append(error.sqlcode)
        else:
            actual.append(0)
    expect(actual, [-886, -313, -313, -1214], "codes")
    return ", ".join(map(str, actual))


@check("nothing found", "an UPDATE that changes no row", "SERVER-BEHAVIOUR 5")
def _(bench: Harness) -> str:
    table = bench.table("a INTEGER")
    with bench.connection.cursor() as cursor:
        cursor.execute(f"UPDATE {table} SET a = 1")
        expect(cursor.rowcount, 0, "rows")
    return "0 rows, no error"


@check("empty text", "empty text for a DATE, a DATETIME and numbers (undocumented)")
def _(bench: Harness) -> str:
    answers = []
    for kind in ("DATE", "DATETIME YEAR TO SECOND", "INTEGER", "DECIMAL(8,2)", "FLOAT"):
        table = bench.table(f"a {kind}, last INTEGER")
        try:
            bench.connection.execute(f"INSERT INTO {table} VALUES ('', 1)")
        except Error as error:
            if error.sqlcode is None:
                raise
            answers.append(f"{kind} {error.sqlcode}")
        else:
            stored = bench.value(f"SELECT COUNT(*) FROM {table} WHERE a IS NULL AND last = 1")
            answers.append(f"{kind} {'NULL' if stored else 'a value'}")
    return ", ".join(answers)


@check("BEGIN in SPL", "a semicolon after BEGIN in a routine (undocumented)")
def _(bench: Harness) -> str:
    name = bench.name()
    try:
        bench.connection.execute(f"CREATE PROCEDURE {name}() BEGIN; END; END PROCEDURE")
    except Error as error:
        if error.sqlcode is None:
            raise
        return f"SQLCODE {error.sqlcode}"
    bench.connection.execute(f"DROP PROCEDURE {name}")
    return "allowed"


@check("changed table", "a prepared statement whose table is altered", "C33")
def _(bench: Harness) -> str:
    table = bench.table("a INTEGER")
    sql = f"INSERT INTO {table} (a) VALUES (?)"
    bench.connection.execute(sql, (1,))
    bench.connection.execute(f"ALTER TABLE {table} ADD (b INTEGER)")
    bench.connection.execute(sql, (2,))
    expect_equal(bench.value(f"SELECT COUNT(*) FROM {table}"), 2, "rows")
    return "prepared again"


@check(
    "changed loads",
    "loads with a cached INSERT, while another session alters and recreates the table",
    "C33",
)
def _(bench: Harness) -> str:
    """A server that did not notice the change would take the new rows for the old columns."""
    data = pa.table({"a": [10, 20], "b": [3, 4], "c": [50, None]})
    expected = [(str(a), str(b), c and str(c)) for a, b, c in zip(*data.to_pydict().values(), strict=True)]
    methods: list[Literal["put", "pipeline"]] = ["put", "pipeline"]
    for method in methods:
        table = bench.table("a INTEGER, b SMALLINT, c BIGINT")
        changes = (
            (),
            (f"DROP TABLE {table}", f"CREATE TABLE {table} (c SMALLINT, a BIGINT, b INTEGER)"),
            tuple(f"RENAME COLUMN {table}.{old} TO {new}" for old, new in ("az", "ca", "zc")),
            (f"ALTER TABLE {table} MODIFY (b VARCHAR(9))",),
        )
        with bench.connect() as loader:
            for statements in changes:
                bench.connection.execute(f"DELETE FROM {table}")
                for statement in statements:
                    bench.connection.execute(statement)
                for _ in range(2):  # the second one uses what is cached of the table
                    loader.write_arrow(table, data, method=method)
                actual = bench.connection.read_arrow(f"SELECT a, b, c FROM {table} ORDER BY a").to_pydict()
                rows = zip(
                    *([value if value is None else str(value) for value in actual[n]] for n in actual),
                    strict=True,
                )
                expect_equal(list(rows), [row for row in expected for _ in range(2)], f"rows of {method}")
    return "each change is detected"


@check("serial", "generated SERIAL numbers, also for NULL", "SERVER-BEHAVIOUR 4")
def _(bench: Harness) -> str:
    table = bench.table("id SERIAL, b INTEGER")
    with bench.connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} VALUES (0, 1)")
        expect(cursor.lastrowid, 1, "number of the first row")
        try:
            cursor.execute(f"INSERT INTO {table} VALUES (NULL, 2)")
        except Error as error:
            raise ServerDiffers(f"NULL is refused: {first_line(error)}") from error
    expect(bench.value(f"SELECT MAX(id) FROM {table}"), 2, "number for NULL")
    return "0 and NULL generate the next number"


@check("generated keys", "the BIGSERIAL number that an INSERT returns")
def _(bench: Harness) -> str:
    table = bench.table("id BIGSERIAL, b INTEGER")
    with bench.connection.cursor() as cursor:
        for number in (1, 2):
            cursor.execute(f"INSERT INTO {table} VALUES (0, 7)")
            expect(cursor.lastrowid, number, "number")
    return "returned in the reply"


@check("count", "the type of COUNT(*)", "TYPES 2")
def _(bench: Harness) -> str:
    actual = bench.connection.read_arrow("SELECT COUNT(*) FROM systables").schema.field(0).type
    expect(str(actual), "decimal128(15, 0)", "type")
    return str(actual)


@check("null", "an untyped NULL in a select list", "TYPES 14")
def _(bench: Harness) -> str:
    expect_equal(bench.value("SELECT NULL::INTEGER FROM systables WHERE tabid = 1"), None, "NULL::INTEGER")
    try:
        bench.connection.read_arrow("SELECT NULL FROM systables WHERE tabid = 1")
    except Error as error:
        return f"refused: {first_line(error)}"
    return "accepted"


@check("statements", "reuse of statement numbers", "SQLI 7", "SERVER-BEHAVIOUR 6")
def _(bench: Harness) -> str:
    with bench.connect(statement_cache_size=2) as connection:
        for number in range(6):
            sql = f"SELECT {number} n FROM systables WHERE tabid = 1"
            expect_equal(connection.read_arrow(sql).column(0).to_pylist(), [number], "value, two at a time")
        for first in (1000, 2000):
            numbers = range(first, first + 100)
            values, ids = connection._run(_statements_together(connection._session, numbers))
            expect_equal(len(set(ids)), 100, "statement numbers in use at a time")
            expect_equal(values, list(numbers), "value of each statement")
    return "six statements, two at a time; 100 at a time, twice"


def _statements_together(session: Session, numbers: Sequence[int]) -> Exchange[tuple[list[int], list[int]]]:
    """Prepare a query of each number, execute all, release all. Return their values and statement numbers."""
    queries = [f"SELECT {number}::INTEGER n FROM systables WHERE tabid = 1" for number in numbers]
    prepared = yield from pipeline(
        session, [(m.Prepare(0, sql), m.NDescribe(), m.WantDone()) for sql in queries]
    )
    ids = []
    for sql, reply in zip(queries, prepared, strict=True):
        reply.check(sql)
        if reply.describe is None:
            raise AssertionError("a query is prepared without a description")
        ids.append(reply.describe.statement_id)
    opening = [
        (m.Id(number), m.CursorName(session.next_cursor_name()), m.Open(), m.Id(number), m.Fetch(4096))
        for number in ids
    ]
    replies = yield from pipeline(session, opening)
    closing = [(m.Id(number), message) for number in ids for message in (m.Close(), m.Release())]
    closed = yield from pipeline(session, closing)
    for reply in (*replies, *closed):
        reply.check()
    tuples = [payload for reply in replies for payload in reply.tuples]
    return [int.from_bytes(payload[:4], "big", signed=True) for payload in tuples], ids


@check("two results", "two results read alternately", "SERVER-BEHAVIOUR 6")
def _(bench: Harness) -> str:
    rows_each = 4_000
    table = _fill_table(bench, rows_each)
    sql = f"SELECT a FROM {table}"
    with (
        bench.connect(fetch_buffer_size=4096) as connection,
        connection.query(sql, batch_bytes=4096) as one,
        connection.query(sql, batch_bytes=4096) as two,
    ):
        pairs = zip(one.batches(), two.batches(), strict=True)
        rows = sum(first.num_rows + second.num_rows for first, second in pairs)
    expect_equal(rows, 2 * rows_each, "rows")
    return "both read on one connection"


def _fill_table(bench: Harness, rows: int = _ROWS) -> str:
    table = bench.table("a INTEGER, b SMALLINT, tail DATE")
    data = pa.table({"a": pa.array(range(rows), pa.int32()), "b": pa.array([1] * rows, pa.int16())})
    bench.connection.write_arrow(table, data, method="put")
    return table


@check("put", "several rows in one PUT, all columns of fixed width", "C22")
def _(bench: Harness) -> str:
    table = _fill_table(bench)
    actual = bench.connection.read_arrow(f"SELECT COUNT(*) n, SUM(a) s, SUM(b) b FROM {table}").to_pylist()[0]
    expect_equal(
        (int(actual["n"]), int(actual["s"]), int(actual["b"])),
        (_ROWS, sum(range(_ROWS)), _ROWS),
        "rows and sums",
    )
    return f"{_ROWS:,} rows"


@check("put refused", "a refused row in the middle of an insert cursor", "SQLI 11")
def _(bench: Harness) -> str:
    table, report = _load_with_duplicate(bench, 1000, "put")
    expect_equal(bench.value(f"SELECT COUNT(*) FROM {table}"), 2000, "rows")
    return f"found by its number, {report.method}"


@check("pipeline", "thousands of pipelined executions, one of them refused", "SQLI 11")
def _(bench: Harness) -> str:
    _, report = _load_with_duplicate(bench, 3000, "pipeline")
    return f"{report.rows:,} rows"


def _load_with_duplicate(
    bench: Harness, half: int, method: Literal["put", "pipeline"]
) -> tuple[str, WriteReport]:
    """Load rows, of which the middle one has the key of an earlier row, and check that only this one is refused."""
    table = bench.table("a INTEGER PRIMARY KEY, tail CHAR(1)")
    numbers = [*range(half), 7, *range(half, 2 * half)]
    data = pa.table({"a": pa.array(numbers, pa.int32()), "tail": pa.array(["x"] * len(numbers))})
    report = bench.connection.write_arrow(table, data, method=method, on_error="collect")
    expect_equal(report.rejected.column("row").to_pylist(), [half], "refused row")
    return table, report


@check("datetime conversion", "a DATETIME parameter with another qualifier than the column", "TYPES 6", "C8")
def _(bench: Harness) -> str:
    table = bench.table("v DATETIME YEAR TO MINUTE, tail CHAR(1)")
    bench.connection.execute(f"INSERT INTO {table} VALUES (?, 'x')", (dt.datetime(2026, 1, 2, 3, 4),))
    bench.connection.execute(f"INSERT INTO {table} SELECT EXTEND(v, YEAR TO FRACTION(5)), tail FROM {table}")
    expect_equal(
        bench.value(f"SELECT COUNT(*) FROM {table} WHERE v = ?", dt.datetime(2026, 1, 2, 3, 4)), 2, "rows"
    )
    return "trailing fields are dropped"


@check("interval extremes", "an INTERVAL that does not fit in 64-bit microseconds", "C12")
def _(bench: Harness) -> str:
    table = bench.table("v INTERVAL DAY(9) TO FRACTION(5), tail CHAR(1)")
    text = "999999999 23:59:59.99999"
    value = parse_interval(text, Qualifier.parse("DAY(9) TO FRACTION(5)", interval=True))
    bench.connection.execute(f"INSERT INTO {table} VALUES (?, 'x')", (value,))
    actual = (
        bench.connection.read_arrow(f"SELECT v FROM {table}", intervals="month_day_nano").column(0)[0].as_py()
    )
    expect_equal(actual.days, 999_999_999, "days")
    with contextlib.suppress(DataError):
        bench.connection.read_arrow(f"SELECT v FROM {table}")
        raise AssertionError("it was read as a duration")
    return "read as month_day_nano, refused as a duration"


@check("distinct", "a DISTINCT type, read as its source type", "C24")
def _(bench: Harness) -> str:
    name = bench.name()
    bench.make(f"CREATE DISTINCT TYPE {name} AS INTEGER", f"DROP TYPE {name} RESTRICT")
    table = bench.table(f"v {name}, tail CHAR(1)")
    bench.connection.execute(f"INSERT INTO {table} VALUES (7, 'x')")
    expect_equal(
        bench.connection.read_arrow(f"SELECT v, tail FROM {table}").to_pylist(),
        [{"v": 7, "tail": "x"}],
        "row",
    )
    return "int32"


@check("json", "JSON and BSON", "TYPES 2")
def _(bench: Harness) -> str:
    try:
        table = bench.table("v JSON, b BSON, tail CHAR(1)")
    except Error as error:
        raise CheckSkipped(first_line(error)) from error
    document = bytes.fromhex("0c0000001061000100000000")
    values = ('{"a":1}', document)
    bench.connection.execute(f"INSERT INTO {table} VALUES (?, ?, 'x')", values)
    row = bench.connection.read_arrow(f"SELECT v, b, tail FROM {table}").to_pylist()[0]
    expect(str(row["v"]).replace(" ", ""), '{"a":1}', "JSON as text")
    expect_equal((row["b"], row["tail"]), (document, "x"), "BSON as the bytes of the document")
    return "JSON is text, BSON is the document"


def _answer(bench: Harness, sql: str) -> str:
    """Return the value that a query of one row gives, or the server's error."""
    try:
        return repr(bench.connection.read_arrow(sql).column(0)[0].as_py())
    except Error as error:
        return f"{error.sqlcode}"


@check("bson", "casts, functions and limits of JSON and BSON", "TYPES 2")
def _(bench: Harness) -> str:
    try:
        table = bench.table("v JSON, b BSON")
    except Error as error:
        raise CheckSkipped(first_line(error)) from error
    bench.connection.execute(
        f"INSERT INTO {table} VALUES ('[1]', '{{n:{{x:7}},s:\"x\",d:ISODate(\"2020-01-02T03:04:05Z\")}}'::JSON)"
    )
    questions = {
        "document": "b::JSON::LVARCHAR",
        "x": "BSON_VALUE_INT(b, 'n.x')",
        "no number": "BSON_VALUE_INT(b, 's')",
        "missing": "BSON_VALUE_INT(b, 'y')",
        "get": "BSON_GET(b, 'n.x')::JSON::LVARCHAR",
        "get missing": "BSON_GET(b, 'y')::JSON::LVARCHAR",
        "size": "BSON_SIZE(b, 's')",
        "BSON as text": "b::LVARCHAR",
        "text as BSON": "'{}'::BSON::JSON::LVARCHAR",
        "array as BSON": "v::BSON::JSON::LVARCHAR",
        "scalar": "'1'::JSON::LVARCHAR",
        "invalid": "'{'::JSON::LVARCHAR",
    }
    answers = {name: _answer(bench, f"SELECT {sql} FROM {table}") for name, sql in questions.items()}
    expect_equal((answers["x"], answers["size"]), ("7", "6"), "BSON_VALUE_INT and BSON_SIZE")
    try:
        text = f'{{"a":"{"x" * 40_000}"}}'
        bench.connection.execute(f"UPDATE {table} SET v = ?", (text,))
        answers["40 kB"] = "stored"
    except Error as error:
        answers["40 kB"] = f"{error.sqlcode}"
    return "; ".join(f"{name}: {answer}" for name, answer in answers.items())


@check("scroll", "a scroll cursor in all directions", "SQLI 13")
def _(bench: Harness) -> str:
    table = _fill_table(bench, 300)
    with bench.connection.cursor(scrollable=True) as cursor:
        cursor.execute(f"SELECT a FROM {table} ORDER BY a")
        actual = [
            cursor.fetch_last()[0],
            cursor.fetch_first()[0],
            cursor.fetch_absolute(100)[0],
            cursor.fetch_relative(5)[0],
            cursor.fetch_prior()[0],
            cursor.fetchone()[0],
        ]
    expect_equal(actual, [299, 0, 100, 105, 104, 105], "rows")
    return "first, last, absolute, relative, prior, next"


@check("hold", "a cursor WITH HOLD across COMMIT and ROLLBACK", "C29", "C30", "C32")
def _(bench: Harness) -> str:
    require_logged(bench)
    table = _fill_table(bench)
    with bench.connect(autocommit=False) as connection, connection.cursor(withhold=True) as cursor:
        cursor.execute(f"SELECT a FROM {table}")
        cursor.fetchmany(10)
        connection.execute(f"UPDATE {table} SET b = 2 WHERE a = 1")
        connection.commit()
        expect_equal(len(cursor.fetchmany(10)), 10, "rows after COMMIT")
        connection.execute(f"UPDATE {table} SET b = 3 WHERE a = 1")
        connection.rollback()
        try:
            expect_equal(len(cursor.fetchall()), _ROWS - 20, "rows after ROLLBACK")
        except Error as error:
            raise ServerDiffers(f"ROLLBACK closes it: {first_line(error)}") from error
    return "it stays open after both"


@check("current of", "WHERE CURRENT OF a named cursor", "SQLI 7")
def _(bench: Harness) -> str:
    table = _fill_table(bench, 10)
    with bench.connect(autocommit=not bench.connection.logged) as connection:
        with connection.cursor("ifxa_doctor") as cursor:
            cursor.execute(f"SELECT a, b FROM {table} FOR UPDATE")
            while (row := cursor.fetchone()) is not None:
                if row[0] == 5:
                    connection.execute(f"UPDATE {table} SET b = 9 WHERE CURRENT OF ifxa_doctor")
        if connection.logged:
            connection.commit()
    expect_equal(bench.value(f"SELECT a FROM {table} WHERE b = 9"), 5, "updated row")
    return "one row"


@check("cancel", "cancelling a running statement from another thread", "SQLI 2", "slow link")
def _(bench: Harness) -> str:
    return _run_interrupted(bench, timeout=None)


@check("timeout", "the timeout of a call", "SQLI 2")
def _(bench: Harness) -> str:
    return _run_interrupted(bench, timeout=0.5)


def _run_interrupted(bench: Harness, timeout: float | None) -> str:
    """Run a long statement until its timeout, or until another thread cancels it."""
    ended = threading.Event()

    def cancel_repeatedly() -> None:
        while not ended.wait(0.3):  # until it takes effect: it may arrive between two messages
            bench.connection.cancel()

    began = time.monotonic()
    canceller = threading.Thread(target=cancel_repeatedly, daemon=True)
    if timeout is None:
        canceller.start()
    try:
        bench.connection.read_arrow(_LONG, timeout=timeout)
    except (QueryCanceled, QueryTimeout) as error:
        if bench.connection.closed:
            raise AssertionError(f"the server did not react: {first_line(error)}") from error
        seconds = time.monotonic() - began
    else:
        raise CheckSkipped("the server was faster than the interrupt")
    finally:
        ended.set()
        if timeout is None:
            canceller.join()
    bench.connection.ping()
    return f"ended after {seconds:.1f} s, the connection is usable"


@check("cancel in rows", "closing a result before its last row", "slow link")
def _(bench: Harness) -> str:
    sql = "SELECT a.colname, b.colname n FROM syscolumns a, syscolumns b, syscolumns c, syscolumns d"
    with bench.connection.query(sql, batch_bytes=1 << 16) as result:
        next(iter(result.batches()))
    bench.connection.ping()
    return "closed after some rows, the connection is usable"


@check("small replies", "fetches of 4 KiB to 1 MiB", "slow link", "SQLI 5")
def _(bench: Harness) -> str:
    table = _fill_table(bench)
    for size in (4096, 32767, 1 << 20):
        with bench.connect(fetch_buffer_size=size) as connection:
            expect_equal(connection.read_arrow(f"SELECT * FROM {table}").num_rows, _ROWS, "rows")
    return "4 KiB, 32 KiB, 1 MiB"


@check("ahead", "a second request before the reply to the first one", "slow link", "SQLI 11")
def _(bench: Harness) -> str:
    table = bench.table("a INTEGER, tail CHAR(1)")
    with bench.connection.cursor() as cursor:
        cursor.executemany(f"INSERT INTO {table} VALUES (?, 'x')", [(number,) for number in range(5000)])
    expect_equal(bench.value(f"SELECT COUNT(*) FROM {table}"), 5000, "rows")
    return "5,000 executions"


@check(
    "login ahead", "capabilities and database in one round trip, for a server that is already known", "SQLI 5"
)
def _(bench: Harness) -> str:
    trips: list[int] = []
    here = threading.get_ident()  # other checks connect at the same time

    def look(operation: Operation) -> None:
        if operation.kind == "connect" and threading.get_ident() == here:
            trips.append(operation.round_trips)

    add_observer(look)
    try:
        for ahead in (False, True):
            with bench.connect(login_ahead=ahead) as connection:
                expect_equal(connection.closed, False, "the connection stands")
    finally:
        remove_observer(look)
    if trips[0] == trips[1] and bench.parameters.pam is None:
        raise ServerDiffers("it was made anew, step by step: login_ahead=False spares the attempt")
    return " and ".join(f"{number} round trips" for number in trips)


@check("transactions", "BEGIN, ROLLBACK, COMMIT", "C31", "SERVER-BEHAVIOUR 1")
def _(bench: Harness) -> str:
    table = bench.table("a INTEGER, tail CHAR(1)")
    if not bench.connection.logged:
        try:
            bench.connection.execute("BEGIN WORK")
        except Error as error:
            return f"none: BEGIN is refused with {error.sqlcode}"
        raise ServerDiffers("BEGIN WORK is taken without a log")
    with bench.connect(autocommit=False) as connection:
        connection.execute(f"INSERT INTO {table} VALUES (1, 'x')")
        connection.rollback()
        connection.execute(f"INSERT INTO {table} VALUES (2, 'x')")
        connection.commit()
    expect_equal(bench.connection.read_arrow(f"SELECT a FROM {table}").column(0).to_pylist(), [2], "rows")
    return "ANSI: from the first statement" if bench.connection.ansi else "explicit"


@check("savepoints", "a nested transaction that is rolled back")
def _(bench: Harness) -> str:
    require_logged(bench)
    table = bench.table("a INTEGER, tail CHAR(1)")
    with bench.connection.transaction():
        bench.connection.execute(f"INSERT INTO {table} VALUES (1, 'x')")
        with bench.connection.transaction(force_rollback=True):
            bench.connection.execute(f"INSERT INTO {table} VALUES (2, 'x')")
        bench.connection.execute(f"INSERT INTO {table} VALUES (3, 'x')")
    actual = bench.connection.read_arrow(f"SELECT a FROM {table} ORDER BY a").column(0).to_pylist()
    expect_equal(actual, [1, 3], "rows")
    return "SAVEPOINT, ROLLBACK TO"


@check("another database", "DATABASE as a statement", "SQLI 5")
def _(bench: Harness) -> str:
    with bench.connect() as connection:
        connection.execute("DATABASE sysmaster")
        expect(connection.database, "sysmaster", "the open database")
        connection.execute(f"DATABASE {bench.connection.database}")
        connection.ping()
    return "switched and switched back"


@check("routines", "a user-defined function that returns rows")
def _(bench: Harness) -> str:
    name = bench.name()
    bench.make(
        f"CREATE FUNCTION {name}(n INT) RETURNING INT; DEFINE i INT; FOR i = 1 TO n RETURN i WITH RESUME; END FOR; "
        "END FUNCTION",
        f"DROP FUNCTION {name}(INT)",
    )
    actual = bench.connection.read_arrow(f"EXECUTE FUNCTION {name}(?)", (3,)).column(0).to_pylist()
    expect_equal(actual, [1, 2, 3], "rows")
    return "three rows"


@check("smart objects", "a BLOB as a file, read in pieces (fast path)", "C14", "C18", "SQLI 16")
def _(bench: Harness) -> str:
    table = bench.table("v BLOB, tail CHAR(1)")
    data = bytes(range(256)) * 400
    with skip_unsupported():
        bench.connection.execute(f"INSERT INTO {table} VALUES (?, 'x')", (io.BytesIO(data),))
    with bench.connection.cursor() as cursor:
        cursor.lobs = "lazy"
        row = cursor.execute(f"SELECT v, tail FROM {table}").fetchone()
        with row[0] as file:
            file.seek(1000)
            expect_equal(file.read(500), data[1000:1500], "a piece")
            file.seek(0, 2)
            expect(file.tell(), len(data), "size")
    return "opened, positioned, read"


@check("long objects", "a TEXT whose length the server sends at its end", "SQLI 14")
def _(bench: Harness) -> str:
    table = bench.table("v TEXT, tail CHAR(1)")
    text = "0123456789" * 20_000
    bench.connection.execute(f"INSERT INTO {table} VALUES (?, 'x')", (io.BytesIO(text.encode()),))
    expect_equal(bench.value(f"SELECT v FROM {table}") == text, True, "it is the same")
    return f"{len(text):,} bytes"


@check(
    "objects ahead",
    "40 BLOBs and CLOBs created, opened and read, pipelined and one at a time",
    "SQLI 15",
)
def _(bench: Harness) -> str:
    return _objects_ahead(bench, "BLOB", "CLOB", ["rows", "pipeline"])


@check(
    "simple objects ahead",
    "40 BYTEs and TEXTs fetched, pipelined and one at a time",
    "SQLI 14",
)
def _(bench: Harness) -> str:
    return _objects_ahead(bench, "BYTE", "TEXT", ["pipeline", "pipeline"])


def _objects_ahead(bench: Harness, binary: str, text: str, methods: list[str]) -> str:
    """Write and read 40 rows ahead of the answers, and the first few of them one step at a time."""
    few = 4
    contents = [bytes([number]) * (number * 37) if number % 7 else None for number in range(40)]
    texts = [f"{number} " * number if number % 5 else None for number in range(40)]
    data = pa.table({"k": pa.array(range(40), pa.int32()), "v": contents, "t": texts, "tail": ["x"] * 40})
    by_steps, ahead = [bench.table(f"k INTEGER, v {binary}, t {text}, tail CHAR(1)") for _ in range(2)]
    ways = []
    with bench.connect(lob_window_bytes=0) as slow, bench.connect(lob_window_bytes=4 << 20) as fast:
        for connection, table, rows in ((slow, by_steps, data.slice(0, few)), (fast, ahead, data)):
            with skip_unsupported():
                ways.append(connection.write_arrow(table, rows).method)
        for connection, how, table, rows in (
            (slow, "0 bytes", by_steps, few),
            (slow, "0 bytes", ahead, few),
            (fast, "4 MiB", by_steps, few),
            (fast, "4 MiB", ahead, 40),
        ):
            actual = connection.read_arrow(f"SELECT * FROM {table} WHERE k < {rows} ORDER BY k")
            expect_equal(
                actual.to_pylist() == data.slice(0, rows).to_pylist(),
                True,
                f"they are the same with {how} ahead",
            )
    if ways != methods:
        raise ServerDiffers(f"they are not made ahead: {ways[-1]}")
    return f"{len(contents)} rows"


@check("client files", "FILETOBLOB, which requests a file from the client", "C20", "SQLI 15")
def _(bench: Harness) -> str:
    table = bench.table("v BLOB, tail CHAR(1)")
    with bench.connection.client_files({"ifxa": b"abc"}):
        try:
            bench.connection.execute(f"INSERT INTO {table} VALUES (FILETOBLOB('ifxa', 'client'), 'x')")
        except Error as error:
            if error.sqlcode is None:
                raise
            raise CheckSkipped(first_line(error)) from error
    expect_equal(bench.value(f"SELECT v FROM {table}"), b"abc", "contents")
    return "requested and sent"


@check("opaque", "opaque types in the system catalog")
def _(bench: Harness) -> str:
    kinds = bench.value("SELECT COUNT(*) FROM sysxtdtypes")
    return f"{kinds} extended types"


@check("catalogue", "tables and columns in the system catalog")
def _(bench: Harness) -> str:
    table = bench.table("id INTEGER PRIMARY KEY, v DECIMAL(8,2), tail DATETIME YEAR TO FRACTION(3)")
    actual = bench.connection.columns(table).column("data_type").to_pylist()
    expect_equal(actual, ["INTEGER", "DECIMAL(8,2)", "DATETIME YEAR TO FRACTION(3)"], "declarations")
    expect_equal(bench.connection.primary_key(table).column("column_name").to_pylist(), ["id"], "primary key")
    return "declarations and keys"
