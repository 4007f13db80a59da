"""CREATE, ALTER, DROP and RENAME of views, synonyms and sequences."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from .catalog import (
    SEQUENCE,
    SYNONYMS,
    ColumnInfo,
    TableInfo,
    attached,
    first_row,
    quote,
    register_name,
    text,
)
from .ddl import register
from .errors import SqlError, no_table, not_supported
from .sql.ddl_nodes import CreateSynonym, CreateView, Drop, Rename, Sequence

if TYPE_CHECKING:
    from .session_state import SessionState

_LARGEST = 2**63 - 1
_NO_SYNONYM, _NO_SEQUENCE, _SEQUENCE_EXISTS = -218, -8300, -8301
_TEMPORARY, _IS_SYNONYM = -510, -559


# ---- views ---------------------------------------------------------------------------------------
def create_view(session: SessionState, statement: CreateView) -> int:
    if session.find_table(None, statement.name) is not None:
        if statement.if_not_exists:
            return 0
        raise SqlError(-310, 0, 0, statement.name)
    tree = session.parse(statement.query)
    translator = session.translator(0)
    sql, outputs = translator.query(tree)
    if translator.ctx.uses:
        raise not_supported("CURRENT, TODAY and session values in a view")
    names = statement.columns or [o.name for o in outputs]
    if len(names) != len(outputs):
        raise SqlError(-236)
    if any(n.startswith("(") for n in names) or len(set(names)) < len(names):
        raise SqlError(-249)
    types = session.output_types(sql, outputs)
    database = session.require_database()
    duck = f"{attached(database)}.main.{quote(statement.name)}"
    info = TableInfo(
        statement.name,
        session.new_tabid(),
        "V",
        tuple(ColumnInfo(n, t) for n, t in zip(names, types, strict=True)),
        database,
        duck,
        viewtext=f"create view {statement.name} ({', '.join(names)}) as {statement.query}",
        checked=statement.checked,
    )
    if statement.checked:
        session.view_target(info)  # -385 makes sense only where rows go through the view
    session.writer.execute(f"CREATE VIEW {duck} ({', '.join(quote(n) for n in names)}) AS {sql}")
    register(session, info)
    return 0


# ---- synonyms ------------------------------------------------------------------------------------
def create_synonym(session: SessionState, statement: CreateSynonym) -> int:
    """A name for a table or view of any database; one for another synonym stands for its table."""
    if _taken(session, statement.name):
        if statement.if_not_exists:
            return 0
        raise SqlError(-310, 0, 0, statement.name)
    target = session.find_table(statement.database, statement.table)
    if target is None:
        raise no_table(statement.table)
    if target.temporary:
        raise SqlError(_TEMPORARY, 0, 0, target.name)
    details = json.dumps({"stands for": [target.database, target.name]})
    kind = "P" if statement.private else "S"
    database = session.require_database()
    register_name(session.writer, database, statement.name, session.new_tabid(), kind, session.user, details)
    session.schema_changed()
    return 0


def _taken(session: SessionState, name: str) -> bool:
    """Whether anything that systables lists has this name."""
    if name in session.temp_tables:
        return True
    tables = f"{attached(session.require_database())}._ifx.tables"
    return first_row(session.con, f"SELECT 1 FROM {tables} WHERE tabname = ?", [name]) is not None


def _forget(session: SessionState, name: str, kinds: tuple[str, ...]) -> int:
    """Take a name out of systables; its tabid, 0 when there is none of these kinds."""
    tables = f"{attached(session.require_database())}._ifx.tables"
    among = ", ".join(map(text, kinds))
    row = first_row(
        session.con, f"SELECT tabid FROM {tables} WHERE tabname = ? AND tabtype IN ({among})", [name]
    )
    if row is None:
        return 0
    session.writer.execute(f"DELETE FROM {tables} WHERE tabid = ?", [row[0]])
    session.schema_changed()
    return int(row[0])


def drop(session: SessionState, statement: Drop) -> int:
    """DROP SYNONYM and DROP SEQUENCE."""
    if statement.kind == "SYNONYM":
        if not _forget(session, statement.name, SYNONYMS) and not statement.if_exists:
            raise SqlError(_NO_SYNONYM, 0, 0, statement.name)
        return 0
    known = session.find_sequence(None, statement.name)
    if known is not None:
        _forget(session, statement.name, (SEQUENCE,))
        session.writer.execute(f"DROP SEQUENCE {known.duck}")
    elif not statement.if_exists:
        raise SqlError(_NO_SEQUENCE, 0, 0, statement.name)
    return 0


# ---- sequences -----------------------------------------------------------------------------------
def sequence(session: SessionState, statement: Sequence) -> int:
    """CREATE SEQUENCE and ALTER SEQUENCE. Numbers go on beyond a rollback, and after the server's end."""
    database, name = session.require_database(), statement.name
    known = session.find_sequence(None, name)
    if statement.new:
        if known is not None and statement.if_not_exists:
            return 0
        if _taken(session, name):
            raise SqlError(_SEQUENCE_EXISTS if known is not None else -310, 0, 0, name)
        settings: dict[str, int | bool] = {
            "increment": 1,
            "cycle": False,
            "cache": 20,
            "order": False,
            "restart": 0,
        }
        tabid = session.new_tabid()
        duck = f"{attached(database)}.main.{quote(f'_sequence_{tabid}')}"
    else:
        if known is None:
            raise SqlError(_NO_SEQUENCE, 0, 0, name)
        settings, tabid, duck = dict(known.settings), known.tabid, known.duck
    for key in ("increment", "cycle", "cache", "order"):
        value = getattr(statement, key)
        if value is not None:
            settings[key] = value
    if not settings["increment"]:
        raise SqlError(-201, 0, 1, name, "INCREMENT BY 0")
    up = settings["increment"] > 0
    if statement.low is not None or statement.no_low or "low" not in settings:
        settings["low"] = statement.low if statement.low is not None else (1 if up else -_LARGEST)
    if statement.high is not None or statement.no_high or "high" not in settings:
        settings["high"] = statement.high if statement.high is not None else (_LARGEST if up else -1)
    first = settings["low"] if up else settings["high"]
    if statement.start is not None:
        begin = statement.start
        settings["start" if statement.new else "restart"] = begin
    elif statement.new:
        begin = first
    else:
        begin = _next(session, duck, settings)
    settings.setdefault("start", begin)
    if not settings["low"] <= begin <= settings["high"] or settings["low"] >= settings["high"]:
        raise SqlError(-201, 0, 1, name, "the start of a sequence is outside of its range")
    if not statement.new:
        session.writer.execute(f"DROP SEQUENCE {duck}")
        _forget(session, name, (SEQUENCE,))
    session.writer.execute(
        f"CREATE SEQUENCE {duck} INCREMENT BY {settings['increment']} MINVALUE {settings['low']} "
        f"MAXVALUE {settings['high']} START WITH {begin} {'CYCLE' if settings['cycle'] else 'NO CYCLE'}"
    )
    register_name(session.writer, database, name, tabid, SEQUENCE, session.user, json.dumps(settings))
    session.schema_changed()
    return 0


def _next(session: SessionState, duck: str, settings: dict[str, int | bool]) -> int:
    """Where an altered sequence goes on."""
    row = first_row(session.con, f"SELECT nextval({text(duck)})")
    assert row is not None
    return min(max(int(row[0]), int(settings["low"])), int(settings["high"]))


def rename_sequence(session: SessionState, statement: Rename) -> int:
    if session.find_sequence(None, statement.name) is None:
        raise SqlError(_NO_SEQUENCE, 0, 0, statement.name)
    if _taken(session, statement.new):
        raise SqlError(-310, 0, 0, statement.new)
    tables = f"{attached(session.require_database())}._ifx.tables"
    session.writer.execute(
        f"UPDATE {tables} SET tabname = ? WHERE tabname = ? AND tabtype = {text(SEQUENCE)}",
        [statement.new, statement.name],
    )
    session.schema_changed()
    return 0
