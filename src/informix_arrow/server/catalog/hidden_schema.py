"""The hidden tables of a database: what DuckDB cannot express about its tables, types and routines (catalog.py)."""

from __future__ import annotations

from .catalog import SqlConnection
from .routine_tables import SCHEMA as _ROUTINES
from .system_views import INDEX_PARTS, NOT_NULL_NUMBER
from .trigger_tables import SCHEMA as _TRIGGERS

_PARTS = tuple(f"part{n}" for n in range(1, INDEX_PARTS + 1))
_PART_COLUMNS = ", ".join(f"{part} SMALLINT" for part in _PARTS)

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

_DATABASES_ADDED_COLUMNS = """
ALTER TABLE {db}._ifx.databases ADD COLUMN IF NOT EXISTS owner VARCHAR;
ALTER TABLE {db}._ifx.databases ADD COLUMN IF NOT EXISTS was VARCHAR;
DROP VIEW IF EXISTS {db}.main.systabnames;
DROP VIEW IF EXISTS {db}.main.systabinfo;
"""

_ADDED_COLUMNS = """
ALTER TABLE {db}._ifx.constraints ADD COLUMN IF NOT EXISTS pconstrid INTEGER;
ALTER TABLE {db}._ifx.constraints ADD COLUMN IF NOT EXISTS delrule VARCHAR;
ALTER TABLE {db}._ifx.constraints ADD COLUMN IF NOT EXISTS owner VARCHAR;
ALTER TABLE {db}._ifx.indexes ADD COLUMN IF NOT EXISTS owner VARCHAR;
""" + "".join(
    f"ALTER TABLE {{db}}._ifx.indexes ADD COLUMN IF NOT EXISTS {part} SMALLINT;\n" for part in _PARTS
)
"""Columns that older versions of this server did not have."""

_OWNER = "(SELECT t.owner FROM {db}._ifx.tables t WHERE t.tabid = x.tabid)"
_INDEX_PART_VALUES = ", ".join(
    f"{part} = coalesce(TRY_CAST(split_part(parts, ',', {n}) AS SMALLINT), 0)"
    for n, part in enumerate(_PARTS, 1)
)
_FILL = f"""
UPDATE {{db}}._ifx.constraints x SET owner = {_OWNER} WHERE owner IS NULL;
UPDATE {{db}}._ifx.indexes x SET owner = {_OWNER}, {_INDEX_PART_VALUES} WHERE owner IS NULL;
INSERT INTO {{db}}._ifx.constraints (constrid, constrname, tabid, constrtype, owner)
    SELECT number, 'n' || tabid || '_' || number, tabid, 'N', {_OWNER} FROM
    (SELECT {NOT_NULL_NUMBER} AS number, tabid FROM {{db}}._ifx.columns WHERE required AND tabid >= 100) x
    WHERE NOT EXISTS (FROM {{db}}._ifx.constraints c WHERE c.constrid = x.number);
"""
"""Values of the added columns."""

SCHEMA_SQL = _TABLES + _ROUTINES + _TRIGGERS + _RIGHTS + _DATABASES + _ADDED_COLUMNS + _FILL


def create(con: SqlConnection, db: str, *, master: bool, fresh: bool) -> None:
    """Create the hidden tables of the database that DuckDB calls `db`. If it is not `fresh`, create only what is
    missing."""
    parts = [_TABLES, _ROUTINES, _TRIGGERS, _RIGHTS, *([_DATABASES] if master else [])]
    if not fresh:
        parts += [_ADDED_COLUMNS, _FILL, *([_DATABASES_ADDED_COLUMNS] if master else [])]
    con.execute("".join(parts).format(db=db))
