"""Parser of the statements that are not queries: CREATE, DROP, ALTER, BEGIN, SET and others.

It is hand-written over the dialect's tokens, because Informix puts constraint names after constraints and storage
clauses everywhere, and because every rejection should name what is not supported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from ..errors import not_supported
from ..types.result_types import SERIALS, not_null
from .ddl_nodes import (
    AddColumn,
    AddConstraint,
    AlterAction,
    AlterTable,
    ChangeStorage,
    ColumnDef,
    ConstraintDef,
    CreateIndex,
    CreateSynonym,
    CreateTable,
    CreateType,
    CreateView,
    DefineSequence,
    DropColumn,
    DropConstraint,
    ModifyColumn,
    StorageOptions,
)
from .ddl_types import TypeParser

T = TypeVar("T")


class DdlParser(TypeParser):
    """Parses one statement."""

    def constraint(
        self,
        kind: str,
        columns: list[str],
        condition: str = "",
        parent: str = "",
        parent_columns: Sequence[str] = (),
        *,
        cascade: bool = False,
    ) -> ConstraintDef:
        """Parse `[CONSTRAINT name] [ENABLED | DISABLED | FILTERING ..]` behind a constraint."""
        name = self.constraint_name() if self.accept("CONSTRAINT") else ""
        made = ConstraintDef(kind, columns, name, condition, parent, list(parent_columns), cascade)
        made.disabled = not self.object_mode(or_none=True)
        return made

    def object_mode(self, *, or_none: bool = False) -> bool:
        """Parse ENABLED, DISABLED or FILTERING with its options. Return whether the object is in effect.

        With `or_none` there may be none of them.
        """
        if self.accept("DISABLED"):
            return False
        if self.accept("FILTERING"):
            if self.accept("WITH") or self.accept("WITHOUT"):
                self.expect("ERROR")
        elif not or_none:
            self.expect("ENABLED")
        else:
            self.accept("ENABLED")
        return True

    def not_null_mode(self) -> None:
        """Parse `[CONSTRAINT name] [ENABLED]` behind NOT NULL."""
        if self.accept("CONSTRAINT"):
            self.object_name()
        if self.word == "DISABLED":
            raise not_supported("DISABLED NOT NULL constraints", -201, self.token.start + 1)
        self.object_mode(or_none=True)

    def column(self, constraints: list[ConstraintDef]) -> ColumnDef:
        """Parse one column definition. Its constraints are appended to `constraints`."""
        name = self.identifier()
        t, first = self.column_type()
        self.storage_space()
        column = ColumnDef(name, not_null(t) if t.code in SERIALS else t, None, first)
        while True:
            if self.accept("DEFAULT"):
                column.default = self.default(column.type)
            elif self.accept("NOT", "NULL"):
                column.type = not_null(column.type)
                self.not_null_mode()
            elif self.accept("NULL"):
                pass
            elif self.accept("PRIMARY", "KEY") or self.accept("PRIMARY KEY"):
                column.type = not_null(column.type)
                constraints.append(self.constraint("P", [name]))
            elif self.accept("UNIQUE") or self.accept("DISTINCT"):
                constraints.append(self.constraint("U", [name]))
            elif self.accept("CHECK"):
                text = self.parenthesised()
                constraints.append(self.constraint("C", [name], text))
            elif self.accept("REFERENCES"):
                constraints.append(self.references([name]))
            else:
                return column

    def references(self, columns: list[str]) -> ConstraintDef:
        parent = self.table_name()
        parent_columns = self.identifier_list() if self.word == "(" else []
        cascade = self.accept("ON", "DELETE", "CASCADE")
        made = self.constraint("R", columns, "", parent, parent_columns, cascade=cascade)
        made.no_validate = self.accept("NOVALIDATE")
        return made

    def table_constraint(self) -> ConstraintDef | None:
        if self.accept("PRIMARY", "KEY") or self.accept("PRIMARY KEY"):
            columns = self.identifier_list()
            return self.constraint("P", columns)
        if self.word in ("UNIQUE", "DISTINCT") and self.peek() == "(":
            self.index += 1
            columns = self.identifier_list()
            return self.constraint("U", columns)
        if self.word == "CHECK" and self.peek() == "(":
            self.index += 1
            text = self.parenthesised()
            return self.constraint("C", [], text)
        if self.accept("FOREIGN", "KEY") or self.accept("FOREIGN KEY"):
            columns = self.identifier_list()
            self.expect("REFERENCES")
            return self.references(columns)
        return None

    # ---- statements ---------------------------------------------------------------------------
    def create_table(self, temporary: bool) -> CreateTable:
        exists = self.accept("IF", "NOT", "EXISTS")
        name = self.table_name()
        table = CreateTable(name, temporary, [], [], exists, owner=name.owner)
        if self.accept("AS"):
            table.query = self.parenthesised() if self.word == "(" else self.remaining_text()
            table.storage = self.storage()
            return table
        self.expect("(")
        while True:
            constraint = self.table_constraint()
            if constraint is not None:
                table.constraints.append(constraint)
            else:
                table.columns.append(self.column(table.constraints))
            if not self.accept(","):
                break
        self.expect(")")
        table.storage = self.storage()
        if not table.columns:
            raise self.syntax_error()
        return table

    def storage(self) -> StorageOptions:
        """Parse storage clauses, which matter only for the catalogue. Anything else is a syntax error."""
        found = StorageOptions()
        while not self.at_end:
            if self.accept("WITH"):
                if not (
                    self.accept("NO", "LOG")
                    or self.accept("ROWIDS")
                    or self.accept("CRCOLS")
                    or self.accept("AUDIT")
                ):
                    raise self.syntax_error()
            elif self.accept("PUT"):
                self._lob_storage()
            elif self.accept("LOCK", "MODE"):
                found.lock = self._lock_mode()
            elif self.accept("STATCHANGE"):
                if not self.accept("AUTO"):
                    self.integer()
            elif self.accept("STATLEVEL"):
                if not (self.accept("TABLE") or self.accept("FRAGMENT") or self.accept("AUTO")):
                    raise self.syntax_error()
            elif not self._storage_clause(found):
                raise self.syntax_error()
        return found

    def _storage_clause(self, found: StorageOptions) -> bool:
        """Parse one clause about the storage of a table or index. Return False if there is none here."""
        if self.accept("IN"):
            found.fragments = [(self.identifier(), "")]
        elif self.accept("EXTENT", "SIZE"):
            found.extent = self.integer()
        elif self.accept("NEXT", "SIZE"):
            found.next = self.integer()
        elif self.accept("FRAGMENT", "BY") or self.accept("PARTITION", "BY") or self.accept("PARTITION BY"):
            self._fragments(found)
        else:
            return self.accept("COMPRESSED")
        return True

    def storage_clause(self) -> StorageOptions:
        """Parse `IN dbspace` or `FRAGMENT BY ...` of ALTER FRAGMENT."""
        found = StorageOptions()
        if not self._storage_clause(found):
            raise self.syntax_error()
        return found

    def _lock_mode(self) -> str:
        """Parse after LOCK MODE. Return the first letter of ROW, PAGE or TABLE."""
        paren = self.accept("(")
        word = self.word
        if word not in ("ROW", "PAGE", "TABLE"):
            raise self.syntax_error()
        self.index += 1
        if paren:
            self.expect(")")
        return word[0]

    def _fragments(self, found: StorageOptions) -> None:
        """Parse after FRAGMENT BY: `ROUND ROBIN IN a, b`, `ROUND ROBIN PARTITION p IN a, ..`, or expressions with
        dbspaces.

        Other strategies are accepted and ignored up to the end.
        """
        if self.accept("ROUND", "ROBIN"):
            found.strategy, found.fragments = "R", []
            named = self.word == "PARTITION"
            while True:
                if named:
                    self.expect("PARTITION")
                    self.identifier()
                if named or not found.fragments:
                    self.expect("IN")
                found.fragments.append((self.identifier(), ""))
                if not self.accept(","):
                    return
        if not self.accept("EXPRESSION"):
            self.index = len(self.tokens)
            return
        found.strategy, found.fragments = "E", []
        while True:
            if self.accept("PARTITION"):
                self.identifier()
            start = self.token.start
            while not self.at_end and self.word != "IN":
                if self.word == "(":
                    self.parenthesised()
                else:
                    self.index += 1
            expression = self.sql[start : self.token.start].strip()
            self.expect("IN")
            found.fragments.append((self.identifier(), expression))
            if not self.accept(","):
                return

    def _lob_storage(self) -> None:
        """Parse `PUT column IN (sbspace1, sbspace2) (LOG, EXTENT SIZE 20)`, a list of these, or `PUT IN sbspace1`."""
        while True:
            if self.word != "IN":
                self.identifier()
            self.expect("IN")
            if self.word == "(":
                self.identifier_list()
            else:
                self.identifier()
            if self.word == "(":
                self.parenthesised()
            if not self.accept(","):
                return

    def create_index(self, unique: bool) -> CreateIndex:
        exists = self.accept("IF", "NOT", "EXISTS")
        name = self.index_name()
        self.expect("ON")
        table = self.table_name()
        self.expect("(")
        parts = []
        functions = []
        while True:
            column: str = self.object_name()
            if self.word == "(":
                functions.append(column)
                *others, column = self.identifier_list()
                parts += [(other, False) for other in others]
            elif self.word == "BTREE_OPS":
                self.index += 1
            descending = self.accept("DESC")
            if not descending:
                self.accept("ASC")
            parts.append((column, descending))
            if not self.accept(","):
                break
        self.expect(")")
        index = CreateIndex(name, table, unique, parts, exists, functions)
        self._index_options(index)
        return index

    def _index_options(self, index: CreateIndex) -> None:
        """Parse the options of an index up to the end. All but DISABLED have no effect."""
        while not self.at_end:
            if self.accept("USING"):
                self.identifier()
            elif self.accept("FILLFACTOR"):
                self.integer()
            elif self.accept("HASH", "ON"):
                self.identifier_list()
                self.expect("WITH")
                self.integer()
                self.expect("BUCKETS")
            elif self.word in ("ENABLED", "DISABLED", "FILTERING"):
                index.disabled = not self.object_mode()
            elif not (self.accept("ONLINE") or self._storage_clause(StorageOptions())):
                raise self.syntax_error()

    def create_view(self) -> CreateView:
        exists = self.accept("IF", "NOT", "EXISTS")
        name = self.table_name()
        columns = self.identifier_list() if self.word == "(" else []
        self.expect("AS")
        checked = len(self.tokens) > 3 and [t.text.upper() for t in self.tokens[-3:]] == [
            "WITH",
            "CHECK",
            "OPTION",
        ]
        if checked:
            del self.tokens[-3:]
        return CreateView(name, columns, self.remaining_text(), exists, checked, name.owner)

    def create_synonym(self, private: bool) -> CreateSynonym:
        exists = self.accept("IF", "NOT", "EXISTS")
        name = self.table_name()
        self.expect("FOR")
        database, table = self.table_in_any_database()
        self.expect_end()
        return CreateSynonym(name, database, table, private, exists, name.owner)

    def sequence(self, new: bool) -> DefineSequence:
        """Parse after CREATE SEQUENCE or ALTER SEQUENCE."""
        exists = new and self.accept("IF", "NOT", "EXISTS")
        name = self.table_name()
        definition = DefineSequence(name, new, if_not_exists=exists, owner=name.owner)
        while not self.at_end:
            if self.accept("INCREMENT"):
                self.accept("BY")
                definition.increment = self.signed_integer()
            elif self.accept("START" if new else "RESTART"):
                self.accept("WITH")
                definition.start = self.signed_integer()
            elif self.accept("MINVALUE"):
                definition.low = self.signed_integer()
            elif self.accept("MAXVALUE"):
                definition.high = self.signed_integer()
            elif self.accept("NOMINVALUE"):
                definition.no_low = True
            elif self.accept("NOMAXVALUE"):
                definition.no_high = True
            elif self.accept("CYCLE"):
                definition.cycle = True
            elif self.accept("NOCYCLE"):
                definition.cycle = False
            elif self.accept("CACHE"):
                definition.cache = self.integer()
            elif self.accept("NOCACHE"):
                definition.cache = 0
            elif self.accept("ORDER") or self.accept("NOORDER"):
                definition.order = self.tokens[self.index - 1].text.upper() == "ORDER"
            else:
                raise self.syntax_error()
        return definition

    def create_type(self, kind: str) -> CreateType:
        """Parse after CREATE ROW TYPE or CREATE DISTINCT TYPE."""
        exists = self.accept("IF", "NOT", "EXISTS")
        name = self.object_name()
        if kind == "DISTINCT":
            self.expect("AS")
            definition = self.remaining_text()
        else:
            definition = f"ROW({self.parenthesised()})"
            if self.accept("UNDER"):
                raise not_supported("inheritance of ROW types", -201, self.token.start + 1)
            self.expect_end()
        return CreateType(kind, name, definition, exists)

    def alter_table(self) -> AlterTable:
        alter = AlterTable(self.table_name(), [])
        while True:
            alter.actions += self._alter_actions()
            if not self.accept(","):
                break
        self.expect_end()
        return alter

    def _alter_actions(self) -> list[AlterAction]:
        """Parse one keyword of ALTER TABLE with one column or several."""
        if self.accept("ADD", "CONSTRAINT") or self.accept("ADD CONSTRAINT"):
            paren = self.accept("(")
            constraint = self.table_constraint()
            if constraint is None:
                raise self.syntax_error()
            if paren:
                self.expect(")")
            return [AddConstraint(constraint)]
        if self.accept("ADD"):
            return self._one_or_several(self._add_column)
        if self.accept("DROP", "CONSTRAINT"):
            return [DropConstraint(name) for name in self._one_or_several(self.constraint_name)]
        if self.accept("DROP"):
            names = self.identifier_list() if self.word == "(" else [self.identifier()]
            return [DropColumn(name) for name in names]
        if self.accept("NEXT", "SIZE") or self.accept("MODIFY", "NEXT", "SIZE"):
            return [ChangeStorage({"next": self.integer()})]
        if self.accept("MODIFY", "EXTENT", "SIZE"):
            return [ChangeStorage({"extent": self.integer()})]
        if self.accept("MODIFY"):
            return self._one_or_several(self._modify_column)
        if self.accept("LOCK", "MODE"):
            return [ChangeStorage({"lock": self._lock_mode()})]
        if self.accept("TYPE"):
            self.expect("(")
            if not (self.accept("RAW") or self.accept("STANDARD")):
                raise self.syntax_error()
            self.expect(")")
            return [ChangeStorage({})]
        raise self.syntax_error()

    def _add_column(self) -> AddColumn:
        constraints: list[ConstraintDef] = []
        column = self.column(constraints)
        return AddColumn(column, constraints, self.identifier() if self.accept("BEFORE") else "")

    def _modify_column(self) -> ModifyColumn:
        constraints: list[ConstraintDef] = []
        return ModifyColumn(self.column(constraints), constraints)

    def _one_or_several(self, read: Callable[[], T]) -> list[T]:
        """Parse one item, or a list of items in parentheses."""
        paren = self.accept("(")
        found = [read()]
        while paren and self.accept(","):
            found.append(read())
        if paren:
            self.expect(")")
        return found

    def expect_end(self) -> None:
        if not self.at_end:
            raise self.syntax_error()
