"""Checks of change capture, and of points that no source documents (CDC section 8)."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from ...cdc.capture import Changes, capture, capture_off
from ...wire.errors import Error, OperationalError
from .harness import (
    Harness,
    ServerDiffers,
    check,
    expect_equal,
    first_line,
    require_logged,
    skip_unsupported,
)
from .raw_capture import MISSING

_STILL_LOGGED = -19816
_OFF_SECONDS = 30.0


@contextlib.contextmanager
def open_capture(bench: Harness, table: str, start: str | None = None, idle: float = 0) -> Iterator[Changes]:
    """Capture a table. Its full row logging is switched off afterwards, because some servers could not drop it
    otherwise.
    """
    with skip_unsupported(*MISSING):
        changes = capture(bench.connection, [table], start=start, timeout=1, idle=idle)
    try:
        with changes:
            yield changes
    finally:
        with contextlib.suppress(
            OperationalError
        ):  # any effect of this is reported when the table is dropped
            _switch_off(bench, table)


def _switch_off(bench: Harness, table: str) -> float:
    """Switch the full row logging off, for which the server may need a while. Return the seconds."""
    began = time.monotonic()
    capture_off(bench.connection, [table])
    return time.monotonic() - began


def _table(bench: Harness) -> str:
    require_logged(bench)
    return bench.table(
        "id INTEGER, name VARCHAR(20), ok BOOLEAN, note LVARCHAR(100), code CHAR(3), tail SMALLINT"
    )


def _read(changes: Changes) -> list[list[tuple[object, ...]]]:
    """Return transactions until none arrive any more, because the server may deliver the log late."""
    transactions: list[list[tuple[object, ...]]] = []
    until = time.monotonic() + _OFF_SECONDS
    while not transactions and time.monotonic() < until:
        transactions += [
            [
                (row["_op"], row["id"], row["name"])
                for change in one.batches
                for row in change.data.to_pylist()
            ]
            for one in changes
        ]
    return transactions


@check("capture", "committed changes of a table", "CDC 3", "CDC 8.1", "CDC 8.19")
def _(bench: Harness) -> str:
    table = _table(bench)
    with open_capture(bench, table) as changes:
        known = changes.token is not None
        with bench.connect(autocommit=False) as conn:
            conn.execute(f"INSERT INTO {table} VALUES (1, 'e', NULL, 'text', 'ab', 7)")
            conn.execute(f"UPDATE {table} SET name = NULL, ok = 't' WHERE id = 1")
            conn.execute(f"DELETE FROM {table} WHERE id = 1")
            conn.commit()
        expect_equal(
            _read(changes), [[("insert", 1, "e"), ("update", 1, None), ("delete", 1, None)]], "changes"
        )
        order = changes._assembler.tables[0].batches
        assert order is not None
        columns = [column.name for column in order.table_schema.columns]
    if columns != ["id", "ok", "code", "tail", "name", "note"]:
        raise ServerDiffers(f"the columns of a row image stand in another order: {', '.join(columns)}")
    return "all arrived" + (
        "; the token was known from the beginning" if known else "; no token before the first quiet moment"
    )


@check("capture undone", "capture of a rollback, a rollback to a savepoint and a failed statement", "CDC 4")
def _(bench: Harness) -> str:
    table = _table(bench)
    bench.connection.execute(f"CREATE UNIQUE INDEX {bench.name()} ON {table} (id)")
    bench.connection.execute(f"INSERT INTO {table} (id) VALUES (9)")
    with open_capture(bench, table) as changes:
        with bench.connect(autocommit=False) as conn:
            conn.execute(f"INSERT INTO {table} (id, name) VALUES (1, 'undone')")
            conn.rollback()
            conn.execute(f"INSERT INTO {table} (id, name) VALUES (2, 'kept')")
            conn.execute("SAVEPOINT ifxa_doctor")
            conn.execute(f"INSERT INTO {table} (id, name) VALUES (3, 'undone')")
            conn.execute("ROLLBACK TO SAVEPOINT ifxa_doctor")
            with contextlib.suppress(Error):
                conn.execute(f"UPDATE {table} SET id = 9")
            conn.execute(f"INSERT INTO {table} (id, name) VALUES (4, 'kept')")
            conn.commit()
        expect_equal(_read(changes), [[("insert", 2, "kept"), ("insert", 4, "kept")]], "changes")
    return "none arrived"


@check(
    "capture ended",
    "a capture whose connection is lost, and full row logging that is switched off afterwards",
    "CDC 6",
    "CDC 8.21",
)
def _(bench: Harness) -> str:
    table = _table(bench)
    with open_capture(bench, table) as changes:
        list(changes)
        changes._connection._runner.abandon()
        try:
            took = _switch_off(bench, table)
        except OperationalError as error:
            if error.sqlcode != _STILL_LOGGED:
                raise
            raise ServerDiffers(f"a session outlives its connection for long: {first_line(error)}") from error
    return f"ended within {took:.0f} s"
