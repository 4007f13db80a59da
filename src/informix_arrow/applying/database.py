"""A database as a target of changes: each transaction is one there, which also says how far it has come.

What is the same in all of them is here. `duck`, `postgres` and `informix` say how theirs is spoken to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Protocol

import numpy as np
import pyarrow as pa

from ..wire.errors import OperationalError
from .matching import Counts
from .net import NetChanges
from .target import missing, overtaken

STATES = "informix_arrow_changes"
"""The table in which it stands how far a target has come."""

GONE = "informix_arrow_gone"
"""Rows that are to be taken out: ``number``, and the columns c0, c1, .. in the order of the table's."""


class Session(Protocol):
    """A transaction in the target."""

    def quoted(self, name: str) -> str:
        """A name for a statement."""

    def equal(self, there: str, gone: str, field: pa.Field) -> str:
        """The condition that a column of a table has a value of ``GONE``, neither of which is NULL."""

    def same(self, there: str, gone: str, field: pa.Field) -> str:
        """The condition that they are equal, or both NULL."""

    def token(self, name: str) -> str | None:
        """How far it has come."""

    def keep(self, name: str, before: str | None, token: str) -> bool:
        """Write down how far it has come, in place of ``before``; False when that is not what stands there."""

    def prepare(self, table: str, schema: pa.Schema, rows: int) -> None:
        """Make a table that is not there. So many of its rows are going to be put in or taken out."""

    def change(self, sql: str) -> int:
        """Run a statement; how many rows it has changed."""

    def pairs(self, sql: str) -> list[tuple[int, int]]:
        """The rows of a query, of two numbers each."""

    def stage(self, rows: pa.Table) -> AbstractContextManager[None]:
        """These rows, which are of table columns and a number, as the temporary table ``GONE``."""

    def insert(self, table: str, rows: pa.Table) -> None:
        """Put rows into a table."""


class Server(Protocol):
    """Where transactions are made."""

    name: str

    def session(self) -> AbstractContextManager[Session]:
        """A transaction, committed when the block ends well, else undone."""

    def close(self) -> None:
        """Nothing more comes."""


class Database:
    """See the module."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def token(self, name: str) -> str | None:
        with self._server.session() as session:
            return session.token(name)

    def apply(
        self, name: str, before: str | None, token: str, commit: int, changes: Mapping[str, NetChanges]
    ) -> None:
        with self._server.session() as session:
            if not session.keep(name, before, token):
                raise overtaken(self._server.name, name)
            for table, net in changes.items():
                session.prepare(table, net.schema, net.rows)
                quoted = session.quoted(table)
                if net.emptied:
                    session.change(f"DELETE FROM {quoted}")
                come = net.come
                if net.gone.num_rows:
                    back = _take_out(session, table, quoted, net)
                    come = pa.concat_tables([come, back])
                if come.num_rows:
                    session.insert(table, come)

    def close(self) -> None:
        self._server.close()


def _take_out(session: Session, table: str, quoted: str, net: NetChanges) -> pa.Table:
    """Remove rows, all that are alike at once; those of them that are to stay are returned.

    ``OperationalError`` when a row is not there, or not as often.
    """
    lacking, back = 0, []
    for rows, times in _parts(net.gone, net.times):
        with session.stage(_staged(rows)):
            same = " AND ".join(_conditions(session, quoted, rows))
            found = np.zeros(rows.num_rows, np.int64)
            for number, count in session.pairs(
                f"SELECT {GONE}.number, COUNT(*) FROM {quoted}, {GONE} WHERE {same} GROUP BY {GONE}.number"
            ):
                found[number] = count
            lacking += int(np.maximum(times - found, 0).sum())
            if lacking:
                continue  # only to be counted
            removed = session.change(
                f"DELETE FROM {quoted} WHERE EXISTS (SELECT {GONE}.number FROM {GONE} WHERE {same})"
            )
        if removed != found.sum():
            raise OperationalError(
                f"{table}: of {int(found.sum()):,} rows that were there {removed:,} could be removed: another program "
                "is writing to it"
            )
        staying = np.repeat(np.arange(rows.num_rows), found - times)
        if len(staying):
            back.append(rows.take(pa.array(staying)))
    if lacking:
        raise missing(table, int(net.times.sum()), lacking)
    return pa.concat_tables(back) if back else net.gone.slice(0, 0)


def _parts(rows: pa.Table, times: Counts) -> Iterator[tuple[pa.Table, Counts]]:
    """Rows, one part or two, so that in each some column is never NULL or always: databases find by that column."""
    nulls = [column.null_count for column in rows.columns]
    if 0 in nulls or rows.num_rows in nulls:
        yield rows, times
        return
    there = rows.column(int(np.argmin(nulls))).is_valid()
    mask = there.to_numpy()
    yield rows.filter(there), times[mask]
    yield rows.filter(pa.array(~mask)), times[~mask]


def _staged(rows: pa.Table) -> pa.Table:
    fields = [field.with_name(f"c{place}") for place, field in enumerate(rows.schema)]
    numbers = pa.array(np.arange(rows.num_rows, dtype=np.int32))
    return pa.Table.from_arrays(
        [*rows.columns, numbers], schema=pa.schema([*fields, pa.field("number", numbers.type)])
    )


def _conditions(session: Session, quoted: str, rows: pa.Table) -> Iterator[str]:
    how: Callable[[str, str, pa.Field], str]
    for place, field in enumerate(rows.schema):
        column, nulls = f"{quoted}.{session.quoted(field.name)}", rows.column(place).null_count
        if nulls == rows.num_rows:
            yield f"{column} IS NULL"
            continue
        how = session.same if nulls else session.equal
        yield how(column, f"{GONE}.c{place}", field)
