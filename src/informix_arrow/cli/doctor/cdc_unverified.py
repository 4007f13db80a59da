"""Checks of undocumented points of change capture: the list of docs/protocol/CDC.md, section 8, point by point."""

from __future__ import annotations

import contextlib
import time
from dataclasses import replace

from ...cdc.capture import capture, capture_off
from ...wire import changes as wire
from ...wire.code_sets import can_encode
from ...wire.errors import DatabaseError, Error
from .cdc_checks import open_capture
from .harness import (
    CheckSkipped,
    Harness,
    ServerDiffers,
    check,
    expect,
    expect_equal,
    first_line,
    is_unsupported,
    require_logged,
)
from .raw_capture import MISSING, RawCapture, Record, raw_capture

_NO_COLUMN = -83707
_KNOWN_CODES = {0, *range(-83715, -83700), *range(-83726, -83719), -83790}
_PART = 30  # bytes: more than a TIMEOUT has, fewer than a BEGINTX
_LONGEST = 32_739  # bytes of an LVARCHAR


def _numbers(records: list[Record]) -> list[int]:
    return [record.number for record in records]


@check(
    "capture limits",
    "records of a read, reopened sessions, session numbers",
    "CDC 8.4",
    "CDC 8.8",
    "CDC 8.20",
)
def _(bench: Harness) -> str:
    with raw_capture(bench) as raw:
        low, high = 100, 1000
        session = raw.open(max_records=low)
        expect_equal(session > 0, True, "cdc_opensess with max_recs 100")
        other = RawCapture(bench)
        try:
            reopened = other.open(reopen=session)
            other.end()
        finally:
            other.connection.close()
        raw.end()
        while high - low > 1:
            middle = (low + high) // 2
            if raw.open(max_records=middle) > 0:
                low = middle
            else:
                high = middle
            raw.end()
    expect(
        0 < session & 0xFFFF < 0x8000, True, f"the low half of the session {session:#010x} is a descriptor"
    )
    summary = f"at most {low} records, session {session:#010x}, opened again: {reopened}"
    expect((low, reopened), (256, -83709), f"limit and reopening ({summary})")
    return summary


@check(
    "capture catalogue",
    "error numbers, texts and packet schemes of syscdcv1",
    "CDC 8.9",
    "CDC 8.10",
    "CDC 8.11",
)
def _(bench: Harness) -> str:
    with raw_capture(bench) as raw:
        conn = raw.connection
        schemes = conn.query("SELECT * FROM syscdcpacketschemes").schema.names
        codes = conn.execute("SELECT errcode, errname FROM syscdcerrcodes ORDER BY 1 DESC").fetchall()
        texts = []
        for argument in ("'CDC_E_NOTAB'", "-83705"):
            try:
                ((text,),) = conn.execute(f"EXECUTE FUNCTION informix.cdc_errortext({argument})").fetchall()
                texts.append(bool(text and str(text).strip()))
            except DatabaseError as error:
                if is_unsupported(error):
                    raise CheckSkipped(first_line(error)) from error
                texts.append(False)
    new = [f"{code} {str(name).strip()}" for code, name in codes if code not in _KNOWN_CODES]
    expect(schemes, ["schemenum", "schemename", "schemedesc"], "columns of syscdcpacketschemes")
    expect(new, [], "unknown error numbers")
    expect(texts, [True, True], "cdc_errortext of a name, of a number")
    return f"{len(codes)} error numbers, all known; cdc_errortext takes names and numbers"


@check(
    "capture reads",
    "a read that does not wait, truncated records, flags of changes",
    "CDC 8.5",
    "CDC 8.6",
    "CDC 8.7",
    "CDC 8.17",
    alone=True,  # transactions of others may come with its own
)
def _(bench: Harness) -> str:
    table = bench.table("id INTEGER, name LVARCHAR(2000), tail SMALLINT")
    with raw_capture(bench) as raw:
        raw.begin(table, timeout=0)
        first = raw.records()
        began = time.monotonic()
        first = first if wire.TIMEOUT in _numbers(first) else raw.records()
        took = (time.monotonic() - began) * 1e3
        with bench.connect(autocommit=False) as conn:
            conn.cursor().executemany(
                f"INSERT INTO {table} VALUES (?, ?, 7)",
                [(n, "x" * (100 + n * 37 % 1900)) for n in range(150)],
            )
            conn.execute(f"UPDATE {table} SET tail = 8 WHERE id < 5")
            conn.execute(f"DELETE FROM {table} WHERE id < 5")
            conn.commit()
        cut, records = False, list[Record]()
        until = time.monotonic() + 30
        while wire.COMMIT not in _numbers(records) and time.monotonic() < until:
            records += raw.records()
            cut = cut or raw.cut
        changes = [record for record in records if record.number in wire.ROWS]
        expect_equal(len(changes), 165, "changed rows")
        flags = {int.from_bytes(record.head[16:20], "big") for record in changes}
        bench.connection.execute(f"INSERT INTO {table} VALUES (1000, 'y', 7)")
        part, until = b"", time.monotonic() + 30
        while len(part) < _PART and time.monotonic() < until:
            part = raw.read(_PART)
        skipped = raw.call("recboundary", raw.session)
        rest = raw.transaction()
    expect(_numbers(first)[-1:], [wire.TIMEOUT], "a read that does not wait gives")
    expect(cut, False, "a reply that has room ends within a record")
    expect(flags, {0}, "flags of changes")
    expect(
        (skipped, _numbers(rest)[:1]),
        (1, [wire.INSERT]),
        "cdc_recboundary within a BEGINTX, and what comes next",
    )
    return f"{took:.0f} ms without waiting; records end whole, flags are 0, and a truncated record is skipped"


@check(
    "capture empty",
    "transactions without captured changes, and statements that fail",
    "CDC 8.12",
    "CDC 8.15",
    alone=True,  # transactions of others may come with its own
)
def _(bench: Harness) -> str:
    table = bench.table("id INTEGER PRIMARY KEY, name VARCHAR(20), tail SMALLINT")
    logged, plain = (bench.table("id INTEGER, tail SMALLINT") for _ in range(2))
    bench.connection.execute(f"INSERT INTO {table} VALUES (9, 'there', 7)")
    with raw_capture(bench) as raw:
        raw.begin(table)
        raw.log(logged)
        with bench.connect(autocommit=False) as conn:
            for other in (plain, logged):
                conn.execute(f"INSERT INTO {other} VALUES (1, 7)")
                conn.commit()
            conn.execute(f"INSERT INTO {table} VALUES (1, 'kept', 7)")
            conn.execute(f"INSERT INTO {table} VALUES (2, 'kept', 7)")
            with contextlib.suppress(Error):
                conn.execute(f"UPDATE {table} SET id = 9 WHERE id < 3")
            conn.execute(f"INSERT INTO {table} VALUES (3, 'kept', 7)")
            conn.commit()
        records = raw.transaction()
    numbers = _numbers(records)
    start = numbers.index(wire.INSERT) - 1
    empty = numbers[:start].count(wire.BEGIN)
    failed = numbers[start + 3 : -2]
    expect(empty, 1, "empty transactions, of one whose table is not logged and one whose is")
    expect(failed, [], "records of a statement that has failed")
    return (
        "begin and commit records for a table that is logged and not captured, none for others and for failed "
        "statements"
    )


_TYPES = (
    "TEXT",
    "BYTE",
    "BLOB",
    "CLOB",
    "SET(INTEGER NOT NULL)",
    "LIST(INTEGER NOT NULL)",
    "ROW(a INTEGER)",
    "JSON",
)


@check(
    "capture types",
    "types whose values are not in the log, and the errors for them",
    "CDC 8.16",
    "CDC 8.24",
    "CDC 8.25",
    "CDC 8.32",
)
def _(bench: Harness) -> str:
    distinct = bench.name()
    with raw_capture(bench) as raw:
        expect_equal(_answer_to(bench, raw, "SMALLINT"), "0: NULL is 8000", "a SMALLINT")
        replies = {name: _answer_to(bench, raw, name) for name in _TYPES}
        with contextlib.suppress(CheckSkipped):
            bench.make(f"CREATE DISTINCT TYPE {distinct} AS INTEGER", f"DROP TYPE {distinct} RESTRICT")
            replies["DISTINCT"] = _answer_to(bench, raw, distinct)
    summary = ", ".join(f"{name} {answer}" for name, answer in replies.items())
    expect(
        set(replies.values()) - {str(_NO_COLUMN), "not available"},
        set(),
        f"answers of cdc_startcapture ({summary})",
    )
    return summary


def _answer_to(bench: Harness, raw: RawCapture, declared: str) -> str:
    """Return the reply of `cdc_startcapture` to a column of a type, and the form of a NULL in a row image if it is
    accepted, which ends the session.
    """
    try:
        table = bench.table(f"v {declared}, id INTEGER")
    except (CheckSkipped, DatabaseError):
        return "not available"
    if not raw.session:
        raw.open()
    raw.log(table)
    reply = raw.start(table, "v")
    if reply:
        return str(reply)
    try:
        raw.activate()
        bench.connection.execute(f"INSERT INTO {table} (id) VALUES (1)")
        (image,) = [record.payload for record in raw.transaction() if record.number in wire.ROWS]
        return f"0: NULL is {image.hex()}"
    finally:
        raw.end()


@check("capture names", "columns with quoted names and non-ASCII names", "CDC 8.22", "CDC 8.23")
def _(bench: Harness) -> str:
    with bench.connect(env={**bench.parameters.env, "DELIMIDENT": "y"}) as conn:
        columns = {"quotes": '"two words"'}
        if can_encode("\u00fc", conn.encoding):
            columns["letters"] = "\u00fcber"
        summary = []
        for what, column in columns.items():
            name = bench.name()
            try:
                conn.execute(f"CREATE TABLE {name} (id INTEGER, {column} INTEGER, tail SMALLINT)")
            except DatabaseError as error:
                summary.append(f"{what}: no such table ({error.sqlcode})")
                continue
            try:
                summary.append(f"{what}: {_captured_by_name(bench, name)}")
            finally:
                with contextlib.suppress(Error):
                    capture_off(bench.connection, [name])
                conn.execute(f"DROP TABLE {name}")
    expect({text.partition(": ")[2] for text in summary}, {"captured"}, "; ".join(summary))
    return "; ".join(summary)


def _captured_by_name(bench: Harness, table: str) -> str:
    settings = replace(bench.parameters, env={**bench.parameters.env, "DELIMIDENT": "y"})
    try:
        with bench.connect(env=settings.env) as conn, capture(conn, [table], timeout=1, idle=30) as changes:
            bench.connection.execute(f"INSERT INTO {table} VALUES (1, 2, 3)")
            transaction = next(iter(changes))
            (row,) = transaction.batches[0].data.to_pylist()
            expect_equal(list(row.values())[2:5], [1, 2, 3], "a row")
    except DatabaseError as error:
        if is_unsupported(error) or error.sqlcode in MISSING:
            raise CheckSkipped(first_line(error)) from error
        return f"{type(error).__name__} {error.sqlcode}"
    return "captured"


@check("capture long text", "an LVARCHAR of maximum length", "CDC 8.26")
def _(bench: Harness) -> str:
    require_logged(bench)
    table = bench.table(f"id INTEGER, note LVARCHAR({_LONGEST}), tail SMALLINT")
    with open_capture(bench, table, idle=30) as changes:
        bench.connection.execute(f"INSERT INTO {table} VALUES (1, ?, 7)", ("x" * (_LONGEST - 600),))
        transaction = next(iter(changes))
        (row,) = transaction.batches[0].data.to_pylist()
    expect_equal((len(row["note"]), row["tail"]), (_LONGEST - 600, 7), "bytes")
    return f"{_LONGEST - 600} bytes of LVARCHAR({_LONGEST}) arrived"


@check(
    "capture altered",
    "a table that was altered between two captures, and one that is added to a session",
    "CDC 8.2",
    "CDC 8.3",
)
def _(bench: Harness) -> str:
    require_logged(bench)
    table, late = bench.table("id INTEGER, tail SMALLINT"), bench.table("id INTEGER, tail SMALLINT")
    with open_capture(bench, table) as changes:
        list(changes)
        token = changes.token
        bench.connection.execute(f"INSERT INTO {table} VALUES (1, 7)")
    if token is None:
        raise CheckSkipped("no token")
    bench.connection.execute(f"ALTER TABLE {table} ADD more INTEGER")
    with open_capture(bench, table, start=token, idle=30) as changes:
        bench.connection.execute(f"INSERT INTO {table} VALUES (2, 7, 5)")
        rows: list[tuple[object, ...]] = []
        for transaction in changes:
            for change in transaction.batches:
                rows += [(row["id"], row["tail"], row.get("more", "-")) for row in change.data.to_pylist()]
            if len(rows) > 1:
                break
    with raw_capture(bench) as raw:
        raw.begin(table)
        raw.log(late)
        joined = raw.start(late, label=2)
        bench.connection.execute(f"INSERT INTO {late} VALUES (3, 7)")
        records = raw.transaction()
    schemas = [
        i for i, r in enumerate(records) if r.number == wire.TABLE_SCHEMA and r.head[:4] == b"\0\0\0\2"
    ]
    rest = [i for i, record in enumerate(records) if record.number == wire.INSERT]
    expect_equal(
        joined == 0 and bool(schemas and rest) and schemas[0] < rest[0],
        True,
        "TABSCHEMA of a table that joins",
    )
    expect(rows, [(1, 7, "-"), (2, 7, 5)], "rows from before and behind ALTER TABLE")
    return "older rows have the columns of their time; TABSCHEMA of an added table arrives before its rows"


@check("capture locked", "full row logging switched on while a transaction has changed the table", "CDC 8.31")
def _(bench: Harness) -> str:
    table = bench.table("id INTEGER, tail SMALLINT")
    with raw_capture(bench) as raw:
        raw.connection.execute("SET LOCK MODE TO NOT WAIT")
        with bench.connect(autocommit=False) as conn:
            conn.execute(f"INSERT INTO {table} VALUES (1, 7)")
            began = time.monotonic()
            answer = raw.call("set_fullrowlogging", raw.full_name(table), 1)
            took = time.monotonic() - began
            conn.rollback()
        if answer >= 0:
            raw.log(table)
    if answer >= 0:
        raise ServerDiffers("it is switched on beside a transaction, of which a part is logged then")
    expect(answer, -289, "answer")
    return f"refused with {answer} after {took:.0f} s"
