"""The tables of a capture, as users name them and as the server knows them, checked before the capture starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..ingest.target_table import bare_name, check_table, describe_table, split_table
from ..operations.io_steps import Exchange
from ..operations.open_database import query_rows
from ..operations.session import Session
from ..wire import changes as records
from ..wire.describe import Column
from ..wire.errors import InterfaceError, NotSupportedError, ProgrammingError, database_error

NO_LOG, NO_TABLE, NO_COLUMN, NO_PLAIN_TABLE = -83704, -83705, -83707, -83706

Tables = Sequence[str] | Mapping[str, Sequence[str] | None]

_KINDS = {
    "V": "a view",
    "P": "a private synonym",
    "S": "a synonym",
    "E": "an external table",
    "Q": "a sequence",
}


@dataclass(frozen=True, slots=True)
class RequestedTable:
    """A table as the user named it. ``database`` and ``owner`` are "" if they were not given."""

    name: str
    database: str
    owner: str
    table_name: str
    columns: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class CaptureTable:
    """A table that can be captured.

    ``full_name`` is ``database:owner.table``, as the routines of ``syscdcv1`` expect it. ``columns`` are the columns to
    capture, in the order in which users get them.
    """

    request: RequestedTable
    full_name: str
    columns: tuple[Column, ...]


def requested_tables(
    tables: Tables, columns: Mapping[str, Sequence[str]] | None, default_database: str
) -> list[RequestedTable]:
    """Parse the arguments of ``capture()``. Raises ``InterfaceError`` for wrong ones."""
    if isinstance(tables, str) or not isinstance(tables, Sequence | Mapping):
        raise InterfaceError(
            f"tables must be a list of names or a mapping from names to columns, got {tables!r}."
        )
    chosen: dict[str, Sequence[str] | None] = (
        dict(tables) if isinstance(tables, Mapping) else dict.fromkeys(tables)
    )
    if not chosen:
        raise InterfaceError("tables is empty. Name the tables to capture.")
    for name, names in dict(columns or {}).items():
        if name not in chosen:
            raise InterfaceError(f"columns names the table {name!r}, which is not among the tables.")
        chosen[name] = names
    return [_parse_request(name, names, default_database) for name, names in chosen.items()]


def _parse_request(name: str, columns: Sequence[str] | None, default_database: str) -> RequestedTable:
    check_table(name)
    database, owner = split_table(name)
    if "@" in database:
        raise InterfaceError(f"{name!r}: Changes are captured from the connected server. Leave @ out.")
    if not (database or default_database):
        raise InterfaceError(
            f"{name!r} names no database, and neither does the connection. Write database:{name}."
        )
    if columns is not None:
        if isinstance(columns, str) or not all(isinstance(column, str) for column in columns):
            raise InterfaceError(f"The columns of {name!r} must be a list of names, got {columns!r}.")
        if not columns or len(set(columns)) < len(columns):
            raise InterfaceError(f"The columns of {name!r} are empty, or name one twice: {list(columns)!r}.")
    chosen = None if columns is None else tuple(columns)
    return RequestedTable(name, (database or default_database).lower(), owner, bare_name(name), chosen)


def find_table(
    session: Session, request: RequestedTable, *, check_columns: bool = True
) -> Exchange[CaptureTable]:
    """Look a table up in its database, which is open. With ``check_columns=False`` only check that it exists.

    Raises
    ------
    ProgrammingError
        The table or a column does not exist, or changes of the table are not logged, with Informix's number.
    NotSupportedError
        The database has no log, or a column has a type whose values are not in the log.
    """
    if not session.logged:
        raise database_error(NO_LOG, near=request.database)
    quoted = request.table_name.replace("'", "''")
    owned = f" AND owner = '{request.owner}'" if request.owner else ""
    rows = yield from query_rows(
        session, f"SELECT tabname, owner, tabtype FROM informix.systables WHERE tabname = '{quoted}'{owned}"
    )
    if not rows:
        raise database_error(NO_TABLE, near=request.name)
    if len(rows) > 1:
        owners = ", ".join(sorted(str(row[1]).strip() for row in rows))
        raise ProgrammingError(
            f"There are tables {request.table_name} of several owners ({owners}). Write owner.table."
        )
    owner, kind = str(rows[0][1]).strip(), str(rows[0][2]).strip()
    if kind != "T":
        what = _KINDS.get(kind, "no table")
        raise database_error(NO_PLAIN_TABLE, near=f"{request.name}, which is {what}")
    full_name = f"{request.database}:{owner}.{request.table_name}"
    if not check_columns:
        return CaptureTable(request, full_name, ())
    every = yield from describe_table(session, f"'{owner}'.{request.table_name}")
    by_name = {column.name: column for column in every}
    if request.columns is None:
        columns = every
    else:
        missing = [name for name in request.columns if name not in by_name]
        if missing:
            raise database_error(NO_COLUMN, near=f"{request.name}: {', '.join(missing)}")
        columns = tuple(by_name[name] for name in request.columns)
    bad = [column for column in columns if not records.is_captured(column.type)]
    if bad:
        listed = ", ".join(f"{column.name} ({column.type.sql})" for column in bad)
        rest = [column.name for column in columns if column not in bad]
        raise NotSupportedError(
            f"{request.name} has columns whose values are not in the log: {listed}. Leave them out: "
            f"columns={{{request.name!r}: {rest!r}}}.",
            column=bad[0].name,
            sqlcode=NO_COLUMN,
        )
    return CaptureTable(request, full_name, columns)
