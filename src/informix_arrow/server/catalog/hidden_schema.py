"""The hidden tables of a database: what DuckDB cannot express about its tables, types and routines (catalog.py)."""

from __future__ import annotations

from .catalog import SqlConnection
from .routine_tables import SCHEMA as _ROUTINES
from .system_views import INDEX_PARTS
from .trigger_tables import SCHEMA as _TRIGGERS

_PART_COLUMNS = ", ".join(f"part{n} SMALLINT" for n in range(1, INDEX_PARTS + 1))

_TABLES = """
CREATE SCHEMA IF NOT EXISTS {db}._ifx;
CREATE TABLE IF NOT EXISTS {db}._ifx.tables (tabid INTEGER, tabname VARCHAR, owner VARCHAR, tabtype VARCHAR,
    created DATE, viewtext VARCHAR, locklevel VARCHAR, site VARCHAR, flags INTEGER, details VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.columns (tabid INTEGER, colno INTEGER, colname VARCHAR, declared VARCHAR,
    required BOOLEAN, coltype INTEGER, collength INTEGER, extended_id INTEGER, defkind VARCHAR, deftext
    VARCHAR, serial_start BIGINT);
CREATE TABLE IF NOT EXISTS {db}._ifx.indexes (idxname VARCHAR, tabid INTEGER, idxtype VARCHAR, parts VARCHAR,
    owner VARCHAR, PARTS);
CREATE TABLE IF NOT EXISTS {db}._ifx.constraints (constrid INTEGER, constrname VARCHAR, tabid INTEGER,
    constrtype VARCHAR, idxname VARCHAR, ptabid INTEGER, pconstrid INTEGER, delrule VARCHAR, owner VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.logged_commits (began BIGINT);
CREATE TABLE IF NOT EXISTS {db}._ifx.lob_chunks (id BIGINT, start BIGINT, size INTEGER, data BLOB);
CREATE TABLE IF NOT EXISTS {db}._ifx.xtdtypes (extended_id INTEGER, mode VARCHAR, owner VARCHAR, name VARCHAR,
    type INTEGER, source INTEGER, length INTEGER, definition VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.attrtypes (extended_id INTEGER, seqno INTEGER, levelno INTEGER, parent_no
    INTEGER, fieldname VARCHAR, fieldno INTEGER, type INTEGER, length INTEGER, xtd_type_id INTEGER);
""".replace("PARTS", _PART_COLUMNS)
"""Owners and the columns of an index by position are redundant. They save joins: JDBC joins nine catalogue tables at a
time, and DuckDB's planning time grows with each.

`logged_commits` holds the committed transactions of the change log by the LSN of their begin (cdc_log/log.py): those of
this run of the server, and until recovery those of the previous run.
"""

_RIGHTS = """
CREATE TABLE IF NOT EXISTS {db}._ifx.users (username VARCHAR, usertype VARCHAR, defrole VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.tabauth (grantor VARCHAR, grantee VARCHAR, tabid INTEGER, tabauth VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.colauth (grantor VARCHAR, grantee VARCHAR, tabid INTEGER, colname VARCHAR,
    colauth VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.procauth (grantor VARCHAR, grantee VARCHAR, procid INTEGER, procauth VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.roleauth (rolename VARCHAR, grantee VARCHAR, is_grantable VARCHAR);
"""
"""Users, roles and privileges (privileges.py)."""

_DATABASES = """
CREATE TABLE IF NOT EXISTS {db}._ifx.databases (number INTEGER, name VARCHAR, created DATE, is_logging INTEGER,
    is_buff_log INTEGER, is_ansi INTEGER, locale VARCHAR, owner VARCHAR, was VARCHAR);
"""
"""Only in sysmaster. `was` is the old name of a database while it is renamed."""

SCHEMA_SQL = _TABLES + _ROUTINES + _TRIGGERS + _RIGHTS + _DATABASES


_TEMPLATE = "ifx_template"
"""A database in memory with empty hidden tables. Copying it takes a sixth of the time of CREATE TABLE statements."""


def create_template(con: SqlConnection) -> None:
    """Create the template that `create` copies. It exists until DuckDB is closed."""
    con.execute(f"ATTACH ':memory:' AS {_TEMPLATE}")
    con.execute(_statements(_TEMPLATE))


def create(con: SqlConnection, db: str, *, master: bool) -> None:
    """Create the hidden tables of the new database that DuckDB calls `db`."""
    con.execute(f"COPY FROM DATABASE {_TEMPLATE} TO {db} (SCHEMA)")
    if master:
        con.execute(_DATABASES.format(db=db))


def complete(con: SqlConnection, db: str, *, master: bool) -> None:
    """Create the hidden tables that a database of another version of this server does not have yet."""
    con.execute(_statements(db))
    if master:
        con.execute(_DATABASES.format(db=db))


def _statements(db: str) -> str:
    return "".join([_TABLES, _ROUTINES, _TRIGGERS, _RIGHTS]).format(db=db)
