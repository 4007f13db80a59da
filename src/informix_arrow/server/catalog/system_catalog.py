"""The system catalogue of a new database: systables and the other catalogue tables, and those of sysmaster, as views
over the hidden tables (system_views.py).

Every database starts with the rows of the catalogue tables themselves (tabid below 100), in the order of a real server.
A row whose table is not offered by this server has no columns. Selecting from it raises -206.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from ...wire.types import ColumnType
from ..types.quoting import quote_string
from . import capture_tables, hidden_schema, privileges, schema_routines
from .catalog import (
    FIRST_USER_TABID,
    ColumnInfo,
    SqlConnection,
    TableInfo,
    column_rows,
    duck_database,
    first_row,
    table_row,
)
from .system_views import PAGE, VIEWS, of_all_databases, special_views

_NAMES = [
    "systables",
    "syscolumns",
    "sysindices",
    "systabauth",
    "syscolauth",
    "sysviews",
    "sysusers",
    "sysdepend",
    "syssynonyms",
    "syssyntable",
    "sysconstraints",
    "sysreferences",
    "syschecks",
    "sysdefaults",
    "syscoldepend",
    "sysprocedures",
    "sysprocbody",
    "sysprocplan",
    "sysprocauth",
    "sysblobs",
    "sysopclstr",
    "systriggers",
    "systrigbody",
    "sysdistrib",
    "sysfragments",
    "sysobjstate",
    "sysviolations",
    "sysfragauth",
    "sysroleauth",
    "sysxtdtypes",
    "sysattrtypes",
    "sysxtddesc",
    "sysinherits",
    "syscolattribs",
    "syslogmap",
    "syscasts",
    "sysxtdtypeauth",
    "sysroutinelangs",
    "syslangauth",
    "sysams",
    "systabamdata",
    "sysopclasses",
    "syserrors",
    "systraceclasses",
    "systracemsgs",
    "sysaggregates",
    "syssequences",
    "sysdirectives",
    "sysxasourcetypes",
    "sysxadatasources",
    "sysseclabelcomponents",
    "sysseclabelcomponentelements",
    "syssecpolicies",
    "syssecpolicycomponents",
    "syssecpolicyexemptions",
    "sysseclabels",
    "sysseclabelnames",
    "syssecpolicyauth",
    "syssurrogateauth",
    "sysproccolumns",
    "sysindexes",
    "sysdomains",
]

# types that every database has: (extended_id, name, type code, length)
_BUILTIN_TYPES = (
    (1, "lvarchar", 40, 2048), (5, "boolean", 41, 1), (10, "blob", 41, 72), (11, "clob", 41, 72),
    (25, "json", 40, 4096), (26, "bson", 40, 4096),
)  # fmt: skip

_SESSION = "STRUCT(sid INTEGER, username VARCHAR, pid INTEGER, hostname VARCHAR, connected INTEGER, feprogram VARCHAR)"

_LOCK_ROW = (
    "STRUCT(dbsname VARCHAR, tabname VARCHAR, rowidlk INTEGER, type VARCHAR, owner INTEGER, waiter INTEGER)"
)

_LOG = "STRUCT(uniqid INTEGER, used INTEGER, current INTEGER)"


def install_functions(
    con: duckdb.DuckDBPyConnection,
    sessions: Callable[[], list[dict[str, Any]]],
    locks: Callable[[], list[dict[str, Any]]],
    server_name: str,
    directory: Path | None,
    change_logs: Callable[[], list[dict[str, Any]]],
    captures: Callable[[], list[dict[str, Any]]],
    captured: Callable[[], list[dict[str, Any]]],
    full_tables: Callable[[str], list[int]],
    databases: Callable[[], list[str]],
) -> None:
    """Register the functions that the views call.

    `sessions` and `locks` return the current rows of sysmaster's syssessions and syslocks. Databases are stored in
    `directory`, None for memory. `change_logs` returns the files of the change log, `captures` and `captured` the rows
    of syscdcv1's syscdcsess and syscdctabs. `full_tables` returns the numbers of a database's fully logged tables,
    `databases` the names of all databases.
    """

    def log_pages() -> int:
        logs = [] if directory is None else list(directory.glob("*.wal"))
        size = 0
        for log in logs:
            with suppress(OSError):  # the last checkpoint removed it
                size += log.stat().st_size
        return -(-size // PAGE)

    def logs() -> list[dict[str, Any]]:
        changes = change_logs()
        return [{"uniqid": 1, "used": log_pages(), "current": int(not changes)}, *changes]

    def of_all(view: str) -> str:
        # evaluated when DuckDB plans the statement, so new databases are included
        return of_all_databases(view, [(name, duck_database(name)) for name in databases()])

    con.create_function("_ifx_logs", logs, [], f"{_LOG}[]", side_effects=True)
    con.create_function(
        "_ifx_capture_sessions", captures, [], f"{capture_tables.SESSION_ROW}[]", side_effects=True
    )
    con.create_function(
        "_ifx_captured_tables", captured, [], f"{capture_tables.TABLE_ROW}[]", side_effects=True
    )
    con.create_function("_ifx_full_tables", full_tables, ["VARCHAR"], "INTEGER[]", side_effects=True)
    con.create_function("_ifx_of_all_databases", of_all, ["VARCHAR"], "VARCHAR")
    con.create_function("_ifx_server_name", lambda: server_name, [], "VARCHAR")
    con.create_function("_ifx_locks", locks, [], f"{_LOCK_ROW}[]", side_effects=True)
    con.create_function(
        "_ifx_directory", lambda: "" if directory is None else str(directory.resolve()), [], "VARCHAR"
    )
    con.create_function("_ifx_sessions", sessions, [], f"{_SESSION}[]", side_effects=True)
    con.create_function("_ifx_pieces", _split_bytes, ["VARCHAR", "INTEGER"], "VARCHAR[]")
    schema_routines.install(con)


def _split_bytes(text: str, size: int) -> list[str]:
    """Split a text into pieces of at most `size` bytes, as the catalogue stores long texts."""
    raw = text.encode()
    pieces = []
    start = 0
    while start < len(raw):
        end = start + size
        while end < len(raw) and raw[end] & 0xC0 == 0x80:  # within a character
            end -= 1
        pieces.append(raw[start:end].decode())
        start = end
    return pieces


def _columns(declared: str) -> tuple[ColumnInfo, ...]:
    found = []
    depth = 0
    piece = ""
    for ch in declared + ",":
        depth += {"(": 1, ")": -1}.get(ch, 0)
        if ch == "," and not depth:
            name, _, declared_type = piece.strip().partition(" ")
            found.append(ColumnInfo(name.strip('"'), ColumnType.parse_sql(declared_type)))
            piece = ""
        else:
            piece += ch
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Template:
    """The initial rows of the hidden tables of a database, and a version that identifies them."""

    version: str
    tables: pa.Table
    columns: pa.Table


_TABLE_ROW = pa.schema(
    [
        ("tabid", pa.int32()), ("tabname", pa.string()), ("owner", pa.string()), ("tabtype", pa.string()),
        ("viewtext", pa.string()), ("locklevel", pa.string()), ("site", pa.string()), ("flags", pa.int32()),
        ("details", pa.string()),
    ]
)  # fmt: skip
_COLUMN_ROW = pa.schema(
    [
        ("tabid", pa.int32()), ("colno", pa.int32()), ("colname", pa.string()), ("declared", pa.string()),
        ("required", pa.bool_()), ("coltype", pa.int32()), ("collength", pa.int32()), ("extended_id", pa.int32()),
        ("defkind", pa.string()), ("deftext", pa.string()), ("serial_start", pa.int64()),
    ]
)  # fmt: skip


_LOCALE_ROWS = (90, 91)
"""Rows that JDBC reads right after opening the database (JDBC section 3). Their site is the locale."""


@cache
def _template(special: str) -> _Template:
    """Return the template of a database with catalogue tables of its own, or with "" that of all others."""
    views = {**VIEWS, **special_views(special)}
    names = [*_NAMES, *special_views(special)]
    version = hashlib.sha256(repr((hidden_schema.SCHEMA_SQL, names, views)).encode()).hexdigest()
    infos = [
        TableInfo(name, tabid, "T", _columns(views[name][0]) if name in views else (), "", "")
        for tabid, name in enumerate(names, 1)
    ]
    tables = [table_row(info) for info in infos]
    for tabid, name in zip(_LOCALE_ROWS, (" GL_COLLATE", " GL_CTYPE"), strict=True):
        tables.append([tabid, name, "informix", "", None, "", None, 0, None])
    tables.append([92, " VERSION", "informix", "", version, "", None, 15, None])
    columns = [row for info in infos for row in column_rows(info)]
    return _Template(version, _arrow(tables, _TABLE_ROW), _arrow(columns, _COLUMN_ROW))


def _arrow(rows: list[list[object]], schema: pa.Schema) -> pa.Table:
    return pa.table(
        [pa.array(values, f.type) for values, f in zip(zip(*rows, strict=True), schema, strict=True)], schema
    )


def install(con: duckdb.DuckDBPyConnection, database: str, locale: str, creator: str = "") -> None:
    """Create the hidden schema of a database and fill the system catalogue.

    The DBA of a new database is `creator`, or the server's default if that is "". Idempotent. In a database that
    another version of this server created, the catalogue rows are written again.
    """
    db = duck_database(database)
    template = _template(database if special_views(database) else "")
    version = _version(con, db)
    if version == template.version:
        return
    con.execute("BEGIN")
    if version is None:
        hidden_schema.create(con, db, master=database == "sysmaster")
        privileges.create_users(con, database, creator)
    else:
        hidden_schema.complete(con, db, master=database == "sysmaster")
        for table in ("tables", "columns", "indexes", "constraints"):
            con.execute(f"DELETE FROM {db}._ifx.{table} WHERE tabid < {FIRST_USER_TABID}")
        con.execute(f"DELETE FROM {db}._ifx.xtdtypes WHERE mode = 'B'")
    types = ", ".join(
        f"({number}, 'B', 'informix', {quote_string(name)}, {code}, 0, {length}, NULL)"
        for number, name, code, length in _BUILTIN_TYPES
    )
    con.execute(f"INSERT INTO {db}._ifx.xtdtypes VALUES {types}")
    # the views stay registered on the connection: unregistering them would cost as much as all the rest
    con.register("_ifx_new_tables", template.tables)
    con.register("_ifx_new_columns", template.columns)
    con.execute(
        f"INSERT INTO {db}._ifx.tables SELECT tabid, tabname, owner, tabtype, current_date, viewtext, locklevel, "
        f"CASE WHEN tabid IN {_LOCALE_ROWS} THEN {quote_string(locale)} ELSE site END, flags, details "
        "FROM _ifx_new_tables; "
        f"INSERT INTO {db}._ifx.columns FROM _ifx_new_columns"
    )
    con.execute("COMMIT")


def _version(con: SqlConnection, db: str) -> str | None:
    """Return the version of the server that created a database: "" if it recorded none, None if there is no hidden
    schema."""
    try:
        row = first_row(con, f"SELECT viewtext FROM {db}._ifx.tables WHERE tabname = ' VERSION'")
    except duckdb.CatalogException:
        return None
    return str(row[0]) if row else ""
