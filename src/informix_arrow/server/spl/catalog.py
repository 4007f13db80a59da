"""Routines in the catalogue: CREATE and DROP, and what sysprocedures and its sisters show of them.

The text is what counts; it is read again when a routine is first called. All of it lives in the hidden schema, in
the transaction of the statement.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..catalog import Writer, attached, declared_text, first_row
from ..conversions import arrow_storage
from ..errors import SqlError, not_supported
from ..sql.nested_types import is_nested
from . import codes
from .nodes import DropRoutine, Routine
from .registry import Callee

if TYPE_CHECKING:
    from ..engine_session import EngineSession


SCHEMA = """
CREATE TABLE IF NOT EXISTS {db}._ifx.procedures (procid INTEGER, procname VARCHAR, owner VARCHAR, specific VARCHAR,
    isproc BOOLEAN, dba BOOLEAN, variant BOOLEAN, handlesnulls BOOLEAN, numargs INTEGER, signature VARCHAR,
    delimident BOOLEAN, created TIMESTAMP, body VARCHAR, document VARCHAR);
CREATE TABLE IF NOT EXISTS {db}._ifx.proccolumns (procid INTEGER, paramid INTEGER, paramname VARCHAR, declared VARCHAR,
    paramtype INTEGER, paramlen INTEGER, paramxid INTEGER, paramattr INTEGER);
CREATE TABLE IF NOT EXISTS {db}._ifx.procbody (procid INTEGER, datakey VARCHAR, seqno INTEGER, data VARCHAR);
"""
"""Tables of the hidden schema (catalog.create_hidden_schema)."""

_PIECE = 256

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
        "SELECT owner AS grantor, 'public' AS grantee, procid, 'e' AS procauth FROM {db}._ifx.procedures "
        "WHERE NOT dba",
    ),
}
"""Catalogue tables: columns as Informix declares them, and the query over the hidden schema
(system_catalog.install)."""

_INPUT, _INOUT, _MANY_RETURNED, _OUT, _RETURNED = 1, 2, 3, 4, 5


def max_procid(con: Writer, database: str) -> int:
    """The highest number of a routine; the first ones belong to a real server's own."""
    row = first_row(con, f"SELECT coalesce(max(procid), 0) FROM {attached(database)}._ifx.procedures")
    return max(_FIRST - 1, int(row[0]) if row else 0)


_FIRST = 100


def run(session: EngineSession, statement: Routine | DropRoutine) -> int:
    """CREATE or DROP of a routine, inside `session.write`."""
    if isinstance(statement, Routine):
        _create(session, statement)
    else:
        _drop(session, statement)
    session.schema_changed()
    return 0


def _create(session: EngineSession, routine: Routine) -> None:
    database = session.require_database()
    callee = session.routines.callee(routine, 0)
    for t in (*(p.type for p in callee.parameters), *(t for _, t in callee.returns)):
        arrow_storage(t)  # -9628 for a type that has no values here
    if any(is_nested(t) for _, t in callee.returns):
        raise not_supported("RETURNING of collections and ROWs")
    types = [p.type for p in callee.parameters]
    for other in session.routines.named(routine.name):
        if other.routine is not None and [p.type.code for p in other.parameters] == [t.code for t in types]:
            if routine.if_not_exists:
                return
            if not routine.or_replace:
                raise SqlError(codes.SAME_SIGNATURE, 0, 0, routine.name)
            _forget(session, other.procid)
    if routine.specific and _specific(session, routine.specific):
        raise SqlError(codes.SAME_SIGNATURE, 0, 0, routine.specific)
    procid = session.engine.new_procid(database)
    db = attached(database)
    session.writer.execute(
        f"INSERT INTO {db}._ifx.procedures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        [
            procid, routine.name, session.user, routine.specific or routine.name, routine.kind == "PROCEDURE",
            routine.dba, "not variant" not in routine.modifiers, "handlesnulls" in routine.modifiers, len(types),
            ",".join(declared_text(t).lower() for t in types), session.delimident, session.now, routine.text,
            routine.document or None,
        ],
    )  # fmt: skip
    _store_columns(session, callee, procid)
    for key, text in (("T", routine.text), ("D", routine.document)):
        for number, piece in enumerate(_pieces(text, session.codec), 1):
            session.writer.execute(
                f"INSERT INTO {db}._ifx.procbody VALUES (?, ?, ?, ?)", [procid, key, number, piece]
            )


def _pieces(text: str, codec: str) -> Iterator[str]:
    """A text in pieces that CHAR(256) holds, no character of it in two."""
    data = text.encode(codec, "replace")
    while data:
        piece = data[:_PIECE].decode(codec, "ignore")
        yield piece
        data = data[len(piece.encode(codec)) :]


def _store_columns(session: EngineSession, callee: Callee, procid: int) -> None:
    modes = {"": _INPUT, "INOUT": _INOUT, "OUT": _OUT}
    returned = _MANY_RETURNED if len(callee.returns) > 1 else _RETURNED
    # JDBC takes what is returned to come first, and the parameters behind it
    rows = [("" if name == "(expression)" else name, t, returned) for name, t in callee.returns]
    rows += [(p.name, p.type, modes[p.mode]) for p in callee.parameters]
    for number, (name, t, attribute) in enumerate(rows, 1):
        session.writer.execute(
            f"INSERT INTO {attached(session.require_database())}._ifx.proccolumns VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [procid, number, name, declared_text(t), t.word, t.encoded_length, t.extended_id, attribute],
        )


def _specific(session: EngineSession, name: str) -> int | None:
    row = first_row(
        session.writer,
        f"SELECT procid FROM {attached(session.require_database())}._ifx.procedures WHERE specific = ?",
        [name],
    )
    return int(row[0]) if row else None


def _forget(session: EngineSession, procid: int) -> None:
    for table in ("procedures", "proccolumns", "procbody"):
        session.writer.execute(
            f"DELETE FROM {attached(session.require_database())}._ifx.{table} WHERE procid = ?", [procid]
        )


def _drop(session: EngineSession, statement: DropRoutine) -> None:
    """-674 for one that does not exist; the arguments' types must be given where the name has several."""
    if statement.specific:
        procid = _specific(session, statement.name)
        found = [] if procid is None else [procid]
    else:
        wanted = None if statement.types is None else [session.types.resolve(t).code for t in statement.types]
        found = [
            callee.procid
            for callee in session.routines.named(statement.name)
            if callee.routine is not None
            and (statement.kind == "ROUTINE" or statement.kind == callee.routine.kind)
            and (wanted is None or wanted == [p.type.code for p in callee.parameters])
        ]
    if not found and statement.if_exists:
        return
    if len(found) != 1:
        detail = f"{len(found)} routines of this name: give the types of the arguments" if found else ""
        raise SqlError(codes.NO_ROUTINE, 0, 0, statement.name, detail)
    _forget(session, found[0])
