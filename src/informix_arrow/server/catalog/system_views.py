"""The catalogue tables of every database: columns as Informix declares them, and the query that returns their rows.

``{db}`` in a query stands for the database. Its hidden schema ``_ifx`` (catalog.py) holds the created objects.
``_ifx_...()`` is a function of the server (system_catalog.install_functions). DuckDB has no views of these: a statement
that names a table gets its query instead, which makes a new database cheap.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from ..types.quoting import quote_string
from . import capture_tables, empty_tables
from .empty_tables import View, empty
from .routine_tables import VIEWS as ROUTINE_VIEWS
from .trigger_tables import VIEWS as TRIGGER_VIEWS

INDEX_PARTS = 16
"""Maximum number of columns of an index. part1 to part16 of sysindexes are their numbers, negative if descending."""
_PARTS = ", ".join(f"part{n}" for n in range(1, INDEX_PARTS + 1))
_PART_COLUMNS = ", ".join(f"part{n} SMALLINT" for n in range(1, INDEX_PARTS + 1))

# Bytes of a column in its row, computed from type word and length.
_WIDTH = (
    "CASE coltype & 255 WHEN 5 THEN ((collength >> 8 & 255) + (collength & 1) + 3) // 2 "
    "WHEN 8 THEN ((collength >> 8 & 255) + (collength & 1) + 3) // 2 "
    "WHEN 10 THEN ((collength >> 8 & 255) + (collength & 1) + 3) // 2 "
    "WHEN 14 THEN ((collength >> 8 & 255) + (collength & 1) + 3) // 2 "
    "WHEN 13 THEN (collength & 255) + 1 WHEN 16 THEN (collength & 255) + 1 ELSE collength END"
)
PAGE = 2048
"""Bytes of a page."""
_LOG_PAGES = f"{(16 << 20) // PAGE}::INTEGER"  # DuckDB's checkpoint_threshold
_LOGS = "(SELECT unnest(_ifx_logs()) AS l)"
_LOG_NUMBER = "((l.uniqid - 1) % 32767 + 1)::SMALLINT"
_SHORT_LENGTH = "(CASE WHEN {0} > 32767 THEN {0} - 65536 ELSE {0} END)::SMALLINT"

_NOT_NULL_NUMBER = "(1073741824 + tabid * 2048 + colno)::INTEGER"
"""`not_null_number` in SQL."""


def not_null_number(tabid: int, colno: int) -> int:
    """Return the number of a NOT NULL constraint, which is derived from the column's number."""
    return (1 << 30) + tabid * 2048 + colno


_NOT_NULLS = "{db}._ifx.columns WHERE required AND tabid >= 100"

DATABASE_NUMBER = '(SELECT number FROM "d_sysmaster"._ifx.databases WHERE name = {name})'
"""Number of the dbspace of a database's tables. It is the upper part of their `partnum`."""
PARTITION_NUMBER_BASE = f"1048576 * {DATABASE_NUMBER} + "
_LAST_SPACE = 2047
"""The highest number of a dbspace. Fragments from before fragments had numbers of their own count down from here."""

VISIBLE_NAME = "split_part({column}, chr(31), 1)"
"""SQL for the name that clients see of an object, with the column of the stored name (owned_names.py)."""

# The name of an object as a statement has it, with or without double quotes (parse/stored_text.py).
_IDENTIFIER = (
    "CASE WHEN {name} = lower({name}) AND regexp_full_match({name}, '[\\pL_][\\pL\\pN_$]*') THEN {name} "
    """ELSE '"' || replace({name}, '"', '""') || '"' END"""
)

VIEW_COLUMNS = r' \((?:[^")]|"[^"]*")*\) as '
"""Regular expression, for Python and DuckDB, of what stands between the name of a view and its query in `viewtext`. A
name in double quotes may contain anything."""

# The query of a view without its literals.
_VIEW_QUERY = f"regexp_replace(substr(v.viewtext, 13 + length(v.tabname)), '^{VIEW_COLUMNS}', '')"
_WITHOUT_STRINGS = f"""regexp_replace({_VIEW_QUERY}, '''[^'']*''', ' ', 'g')"""

_INDEX_NAME = f"{VISIBLE_NAME.format(column='idxname')} AS idxname"

# Columns of systables that come from one row of the hidden table.
_TABLE_COLUMNS = {
    "tabname": VISIBLE_NAME.format(column="t.tabname"),
    "owner": "t.owner",
    "partnum": f"CASE WHEN t.tabtype = 'T' THEN {PARTITION_NUMBER_BASE}t.tabid ELSE 0 END::INTEGER",
    "tabid": "t.tabid",
    "nrows": "0::DOUBLE",
    "created": "t.created",
    "version": "((t.tabid % 32768) * 65536 + 1)::INTEGER",
    "tabtype": "t.tabtype",
    "locklevel": "t.locklevel",
    "npused": "0::DOUBLE",
    "fextsize": "coalesce((t.details::JSON->'storage'->>'extent')::INTEGER, 16)",
    "nextsize": "coalesce((t.details::JSON->'storage'->>'next')::INTEGER, 16)",
    "flags": "t.flags::SMALLINT",
    "site": "t.site",
    "dbname": "NULL::VARCHAR",
    "type_xid": "0::INTEGER",
    "am_id": "0::INTEGER",
    "pagesize": "2048::INTEGER",
    "ustlowts": "NULL::TIMESTAMP",
    "secpolicyid": "0::INTEGER",
    "protgranularity": "''",
    "statchange": "NULL::SMALLINT",
    "statlevel": "'A'",
}
# Columns that are counted over the whole catalogue.
_COUNTED = {
    "rowsize": "coalesce(c.rowsize, 0)::SMALLINT",
    "ncols": "coalesce(c.ncols, 0)::SMALLINT",
    "nindexes": "coalesce(i.nindexes, 0)::SMALLINT",
}
_COUNTS = (
    f"LEFT JOIN (SELECT tabid, count(*) AS ncols, least(sum({_WIDTH}), 32767) AS rowsize "
    "FROM {db}._ifx.columns GROUP BY tabid) c ON c.tabid = t.tabid "
    "LEFT JOIN (SELECT tabid, count(*) AS nindexes FROM {db}._ifx.indexes GROUP BY tabid) i ON i.tabid = t.tabid "
)


def tables_query(wanted: Collection[str]) -> str:
    """Return the query of systables with at least the wanted columns.

    A statement on systables often reads one row, and parsing the query of all columns would cost more than that.
    """
    expressions = {**_TABLE_COLUMNS, **_COUNTED, "stored_name": "t.tabname"}
    names = [name for name in expressions if name in wanted] or ["tabid"]
    counts = _COUNTS if _COUNTED.keys() & set(names) else ""
    columns = ", ".join(f"{expressions[name]} AS {name}" for name in names)
    return f"SELECT {columns} FROM {{db}}._ifx.tables t {counts}WHERE t.tabtype <> 'H'"


VIEWS: dict[str, View] = {
    "systables": (
        "tabname NVARCHAR(128), owner CHAR(32), partnum INTEGER, tabid SERIAL NOT NULL, rowsize SMALLINT, "
        "ncols SMALLINT, nindexes SMALLINT, nrows FLOAT, created DATE, version INTEGER, tabtype CHAR(1), "
        "locklevel CHAR(1), npused FLOAT, fextsize INTEGER, nextsize INTEGER, flags SMALLINT, site NVARCHAR(128), "
        "dbname NVARCHAR(128), type_xid INTEGER, am_id INTEGER, pagesize INTEGER, "
        "ustlowts DATETIME YEAR TO FRACTION(5), secpolicyid INTEGER, protgranularity CHAR(1), statchange SMALLINT, "
        "statlevel CHAR(1)",
        tables_query({*_TABLE_COLUMNS, *_COUNTED}),
    ),
    "syscolumns": (
        "colname NVARCHAR(128), tabid INTEGER, colno SMALLINT, coltype SMALLINT, collength SMALLINT, colmin INTEGER, "
        "colmax INTEGER, extended_id INTEGER, seclabelid INTEGER, colattr SMALLINT",
        "SELECT colname, tabid, colno::SMALLINT AS colno, coltype::SMALLINT AS coltype, "
        f"{_SHORT_LENGTH.format('collength')} AS collength, "
        "NULL::INTEGER AS colmin, NULL::INTEGER AS colmax, extended_id, 0::INTEGER AS seclabelid, "
        "0::SMALLINT AS colattr FROM {db}._ifx.columns",
    ),
    "sysindexes": (
        "idxname NVARCHAR(128), owner CHAR(32), tabid INTEGER, idxtype CHAR(1), clustered CHAR(1), "
        + _PART_COLUMNS
        + ", levels SMALLINT, leaves INTEGER, nunique INTEGER, clust INTEGER",
        f"SELECT {_INDEX_NAME}, owner, tabid, idxtype, '' AS clustered, "
        + _PARTS
        + ", NULL::SMALLINT AS levels, NULL::INTEGER AS leaves, NULL::INTEGER AS nunique, NULL::INTEGER AS clust "
        "FROM {db}._ifx.indexes",
    ),
    # indexkeys has a type of its own on a real server; cast to LVARCHAR it reads the same
    "sysindices": (
        "idxname NVARCHAR(128), owner CHAR(32), tabid INTEGER, idxtype CHAR(1), clustered CHAR(1), levels SMALLINT, "
        "leaves FLOAT, nunique FLOAT, clust FLOAT, nrows FLOAT, indexkeys LVARCHAR(2048), amid INTEGER, "
        "amparam LVARCHAR(2048), collation CHAR(32), pagesize INTEGER, nhashcols SMALLINT, nbuckets SMALLINT",
        f"SELECT {_INDEX_NAME}, owner, tabid, idxtype, '' AS clustered, NULL::SMALLINT AS levels, "
        "NULL::DOUBLE AS leaves, NULL::DOUBLE AS nunique, NULL::DOUBLE AS clust, NULL::DOUBLE AS nrows, "
        "array_to_string(list_transform(string_split(parts, ','), lambda p: p || ' [1]'), ', ') AS indexkeys, "
        "1::INTEGER AS amid, NULL::VARCHAR AS amparam, 'en_US.819' AS collation, 2048::INTEGER AS pagesize, "
        "0::SMALLINT AS nhashcols, 0::SMALLINT AS nbuckets FROM {db}._ifx.indexes",
    ),
    "sysconstraints": (
        "constrid SERIAL NOT NULL, constrname NVARCHAR(128), owner CHAR(32), tabid INTEGER, constrtype CHAR(1), "
        "idxname NVARCHAR(128), collation CHAR(32)",
        f"SELECT constrid, {VISIBLE_NAME.format(column='constrname')} AS constrname, owner, tabid, constrtype, "
        "idxname, 'en_US.819' AS collation "
        "FROM {db}._ifx.constraints",
    ),
    # A check depends on the columns that its text names outside of literals.
    "syscoldepend": (
        "constrid INTEGER, tabid INTEGER, colno SMALLINT",
        f"SELECT {_NOT_NULL_NUMBER} AS constrid, tabid, colno::SMALLINT AS colno FROM {_NOT_NULLS} UNION ALL "
        "SELECT c.constrid, c.tabid, n.colno::SMALLINT FROM {db}._ifx.constraints c JOIN "
        "(SELECT tabid, unnest(from_json(details::JSON -> '$.checks', "
        """'[{{"name": "VARCHAR", "informix": "VARCHAR"}}]')) AS k FROM {db}._ifx.tables """
        "WHERE details IS NOT NULL AND tabid >= 100) t ON t.tabid = c.tabid AND t.k.name = c.constrname "
        "JOIN {db}._ifx.columns n ON n.tabid = c.tabid AND list_contains(regexp_split_to_array(lower("
        """regexp_replace(t.k.informix, '''[^'']*''|"[^"]*"', ' ', 'g')), '[^[:word:]$]+'), n.colname) """
        "WHERE c.constrtype = 'C'",
    ),
    "sysreferences": (
        'constrid INTEGER, "primary" INTEGER, ptabid INTEGER, updrule CHAR(1), delrule CHAR(1), matchtype CHAR(1), '
        "pendant CHAR(1)",
        "SELECT constrid, pconstrid AS \"primary\", ptabid, 'R' AS updrule, coalesce(delrule, 'R') AS delrule, "
        "'N' AS matchtype, 'N' AS pendant FROM {db}._ifx.constraints WHERE constrtype = 'R'",
    ),
    "syschecks": (
        "constrid INTEGER, type CHAR(1), seqno SMALLINT, checktext CHAR(32)",
        "SELECT constrid, 'T' AS type, (n - 1)::SMALLINT AS seqno, piece AS checktext FROM "
        "(SELECT constrid, unnest(pieces) AS piece, generate_subscripts(pieces, 1) AS n FROM "
        "(SELECT c.constrid, _ifx_pieces('(' || k.informix || ')', 32) AS pieces FROM {db}._ifx.constraints c JOIN "
        "(SELECT tabid, unnest(from_json(details::JSON -> '$.checks', "
        """'[{{"name": "VARCHAR", "informix": "VARCHAR"}}]')) AS k FROM {db}._ifx.tables """
        "WHERE details IS NOT NULL AND tabid >= 100) t ON t.tabid = c.tabid AND t.k.name = c.constrname "
        "WHERE c.constrtype = 'C'))",
    ),
    "sysviews": (
        "tabid INTEGER, seqno SMALLINT, viewtext CHAR(64)",
        "SELECT tabid, (n - 1)::SMALLINT AS seqno, piece AS viewtext FROM "
        "(SELECT tabid, unnest(pieces) AS piece, generate_subscripts(pieces, 1) AS n FROM "
        "(SELECT tabid, _ifx_pieces('create view \"' || owner || '\".' || "
        + _IDENTIFIER.format(name=VISIBLE_NAME.format(column="tabname"))
        + " || substr(viewtext, 13 + length(tabname)) || "
        "CASE WHEN details::JSON ->> '$.checked' = 'true' THEN ' with check option' ELSE '' END, 64) AS pieces "
        "FROM {db}._ifx.tables WHERE tabtype = 'V'))",
    ),
    # A view depends on the tables that its text names outside of literals.
    "sysdepend": (
        "btabid INTEGER, btype CHAR(1), dtabid INTEGER, dtype CHAR(1)",
        "SELECT b.tabid AS btabid, b.tabtype AS btype, v.tabid AS dtabid, v.tabtype AS dtype FROM {db}._ifx.tables v "
        "JOIN {db}._ifx.tables b ON b.tabid <> v.tabid AND b.tabtype IN ('T', 'V') AND b.tabid >= 100 "
        f"AND (list_contains(regexp_split_to_array(lower({_WITHOUT_STRINGS}), '[^[:word:]$]+'), b.tabname) "
        f"""OR contains({_WITHOUT_STRINGS}, '"' || b.tabname || '"')) WHERE v.tabtype = 'V'""",
    ),
    # A literal default that is no text is preceded by its stored form and a blank.
    "sysdefaults": (
        'tabid INTEGER, colno SMALLINT, type CHAR(1), "default" CHAR(256), class CHAR(1)',
        "SELECT tabid, colno::SMALLINT AS colno, defkind AS type, CASE WHEN defkind <> 'L' THEN NULL "
        "WHEN coltype & 255 IN (0, 13, 15, 16, 40, 43) THEN deftext "
        "ELSE rtrim(to_base64(deftext::BLOB), '=') || ' ' || deftext END AS \"default\", "
        "'T' AS class FROM {db}._ifx.columns WHERE defkind IS NOT NULL",
    ),
    "sysfragments": (
        "fragtype CHAR(1), tabid INTEGER, indexname NVARCHAR(128), colno INTEGER, partn INTEGER, strategy CHAR(1), "
        "location CHAR(1), servername NVARCHAR(128), evalpos INTEGER, exprtext TEXT, exprbin BYTE, exprarr BYTE, "
        "flags INTEGER, dbspace NVARCHAR(128), levels SMALLINT, npused FLOAT, nrows FLOAT, clust FLOAT, "
        "partition NVARCHAR(128), version SMALLINT, nupdates FLOAT, ndeletes FLOAT, ninserts FLOAT",
        "SELECT 'T' AS fragtype, tabid, NULL::VARCHAR AS indexname, NULL::INTEGER AS colno, "
        f"CASE WHEN ps[n] IS NULL THEN 1048576 * ({_LAST_SPACE + 1} - n) + tabid "
        f"ELSE {PARTITION_NUMBER_BASE}ps[n] END::INTEGER AS partn, "
        "s->>'strategy' AS strategy, 'L' AS location, "
        "NULL::VARCHAR AS servername, (n - 1)::INTEGER AS evalpos, encode(f[2]) AS exprtext, "
        "NULL::BLOB AS exprbin, NULL::BLOB AS exprarr, "
        "0::INTEGER AS flags, f[1] AS dbspace, 0::SMALLINT AS levels, 0::DOUBLE AS npused, 0::DOUBLE AS nrows, "
        "0::DOUBLE AS clust, f[1] AS partition, 0::SMALLINT AS version, 0::DOUBLE AS nupdates, 0::DOUBLE AS ndeletes, "
        "0::DOUBLE AS ninserts FROM (SELECT tabid, s, ps, unnest(fs) AS f, generate_subscripts(fs, 1) AS n FROM "
        "(SELECT tabid, details::JSON->'storage' AS s, "
        "from_json(details::JSON -> '$.storage.fragments', '[[\"VARCHAR\"]]') AS fs, "
        "from_json(details::JSON -> '$.storage.parts', '[\"INTEGER\"]') AS ps "
        "FROM {db}._ifx.tables WHERE tabtype = 'T' AND tabid >= 100) WHERE s->>'strategy' <> '')",
    ),
    "syssyntable": (
        "tabid INTEGER, servername NVARCHAR(128), dbname NVARCHAR(128), owner CHAR(32), tabname NVARCHAR(128), "
        "btabid INTEGER",
        "SELECT s.tabid, NULL::VARCHAR AS servername, CASE WHEN s.there THEN NULL ELSE s.target[1] END AS dbname, "
        "CASE WHEN s.there THEN NULL ELSE 'informix' END AS owner, "
        f"CASE WHEN s.there THEN NULL ELSE {VISIBLE_NAME.format(column='s.target[2]')} END AS tabname, "
        "CASE WHEN s.there THEN b.tabid END AS btabid FROM (SELECT tabid, target, target[1] = {name} AS there "
        "FROM (SELECT tabid, from_json(details::JSON -> '$.stands for', '[\"VARCHAR\"]') AS target "
        "FROM {db}._ifx.tables WHERE tabtype IN ('P', 'S'))) s "
        "LEFT JOIN {db}._ifx.tables b ON s.there AND b.tabname = s.target[2] AND b.tabtype IN ('T', 'V')",
    ),
    "syssequences": (
        "seqid SERIAL NOT NULL, tabid INTEGER, start_val INT8, inc_val INT8, min_val INT8, max_val INT8, "
        'cycle CHAR(1), restart_val INT8, cache INTEGER, "order" CHAR(1)',
        "SELECT (tabid - 99)::INTEGER AS seqid, tabid, (q->>'start')::BIGINT AS start_val, "
        "(q->>'increment')::BIGINT AS inc_val, (q->>'low')::BIGINT AS min_val, (q->>'high')::BIGINT AS max_val, "
        "CASE WHEN (q->>'cycle')::BOOLEAN THEN '1' ELSE '0' END AS cycle, (q->>'restart')::BIGINT AS restart_val, "
        "(q->>'cache')::INTEGER AS cache, CASE WHEN (q->>'order')::BOOLEAN THEN '1' ELSE '0' END AS \"order\" "
        "FROM (SELECT tabid, details::JSON AS q FROM {db}._ifx.tables WHERE tabtype = 'Q')",
    ),
    "sysusers": (
        "username CHAR(32), usertype CHAR(1), priority SMALLINT, password CHAR(16), defrole CHAR(32)",
        "SELECT username, usertype, CASE usertype WHEN 'D' THEN 9 ELSE 5 END::SMALLINT AS priority, "
        "NULL::VARCHAR AS password, defrole FROM {db}._ifx.users",
    ),
    "systabauth": (
        "grantor CHAR(32), grantee CHAR(32), tabid INTEGER, tabauth CHAR(9)",
        "SELECT 'informix' AS grantor, 'public' AS grantee, tabid, 's--------' AS tabauth FROM {db}._ifx.tables "
        "WHERE tabid < 100 AND tabtype IN ('T', 'V') UNION ALL SELECT grantor, grantee, tabid, tabauth "
        "FROM {db}._ifx.tabauth",
    ),
    "syscolauth": (
        "grantor CHAR(32), grantee CHAR(32), tabid INTEGER, colno SMALLINT, colauth CHAR(3)",
        "SELECT a.grantor, a.grantee, a.tabid, c.colno::SMALLINT AS colno, a.colauth FROM {db}._ifx.colauth a "
        "JOIN {db}._ifx.columns c ON c.tabid = a.tabid AND c.colname = a.colname",
    ),
    # BYTE and TEXT are stored in the table's own space
    "sysblobs": (
        "spacename NVARCHAR(128), type CHAR(1), tabid INTEGER, colno SMALLINT",
        "SELECT 'rootdbs' AS spacename, 'M' AS type, tabid, colno::SMALLINT AS colno FROM {db}._ifx.columns "
        "WHERE tabid >= 100 AND coltype & 255 IN (11, 12)",
    ),
    "sysams": (
        "am_name NVARCHAR(128), am_owner CHAR(32), am_id SERIAL NOT NULL, am_type CHAR(1), am_sptype CHAR(3)",
        "SELECT 'btree' AS am_name, 'informix' AS am_owner, 1::INTEGER AS am_id, 'S' AS am_type, 'D' AS am_sptype",
    ),
    "sysroutinelangs": (
        "langid SERIAL NOT NULL, langname CHAR(30), langinitfunc NVARCHAR(128), langpath CHAR(255), langclass CHAR(18)",
        "SELECT 2::INTEGER AS langid, 'spl' AS langname, NULL::VARCHAR AS langinitfunc, NULL::VARCHAR AS langpath, "
        "NULL::VARCHAR AS langclass",
    ),
    "syscasts": empty(
        "owner CHAR(32), argument_type SMALLINT, argument_xid INTEGER, result_type SMALLINT, result_xid INTEGER, "
        "routine_name NVARCHAR(128), routine_owner CHAR(32), class CHAR(1)"
    ),
    "sysaggregates": empty(
        "name NVARCHAR(128), owner CHAR(32), aggid SERIAL NOT NULL, init_func NVARCHAR(255), iter_func NVARCHAR(255), "
        "combine_func NVARCHAR(255), final_func NVARCHAR(255), handlesnulls CHAR(1)"
    ),
    "sysxtddesc": empty("extended_id INTEGER, seqno SMALLINT, description CHAR(256)"),
    "sysprocplan": empty(
        "procid INTEGER, planid INTEGER, datakey CHAR(1), seqno INTEGER, created DATE, data CHAR(256)"
    ),
    "sysfragauth": empty(
        "grantor CHAR(32), grantee CHAR(32), tabid INTEGER, fragment NVARCHAR(128), fragauth CHAR(6)"
    ),
    "sysdirectives": empty("id SERIAL NOT NULL, active SMALLINT, directive CHAR(256), query CHAR(256)"),
    "sysinherits": empty("child INTEGER, parent INTEGER, class CHAR(1), seqno SMALLINT"),
    "syssynonyms": empty("owner CHAR(32), synname NVARCHAR(128), created DATE, tabid INTEGER"),
    "sysdistrib": empty(
        "tabid INTEGER, colno SMALLINT, seqno INTEGER, constructed DATE, mode CHAR(1), resolution FLOAT, "
        "confidence FLOAT, encdat CHAR(256), type CHAR(1)"
    ),
    "sysroleauth": (
        "rolename CHAR(32), grantee CHAR(32), is_grantable CHAR(1)",
        "SELECT rolename, grantee, is_grantable FROM {db}._ifx.roleauth",
    ),
    "sysviolations": empty("targettid INTEGER, viotid INTEGER, diatid INTEGER, maxrows INTEGER"),
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
        f"{_SHORT_LENGTH.format('length')} AS length, xtd_type_id "
        "FROM {db}._ifx.attrtypes ORDER BY extended_id, seqno",
    ),
    **ROUTINE_VIEWS,
    **TRIGGER_VIEWS,
    **empty_tables.VIEWS,
}

_PARTITION = (
    "partnum INTEGER, flags INTEGER, rowsize INTEGER, ncols SMALLINT, nkeys SMALLINT, nextns SMALLINT, "
    "pagesize SMALLINT, created INTEGER, serialv INTEGER, fextsiz INTEGER, nextsiz INTEGER, nptotal INTEGER, "
    "npused INTEGER, npdata INTEGER, octptnm INTEGER, lockid INTEGER, nrows BIGINT"
)
FULL_ROWS = 0x04000000
"""The bit of a partition's flags that marks a table whose rows are fully logged (CDC section 1)."""

MASTER_VIEWS: dict[str, View] = {
    "sysdatabases": (
        "name NVARCHAR(128), partnum INTEGER, owner CHAR(32), created DATE, is_logging INTEGER, is_buff_log INTEGER, "
        "is_ansi INTEGER, is_nls INTEGER, is_case_insens INTEGER, flags INTEGER",
        "SELECT name, (1048577 + number)::INTEGER AS partnum, coalesce(owner, 'informix') AS owner, created, "
        "is_logging, is_buff_log, "
        "is_ansi, 0::INTEGER AS is_nls, 0::INTEGER AS is_case_insens, (is_logging + 2 * is_buff_log + 4 * is_ansi)"
        "::INTEGER AS flags FROM {db}._ifx.databases ORDER BY number",
    ),
    "sysdbslocale": (
        "dbs_dbsname NVARCHAR(128), dbs_collate CHAR(32)",
        "SELECT name AS dbs_dbsname, locale AS dbs_collate FROM {db}._ifx.databases ORDER BY number",
    ),
    "sysdual": ("dummy CHAR(1)", "SELECT 'X' AS dummy"),
    "sysenv": (
        "env_id SERIAL NOT NULL, env_name VARCHAR(128), env_value VARCHAR(255)",
        "SELECT env_id, env_name, env_value FROM (VALUES (1::INTEGER, 'DB_LOCALE', 'en_US.819'), "
        "(2::INTEGER, 'SERVER_LOCALE', 'en_US.819'), "
        "(3::INTEGER, 'INFORMIXSERVER', _ifx_server_name())) e(env_id, env_name, env_value)",
    ),
    # There is one space. Each database occupies the size of its file.
    "sysdbspaces": (
        "dbsnum INTEGER, name CHAR(128), owner CHAR(32), pagesize INTEGER, fchunk INTEGER, nchunks INTEGER, "
        "is_mirrored INTEGER, is_blobspace INTEGER, is_sbspace INTEGER, is_temp INTEGER, flags INTEGER",
        f"SELECT 1::INTEGER AS dbsnum, 'rootdbs' AS name, 'informix' AS owner, {PAGE}::INTEGER AS pagesize, "
        "1::INTEGER AS fchunk, 1::INTEGER AS nchunks, 0::INTEGER AS is_mirrored, 0::INTEGER AS is_blobspace, "
        "0::INTEGER AS is_sbspace, 0::INTEGER AS is_temp, 1::INTEGER AS flags",
    ),
    "syschunks": (
        "chknum INTEGER, dbsnum INTEGER, nxchknum INTEGER, pagesize INTEGER, chksize INTEGER, offset INTEGER, "
        "nfree INTEGER, mdsize INTEGER, udsize INTEGER, udfree INTEGER, is_offline INTEGER, is_recovering INTEGER, "
        "is_blobchunk INTEGER, is_sbchunk INTEGER, is_inconsistent INTEGER, flags INTEGER, fname CHAR(256), "
        "mfname CHAR(256), moffset INTEGER, mis_offline INTEGER, mis_recovering INTEGER, mflags INTEGER",
        f"SELECT 1::INTEGER AS chknum, 1::INTEGER AS dbsnum, 0::INTEGER AS nxchknum, {PAGE}::INTEGER AS pagesize, "
        f"least(sum(total_blocks * block_size) // {PAGE}, 2147483647)::INTEGER AS chksize, 0::INTEGER AS offset, "
        f"least(sum(free_blocks * block_size) // {PAGE}, 2147483647)::INTEGER AS nfree, -1::INTEGER AS mdsize, "
        "-1::INTEGER AS udsize, -1::INTEGER AS udfree, 0::INTEGER AS is_offline, 0::INTEGER AS is_recovering, "
        "0::INTEGER AS is_blobchunk, 0::INTEGER AS is_sbchunk, 0::INTEGER AS is_inconsistent, 0::INTEGER AS flags, "
        "_ifx_directory() AS fname, NULL::VARCHAR AS mfname, 0::INTEGER AS moffset, 0::INTEGER AS mis_offline, "
        "0::INTEGER AS mis_recovering, 0::INTEGER AS mflags FROM pragma_database_size() "
        "WHERE starts_with(database_name, 'd_')",
    ),
    # Only parameters that match what this server does.
    "sysconfig": (
        "cf_id INTEGER, cf_name CHAR(128), cf_flags INTEGER, cf_original CHAR(256), cf_effective CHAR(256), "
        "cf_default CHAR(256)",
        "SELECT cf_id, cf_name, 0::INTEGER AS cf_flags, cf_effective AS cf_original, cf_effective, cf_default FROM "
        "(VALUES (1::INTEGER, 'ROOTNAME', 'rootdbs', 'rootdbs'), (2::INTEGER, 'DBSERVERNAME', _ifx_server_name(), "
        "_ifx_server_name()), (3::INTEGER, 'DBSERVERALIASES', '', ''), (4::INTEGER, 'ALLOW_NEWLINE', '0', '0'), "
        "(5::INTEGER, 'DEF_TABLE_LOCKMODE', 'page', 'page'), (6::INTEGER, 'USELASTCOMMITTED', 'NONE', 'NONE'), "
        "(7::INTEGER, 'LOGSIZE', '16384', '16384')) c(cf_id, cf_name, cf_effective, cf_default)",
    ),
    # A lock on a row that is identified by its primary key has no row number.
    "syslocks": (
        "dbsname NVARCHAR(128), tabname NVARCHAR(128), rowidlk INTEGER, keynum SMALLINT, type CHAR(4), owner INTEGER, "
        "waiter INTEGER",
        "SELECT l.dbsname, l.tabname, l.rowidlk, 0::SMALLINT AS keynum, l.type, l.owner, l.waiter "
        "FROM (SELECT unnest(_ifx_locks()) AS l) ORDER BY l.dbsname, l.tabname, l.owner",
    ),
    "syssessions": (
        "sid INTEGER, username CHAR(32), uid INTEGER, pid INTEGER, hostname CHAR(256), tty CHAR(16), "
        "connected INTEGER, feprogram VARCHAR(255), pooladdr BIGINT, is_wlatch INTEGER, is_wlock INTEGER, "
        "is_wbuff INTEGER, "
        "is_wckpt INTEGER, is_wlogbuf INTEGER, is_wtrans INTEGER, is_monitor INTEGER, is_incrit INTEGER, state INTEGER",
        "SELECT s.sid, s.username, 0::INTEGER AS uid, s.pid, s.hostname, '' AS tty, s.connected, s.feprogram, "
        "0::BIGINT AS pooladdr, 0::INTEGER AS is_wlatch, 0::INTEGER AS is_wlock, 0::INTEGER AS is_wbuff, "
        "0::INTEGER AS is_wckpt, 0::INTEGER AS is_wlogbuf, 0::INTEGER AS is_wtrans, 0::INTEGER AS is_monitor, "
        "0::INTEGER AS is_incrit, 0::INTEGER AS state FROM (SELECT unnest(_ifx_sessions()) AS s) ORDER BY s.sid",
    ),
    # DuckDB's write-ahead logs of all databases count as one log, number 1. It starts again after this many pages (a
    # checkpoint). The files of the change log follow it.
    "syslogs": (
        "number SMALLINT, uniqid INTEGER, size INTEGER, used INTEGER, is_used INTEGER, is_current INTEGER, "
        "is_backed_up INTEGER, is_new INTEGER, is_archived INTEGER, is_temp INTEGER, flags INTEGER",
        f"SELECT {_LOG_NUMBER} AS number, l.uniqid, {_LOG_PAGES} AS size, l.used, 1::INTEGER AS is_used, "
        "l.current AS is_current, 0::INTEGER AS is_backed_up, 0::INTEGER AS is_new, 0::INTEGER AS is_archived, "
        f"0::INTEGER AS is_temp, (1 + 2 * l.current)::INTEGER AS flags FROM {_LOGS} ORDER BY l.uniqid",
    ),
    "syslogfil": (
        "address INT8, number SMALLINT, flags INTEGER, fillstamp INTEGER, filltime INTEGER, uniqid INTEGER, "
        "chunk INTEGER, offset INTEGER, size INTEGER, used INTEGER",
        f"SELECT 0::BIGINT AS address, {_LOG_NUMBER} AS number, (1 + 2 * l.current)::INTEGER AS flags, "
        "0::INTEGER AS fillstamp, 0::INTEGER AS filltime, l.uniqid, 1::INTEGER AS chunk, 0::INTEGER AS offset, "
        f"{_LOG_PAGES} AS size, l.used FROM {_LOGS} ORDER BY l.uniqid",
    ),
    "systabnames": (
        "partnum INTEGER, dbsname NVARCHAR(128), owner CHAR(32), tabname NVARCHAR(128), collate CHAR(32)",
        "SELECT * FROM query(_ifx_of_all_databases('systabnames'))",
    ),
    "sysptnhdr": (_PARTITION, "SELECT * FROM query(_ifx_of_all_databases('sysptnhdr'))"),
    "systabinfo": (
        "ti_partnum INTEGER, ti_flags INTEGER, ti_rowsize SMALLINT, ti_ncols SMALLINT, ti_nkeys SMALLINT, "
        "ti_nextns INTEGER, ti_pagesize INTEGER, ti_created INTEGER, ti_serialv INTEGER, ti_fextsiz INTEGER, "
        "ti_nextsiz INTEGER, ti_nptotal INTEGER, ti_npused INTEGER, ti_npdata INTEGER, ti_octptr INTEGER, "
        "ti_nrows BIGINT",
        "SELECT partnum AS ti_partnum, flags AS ti_flags, rowsize::SMALLINT AS ti_rowsize, ncols AS ti_ncols, "
        "nkeys AS ti_nkeys, nextns::INTEGER AS ti_nextns, pagesize::INTEGER AS ti_pagesize, created AS ti_created, "
        "serialv AS ti_serialv, fextsiz AS ti_fextsiz, nextsiz AS ti_nextsiz, nptotal AS ti_nptotal, "
        "npused AS ti_npused, npdata AS ti_npdata, octptnm AS ti_octptr, nrows AS ti_nrows "
        "FROM query(_ifx_of_all_databases('sysptnhdr'))",
    ),
}

MASTER_VIEWS.update(empty_tables.master_views(MASTER_VIEWS["sysconfig"][1]))


def special_views(database: str) -> dict[str, View]:
    """Return the catalogue tables that only this database has."""
    special = {
        "sysmaster": MASTER_VIEWS,
        capture_tables.DATABASE: capture_tables.VIEWS,
        empty_tables.ADMIN: empty_tables.ADMIN_VIEWS,
    }
    return special.get(database, {})


def of_all_databases(view: str, databases: Iterable[tuple[str, str]]) -> str:
    """Return the query of systabnames or sysptnhdr over all `databases`, which are pairs of name and DuckDB name."""
    one = {"systabnames": _names_query, "sysptnhdr": _partitions_query}[view]
    return " UNION ALL ".join(one(name, db) for name, db in databases)


def _names_query(database: str, db: str) -> str:
    name = quote_string(database)
    return (
        f"SELECT ({PARTITION_NUMBER_BASE.format(name=name)}tabid)::INTEGER AS partnum, {name} AS dbsname, owner, "
        f"{VISIBLE_NAME.format(column='tabname')} AS tabname, 'en_US.819' AS collate FROM {db}._ifx.tables "
        "WHERE tabtype = 'T'"
    )


def _partitions_query(database: str, db: str) -> str:
    """Return the query of sysptnhdr's rows for one database.

    Row counts are DuckDB's. Page counts are the pages of `PAGE` bytes that so many rows would take. Extent sizes are in
    pages here, in systables in KB.
    """
    wanted = (
        "partnum",
        "tabid",
        "stored_name",
        "tabtype",
        "locklevel",
        "created",
        "rowsize",
        "ncols",
        "nindexes",
    )
    tables = tables_query([*wanted, "fextsize", "nextsize"]).format(db=db, name=quote_string(database))
    return (
        "SELECT t.partnum AS partnum, (CASE t.locklevel WHEN 'R' THEN 2 ELSE 1 END + "
        "CASE WHEN t.tabid < 100 THEN 4 ELSE 0 END + "
        f"CASE WHEN list_contains(f.tabids, t.tabid) THEN {FULL_ROWS} ELSE 0 END)::INTEGER "
        "AS flags, t.rowsize::INTEGER AS rowsize, "
        "t.ncols AS ncols, t.nindexes AS nkeys, 1::SMALLINT AS nextns, "
        f"{PAGE}::SMALLINT AS pagesize, epoch(t.created)::INTEGER AS created, NULL::INTEGER AS serialv, "
        f"(t.fextsize * 1024 // {PAGE})::INTEGER AS fextsiz, (t.nextsize * 1024 // {PAGE})::INTEGER AS nextsiz, "
        f"greatest(t.fextsize * 1024 // {PAGE}, pages)::INTEGER AS nptotal, pages::INTEGER AS npused, "
        "pages::INTEGER AS npdata, 0::INTEGER AS octptnm, t.partnum AS lockid, t.nrows AS nrows "
        f"FROM (SELECT *, least(ceil(nrows * rowsize / {PAGE}), 2147483647)::BIGINT AS pages FROM "
        f"(SELECT a.*, coalesce(d.estimated_size, 0)::BIGINT AS nrows FROM ({tables}) a LEFT JOIN duckdb_tables() d "
        f"ON d.database_name = {quote_string('d_' + database)} AND d.schema_name = 'main' "
        "AND d.table_name = a.stored_name "
        f"WHERE a.tabtype = 'T')) t, (SELECT _ifx_full_tables({quote_string(database)}) AS tabids) f"
    )


def system_table(name: str, db: str, database: str, wanted: Collection[str] | None = None) -> str:
    """Return the text in FROM for a catalogue table of the database that DuckDB calls `db`, with all columns or at
    least those `wanted`."""
    if name == "systables" and wanted is not None:
        query = tables_query(wanted)
    else:
        query = {**VIEWS, **special_views(database)}[name][1]
    return f"({query.format(db=db, name=quote_string(database))})"
