"""CREATE, ALTER, RENAME and DROP SEQUENCE."""

from __future__ import annotations

import json

from ....wire.quoting import double_quoted
from ...catalog import stored_names
from ...catalog.catalog import SEQUENCE, duck_database, first_row
from ...errors import SqlError
from ...parse.ddl_nodes import DefineSequence, DropObject, RenameObject
from ...types.quoting import quote_string
from .ddl_context import DdlContext

_LARGEST = 2**63 - 1
_NO_SEQUENCE, _SEQUENCE_EXISTS = -8300, -8301


def define(context: DdlContext, statement: DefineSequence) -> int:
    """CREATE SEQUENCE and ALTER SEQUENCE. A rollback or a restart of the server does not reset the numbers."""
    database, name = context.current_database.require(), statement.name
    known = context.tables.find_sequence(None, name)
    owner = statement.owner or context.privileges.acting_owner
    if statement.new:
        if known is not None and statement.if_not_exists:
            return 0
        if context.tables.is_name_taken(name):
            raise SqlError(_SEQUENCE_EXISTS if known is not None else -310, 0, 0, name)
        settings: dict[str, int | bool] = {
            "increment": 1,
            "cycle": False,
            "cache": 20,
            "order": False,
            "restart": 0,
        }
        tabid = context.new_tabid()
        duck = f"{duck_database(database)}.main.{double_quoted(f'_sequence_{tabid}')}"
    else:
        if known is None:
            raise SqlError(_NO_SEQUENCE, 0, 0, name)
        settings, tabid, duck = dict(known.settings), known.tabid, known.duck_name
    for key in ("increment", "cycle", "cache", "order"):
        value = getattr(statement, key)
        if value is not None:
            settings[key] = value
    if not settings["increment"]:
        raise SqlError(-201, 0, 1, name, "INCREMENT BY cannot be 0.")
    up = settings["increment"] > 0
    if statement.low is not None or statement.no_low or "low" not in settings:
        settings["low"] = statement.low if statement.low is not None else (1 if up else -_LARGEST)
    if statement.high is not None or statement.no_high or "high" not in settings:
        settings["high"] = statement.high if statement.high is not None else (_LARGEST if up else -1)
    first = settings["low"] if up else settings["high"]
    ended = False
    if statement.start is not None:
        begin = statement.start
        settings["start" if statement.new else "restart"] = begin
    elif statement.new:
        begin = first
    else:
        begin, ended = _next_value(context, tabid, settings)
    settings.setdefault("start", begin)
    if not settings["low"] <= begin <= settings["high"] or settings["low"] >= settings["high"]:
        raise SqlError(-201, 0, 1, name, "The start of a sequence is outside its range.")
    if not statement.new:
        owner = stored_names.owner_of(context.transaction.catalog, database, name) or owner
        context.transaction.recorder.execute(f"DROP SEQUENCE {duck}")
        context.remove_listed_name(name, (SEQUENCE,))
    context.transaction.recorder.execute(
        f"CREATE SEQUENCE {duck} INCREMENT BY {settings['increment']} MINVALUE {settings['low']} "
        f"MAXVALUE {settings['high']} START WITH {begin} {'CYCLE' if settings['cycle'] else 'NO CYCLE'}"
    )
    if ended:
        context.transaction.recorder.execute(f"SELECT nextval({quote_string(duck)})").fetchall()
    stored_names.register(
        context.transaction.recorder,
        database,
        name,
        tabid,
        SEQUENCE,
        owner,
        json.dumps(settings),
    )
    context.schema.mark_changed()
    return 0


def _next_value(context: DdlContext, tabid: int, settings: dict[str, int | bool]) -> tuple[int, bool]:
    """Return the next number of an altered sequence, and whether it was drawn already: the sequence is then at
    its end.
    """
    database, name = duck_database(context.current_database.require()).strip('"'), f"_sequence_{tabid}"
    row = first_row(
        context.transaction.catalog,
        "SELECT start_value, last_value, increment_by FROM duckdb_sequences() "
        f"WHERE database_name = {quote_string(database)} AND sequence_name = {quote_string(name)}",
    )
    assert row is not None
    low, high = int(settings["low"]), int(settings["high"])
    if row[1] is None:
        return min(max(int(row[0]), low), high), False
    following = int(row[1]) + int(row[2])
    if low <= following <= high:
        return following, False
    up = settings["increment"] > 0
    if settings["cycle"]:
        return (low if up else high), False
    return (high if up else low), True


def rename(context: DdlContext, statement: RenameObject) -> int:
    if context.tables.find_sequence(None, statement.name) is None:
        raise SqlError(_NO_SEQUENCE, 0, 0, statement.name)
    if context.tables.is_name_taken(statement.new):
        raise SqlError(-310, 0, 0, statement.new)
    stored_names.rename(
        context.transaction.recorder,
        context.current_database.require(),
        statement.name,
        statement.new,
        SEQUENCE,
    )
    context.schema.mark_changed()
    return 0


def drop(context: DdlContext, statement: DropObject) -> int:
    """DROP SEQUENCE."""
    known = context.tables.find_sequence(None, statement.name)
    if known is not None:
        context.remove_listed_name(statement.name, (SEQUENCE,))
        context.transaction.recorder.execute(f"DROP SEQUENCE {known.duck_name}")
    elif not statement.if_exists:
        raise SqlError(_NO_SEQUENCE, 0, 0, statement.name)
    return 0
