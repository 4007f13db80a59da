"""The last step of an upsert: one MERGE of the staged rows into the table."""

from __future__ import annotations

from collections.abc import Sequence

from ..operations.io_steps import Exchange
from ..operations.open_database import query_rows
from ..operations.prepare import prepare, release_after, release_all, release_statement
from ..operations.request_reply import request
from ..operations.session import Session
from ..wire import messages as m
from ..wire.describe import Column
from ..wire.errors import Error, IntegrityError, InternalError, ProgrammingError
from . import create_table, target_table
from .convert import SERIALS
from .report import add_text


def key_columns(key: Sequence[str], mapped: Sequence[tuple[str, Column]]) -> list[str]:
    """Return the names of the key's columns in the table.

    ``mapped`` has pairs of a column of the data and a column of the table.
    """
    names = []
    for key_name in key:
        for name, column in mapped:
            if key_name.lower() in (name.lower(), column.name.lower()):
                if column.name in names:
                    raise ProgrammingError(f"The key names the column {column.name!r} twice.")
                names.append(column.name)
                break
        else:
            raise ProgrammingError(f"The key column {key_name!r} is not among the columns that are written.")
    return names


def merge(
    session: Session,
    table: str,
    table_columns: Sequence[Column],
    staging: str,
    columns: Sequence[Column],
    names: Sequence[str],
    key: Sequence[str],
    staged: int,
) -> Exchange[tuple[int, int]]:
    """Merge the staged rows into the table. Return how many rows were changed, and how many of them existed
    before.

    ``table_columns`` are all columns of the table, ``columns`` those that are staged, and ``names`` their names as
    SQL text. ``staging`` is a table, or a query in parentheses.
    """
    serials = [name for name, column in zip(names, columns, strict=True) if column.type.code in SERIALS]
    sql = create_table.merge_statement(table, staging, names, key, serials)
    same = " AND ".join(f"t.{name} = s.{name}" for name in key)
    count = f"SELECT COUNT(*) FROM {staging} s WHERE EXISTS (SELECT {key[0]} FROM {table} t WHERE {same})"
    try:
        existing = yield from query_rows(session, count)
        rows = yield from execute(session, sql)
    except Error as error:
        if session.usable_after(error):
            conflict = yield from target_table.conflict(
                session, table, table_columns, staging, names, key, error.near or ""
            )
            add_text(
                error,
                f"The MERGE of {staged:,} rows failed. The server does not name the row. {conflict}".rstrip(),
            )
        raise
    updates = len(names) > len(key) + len(set(serials) - set(key))
    if rows < staged and updates:
        raise InternalError(
            f"The server reports that the MERGE of {staged:,} rows affected {rows:,}. Check the table."
        )
    return rows, min(int(str(existing[0][0])), rows) if updates else 0


def reject_duplicate_keys(session: Session, staging: str, key: Sequence[str], number: str) -> Exchange[None]:
    """Raise ``IntegrityError`` if staged rows have the same key, with the first row whose key occurred before.

    ``number`` is the column with the rows' numbers in the data.
    """
    listed = ", ".join(key)
    groups = (
        f"SELECT {listed}, MIN({number}) AS first_row FROM {staging} a GROUP BY {listed} HAVING COUNT(*) > 1"
    )
    same = " AND ".join(f"s.{name} = d.{name}" for name in key)
    duplicates = yield from query_rows(
        session,
        f"SELECT MIN(s.{number}) FROM {staging} s, ({groups}) d WHERE {same} AND s.{number} > d.first_row",
    )
    if not duplicates or duplicates[0][0] is None:
        return
    row = int(str(duplicates[0][0]))
    (values,) = yield from query_rows(session, f"SELECT {listed} FROM {staging} s WHERE s.{number} = {row}")
    key_values = ", ".join(f"{name}={value!r}" for name, value in zip(key, values, strict=True))
    error = IntegrityError(
        f"Row {row} ({key_values}): A row with the same key exists already in the data (SQLCODE -268, ISAM -100: "
        "duplicate value in a unique index).\nLeave one of them out.",
        sqlcode=-268,
        isamcode=-100,
        row=row,
    )
    error.place = f"Row {row}"
    raise error


def execute(session: Session, sql: str) -> Exchange[int]:
    """Run a statement and return the number of rows that it changed."""
    describe = yield from prepare(session, sql, 0)
    try:
        reply = yield from request(session, (m.Id(describe.statement_id), m.Execute()))
        reply.check(sql)
    except Error as error:
        yield from release_after(session, describe.statement_id, error)
        raise
    yield from release_statement(session, describe.statement_id)
    yield from release_all(session, session.statements.invalidate_after(describe.statement_type))
    return reply.done.rows if reply.done else 0
