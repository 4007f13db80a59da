"""Compile CREATE, ALTER and DROP to Informix's SQL."""

from __future__ import annotations

from typing import Any

from sqlalchemy import exc
from sqlalchemy.sql import compiler

# The default of a foreign key: Informix refuses to change or delete a row that is referenced.
_REFUSES = ("NO ACTION", "RESTRICT")


_NOW = ("CURRENT_TIMESTAMP", "LOCALTIMESTAMP", "NOW()", "CURRENT", "CURRENT YEAR TO FRACTION(5)")
_TODAY = ("CURRENT_DATE", "TODAY")
_TRUTH = {"TRUE": "'t'", "FALSE": "'f'"}


def informix_default(default: str, declared: str) -> str:
    """Return the text after DEFAULT in a column of a declared type."""
    word = default.strip().upper()
    while word.startswith("(") and word.endswith(")"):
        word = word[1:-1].strip()
    if declared == "BOOLEAN":
        return _TRUTH.get(word, default)
    if declared.startswith("DATETIME ") and word in _NOW:
        return f"CURRENT {declared.removeprefix('DATETIME ')}"  # must have the column's own resolution
    if declared == "DATE" and word in _TODAY:
        return "TODAY"
    return default


class InformixDDLCompiler(compiler.DDLCompiler):
    """The compiler of definitions. In Informix, the name of a constraint follows its definition."""

    def get_column_specification(self, column: Any, **kw: Any) -> str:
        """Return ``name type [DEFAULT value] [NOT NULL]``. An autoincrement key is a SERIAL."""
        text = f"{self.preparer.format_column(column)} {self.declared_type(column)}"
        if column.computed is not None:
            raise exc.CompileError("Informix has no computed columns. Use a view.")
        default = self.get_column_default_string(column)
        if default is not None:
            text += f" DEFAULT {default}"
        return text if column.nullable else f"{text} NOT NULL"

    def declared_type(self, column: Any) -> str:
        """Return the declared type of a column: SERIAL or BIGSERIAL for an autoincrement one."""
        declared = self.dialect.type_compiler_instance.process(column.type, type_expression=column)
        if declared not in ("INTEGER", "BIGINT", "SMALLINT") or not self._is_autoincrement(column):
            return declared
        if declared == "SMALLINT":
            raise exc.CompileError(
                "SMALLINT cannot be numbered automatically. Use an INTEGER (SERIAL) or a BIGINT (BIGSERIAL)."
            )
        if column.identity is not None and column.identity.increment not in (None, 1):
            raise exc.CompileError("A SERIAL counts by one. Identity(increment=..) needs a Sequence.")
        start = None if column.identity is None else column.identity.start
        name = "SERIAL" if declared == "INTEGER" else "BIGSERIAL"
        return name if start in (None, 1) else f"{name}({start})"

    @staticmethod
    def _is_autoincrement(column: Any) -> bool:
        if column.identity is not None:
            return True
        table = column.table
        return (
            table is not None
            and column is table._autoincrement_column
            and column.server_default is None
            and (column.default is None or (column.default.is_sequence and column.default.optional))
        )

    def get_column_default_string(self, column: Any) -> str | None:
        """Return a literal, or one of the keywords that Informix allows: CURRENT, TODAY, USER, DBSERVERNAME, NULL.

        Standard SQL's CURRENT_TIMESTAMP, CURRENT_DATE, TRUE and FALSE are translated.
        """
        default = super().get_column_default_string(column)
        if default is None:
            return None
        declared = self.dialect.type_compiler_instance.process(column.type, type_expression=column)
        return informix_default(default, declared)

    # ---- tables ------------------------------------------------------------------------------------------------------

    def visit_create_table(self, create: Any, **kw: Any) -> str:
        """Return CREATE TABLE, with ``TEMP`` in place of ``TEMPORARY``."""
        text = str(super().visit_create_table(create, **kw))
        return text.replace("CREATE TEMPORARY TABLE", "CREATE TEMP TABLE", 1)

    def _generate_table_select(
        self, element: Any, type_: str, if_not_exists: bool | None = None, **kw: Any
    ) -> str:
        text = str(super()._generate_table_select(element, type_, if_not_exists, **kw))
        return text.replace("CREATE TEMPORARY TABLE", "CREATE TEMP TABLE", 1)

    # ---- constraints -------------------------------------------------------------------------------------------------

    def visit_primary_key_constraint(self, constraint: Any, **kw: Any) -> str:
        """``PRIMARY KEY (a, b) CONSTRAINT name``"""
        if not len(constraint):
            return ""
        columns = constraint.columns_autoinc_first if constraint._implicit_generated else constraint.columns
        return f"PRIMARY KEY ({self._names(columns)}){self._constraint_name(constraint)}"

    def visit_unique_constraint(self, constraint: Any, **kw: Any) -> str:
        """``UNIQUE (a, b) CONSTRAINT name``"""
        return (
            f"UNIQUE ({self._names(constraint)}){self._constraint_name(constraint)}"
            if len(constraint)
            else ""
        )

    def visit_foreign_key_constraint(self, constraint: Any, **kw: Any) -> str:
        """``FOREIGN KEY (a) REFERENCES t (b) [ON DELETE CASCADE] CONSTRAINT name``"""
        remote = next(iter(constraint.elements)).column.table
        return (
            f"FOREIGN KEY ({self._names(f.parent for f in constraint.elements)}) REFERENCES "
            f"{self.define_constraint_remote_table(constraint, remote, self.preparer)} "
            f"({self._names(f.column for f in constraint.elements)})"
            f"{self.define_constraint_match(constraint)}{self.define_constraint_cascades(constraint)}"
            f"{self._constraint_name(constraint)}"
        )

    def visit_check_constraint(self, constraint: Any, **kw: Any) -> str:
        """``CHECK (condition) CONSTRAINT name``"""
        condition = self.sql_compiler.process(constraint.sqltext, include_table=False, literal_binds=True)
        return f"CHECK ({condition}){self._constraint_name(constraint)}"

    def visit_column_check_constraint(self, constraint: Any, **kw: Any) -> str:
        """Return ``CHECK (condition) CONSTRAINT name``."""
        return self.visit_check_constraint(constraint, **kw)

    def visit_add_constraint(self, create: Any, **kw: Any) -> str:
        """``ALTER TABLE t ADD CONSTRAINT UNIQUE (a) CONSTRAINT name``"""
        constraint = create.element
        return f"ALTER TABLE {self.preparer.format_table(constraint.table)} ADD CONSTRAINT {self.process(constraint)}"

    def define_constraint_cascades(self, constraint: Any) -> str:
        """Return ON DELETE CASCADE, or nothing for the default. Raises CompileError for actions that Informix lacks."""
        text = ""
        if constraint.ondelete is not None:
            rule = constraint.ondelete.upper()
            if rule == "CASCADE":
                text = " ON DELETE CASCADE"
            elif rule not in _REFUSES:
                raise exc.CompileError(
                    f"Informix has no ON DELETE {rule}. Use CASCADE, or leave it out, which refuses the delete."
                )
        if constraint.onupdate is not None:
            rule = constraint.onupdate.upper()
            if rule not in _REFUSES:
                raise exc.CompileError(f"Informix has no ON UPDATE {rule}. It refuses the update.")
        return text

    def define_constraint_match(self, constraint: Any) -> str:
        """Return nothing. Raises CompileError for MATCH, which Informix lacks."""
        if constraint.match is not None:
            raise exc.CompileError(f"Informix has no MATCH {constraint.match}.")
        return ""

    def _names(self, columns: Any) -> str:
        return ", ".join(self.preparer.quote(column.name) for column in columns)

    def _constraint_name(self, constraint: Any) -> str:
        """Return the name after a constraint. Constraints can be deferred (SET CONSTRAINTS), but not initially."""
        if constraint.initially is not None and constraint.initially.upper() == "DEFERRED":
            raise exc.CompileError(
                "Informix has no INITIALLY DEFERRED. Use SET CONSTRAINTS ALL DEFERRED in the transaction."
            )
        name = None if constraint.name is None else self.preparer.format_constraint(constraint)
        return "" if name is None else f" CONSTRAINT {name}"

    # ---- sequences ---------------------------------------------------------------------------------------------------

    def get_identity_options(self, identity_options: Any) -> str:
        """Write NOMINVALUE, NOMAXVALUE and NOCYCLE as one word each."""
        text = str(super().get_identity_options(identity_options))
        for words in ("NO MINVALUE", "NO MAXVALUE", "NO CYCLE"):
            text = text.replace(words, words.replace(" ", ""))
        if identity_options.cache == 0:
            text = text.replace("CACHE 0", "NOCACHE")
        order = getattr(identity_options, "order", None)
        return text if order is None else f"{text} {'ORDER' if order else 'NOORDER'}".strip()

    # ---- not available in Informix -----------------------------------------------------------------------------------

    def visit_create_schema(self, create: Any, **kw: Any) -> str:
        """Raise CompileError: a schema of Informix is an owner, and owners are users."""
        raise exc.CompileError("Informix has owners in place of schemas. There is nothing to create.")

    def visit_drop_schema(self, drop: Any, **kw: Any) -> str:
        """Raise CompileError, as :meth:`visit_create_schema`."""
        raise exc.CompileError("Informix has owners in place of schemas. There is nothing to drop.")
