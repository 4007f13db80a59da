"""Routines in the catalogue: the hidden tables that store them, and the views sysprocedures, sysprocbody and others."""

from __future__ import annotations

SCHEMA = """
CREATE TABLE IF NOT EXISTS {db}._ifx.procedures (procid INTEGER, procname VARCHAR, owner VARCHAR, specific VARCHAR,
    isproc BOOLEAN, dba BOOLEAN, variant BOOLEAN, handlesnulls BOOLEAN, numargs INTEGER, signature VARCHAR,
    delimident BOOLEAN, created TIMESTAMP, body VARCHAR, document VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.proccolumns (procid INTEGER, paramid INTEGER, paramname VARCHAR, declared VARCHAR,
    paramtype INTEGER, paramlen INTEGER, paramxid INTEGER, paramattr INTEGER);
CREATE TABLE IF NOT EXISTS {db}._ifx.procbody (procid INTEGER, datakey VARCHAR, seqno INTEGER, data VARCHAR);
"""
"""Tables of the hidden schema (hidden_schema.py)."""

VIEWS: dict[str, tuple[str, str]] = {
    "sysprocedures": (
        "procname NVARCHAR(128), owner CHAR(32), procid SERIAL NOT NULL, mode CHAR(1), retsize INTEGER, "
        "symsize INTEGER, datasize INTEGER, codesize INTEGER, numargs INTEGER, isproc CHAR(1), "
        "specificname NVARCHAR(128), externalname VARCHAR(255), paramstyle CHAR(1), langid INTEGER, "
        "paramtypes LVARCHAR(2048), variant CHAR(1), "
        "client CHAR(1), handlesnulls CHAR(1), percallcost INTEGER, commutator NVARCHAR(128), negator NVARCHAR(128), "
        "selfunc NVARCHAR(128), internal CHAR(1), class CHAR(18), stack INTEGER, parallelizable CHAR(1), "
        "costfunc NVARCHAR(128), selconst SMALLINT, collation CHAR(32), procflags INTEGER, type INTEGER",
        "SELECT procname, owner, procid, CASE WHEN dba THEN 'D' ELSE 'O' END AS mode, 0::INTEGER AS retsize, "
        "0::INTEGER AS symsize, 0::INTEGER AS datasize, 0::INTEGER AS codesize, numargs, CASE WHEN isproc THEN 't' "
        "ELSE 'f' END AS isproc, specific AS specificname, NULL::VARCHAR AS externalname, 'I' AS paramstyle, "
        "2::INTEGER AS langid, signature AS paramtypes, CASE WHEN variant THEN 't' ELSE 'f' END AS variant, "
        "'f' AS client, CASE WHEN handlesnulls THEN 't' ELSE 'f' END AS handlesnulls, NULL::INTEGER AS percallcost, "
        "NULL::VARCHAR AS commutator, NULL::VARCHAR AS negator, NULL::VARCHAR AS selfunc, 'f' AS internal, "
        "NULL::VARCHAR AS class, NULL::INTEGER AS stack, 'f' AS parallelizable, NULL::VARCHAR AS costfunc, "
        "NULL::SMALLINT AS selconst, 'en_US.819' AS collation, 0::INTEGER AS procflags, 0::INTEGER AS type "
        "FROM {db}._ifx.procedures",
    ),
    "sysprocbody": (
        "procid INTEGER, datakey CHAR(1), seqno INTEGER, data CHAR(256)",
        "SELECT procid, datakey, seqno, data FROM {db}._ifx.procbody",
    ),
    "sysproccolumns": (
        "procid INTEGER, paramid INTEGER, paramname NVARCHAR(128), paramtype SMALLINT, paramlen SMALLINT, "
        "paramxid INTEGER, paramattr INTEGER",
        "SELECT procid, paramid, paramname, paramtype::SMALLINT AS paramtype, (CASE WHEN paramlen > 32767 THEN "
        "paramlen - 65536 ELSE paramlen END)::SMALLINT AS paramlen, paramxid, paramattr FROM {db}._ifx.proccolumns",
    ),
    "sysprocauth": (
        "grantor CHAR(32), grantee CHAR(32), procid INTEGER, procauth CHAR(1)",
        "SELECT grantor, grantee, procid, procauth FROM {db}._ifx.procauth",
    ),
}
"""Catalogue tables: columns as Informix declares them, and the query over the hidden schema
(system_catalog.install)."""
