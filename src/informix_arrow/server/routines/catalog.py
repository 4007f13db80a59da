"""CREATE and DROP of routines in the catalogue.

The catalogue stores the text, which is parsed again at a routine's first call. All of it is in the hidden schema, as
part of the statement's transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...wire.types import ColumnType
from ..catalog import privileges, stored_routines
from ..catalog.stored_routines import StoredRoutine
from ..errors import SqlError, not_supported
from ..parse.spl import codes
from ..parse.spl.nodes import DropRoutine, Routine
from ..session.session_services import SessionServices
from ..types.conversions import arrow_storage
from ..types.nested_types import is_nested
from .registry import RoutineRegistry

_BODY_CHUNK = 256
_NOT_OWNER = -635


def run(parts: SessionServices, registry: RoutineRegistry, statement: Routine | DropRoutine) -> int:
    """Execute CREATE or DROP of a routine inside `SessionTransaction.write`."""
    if isinstance(statement, Routine):
        _create(parts, registry, statement)
    else:
        _drop(parts, registry, statement)
    parts.schema.mark_changed()
    return 0


def _create(parts: SessionServices, registry: RoutineRegistry, routine: Routine) -> None:
    database, environment, writer = (
        parts.current_database.require(),
        parts.environment,
        parts.transaction.recorder,
    )
    owner = parts.tables.owner(routine.name)
    is_others = owner != parts.privileges.acting_owner
    parts.privileges.require_level(privileges.DBA if routine.dba or is_others else privileges.RESOURCE)
    callee = registry.make_callee(routine, 0, owner)
    for t in (*(p.type for p in callee.parameters), *(t for _, t in callee.returns)):
        arrow_storage(t)  # raises -9628 for a type that the server cannot store
    if any(is_nested(t) for _, t in callee.returns):
        raise not_supported("RETURNING of collections and ROWs")
    types = [p.type for p in callee.parameters]
    for other in registry.find_named(routine.name):
        if other.routine is not None and [p.type.code for p in other.parameters] == [t.code for t in types]:
            if routine.if_not_exists:
                return
            if not routine.or_replace:
                raise SqlError(codes.SAME_SIGNATURE, 0, 0, routine.name)
            parts.privileges.require_owner(other.owner, routine.name, _NOT_OWNER)
            stored_routines.forget(writer, database, other.procid)
    if routine.specific and _of_specific(parts, routine.specific, owner) is not None:
        raise SqlError(codes.SAME_SIGNATURE, 0, 0, routine.specific)
    procid = parts.numbers.new_procid(database)
    stored = StoredRoutine(
        procid,
        str(routine.name),
        owner,
        str(routine.specific or routine.name),
        routine.kind == "PROCEDURE",
        routine.dba,
        "not variant" not in routine.modifiers,
        "handlesnulls" in routine.modifiers,
        tuple((p.name, p.type, p.mode) for p in callee.parameters),
        callee.returns,
        environment.delimident,
        parts.values.now,
        routine.text,
        routine.document,
    )
    pieces = [
        (key, number, piece)
        for key, text in (("T", routine.text), ("D", routine.document))
        for number, piece in enumerate(_split_text(text, environment.codec), 1)
    ]
    stored_routines.store(writer, database, stored, pieces)
    if not (routine.dba or parts.current_database.record.ansi or environment.no_default_access):
        privileges.set_routine_grant(writer, database, procid, owner, privileges.PUBLIC, "e")


def _of_specific(parts: SessionServices, name: str, owner: str = "") -> tuple[int, str] | None:
    """Return number and owner of a routine by its specific name, which is unique by owner in a MODE ANSI database."""
    con, database = parts.transaction.catalog, parts.current_database.require()
    wanted = (owner or parts.tables.owner(name)) if parts.tables.is_ansi else None
    return stored_routines.of_specific(con, database, str(name), wanted)


def _split_text(text: str, codec: str) -> Iterator[str]:
    """Split a text into pieces for CHAR(256), never inside a character."""
    data = text.encode(codec, "replace")
    while data:
        piece = data[:_BODY_CHUNK].decode(codec, "ignore")
        yield piece
        data = data[len(piece.encode(codec)) :]


def find_routines(
    parts: SessionServices,
    registry: RoutineRegistry,
    name: str,
    types: Sequence[ColumnType] | None,
    *,
    specific: bool,
) -> list[tuple[int, str]]:
    """Return number and owner of the database's routines with a name, or with a `specific` name.

    If `types` is given, only routines with these argument types count.
    """
    if not specific:
        return [
            (callee.procid, callee.owner)
            for callee in registry.find_named(name)
            if callee.routine is not None
            and (types is None or [t.code for t in types] == [p.type.code for p in callee.parameters])
        ]
    found = _of_specific(parts, name)
    return [] if found is None else [found]


def _drop(parts: SessionServices, registry: RoutineRegistry, statement: DropRoutine) -> None:
    """Drop a routine. Raises -674 if it does not exist. If the name has several routines, the argument types are
    required."""
    database, writer = parts.current_database.require(), parts.transaction.recorder
    if statement.specific:
        specific = _of_specific(parts, statement.name)
        found = [] if specific is None else [specific[0]]
    else:
        type_codes = (
            None if statement.types is None else [parts.types.resolve(t).code for t in statement.types]
        )
        found = [
            callee.procid
            for callee in registry.find_named(statement.name)
            if callee.routine is not None
            and (statement.kind == "ROUTINE" or statement.kind == callee.routine.kind)
            and (type_codes is None or type_codes == [p.type.code for p in callee.parameters])
        ]
    if not found and statement.if_exists:
        return
    if len(found) != 1:
        detail = f"{len(found)} routines of this name: give the types of the arguments" if found else ""
        raise SqlError(codes.NO_ROUTINE, 0, 0, statement.name, detail)
    owner = stored_routines.owner(writer, database, found[0])
    if owner is not None:
        parts.privileges.require_owner(owner, statement.name, _NOT_OWNER)
    stored_routines.forget(writer, database, found[0])
