"""A database as a target of changes: each transaction is one transaction there, which also stores the token.

Tables are created with the declared types of their source, SERIAL as INTEGER.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
import pyarrow as pa

from ..wire.errors import OperationalError, error_at
from .checksums import ColumnChecksums
from .engine import Engine, Session, StateTable
from .net_changes import NetChanges, missing, overtaken
from .row_matching import Counts
from .state import CopyRows

STATES = StateTable("informix_arrow_changes", "token", length=64)
"""The table that stores the tokens."""

GONE = "informix_arrow_gone"
"""The temporary table of rows to be removed: ``number``, and the columns c0, c1, .. in the order of the table's."""

LOCKED_ROWS = 1000  # changed rows of one table in one transaction from which on the table is locked
_NUMBERED = {b"SERIAL": b"INTEGER", b"SERIAL8": b"INT8", b"BIGSERIAL": b"BIGINT"}


class DatabaseChangeTarget:
    """A target whose tables are those of a database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        try:
            engine.create_states(STATES)
        except BaseException:
            engine.close()
            raise

    def token(self, name: str) -> str | None:
        with self._engine.session() as session:
            return session.state(STATES, name)

    def apply(
        self, name: str, before: str | None, token: str, commit: int, changes: Mapping[str, NetChanges]
    ) -> None:
        with self._engine.session() as session:
            if session.claim(STATES, name) != before:
                raise overtaken(self._engine.name, name)
            session.store(STATES, name, token)
            for table, net in changes.items():
                if not session.has(table):
                    session.create(table, _without_numbers(net.schema))
                if net.rows >= LOCKED_ROWS:
                    session.lock(table)
                quoted = session.quoted(table)
                if net.emptied:
                    session.change(f"DELETE FROM {quoted}")
                added = net.added
                if net.removed.num_rows:
                    back = _remove_rows(session, table, quoted, net)
                    added = pa.concat_tables([added, back])
                if added.num_rows:
                    session.insert(table, _as_rows(added))

    def close(self) -> None:
        self._engine.close()


def _remove_rows(session: Session, table: str, quoted: str, net: NetChanges) -> pa.Table:
    """Remove rows, all equal rows at once. Return those that have to be inserted again.

    Raises ``OperationalError`` if a row is not there, or not as often.
    """
    lacking, back = 0, []
    for rows, times in _split_at_nulls(net.removed, net.times):
        session.stage(GONE, _as_rows(_staged(rows)))
        same = " AND ".join(_conditions(session, quoted, rows))
        counts = np.zeros(rows.num_rows, np.int64)
        for number, count in session.rows(
            f"SELECT {GONE}.number, COUNT(*) FROM {quoted}, {GONE} WHERE {same} GROUP BY {GONE}.number"
        ):
            counts[number] = count
        lacking += int(np.maximum(times - counts, 0).sum())
        removed = 0
        if not lacking:  # else the remaining parts are only counted
            removed = session.change(
                f"DELETE FROM {quoted} WHERE EXISTS (SELECT {GONE}.number FROM {GONE} WHERE {same})"
            )
        session.change(f"DROP TABLE {GONE}")
        if lacking:
            continue
        if removed != counts.sum():
            raise error_at(
                OperationalError,
                table,
                f"Of {int(counts.sum()):,} existing rows, {removed:,} could be deleted. Another "
                "program is writing to the table.",
            )
        staying = np.repeat(np.arange(rows.num_rows), counts - times)
        if len(staying):
            back.append(rows.take(pa.array(staying)))
    if lacking:
        raise missing(table, int(net.times.sum()), lacking)
    return pa.concat_tables(back) if back else net.removed.slice(0, 0)


def _split_at_nulls(rows: pa.Table, times: Counts) -> Iterator[tuple[pa.Table, Counts]]:
    """Yield the rows in one or two parts, so that in each some column is never NULL or always.

    Databases find the rows by that column.
    """
    nulls = [column.null_count for column in rows.columns]
    if 0 in nulls or rows.num_rows in nulls:
        yield rows, times
        return
    valid = rows.column(int(np.argmin(nulls))).is_valid()
    mask = valid.to_numpy()
    yield rows.filter(valid), times[mask]
    yield rows.filter(pa.array(~mask)), times[~mask]


def _staged(rows: pa.Table) -> pa.Table:
    fields = [field.with_name(f"c{index}") for index, field in enumerate(_without_numbers(rows.schema))]
    numbers = pa.array(np.arange(rows.num_rows, dtype=np.int32))
    return pa.Table.from_arrays(
        [*rows.columns, numbers], schema=pa.schema([*fields, pa.field("number", numbers.type)])
    )


def _conditions(session: Session, quoted: str, rows: pa.Table) -> Iterator[str]:
    condition: Callable[[str, str, pa.Field], str]
    for index, field in enumerate(rows.schema):
        column, nulls = f"{quoted}.{session.quoted(field.name)}", rows.column(index).null_count
        if nulls == rows.num_rows:
            yield f"{column} IS NULL"
            continue
        condition = session.same if nulls else session.equal
        yield condition(column, f"{GONE}.c{index}", field)


def _without_numbers(schema: pa.Schema) -> pa.Schema:
    """Return the columns as they are declared, with plain integers for SERIAL types."""
    fields: list[pa.Field] = []
    for field in schema:
        declared: bytes = (field.metadata or {}).get(b"informix.type", b"")
        number = _NUMBERED.get(declared.upper().partition(b"(")[0])
        if number is not None:
            field = field.with_metadata({**field.metadata, b"informix.type": number})
        fields.append(field)
    return pa.schema(fields)


def _as_rows(rows: pa.Table) -> CopyRows:
    return CopyRows(rows.schema, iter(rows.to_batches()), ColumnChecksums(rows.schema))
