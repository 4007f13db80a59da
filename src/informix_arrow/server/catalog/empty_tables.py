"""Catalogue tables for kinds of objects and counters that this server does not have. Most have no rows.

The columns are those of IBM's Guide to SQL: Reference (system catalog), Administrator's Reference (sysmaster, sysadmin)
and, for sysmaster's internal tables, those that published DBA scripts select.
"""

from __future__ import annotations

View = tuple[str, str]
"""Declared columns, and the DuckDB query."""

_DUCK_TYPES = {
    "INTEGER": "INTEGER", "SERIAL": "INTEGER", "SMALLINT": "SMALLINT", "FLOAT": "DOUBLE", "DATE": "DATE",
    "CHAR": "VARCHAR", "NVARCHAR": "VARCHAR", "VARCHAR": "VARCHAR", "LVARCHAR": "VARCHAR", "DATETIME": "TIMESTAMP",
    "BIGINT": "BIGINT", "INTERVAL": "BIGINT",
}  # fmt: skip


def empty(declared: str) -> View:
    """Return a table without rows."""
    return declared, f"{zeros(declared, {})} WHERE false"


def zeros(declared: str, known: dict[str, str]) -> str:
    """Return a SELECT list of all columns: the known ones, 0 for other numbers, NULL for the rest."""
    items = []
    for column in declared.split(", "):
        name, kind = column.split(None, 2)[:2]
        duck = _DUCK_TYPES[kind.partition("(")[0]]
        zero = "NULL" if duck in ("VARCHAR", "DATE", "TIMESTAMP") else "0"
        items.append(f"CAST({known.get(name, zero)} AS {duck}) AS {name}")
    return f"SELECT {', '.join(items)}"


def _numbers(kind: str, *names: str) -> str:
    return ", ".join(f"{name} {kind}" for name in names)


_XA = _numbers(
    "INTEGER",
    *(
        f"xa_{name}"
        for name in (
            "flags", "version", "open", "close", "end", "rollback", "prepare", "commit", "recover", "forget",
            "complete",
        )
    ),
)  # fmt: skip
_SIXTEEN = range(1, 17)

VIEWS: dict[str, View] = {
    "sysopclstr": empty(
        "owner CHAR(32), clstrname NVARCHAR(128), clstrsize INTEGER, tabid INTEGER, "
        + _numbers("SMALLINT", *(f"blobcol{n}" for n in _SIXTEEN), *(f"clstrkey{n}" for n in _SIXTEEN))
    ),
    "syscolattribs": empty(
        "tabid INTEGER, colno SMALLINT, extentsize INTEGER, flags INTEGER, flags1 INTEGER, sbspace NVARCHAR(128)"
    ),
    "syslogmap": empty(_numbers("INTEGER", "tabloc", "tabid", "fragid", "flags")),
    "sysxtdtypeauth": empty("grantor CHAR(32), grantee CHAR(32), type INTEGER, auth CHAR(2)"),
    "syslangauth": empty("grantor CHAR(32), grantee CHAR(32), langid INTEGER, langauth CHAR(1)"),
    "systabamdata": empty("tabid INTEGER, am_param CHAR(256), am_space NVARCHAR(128)"),
    "sysopclasses": (
        "opclassname NVARCHAR(128), owner CHAR(32), amid INTEGER, opclassid SERIAL NOT NULL, ops LVARCHAR(2048), "
        "support LVARCHAR(2048)",
        "SELECT 'btree_ops' AS opclassname, 'informix' AS owner, 1::INTEGER AS amid, 1::INTEGER AS opclassid, "
        "'lessthan;lessthanorequal;equal;greaterthanorequal;greaterthan;' AS ops, 'compare;' AS support",
    ),
    "syserrors": empty(
        "sqlstate CHAR(5), locale CHAR(36), level SMALLINT, seqno SMALLINT, message NVARCHAR(255)"
    ),
    "systraceclasses": empty("name CHAR(18), classid SERIAL NOT NULL"),
    "systracemsgs": empty(
        "name NVARCHAR(128), msgid SERIAL NOT NULL, locale CHAR(36), seqno SMALLINT, message NVARCHAR(255)"
    ),
    "sysxasourcetypes": empty(
        f"xa_source_typeid SERIAL NOT NULL, xa_source_owner CHAR(32), xa_source_name NVARCHAR(128), {_XA}"
    ),
    "sysxadatasources": empty(
        "xa_datasrc_owner CHAR(32), xa_datasrc_rmid SERIAL NOT NULL, xa_datasrc_name NVARCHAR(128), "
        "xa_source_typeid INTEGER"
    ),
    "sysseclabelcomponents": empty(
        "compname NVARCHAR(128), compid SERIAL NOT NULL, comptype CHAR(1), numelements INTEGER, "
        "coveringinfo NVARCHAR(128), numalters SMALLINT"
    ),
    "sysseclabelcomponentelements": empty(
        "compid INTEGER, element NVARCHAR(32), elementencoding CHAR(8), parentelement NVARCHAR(32), "
        "alterversion SMALLINT"
    ),
    "syssecpolicies": empty(
        "secpolicyname NVARCHAR(128), secpolicyid SERIAL NOT NULL, numcomps SMALLINT, comptypelist CHAR(16), "
        "overrideseclabel CHAR(1)"
    ),
    "syssecpolicycomponents": empty("secpolicyid INTEGER, compid INTEGER, compno SMALLINT"),
    "syssecpolicyexemptions": empty(
        "grantor CHAR(32), grantee CHAR(32), secpolicyid INTEGER, exemption CHAR(6)"
    ),
    "sysseclabels": empty("secpolicyid INTEGER, seclabelid INTEGER, sysseclabel VARCHAR(128)"),
    "sysseclabelnames": empty("secpolicyid INTEGER, seclabelname NVARCHAR(128), seclabelid INTEGER"),
    "syssecpolicyauth": empty("grantor CHAR(32), grantee CHAR(32), secpolicyid INTEGER, policyauth CHAR(1)"),
    "syssurrogateauth": empty("trusteduser CHAR(32), surrogateuser CHAR(32)"),
    "sysdomains": empty("id SERIAL NOT NULL, owner CHAR(32), name NVARCHAR(128), type SMALLINT"),
}

_PROFILE = (
    "dskreads", "bufreads", "dskwrites", "bufwrites", "isamtot", "isopens", "isstarts", "isreads", "iswrites",
    "isrewrites", "isdeletes", "iscommits", "isrollbacks", "ovlock", "ovuser", "ovtrans", "latchwts", "bufwts",
    "lockreqs", "lockwts", "ckptwts", "deadlks", "lktouts", "numckpts", "plgpagewrites", "plgwrites", "llgrecs",
    "llgpagewrites", "llgwrites", "pagreads", "pagwrites", "flushes", "compress", "fgwrites", "lruwrites",
    "chunkwrites", "btraidx", "dpra", "rapgs_used", "seqscans", "totalsorts", "memsorts", "disksorts", "maxsortspace",
)  # fmt: skip
"""The names of sysprofile's rows."""

_COUNTERS = (
    "lockreqs", "lockwts", "deadlks", "lktouts", "isreads", "iswrites", "isrewrites", "isdeletes", "bufreads",
    "bufwrites", "seqscans", "pagreads", "pagwrites",
)  # fmt: skip
_SESSION_PROFILE = ", ".join(
    [
        _numbers("INTEGER", "sid", "lockreqs", "locksheld", "lockwts", "deadlks"),
        "lktouts SMALLINT",
        _numbers(
            "INTEGER", "logrecs", "isreads", "iswrites", "isrewrites", "isdeletes", "iscommits", "isrollbacks",
            "longtxs", "bufreads", "bufwrites", "seqscans", "pagreads", "pagwrites", "total_sorts", "dsksorts",
            "max_sortdiskspace", "logspused", "maxlogsp",
        ),
    ]
)  # fmt: skip
_TABLE_PROFILE = "dbsname CHAR(128), tabname CHAR(128), partnum INTEGER, " + _numbers("INTEGER", *_COUNTERS)
_PARTITION_COUNTERS = _numbers(
    "INTEGER", "partnum", "flags", "ucount", "physaddr", "ocount", "pf_rqlock", "pf_wtlock", "pf_deadlk",
    "pf_dltouts",
    "pf_lgrecs", "pf_isread", "pf_iswrite", "pf_isrwrite", "pf_isdelete", "pf_bfcread", "pf_bfcwrite", "pf_seqscans",
    "pf_dskreads", "pf_dskwrites",
)  # fmt: skip
_THREAD = "indx INTEGER, address BIGINT, txp BIGINT, flags INTEGER, scb BIGINT, tid INTEGER, sid INTEGER, " + _numbers(
    "INTEGER", "nlocks", "nreads", "nwrites", "upf_rqlock", "upf_wtlock", "upf_deadlk", "upf_lktouts", "upf_lgrecs",
    "upf_isread", "upf_iswrite", "upf_isrwrite", "upf_isdelete", "upf_iscommit", "upf_isrollback", "upf_longtxs",
    "upf_bufreads", "upf_bufwrites", "upf_seqscans", "upf_pagreads", "upf_pagwrites", "upf_totsorts", "upf_dsksorts",
)  # fmt: skip
_SESSION = (
    "address BIGINT, sid INTEGER, netscb BIGINT, sqscb BIGINT, username CHAR(32), uid INTEGER, pid INTEGER, "
    "hostname CHAR(256), connected INTEGER, memtotal INTEGER, memused INTEGER"
)
_TRANSACTION = (
    "tx_id INTEGER, tx_addr BIGINT, tx_flags INTEGER, tx_mutex BIGINT, tx_loguniq INTEGER, tx_logpos INTEGER, "
    "tx_lklist BIGINT, tx_lkmutex BIGINT, tx_owner BIGINT, tx_wtlist BIGINT, tx_ptlist BIGINT, tx_nlocks INTEGER, "
    "tx_lktout INTEGER, tx_isolation INTEGER, tx_longtx INTEGER"
)
_LOCK = (
    "lk_id INTEGER, lk_addr BIGINT, lk_same BIGINT, lk_wtlist BIGINT, lk_owner BIGINT, lk_list BIGINT, "
    "lk_type SMALLINT, lk_flags INTEGER, lk_bsize INTEGER, lk_keynum SMALLINT, lk_rowid INTEGER, lk_partnum INTEGER, "
    "lk_dipnum INTEGER, lk_grtime INTEGER"
)
_SPACE = (
    "address BIGINT, dbsnum INTEGER, flags INTEGER, fchunk INTEGER, nchunks INTEGER, pagesize INTEGER, "
    "name CHAR(128), owner CHAR(32), created INTEGER"
)
_CONFIG = (
    "cf_id INTEGER, cf_name CHAR(128), cf_flags INTEGER, cf_original CHAR(256), cf_effective CHAR(256), "
    "cf_default CHAR(256)"
)
_SESSIONS = "(SELECT unnest(_ifx_sessions()) AS s)"
_HELD = "(SELECT count(*) FROM (SELECT unnest(_ifx_locks()) AS l) WHERE l.owner = s.sid)"
_NAMES = "query(_ifx_of_all_databases('systabnames')) n"


def master_views(config: str) -> dict[str, View]:
    """Return sysmaster's tables of counters, which are 0 here, and its internal tables. `config` is the query of
    sysconfig."""
    return {
        "sysprofile": (
            "name CHAR(13), value INTEGER",
            f"SELECT unnest([{', '.join(repr(name) for name in _PROFILE)}]) AS name, 0::INTEGER AS value",
        ),
        "syssesprof": (
            _SESSION_PROFILE,
            f"{zeros(_SESSION_PROFILE, {'sid': 's.sid', 'locksheld': _HELD})} FROM {_SESSIONS} ORDER BY 1",
        ),
        "systrans": empty(_TRANSACTION),
        "syslocktab": empty(_LOCK),
        "syslcktab": empty(_LOCK),
        "sysextents": (
            "dbsname CHAR(128), tabname CHAR(128), chunk INTEGER, offset INTEGER, size INTEGER",
            "SELECT n.dbsname, n.tabname, 1::INTEGER AS chunk, 0::INTEGER AS offset, h.nptotal AS size "
            f"FROM {_NAMES} JOIN query(_ifx_of_all_databases('sysptnhdr')) h ON h.partnum = n.partnum",
        ),
        "sysptprof": (
            _TABLE_PROFILE,
            zeros(_TABLE_PROFILE, {"dbsname": "n.dbsname", "tabname": "n.tabname", "partnum": "n.partnum"})
            + f" FROM {_NAMES}",
        ),
        "sysptntab": (
            _PARTITION_COUNTERS,
            f"{zeros(_PARTITION_COUNTERS, {'partnum': 'n.partnum'})} FROM {_NAMES}",
        ),
        "sysrstcb": (
            _THREAD,
            zeros(_THREAD, {"indx": "s.sid", "scb": "s.sid", "sid": "s.sid", "nlocks": _HELD})
            + f" FROM {_SESSIONS} ORDER BY 1",
        ),
        "sysscblst": (
            _SESSION,
            zeros(
                _SESSION,
                {
                    "address": "s.sid",
                    **{n: f"s.{n}" for n in ("sid", "username", "pid", "hostname", "connected")},
                },
            )
            + f" FROM {_SESSIONS} ORDER BY 1",
        ),
        "sysdbstab": (
            _SPACE,
            zeros(
                _SPACE,
                {
                    "dbsnum": "1",
                    "flags": "1",
                    "fchunk": "1",
                    "nchunks": "1",
                    "pagesize": "2048",
                    "name": "'rootdbs'",
                    "owner": "'informix'",
                },
            ),
        ),
        "syscfgtab": (_CONFIG, config),
    }


ADMIN = "sysadmin"
"""The database of the scheduler. Its tables are empty: there is none here."""

ADMIN_VIEWS: dict[str, View] = {
    "ph_task": empty(
        "tk_id SERIAL NOT NULL, tk_name CHAR(36), tk_description LVARCHAR(2048), tk_type CHAR(18), "
        "tk_sequence INTEGER, tk_result_table VARCHAR(128), tk_create LVARCHAR(2048), tk_dbs VARCHAR(250), "
        "tk_execute LVARCHAR(2048), tk_delete INTERVAL DAY(2) TO SECOND, tk_start_time DATETIME HOUR TO SECOND, "
        "tk_stop_time DATETIME HOUR TO SECOND, "
        "tk_frequency INTERVAL DAY(2) TO SECOND, tk_next_execution DATETIME YEAR TO SECOND, "
        "tk_total_executions INTEGER, tk_total_time FLOAT, "
        "tk_monday CHAR(1), tk_tuesday CHAR(1), tk_wednesday CHAR(1), tk_thursday CHAR(1), tk_friday CHAR(1), "
        "tk_saturday CHAR(1), tk_sunday CHAR(1), tk_attributes INTEGER, tk_group VARCHAR(128), tk_enable CHAR(1), "
        "tk_priority INTEGER"
    ),
    "ph_run": empty(
        "run_id SERIAL NOT NULL, run_task_id INTEGER, run_task_seq INTEGER, run_retcode INTEGER, "
        "run_time DATETIME YEAR TO SECOND, "
        "run_duration FLOAT, run_ztime INTEGER, run_btime INTEGER, run_mttime INTEGER"
    ),
    "ph_group": empty("group_id SERIAL NOT NULL, group_name VARCHAR(129), group_description LVARCHAR(2048)"),
    "ph_alert": empty(
        "id SERIAL NOT NULL, alert_task_id INTEGER, alert_task_seq INTEGER, alert_type CHAR(8), "
        "alert_color CHAR(15), "
        "alert_time DATETIME YEAR TO SECOND, alert_state CHAR(15), "
        "alert_state_changed DATETIME YEAR TO SECOND, alert_object_type CHAR(15), "
        "alert_object_name VARCHAR(255), alert_message LVARCHAR(2048), alert_action_dbs LVARCHAR(257), "
        "alert_action LVARCHAR(2048), alert_object_info BIGINT"
    ),
    "ph_threshold": empty(
        "id SERIAL NOT NULL, name CHAR(30), task_name CHAR(36), value LVARCHAR(1024), value_type CHAR(18), "
        "description LVARCHAR(2048)"
    ),
    "ph_version": empty("object VARCHAR(255), type VARCHAR(255), value INTEGER"),
    "command_history": empty(
        "cmd_number SERIAL NOT NULL, cmd_exec_time DATETIME YEAR TO SECOND, cmd_user VARCHAR(254), "
        "cmd_hostname VARCHAR(254), "
        "cmd_executed VARCHAR(254), cmd_ret_status INTEGER, cmd_ret_msg LVARCHAR(30000)"
    ),
}
