"""What statements do with large objects outside DuckDB: files of the client, and objects opened by a query."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ..wire.describe import Column
from .catalog import TableInfo, attached, quote
from .engine_types import QueryResult
from .errors import SqlError
from .lobs import locator_number
from .sql.lob_functions import Call, ClientFile
from .sql.nested_types import lob_kind

if TYPE_CHECKING:
    from .session_state import SessionState

_NO_FILES = -9810


def load_file(session: SessionState, file: ClientFile, params: Sequence[object]) -> bytes | None:
    """Make an object of a file of the client; its locator, None for a file whose name is NULL."""
    name = file.name if file.parameter < 0 else params[file.parameter]
    if name is None:
        return None
    files = session.client_files
    if files is None:
        raise SqlError(_NO_FILES, 0, 0, str(name), "there is no client whose files could be read")
    return session.lobs.load(file.kind, files.read(str(name).rstrip(" ")))


def call(session: SessionState, what: Call, arguments: dict[str, Any] | None) -> object:
    """lotofile and ifx_lo_open for one row; None where the object is NULL."""
    if arguments is None or arguments["locator"] is None or arguments["argument"] is None:
        return None
    locator, argument = bytes(arguments["locator"]), arguments["argument"]
    if what == "lotofile":
        if session.client_files is None:
            raise SqlError(_NO_FILES, 0, 0, argument, "there is no client whose files could be written")
        return session.client_files.write(argument.rstrip(" "), session.lobs.chunks(locator))
    if session.open_lob is None:
        raise SqlError(_NO_FILES, 0, 0, what, "nothing here can open large objects")
    return session.open_lob(locator, argument)


class CallingResult(QueryResult):
    """Rows some of whose columns are made by a call each, when the row is taken: one row per batch.

    `calls` has the name of the call for such a column, else None; the table holds its arguments there.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        table: Any,
        schema: Any,
        calls: Sequence[Call | None],
        make: Callable[[Call, dict[str, Any] | None], object],
    ) -> None:
        super().__init__(columns, table)
        self._schema = schema
        self._calls = calls
        self._make = make

    def batches(self) -> Iterator[pa.RecordBatch]:
        """See QueryResult; what fails ends the rows with a SqlError."""
        if not self._table.num_rows:
            yield pa.RecordBatch.from_arrays(
                [pa.array([], f.type) for f in self._schema], schema=self._schema
            )
            return
        for row in range(self._table.num_rows):
            arrays = []
            for what, column, field in zip(self._calls, self._table.columns, self._schema, strict=True):
                cell = column.slice(row, 1)
                if what is None:
                    arrays.append(cell.combine_chunks())
                else:
                    arrays.append(pa.array([self._make(what, cell[0].as_py())], field.type))
            yield pa.RecordBatch.from_arrays(
                [a.chunk(0) if isinstance(a, pa.ChunkedArray) else a for a in arrays], schema=self._schema
            )


def drop_objects(session: SessionState, info: TableInfo) -> None:
    """Delete the objects that only the table names, just before it is dropped.

    Objects that another table may name stay: permanent tables and this session's temporary ones are asked; while
    another session has a temporary table with such a column, which cannot be asked, nothing is deleted.
    """
    columns = _lob_columns(info)
    if not columns or any(
        _lob_columns(other)
        for user in session.engine.users_of(info.database)
        if user is not session
        for other in list(user.temp_tables.values())
    ):
        return
    found = _numbers(session, info)
    if not found:
        return
    db = attached(info.database)
    rows = session.writer.execute(
        f"SELECT tabname FROM {db}._ifx.tables WHERE tabtype = 'T' AND tabid >= 100 AND tabid <> ?",
        [info.tabid],
    ).fetchall()
    others = [session.find_table(info.database, str(name)) for (name,) in rows]
    for other in [*others, *session.temp_tables.values()]:
        if other is not None and other is not info and found:
            found -= _numbers(session, other)
    numbers = sorted(found)
    for at in range(0, len(numbers), 1000):
        places = ", ".join(map(str, numbers[at : at + 1000]))
        session.writer.execute(f"DELETE FROM {db}._ifx.lob_chunks WHERE id IN ({places})")


def _lob_columns(info: TableInfo) -> list[str]:
    return [c.name for c in info.columns if lob_kind(c.type)]


def _numbers(session: SessionState, info: TableInfo) -> set[int]:
    """Numbers of the objects that a table names."""
    found: set[int] = set()
    for name in _lob_columns(info):
        sql = f"SELECT DISTINCT {quote(name)} FROM {info.duck} WHERE {quote(name)} IS NOT NULL"
        rows = session.writer.execute(sql).fetchall()
        found |= {locator_number(bytes(locator)) for (locator,) in rows}
    return found


__all__ = ["CallingResult", "call", "drop_objects", "load_file"]
