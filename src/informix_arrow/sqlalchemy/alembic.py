"""Migrations: Alembic's operations in Informix's SQL, and the comparison of models with the database.

Importing this module registers the dialect with Alembic.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

from alembic.ddl import base, impl
from alembic.util import CommandError
from sqlalchemy import Column, String, inspect, text
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.schema import DefaultClause
from sqlalchemy.sql import quoted_name

from . import types
from .ddl import InformixDDLCompiler

if TYPE_CHECKING:
    from alembic.autogenerate.api import AutogenContext
    from sqlalchemy.types import TypeEngine

_SERIAL = re.compile(r"(SERIAL8?|BIGSERIAL)\([0-9]+\)")
_QUOTED_NUMBER = re.compile(r"'(-?[0-9.]+)'")


class InformixImpl(impl.DefaultImpl):
    """Alembic's operations. DDL is part of the transaction if the database has transactions."""

    __dialect__ = "informix"
    transactional_ddl = True

    def __init__(
        self, dialect: Any, connection: Any, as_sql: bool, transactional_ddl: bool | None, *args: Any
    ) -> None:
        if transactional_ddl is None and not as_sql:
            transactional_ddl = dialect.logged
        super().__init__(dialect, connection, as_sql, transactional_ddl, *args)

    def alter_column(
        self,
        table_name: str,
        column_name: str,
        *,
        nullable: bool | None = None,
        server_default: Any = False,
        name: str | None = None,
        type_: TypeEngine[Any] | None = None,
        schema: str | None = None,
        existing_type: TypeEngine[Any] | None = None,
        existing_server_default: Any = False,
        existing_nullable: bool | None = None,
        **kw: Any,
    ) -> None:
        """Change a column by one MODIFY, which repeats what stays, and then RENAME COLUMN.

        What the ``existing_`` arguments leave out is reflected. Raises CommandError in a script (``--sql``), which
        cannot do so.
        """
        if nullable is not None or type_ is not None or server_default is not False:
            unsaid = (
                (type_ is None and existing_type is None)
                or (nullable is None and existing_nullable is None)
                or (server_default is False and existing_server_default in (False, None))
            )
            found = self._reflected_column(table_name, column_name, schema) if unsaid else {}
            kind = type_ or found.get("type") or existing_type
            optional = nullable if nullable is not None else found.get("nullable", existing_nullable)
            default = server_default
            if default is False:
                stored = found.get("default")
                default = existing_server_default or (None if stored is None else text(stored))
            if kind is None or optional is None:
                raise CommandError(
                    f"MODIFY of {table_name}.{column_name} repeats the whole column definition. For a script, give "
                    "existing_type=, existing_nullable= and existing_server_default=."
                )
            self._exec(ModifyColumn(table_name, column_name, kind, optional, default, schema))
        if name is not None and name != column_name:
            self._exec(base.ColumnName(table_name, column_name, name, schema=schema))

    def _reflected_column(self, table: str, column: str, schema: str | None) -> Any:
        """Return a column as reflected from the database; nothing for a script."""
        if self.as_sql or self.connection is None:
            return {}
        columns = inspect(self.connection).get_columns(table, schema=schema)
        return next((each for each in columns if each["name"] == column), {})

    def compare_type(self, inspector_column: Column[Any], metadata_column: Column[Any]) -> bool:
        """Return whether the declarations differ. The first number of a SERIAL does not matter."""
        return self._declaration(inspector_column) != self._declaration(metadata_column)

    def _declaration(self, column: Column[Any]) -> str:
        return _SERIAL.sub(r"\1", self._compiler().declared_type(column))

    def _compiler(self) -> InformixDDLCompiler:
        make: Any = self.dialect.ddl_compiler
        compiler: InformixDDLCompiler = make(self.dialect, None)
        return compiler

    def compare_server_default(
        self,
        inspector_column: Column[Any],
        metadata_column: Column[Any],
        rendered_metadata_default: str | None,
        rendered_inspector_default: str | None,
    ) -> bool:
        """Return whether the defaults differ, in Informix's SQL."""
        return self._default(inspector_column) != self._default(metadata_column)

    def _default(self, column: Column[Any]) -> str | None:
        default = self._compiler().get_column_default_string(column)
        if default is None or default.strip("() ").upper() in ("NULL", ""):
            return None
        if not isinstance(column.type, String):
            default = _QUOTED_NUMBER.sub(r"\1", default.strip("() "))
        return default

    def render_type(self, type_obj: TypeEngine[Any], autogen_context: AutogenContext) -> str | Literal[False]:
        """Return types of this package with the import that they need."""
        if type(type_obj).__module__ != types.__name__:
            return False
        autogen_context.imports.add("import informix_arrow.sqlalchemy")
        return f"informix_arrow.sqlalchemy.{type_obj!r}"

    def emit_begin(self) -> None:
        """Begin a transaction in a script."""
        self.static_output(f"BEGIN WORK{self.command_terminator}")

    def emit_commit(self) -> None:
        """Commit in a script."""
        self.static_output(f"COMMIT WORK{self.command_terminator}")


class ModifyColumn(base.AlterTable):
    """The clause ``ALTER TABLE t MODIFY (column type DEFAULT value NOT NULL)``."""

    def __init__(
        self, table: str, column: str, type_: Any, nullable: bool, default: Any, schema: str | None
    ) -> None:
        super().__init__(table, schema=schema)
        self.column = Column(quoted_name(column, quote=None), type_, nullable=nullable, autoincrement=False)
        if default is not None and default is not False:
            clause = default
            if not isinstance(clause, DefaultClause):
                clause = DefaultClause(default)
            clause._set_parent(self.column)


@compiles(ModifyColumn, "informix")
def _modify(element: ModifyColumn, compiler: InformixDDLCompiler, **kw: Any) -> str:
    table = base.format_table_name(compiler, element.table_name, element.schema)
    return f"ALTER TABLE {table} MODIFY ({compiler.get_column_specification(element.column)})"


@compiles(base.AddColumn, "informix")
def _add(element: base.AddColumn, compiler: InformixDDLCompiler, **kw: Any) -> str:
    table = base.format_table_name(compiler, element.table_name, element.schema)
    column = compiler.get_column_specification(element.column)
    constraints = " ".join(compiler.process(constraint) for constraint in element.column.constraints)
    return f"ALTER TABLE {table} ADD ({f'{column} {constraints}'.strip()})"


@compiles(base.DropColumn, "informix")
def _drop(element: base.DropColumn, compiler: InformixDDLCompiler, **kw: Any) -> str:
    table = base.format_table_name(compiler, element.table_name, element.schema)
    return f"ALTER TABLE {table} DROP ({base.format_column_name(compiler, element.column.name)})"


@compiles(base.ColumnName, "informix")
def _rename_column(element: base.ColumnName, compiler: InformixDDLCompiler, **kw: Any) -> str:
    table = base.format_table_name(compiler, element.table_name, element.schema)
    old = base.format_column_name(compiler, element.column_name)
    return f"RENAME COLUMN {table}.{old} TO {base.format_column_name(compiler, element.newname)}"


@compiles(base.RenameTable, "informix")
def _rename_table(element: base.RenameTable, compiler: InformixDDLCompiler, **kw: Any) -> str:
    table = base.format_table_name(compiler, element.table_name, element.schema)
    return f"RENAME TABLE {table} TO {base.format_table_name(compiler, element.new_table_name, None)}"
