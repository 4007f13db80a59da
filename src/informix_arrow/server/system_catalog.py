"""The catalogue that clients query: systables and its sisters as views over the hidden tables, and
sysmaster's own.

Every database starts with the rows of the system catalogue itself (tabid below 100) in a real server's
order. A row whose table is not offered here has no columns and selecting from it is -206.
"""

from __future__ import annotations

from ..wire.types import ColumnType
from .catalog import (
    ColumnInfo,
    TableInfo,
    Writer,
    attached,
    create_hidden_schema,
    first_row,
    quote,
    store_table,
    text,
)

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

_PARTS = ", ".join(
    f"coalesce(TRY_CAST(split_part(x.parts, ',', {n}) AS SMALLINT), 0)::SMALLINT AS part{n}"
    for n in range(1, 17)
)
_PART_COLUMNS = ", ".join(f"part{n} SMALLINT" for n in range(1, 17))

# name -> (columns as Informix declares them, DuckDB query with {db} for the hidden schema)
_VIEWS: dict[str, tuple[str, str]] = {
    "systables": (
        "tabname NVARCHAR(128), owner CHAR(32), partnum INTEGER, tabid SERIAL NOT NULL, rowsize "
        "SMALLINT, ncols SMALLINT, "
        "nindexes SMALLINT, nrows FLOAT, created DATE, version INTEGER, tabtype CHAR(1), locklevel CHAR(1), "
        "npused FLOAT, fextsize INTEGER, nextsize INTEGER, flags SMALLINT, site NVARCHAR(128), dbname "
        "NVARCHAR(128)",
        "SELECT t.tabname, t.owner, CASE WHEN t.tabtype = 'T' THEN 1048576 + t.tabid ELSE 0 END::INTEGER "
        "AS partnum, "
        "t.tabid, coalesce(c.rowsize, 0)::SMALLINT AS rowsize, coalesce(c.ncols, 0)::SMALLINT AS ncols, "
        "coalesce(i.nindexes, 0)::SMALLINT AS nindexes, 0::DOUBLE AS nrows, t.created, "
        "(t.tabid * 65536 + 1)::INTEGER AS version, t.tabtype, t.locklevel, 0::DOUBLE AS npused, "
        "16::INTEGER AS fextsize, 16::INTEGER AS nextsize, t.flags::SMALLINT AS flags, t.site, "
        "NULL::VARCHAR AS dbname FROM {db}._ifx.tables t "
        "LEFT JOIN (SELECT tabid, count(*) AS ncols, least(sum(CASE WHEN collength > 0 THEN collength % "
        "32768 ELSE 0 "
        "END), 32767) AS rowsize FROM {db}._ifx.columns GROUP BY tabid) c ON c.tabid = t.tabid "
        "LEFT JOIN (SELECT tabid, count(*) AS nindexes FROM {db}._ifx.indexes GROUP BY tabid) i ON "
        "i.tabid = t.tabid "
        "WHERE t.tabtype <> 'H' ORDER BY t.tabid",
    ),
    "syscolumns": (
        "colname NVARCHAR(128), tabid INTEGER, colno SMALLINT, coltype SMALLINT, collength SMALLINT, "
        "colmin INTEGER, "
        "colmax INTEGER, extended_id INTEGER, seclabelid INTEGER, colattr SMALLINT",
        "SELECT colname, tabid, colno::SMALLINT AS colno, coltype::SMALLINT AS coltype, "
        "(CASE WHEN collength > 32767 THEN collength - 65536 ELSE collength END)::SMALLINT AS collength, "
        "NULL::INTEGER AS colmin, NULL::INTEGER AS colmax, extended_id, 0::INTEGER AS seclabelid, "
        "0::SMALLINT AS colattr FROM {db}._ifx.columns",
    ),
    "sysindexes": (
        "idxname NVARCHAR(128), owner CHAR(32), tabid INTEGER, idxtype CHAR(1), clustered CHAR(1), "
        + _PART_COLUMNS,
        "SELECT x.idxname, 'informix' AS owner, x.tabid, x.idxtype, '' AS clustered, "
        + _PARTS
        + " FROM {db}._ifx.indexes x",
    ),
    "sysconstraints": (
        "constrid SERIAL NOT NULL, constrname NVARCHAR(128), owner CHAR(32), tabid INTEGER, constrtype "
        "CHAR(1), "
        "idxname NVARCHAR(128), collation CHAR(32)",
        "SELECT constrid, constrname, 'informix' AS owner, tabid, constrtype, idxname, 'en_US.819' AS "
        "collation "
        "FROM {db}._ifx.constraints",
    ),
    "sysreferences": (
        'constrid INTEGER, "primary" INTEGER, ptabid INTEGER, updrule CHAR(1), delrule CHAR(1), '
        "matchtype CHAR(1), "
        "pendant CHAR(1)",
        "SELECT r.constrid, p.constrid AS \"primary\", r.ptabid, 'R' AS updrule, 'R' AS delrule, 'N' AS "
        "matchtype, "
        "'N' AS pendant FROM {db}._ifx.constraints r LEFT JOIN {db}._ifx.constraints p ON p.tabid = r.ptabid "
        "AND p.constrtype = 'P' WHERE r.constrtype = 'R'",
    ),
    "sysviews": (
        "tabid INTEGER, seqno SMALLINT, viewtext CHAR(64)",
        "SELECT tabid, n::SMALLINT AS seqno, substr(viewtext, n::INTEGER * 64 + 1, 64) AS viewtext FROM "
        "{db}._ifx.tables, "
        "range(0, 512) r(n) WHERE tabtype = 'V' AND n * 64 < length(viewtext)",
    ),
    "sysdefaults": (
        'tabid INTEGER, colno SMALLINT, type CHAR(1), "default" CHAR(254), class CHAR(1)',
        "SELECT tabid, colno::SMALLINT AS colno, defkind AS type, CASE WHEN defkind = 'L' THEN deftext "
        'END AS "default", '
        "'T' AS class FROM {db}._ifx.columns WHERE defkind IS NOT NULL",
    ),
    "sysxtdtypes": (
        "extended_id SERIAL NOT NULL, mode CHAR(1), owner CHAR(32), name NVARCHAR(128), type SMALLINT, "
        "source INTEGER, maxlen INTEGER, length INTEGER, byvalue CHAR(1), cannothash CHAR(1), align SMALLINT, "
        "locator INTEGER",
        "SELECT extended_id, mode, owner, name, type::SMALLINT AS type, source, length AS maxlen, length, "
        "'' AS byvalue, '' AS cannothash, 1::SMALLINT AS align, 0::INTEGER AS locator "
        "FROM {db}._ifx.xtdtypes ORDER BY extended_id",
    ),
    "sysattrtypes": (
        "extended_id INTEGER, seqno SMALLINT, levelno SMALLINT, parent_no SMALLINT, fieldname NVARCHAR(128), "
        "fieldno SMALLINT, type SMALLINT, length SMALLINT, xtd_type_id INTEGER",
        "SELECT extended_id, seqno::SMALLINT AS seqno, levelno::SMALLINT AS levelno, parent_no::SMALLINT AS "
        "parent_no, fieldname, fieldno::SMALLINT AS fieldno, type::SMALLINT AS type, "
        "(CASE WHEN length > 32767 THEN length - 65536 ELSE length END)::SMALLINT AS length, xtd_type_id "
        "FROM {db}._ifx.attrtypes ORDER BY extended_id, seqno",
    ),
}

# types that every database has: (extended_id, name, type code, length)
_BUILTIN_TYPES = (
    (1, "lvarchar", 40, 2048), (5, "boolean", 41, 1), (10, "blob", 41, 72), (11, "clob", 41, 72),
)  # fmt: skip

_MASTER_VIEWS: dict[str, tuple[str, str]] = {
    "sysdatabases": (
        "name NVARCHAR(128), partnum INTEGER, owner CHAR(32), created DATE, is_logging INTEGER, "
        "is_buff_log INTEGER, "
        "is_ansi INTEGER, is_nls INTEGER, flags INTEGER",
        "SELECT name, (1048577 + number)::INTEGER AS partnum, 'informix' AS owner, created, is_logging, "
        "is_buff_log, "
        "is_ansi, 0::INTEGER AS is_nls, 0::INTEGER AS flags FROM {db}._ifx.databases ORDER BY number",
    ),
    "sysdbslocale": (
        "dbs_dbsname NVARCHAR(128), dbs_collate CHAR(32)",
        "SELECT name AS dbs_dbsname, locale AS dbs_collate FROM {db}._ifx.databases ORDER BY number",
    ),
    "sysdual": ("dummy CHAR(1)", "SELECT 'X' AS dummy"),
}


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


def install(con: Writer, database: str, locale: str) -> None:
    """Give a new database its hidden schema, the system rows and the catalogue views. Idempotent."""
    create_hidden_schema(con, database)
    db = attached(database)
    master = database == "sysmaster"
    if master:
        con.execute(
            f"CREATE TABLE IF NOT EXISTS {db}._ifx.databases (number INTEGER, name VARCHAR, created DATE, "
            "is_logging INTEGER, is_buff_log INTEGER, is_ansi INTEGER, locale VARCHAR)"
        )
    row = first_row(con, f"SELECT count(*) FROM {db}._ifx.tables")
    if row and row[0]:
        return
    views = {**_VIEWS, **(_MASTER_VIEWS if master else {})}
    con.execute("BEGIN")
    names = [*_NAMES, *(_MASTER_VIEWS if master else ())]
    for tabid, name in enumerate(names, 1):
        declared, query = views.get(name, ("", ""))
        columns = _columns(declared) if declared else ()
        store_table(con, TableInfo(name, tabid, "T", columns, database, ""))
        if query:
            con.execute(f"CREATE VIEW {db}.main.{quote(name)} AS {query.format(db=db)}")
    for extended_id, name, code, length in _BUILTIN_TYPES:
        con.execute(
            f"INSERT INTO {db}._ifx.xtdtypes VALUES (?, 'B', 'informix', ?, ?, 0, ?, NULL)",
            [extended_id, name, code, length],
        )
    # the locale rows: what JDBC asks for right after opening the database (JDBC section 3)
    for tabid, name in ((90, " GL_COLLATE"), (91, " GL_CTYPE")):
        con.execute(
            f"INSERT INTO {db}._ifx.tables VALUES (?, ?, 'informix', '', current_date, NULL, '', ?, 0, NULL)",
            [tabid, name, locale],
        )
    con.execute(
        f"INSERT INTO {db}._ifx.tables VALUES (92, {text(' VERSION')}, 'informix', '', current_date, "
        f"NULL, '', NULL, 15, NULL)"
    )
    con.execute("COMMIT")
