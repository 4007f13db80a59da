"""Named ROW types, DISTINCT types, and the numbers of unnamed types (sysxtdtypes, sysattrtypes)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ...wire.types import FLAG_NOT_NULL, ColumnType, TypeCode
from ..catalog import stored_types
from ..catalog.catalog import declared_text, find_type
from ..errors import SqlError
from ..parse.ddl_nodes import CreateType, DropType
from ..parse.ddl_types import UNRESOLVED
from ..types.nested_types import (
    UserDefinedType,
    declare,
    distinct,
    element_type,
    is_nested,
    is_row,
    named_row,
    row_fields,
)
from .current_database import CurrentDatabase
from .numbers import ObjectNumbers
from .schema_version import SessionSchema
from .transaction import SessionTransaction

_ROW_EXISTS, _DISTINCT_EXISTS = -9991, -9996
_ROW_IN_USE, _IN_USE = -9990, -9630
_ROW_MISSING, _MISSING = -9992, -9628


@dataclass(eq=False, repr=False)
class UserTypes:
    """The types of a session's open database, as its transaction sees them."""

    _transaction: SessionTransaction
    _database: CurrentDatabase
    _schema: SessionSchema
    _numbers: ObjectNumbers

    def find(self, name: str) -> ColumnType | None:
        """Find a named type; None if there is none."""
        con = self._transaction.catalog
        return self._transaction.read(lambda: find_type(con, self._database.require(), name))

    def resolve(self, t: ColumnType) -> ColumnType:
        """Return the type that DDL refers to, looked up by name, or numbered if it has parts but no name.

        -9628 if unknown.
        """
        if t.extended_id != UNRESOLVED:
            return t
        resolved = declare(t.extended_name, self.find)
        if isinstance(resolved, UserDefinedType) and is_nested(resolved) and not resolved.extended_id:
            resolved = self._with_number(resolved)
        return replace(resolved, flags=resolved.flags | (t.flags & FLAG_NOT_NULL))

    def _with_number(self, t: UserDefinedType) -> UserDefinedType:
        number = stored_types.number_of(self._transaction.recorder, self._database.require(), t)
        if number is not None:
            return replace(t, extended_id=number)
        numbered = replace(t, extended_id=self._numbers.new_type_id(self._database.require()))
        self._store(numbered, " " if is_row(t) else "C", None, t.extended_name)
        return numbered

    def _store(self, t: UserDefinedType, mode: str, name: str | None, definition: str) -> None:
        attributes = _attributes(t) if mode != "D" and is_nested(t) else []
        writer, database = self._transaction.recorder, self._database.require()
        stored_types.store(writer, database, t, mode, name, definition, attributes)

    # ---- DDL --------------------------------------------------------------------------------
    def create(self, statement: CreateType) -> int:
        """CREATE ROW TYPE, CREATE DISTINCT TYPE: -9991 or -9996 if the name is taken."""
        existing = self.find(statement.name)
        if existing is not None:
            if statement.if_not_exists:
                return 0
            raise SqlError(_ROW_EXISTS if is_row(existing) else _DISTINCT_EXISTS, 0, 0, statement.name)
        number = self._numbers.new_type_id(self._database.require())
        if statement.kind == "ROW":
            parts = declare(statement.definition, self.find)
            assert isinstance(parts, UserDefinedType)
            created = named_row(statement.name, parts.definition, number)
            self._store(created, "R", statement.name, parts.definition)
        else:
            source = declare(statement.definition, self.find)
            if source.code in (TypeCode.SERIAL, TypeCode.SERIAL8, TypeCode.BIGSERIAL):
                raise SqlError(
                    _MISSING, 0, 0, source.sql.lower(), "A DISTINCT type cannot be based on a serial type."
                )
            created = distinct(statement.name, source, number)
            self._store(created, "D", statement.name, declared_text(source))
        self._schema.mark_changed()
        return 0

    def drop(self, statement: DropType) -> int:
        """DROP ROW TYPE, DROP TYPE: -9992 or -9628 if unknown, -9990 or -9630 while a table has a column of it."""
        t = self.find(statement.name)
        if t is None or (statement.kind == "ROW" and not is_row(t)):
            if statement.if_exists:
                return 0
            raise SqlError(_ROW_MISSING if statement.kind == "ROW" else _MISSING, 0, 0, statement.name)
        writer, database = self._transaction.recorder, self._database.require()
        temporary = any(
            c.type.extended_id == t.extended_id
            for info in self._schema.temp_tables.values()
            for c in info.columns
        )
        if temporary or stored_types.is_used(writer, database, t.extended_id):
            raise SqlError(_ROW_IN_USE if is_row(t) else _IN_USE, 0, 0, statement.name)
        stored_types.forget(writer, database, t.extended_id)
        self._schema.mark_changed()
        return 0


def _attributes(t: ColumnType) -> list[tuple[object, ...]]:
    """Return the rows of sysattrtypes without the type's id: the parts of a type, and below each its own parts."""
    rows: list[tuple[object, ...]] = []

    def add(member_of: ColumnType, level: int, parent: int) -> None:
        members = row_fields(member_of) if is_row(member_of) else ((None, element_type(member_of)),)
        for position, (name, member) in enumerate(members, 1):
            number = len(rows) + 1
            rows.append(
                (
                    number,
                    level,
                    parent,
                    name,
                    position,
                    member.word,
                    member.encoded_length,
                    member.extended_id,
                )
            )
            if is_nested(member) and not member.extended_id:
                add(member, level + 1, number)

    add(t, 1, 0)
    return rows
