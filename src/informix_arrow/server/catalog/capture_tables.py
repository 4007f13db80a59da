"""The tables of syscdcv1, the database of change data capture (docs/protocol/CDC.md, the parts)."""

from __future__ import annotations

from ..types.quoting import quote_string

DATABASE = "syscdcv1"
LOCALE = "en_US.57372"

ERRORS: tuple[tuple[int, str, str], ...] = (
    (0, "CDC_E_OK", "No error"),
    (-83701, "CDC_E_NOCDCDB", "The database of change capture is not there"),
    (-83702, "CDC_E_APIVERS", "The version of the interface is not supported"),
    (-83703, "CDC_E_NODB", "There is no such database"),
    (-83704, "CDC_E_DBNOTLOGGED", "The database has no log"),
    (-83705, "CDC_E_NOTAB", "There is no such table"),
    (-83706, "CDC_E_TABPROPERTIES", "The table cannot be captured, or its rows are not logged in full"),
    (-83707, "CDC_E_NOCOL", "There is no such column, or it cannot be captured"),
    (-83708, "CDC_E_NOSES", "There is no such session"),
    (-83709, "CDC_E_NOREOPEN", "A session cannot be opened again"),
    (-83710, "CDC_E_TABCAPTURED", "The session captures the table already"),
    (-83711, "CDC_E_TABNOTCAPTURED", "The session does not capture the table"),
    (-83712, "CDC_E_ARGNULL", "An argument is NULL"),
    (-83713, "CDC_E_LSN", "The position is not in the log"),
    (-83714, "CDC_E_DIRECTION", "The log cannot be read in that direction"),
    (-83715, "CDC_E_DUPLSESS", "The session is active already"),
    (-83720, "CDC_E_ARG", "An argument is wrong"),
    *((-83720 - n, f"CDC_E_ARG{n}", f"Argument {n} is wrong") for n in range(1, 7)),
    (-83790, "CDC_E_LOGREC", "A record of the log cannot be read"),
)
"""Number, name and meaning of each error."""

ERRORS_BY_NAME = {name: number for number, name, _ in ERRORS}

_RECORDS = (
    (1, "BEGINTX", "A transaction begins"),
    (2, "COMMTX", "A transaction is committed"),
    (3, "RBTX", "A transaction is rolled back"),
    (40, "INSERT", "A row was inserted"),
    (41, "DELETE", "A row was deleted"),
    (42, "UPDBEF", "A row before an update"),
    (43, "UPDAFT", "A row after an update"),
    (62, "DISCARD", "Changes of a transaction were undone"),
    (119, "TRUNCATE", "A table was truncated"),
    (200, "TABSCHEM", "The columns of a table"),
    (201, "TIMEOUT", "There was nothing to read"),
    (202, "ERROR", "Nothing more can be read"),
)


def _values(rows: list[str], columns: str) -> str:
    return f"SELECT * FROM (VALUES {', '.join(rows)}) v({columns})"


SESSION_ROW = "STRUCT(sessid INTEGER, seqnum BIGINT, timeout INTEGER, createtime BIGINT, status INTEGER)"
TABLE_ROW = (
    "STRUCT(sessid INTEGER, dbname VARCHAR, tabname VARCHAR, owner VARCHAR, startutc BIGINT, userdata INTEGER, "
    "fixedbytes INTEGER, numfixed INTEGER, fixedcols VARCHAR, numvar INTEGER, varcols VARCHAR)"
)
"""Rows that `_ifx_capture_sessions()` and `_ifx_captured_tables()` return."""

VIEWS: dict[str, tuple[str, str]] = {
    "syscdcvers": ("majvers INTEGER, minvers INTEGER", "SELECT 1::INTEGER AS majvers, 1::INTEGER AS minvers"),
    "syscdcsess": (
        "sessid INTEGER, majvers INTEGER, minvers INTEGER, seqnum BIGINT, timeout INTEGER, createtime BIGINT, "
        "flags INTEGER, status INTEGER, errcode INTEGER, errutc BIGINT",
        "SELECT s.sessid, 1::INTEGER AS majvers, 1::INTEGER AS minvers, s.seqnum, s.timeout, s.createtime, "
        "0::INTEGER AS flags, s.status, 0::INTEGER AS errcode, 0::BIGINT AS errutc "
        "FROM (SELECT unnest(_ifx_capture_sessions()) AS s) ORDER BY s.sessid",
    ),
    "syscdctabs": (
        "sessid INTEGER, dbname VARCHAR(128), tabname VARCHAR(128), owner CHAR(32), seqnum BIGINT, startutc BIGINT, "
        "userdata INTEGER, fixedbytes INTEGER, numfixed INTEGER, fixedcols LVARCHAR(2048), numvar INTEGER, "
        "varcols LVARCHAR(2048), flags INTEGER, status INTEGER",
        "SELECT t.sessid, t.dbname, t.tabname, t.owner, 0::BIGINT AS seqnum, t.startutc, t.userdata, t.fixedbytes, "
        "t.numfixed, t.fixedcols, t.numvar, t.varcols, 0::INTEGER AS flags, 0::INTEGER AS status "
        "FROM (SELECT unnest(_ifx_captured_tables()) AS t) ORDER BY t.sessid, t.userdata",
    ),
    "syscdcerrcodes": (
        "errcode INTEGER, errname VARCHAR(32), errdesc VARCHAR(127)",
        _values(
            [
                f"({number}::INTEGER, {quote_string(name)}, {quote_string(said)})"
                for number, name, said in ERRORS
            ],
            "errcode, errname, errdesc",
        ),
    ),
    "syscdcrectypes": (
        "recnum INTEGER, recname VARCHAR(16), recdesc VARCHAR(127)",
        _values(
            [
                f"({number}::INTEGER, {quote_string(f'CDC_REC_{name}')}, {quote_string(said)})"
                for number, name, said in _RECORDS
            ],
            "recnum, recname, recdesc",
        ),
    ),
    "syscdcpacketschemes": (
        "schemenum INTEGER, schemename VARCHAR(32), schemedesc VARCHAR(127)",
        "SELECT 66::INTEGER AS schemenum, 'CDC_PKTSCHEME_LRECBINARY' AS schemename, "
        "'Records of the log, in binary' AS schemedesc",
    ),
}
"""Declared columns and query of each table, in the form of system_views.VIEWS."""
