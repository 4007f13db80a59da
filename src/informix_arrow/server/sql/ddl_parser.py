"""Reader for the statements that are not queries: CREATE, DROP, ALTER, BEGIN, SET and their like.

Hand-written over the dialect's tokens, because Informix puts constraint names after constraints, storage
clauses everywhere, and because every refusal should name what is not supported.
"""

from __future__ import annotations

from sqlglot.tokens import Token, TokenType

from ...wire.types import ColumnType
from ..dialect import InformixDelimitedTokenizer, InformixTokenizer
from ..errors import SqlError, not_supported, syntax_error
from .ddl_nodes import (
    AlterTable,
    ColumnDef,
    ConstraintDef,
    CreateIndex,
    CreateTable,
    CreateView,
)
from .dialect_parser import SIMPLE_TYPES, UNSUPPORTED_TYPES

_END = Token(TokenType.BREAK, "", 0, 0, 0, 0)


class DdlParser:
    """Reads one statement; `words` are the tokens without a closing semicolon."""

    def __init__(self, sql: str, delimident: bool = False) -> None:
        self.sql = sql
        tokenizer = InformixDelimitedTokenizer() if delimident else InformixTokenizer()
        self.tokens = tokenizer.tokenize(sql)
        while self.tokens and self.tokens[-1].token_type == TokenType.SEMICOLON:
            self.tokens.pop()
        self.at = 0

    # ---- tokens -----------------------------------------------------------------------------
    @property
    def token(self) -> Token:
        return self.tokens[self.at] if self.at < len(self.tokens) else _END

    @property
    def word(self) -> str:
        token = self.token
        return "" if token.token_type == TokenType.STRING else token.text.upper()

    def peek(self, ahead: int = 1) -> str:
        position = self.at + ahead
        return self.tokens[position].text.upper() if position < len(self.tokens) else ""

    @property
    def done(self) -> bool:
        return self.at >= len(self.tokens)

    def fail(self) -> SqlError:
        return syntax_error(self.token.start + 1 if not self.done else len(self.sql))

    def accept(self, *words: str) -> bool:
        """Consume a sequence of words if it stands here. A multi-word token ("ORDER BY") counts as its
        words."""
        at = self.at
        for word in words:
            if at >= len(self.tokens) or self.tokens[at].text.upper() != word:
                return False
            if self.tokens[at].token_type == TokenType.STRING:
                return False
            at += 1
        self.at = at
        return True

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            raise self.fail()

    def identifier(self) -> str:
        token = self.token
        if self.done or not (token.text[:1].isalpha() or token.text[:1] == "_"):
            raise self.fail()
        if token.token_type == TokenType.STRING:
            raise self.fail()
        self.at += 1
        return str(token.text) if token.token_type == TokenType.IDENTIFIER else str(token.text).lower()

    def object_name(self) -> str:
        """`[db:][owner.]name`; the owner says nothing in a database that is not ANSI."""
        if self.token.token_type == TokenType.STRING and self.peek() == ".":
            self.at += 2
        name = self.identifier()
        if self.accept(":"):
            raise not_supported("DDL in another database", -201, self.token.start)
        return self.identifier() if self.accept(".") else name

    def number(self) -> int:
        if self.token.token_type != TokenType.NUMBER:
            raise self.fail()
        value = int(self.token.text)
        self.at += 1
        return value

    def names(self) -> list[str]:
        self.expect("(")
        found = [self.identifier()]
        while self.accept(","):
            found.append(self.identifier())
        self.expect(")")
        return found

    def rest(self) -> str:
        """The text from here to the end."""
        if self.done:
            raise self.fail()
        text = self.sql[self.token.start : self.tokens[-1].end + 1]
        self.at = len(self.tokens)
        return text

    def parenthesised(self) -> str:
        """The text between two parentheses."""
        self.expect("(")
        start = self.token.start
        depth = 1
        while not self.done:
            if self.token.token_type == TokenType.L_PAREN:
                depth += 1
            elif self.token.token_type == TokenType.R_PAREN:
                depth -= 1
                if not depth:
                    text = self.sql[start : self.token.start]
                    self.at += 1
                    return text
            self.at += 1
        raise self.fail()

    # ---- types and columns --------------------------------------------------------------------
    def column_type(self) -> tuple[ColumnType, int]:
        """A declared type and, for serials, the first value. -9628 names a type that is not supported yet."""
        start = self.token
        word = self.word
        if word in UNSUPPORTED_TYPES:
            raise SqlError(
                -9628, 0, 0, word.lower(), f"columns of type {word} are not supported by this server"
            )
        if self.done:
            raise self.fail()
        self.at += 1
        first = 1
        if word == "DOUBLE":
            self.expect("PRECISION")
        elif word in ("CHARACTER", "CHAR") and self.accept("VARYING"):
            pass
        elif word == "DATETIME":
            self.datetime_field()
            self.expect("TO")
            self.datetime_field()
        if self.word == "(" and word != "DATETIME":
            if word in ("SERIAL", "SERIAL8", "BIGSERIAL"):
                self.at += 1
                first = self.number()
                self.expect(")")
            else:
                self.parenthesised()
        text = self.sql[start.start : self.tokens[self.at - 1].end + 1]
        try:
            t = ColumnType.parse_sql(text)
        except ValueError as e:
            known = word in ("DATETIME", "DOUBLE") or _known(word)
            raise SqlError(
                -201 if known else -9628, 0, start.start + 1 if known else 0, word.lower(), str(e)
            ) from None
        return t, first

    def datetime_field(self) -> None:
        if self.word not in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND", "FRACTION"):
            raise self.fail()
        self.at += 1
        if self.accept("("):
            self.number()
            self.expect(")")

    def default(self) -> tuple[str, str]:
        """The value after DEFAULT, as catalogue kind and text."""
        word, token = self.word, self.token
        if token.token_type == TokenType.STRING:
            self.at += 1
            return "L", str(token.text)
        if word in ("NULL", "TODAY", "USER", "CURRENT", "SYSDATE"):
            self.at += 1
            if word == "CURRENT" and self.word in (
                "YEAR",
                "MONTH",
                "DAY",
                "HOUR",
                "MINUTE",
                "SECOND",
                "FRACTION",
            ):
                self.datetime_field()
                self.expect("TO")
                self.datetime_field()
            return {"NULL": "N", "TODAY": "T", "USER": "U", "CURRENT": "C", "SYSDATE": "C"}[word], ""
        if word in ("DATETIME", "INTERVAL"):
            self.at += 1
            text = self.parenthesised()
            self.datetime_field()
            self.expect("TO")
            self.datetime_field()
            return "L", text.strip()
        sign = "-" if self.accept("-") else ""
        if not sign:
            self.accept("+")
        if self.token.token_type != TokenType.NUMBER:
            raise self.fail()
        text = sign + str(self.token.text)
        self.at += 1
        return "L", text

    def constraint_name(self) -> str:
        if self.accept("CONSTRAINT"):
            return self.object_name()
        return ""

    def column(self, constraints: list[ConstraintDef]) -> ColumnDef:
        """One column definition; its column-level constraints go to `constraints`."""
        from .result_types import SERIALS, not_null

        name = self.identifier()
        t, first = self.column_type()
        column = ColumnDef(name, not_null(t) if t.code in SERIALS else t, None, first)
        while True:
            if self.accept("DEFAULT"):
                column.default = self.default()
            elif self.accept("NOT", "NULL"):
                column.type = not_null(column.type)
                self.constraint_name()
            elif self.accept("NULL"):
                pass
            elif self.accept("PRIMARY", "KEY") or self.accept("PRIMARY KEY"):
                column.type = not_null(column.type)
                constraints.append(ConstraintDef("P", [name], self.constraint_name()))
            elif self.accept("UNIQUE") or self.accept("DISTINCT"):
                constraints.append(ConstraintDef("U", [name], self.constraint_name()))
            elif self.accept("CHECK"):
                text = self.parenthesised()
                constraints.append(ConstraintDef("C", [name], self.constraint_name(), text))
            elif self.accept("REFERENCES"):
                constraints.append(self.references([name]))
            else:
                return column

    def references(self, columns: list[str]) -> ConstraintDef:
        parent = self.object_name()
        parent_columns = self.names() if self.word == "(" else []
        if self.accept("ON"):
            raise not_supported("ON DELETE CASCADE", -201, self.token.start + 1)
        return ConstraintDef("R", columns, self.constraint_name(), "", parent, parent_columns)

    def table_constraint(self) -> ConstraintDef | None:
        if self.accept("PRIMARY", "KEY") or self.accept("PRIMARY KEY"):
            columns = self.names()
            return ConstraintDef("P", columns, self.constraint_name())
        if self.word in ("UNIQUE", "DISTINCT") and self.peek() == "(":
            self.at += 1
            columns = self.names()
            return ConstraintDef("U", columns, self.constraint_name())
        if self.word == "CHECK" and self.peek() == "(":
            self.at += 1
            text = self.parenthesised()
            return ConstraintDef("C", [], self.constraint_name(), text)
        if self.accept("FOREIGN", "KEY") or self.accept("FOREIGN KEY"):
            columns = self.names()
            self.expect("REFERENCES")
            return self.references(columns)
        return None

    # ---- statements ---------------------------------------------------------------------------
    def create_table(self, temporary: bool) -> CreateTable:
        exists = self.accept("IF", "NOT", "EXISTS")
        table = CreateTable(self.object_name(), temporary, [], [], exists)
        if self.accept("AS"):
            table.query = self.parenthesised() if self.word == "(" else self.rest()
            self.storage()
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
        self.storage()
        if not table.columns:
            raise self.fail()
        return table

    def storage(self) -> None:
        """Storage clauses mean nothing here; what is no storage clause is a syntax error."""
        while not self.done:
            if self.accept("WITH"):
                if not (
                    self.accept("NO", "LOG")
                    or self.accept("ROWIDS")
                    or self.accept("CRCOLS")
                    or self.accept("AUDIT")
                ):
                    raise self.fail()
            elif self.accept("IN"):
                self.identifier()
            elif self.accept("EXTENT", "SIZE") or self.accept("NEXT", "SIZE"):
                self.number()
            elif self.accept("LOCK", "MODE"):
                paren = self.accept("(")
                if self.word not in ("ROW", "PAGE", "TABLE"):
                    raise self.fail()
                self.at += 1
                if paren:
                    self.expect(")")
            elif self.accept("COMPRESSED"):
                pass
            elif (
                self.accept("FRAGMENT", "BY") or self.accept("PARTITION", "BY") or self.accept("PARTITION BY")
            ):
                self.at = len(self.tokens)
            else:
                raise self.fail()

    def create_index(self, unique: bool) -> CreateIndex:
        exists = self.accept("IF", "NOT", "EXISTS")
        name = self.object_name()
        self.expect("ON")
        table = self.object_name()
        self.expect("(")
        parts = []
        while True:
            column = self.identifier()
            if self.word == "(":
                raise not_supported("functional indexes", -201, self.token.start + 1)
            descending = self.accept("DESC")
            if not descending:
                self.accept("ASC")
            parts.append((column, descending))
            if not self.accept(","):
                break
        self.expect(")")
        if self.accept("USING"):
            self.identifier()
        if self.accept("FILLFACTOR"):
            self.number()
        if self.accept("IN"):
            self.identifier()
        self.accept("ONLINE")
        self.finish()
        return CreateIndex(name, table, unique, parts, exists)

    def create_view(self) -> CreateView:
        name = self.object_name()
        columns = self.names() if self.word == "(" else []
        self.expect("AS")
        query = self.rest()
        lowered = query.rstrip().lower()
        if lowered.endswith("with check option"):
            raise not_supported("WITH CHECK OPTION")
        return CreateView(name, columns, query)

    def alter_table(self) -> AlterTable:
        alter = AlterTable(self.object_name(), [])
        while True:
            if self.accept("ADD", "CONSTRAINT") or self.accept("ADD CONSTRAINT"):
                paren = self.accept("(")
                constraint = self.table_constraint()
                if constraint is None:
                    raise self.fail()
                if paren:
                    self.expect(")")
                alter.actions.append(("constraint", constraint))
            elif self.accept("ADD"):
                paren = self.accept("(")
                while True:
                    constraints: list[ConstraintDef] = []
                    column = self.column(constraints)
                    if self.accept("BEFORE"):
                        raise not_supported("ADD ... BEFORE", -201, self.token.start + 1)
                    alter.actions.append(("add", column, constraints))
                    if not (paren and self.accept(",")):
                        break
                if paren:
                    self.expect(")")
            elif self.accept("DROP", "CONSTRAINT"):
                paren = self.accept("(")
                alter.actions.append(("drop constraint", self.object_name()))
                if paren:
                    self.expect(")")
            elif self.accept("DROP"):
                for name in self.names() if self.word == "(" else [self.identifier()]:
                    alter.actions.append(("drop", name))
            elif self.accept("MODIFY"):
                paren = self.accept("(")
                while True:
                    constraints = []
                    column = self.column(constraints)
                    alter.actions.append(("modify", column, constraints))
                    if not (paren and self.accept(",")):
                        break
                if paren:
                    self.expect(")")
            elif self.word in ("LOCK", "NEXT"):
                self.storage()
            else:
                raise self.fail()
            if not self.accept(","):
                break
        self.finish()
        return alter

    def finish(self) -> None:
        if not self.done:
            raise self.fail()


def _known(word: str) -> bool:
    return word in SIMPLE_TYPES
