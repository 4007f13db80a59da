"""Tokens of a DDL statement, and methods to step through them."""

from __future__ import annotations

from typing import TypeVar

from sqlglot.errors import TokenError
from sqlglot.tokens import Token, TokenType

from ..errors import SqlError, syntax_error
from .dialect import InformixDelimitedTokenizer, InformixTokenizer

_DIGITS = 32
"""Maximum digits of a number in DDL: sizes, counts and the start values of sequences."""

_OWNER_BYTES = 32
"""Maximum bytes of an owner's name, in Informix 11.50 and later."""

SYSTEM_OWNER = "informix"
"""Owner of the system catalog."""

_Name = TypeVar("_Name", bound="OwnedName")

_END = Token(TokenType.BREAK, "", 0, 0, 0, 0)


class OwnedName(str):
    """The name of an object as a statement has it, with its owner."""

    owner: str
    """The owner in lower case unless it is quoted, "" if the statement names none."""
    is_owner_quoted: bool
    """True if the owner is in quotation marks. Others are in upper case in MODE ANSI databases."""

    def __new__(cls: type[_Name], name: str, owner: str = "", quoted: bool = False) -> _Name:
        made = super().__new__(cls, name)
        made.owner = owner
        made.is_owner_quoted = quoted
        return made

    def owner_in(self, *, ansi: bool) -> str:
        """Return the owner as a database stores it, "" if the statement names none.

        A MODE ANSI database has owners without quotation marks in upper case, except ``informix``, which owns the
        system catalog.
        """
        if not ansi or self.is_owner_quoted or self.owner == SYSTEM_OWNER:
            return self.owner
        return self.owner.upper()


class TableName(OwnedName):
    """The name of a table, view, synonym or sequence."""


class IndexName(OwnedName):
    """The name of an index."""


class ConstraintName(OwnedName):
    """The name of a constraint."""


class TokenStream:
    """The tokens of one statement without a closing semicolon, and a position among them."""

    def __init__(self, sql: str, delimident: bool = False) -> None:
        self.sql = sql
        self.delimident = delimident
        tokenizer = InformixDelimitedTokenizer() if delimident else InformixTokenizer()
        try:
            self.tokens = tokenizer.tokenize(sql)
        except TokenError as e:
            raise SqlError(-202, 0, 1, "", str(e)) from None
        while self.tokens and self.tokens[-1].token_type == TokenType.SEMICOLON:
            self.tokens.pop()
        self.index = 0
        self.databases: set[str] = set()

    # ---- tokens -----------------------------------------------------------------------------
    @property
    def token(self) -> Token:
        return self.tokens[self.index] if self.index < len(self.tokens) else _END

    @property
    def word(self) -> str:
        token = self.token
        return "" if token.token_type == TokenType.STRING else token.text.upper()

    def peek(self, ahead: int = 1) -> str:
        position = self.index + ahead
        return self.tokens[position].text.upper() if position < len(self.tokens) else ""

    @property
    def at_end(self) -> bool:
        return self.index >= len(self.tokens)

    def syntax_error(self) -> SqlError:
        return syntax_error(self.token.start + 1 if not self.at_end else len(self.sql))

    def accept(self, *words: str) -> bool:
        """Consume a sequence of words if it comes next. A multi-word token ("ORDER BY") counts as its words."""
        at = self.index
        for word in words:
            if at >= len(self.tokens) or self.tokens[at].text.upper() != word:
                return False
            if self.tokens[at].token_type == TokenType.STRING:
                return False
            at += 1
        self.index = at
        return True

    def expect(self, *words: str) -> None:
        if not self.accept(*words):
            raise self.syntax_error()

    def identifier(self) -> str:
        token = self.token
        if self.at_end or token.token_type == TokenType.STRING:
            raise self.syntax_error()
        if token.token_type == TokenType.IDENTIFIER and token.text:
            self.index += 1
            return str(token.text)
        if not (token.text[:1].isalpha() or token.text[:1] == "_"):
            raise self.syntax_error()
        self.index += 1
        return str(token.text).lower()

    def object_name(self) -> OwnedName:
        """Parse `[db[@server]:][owner.]name`. db must be the current one."""
        return self._owned(OwnedName)

    def table_name(self) -> TableName:
        """Parse the name of a table, view, synonym or sequence like `object_name`."""
        return self._owned(TableName)

    def index_name(self) -> IndexName:
        """Parse the name of an index like `object_name`."""
        return self._owned(IndexName)

    def constraint_name(self) -> ConstraintName:
        """Parse the name of a constraint like `object_name`."""
        return self._owned(ConstraintName)

    def _owned(self, kind: type[_Name]) -> _Name:
        self.skip_database()
        at, quoted = self.token.start, False
        if self.token.token_type == TokenType.STRING and self.peek() == ".":
            owner, quoted = str(self.token.text), True
            self.index += 2
            name = self.identifier()
        else:
            quoted = self.token.token_type == TokenType.IDENTIFIER
            name = self.identifier()
            owner, name = (name, self.identifier()) if self.accept(".") else ("", name)
        if len(owner.encode()) > _OWNER_BYTES:
            raise syntax_error(at + 1, f"An owner's name has at most {_OWNER_BYTES} bytes.")
        return kind(name, owner, quoted)

    def skip_database(self) -> None:
        """Skip `db:` or `db@server:` before a name.

        The names are collected in `databases`. The caller must check that they are the current one.
        """
        if self.peek() == ":" or (self.peek() == "@" and self.peek(3) == ":"):
            self.databases.add(self.identifier())
            if self.accept("@"):
                self.identifier()
            self.expect(":")

    def table_in_any_database(self) -> tuple[str | None, TableName]:
        """Parse `[db[@server]:][owner.]name`. Return database (None for the current one) and name."""
        return self.database_prefix(), self.table_name()

    def database_prefix(self) -> str | None:
        """Parse `db:` or `db@server:` before a name. Return the database, None if there is no prefix."""
        if self.peek() not in (":", "@"):
            return None
        database = self.identifier()
        if self.accept("@"):
            self.identifier()
        self.expect(":")
        return database

    def qualified_column(self) -> list[str]:
        """Parse `[["owner".]table.]column`. Return table and column, or the column alone."""
        if self.token.token_type == TokenType.STRING and self.peek() == ".":
            owner = self.token.text
            self.index += 2
            table = TableName(self.identifier(), owner, True)
            self.expect(".")
            return [table, self.identifier()]
        quoted = self.token.token_type == TokenType.IDENTIFIER
        parts = [self.identifier()]
        while len(parts) < 3 and self.accept("."):
            parts.append(self.identifier())
        if len(parts) == 1:
            return parts
        return [TableName(parts[-2], parts[0] if len(parts) == 3 else "", quoted), parts[-1]]

    def signed_integer(self) -> int:
        return -self.integer() if self.accept("-") else self.integer()

    def integer(self) -> int:
        if self.token.token_type != TokenType.NUMBER:
            raise self.syntax_error()
        text = self.token.text
        if len(text) > _DIGITS or not text.isdecimal():
            raise self.syntax_error()
        self.index += 1
        return int(text)

    def identifier_list(self) -> list[str]:
        self.expect("(")
        found = [self.identifier()]
        while self.accept(","):
            found.append(self.identifier())
        self.expect(")")
        return found

    def remaining_text(self) -> str:
        """Return the text from here to the end."""
        if self.at_end:
            raise self.syntax_error()
        text = self.sql[self.token.start : self.tokens[-1].end + 1]
        self.index = len(self.tokens)
        return text

    def parenthesised(self) -> str:
        """Return the text between two parentheses."""
        self.expect("(")
        start = self.token.start
        depth = 1
        while not self.at_end:
            if self.token.token_type == TokenType.L_PAREN:
                depth += 1
            elif self.token.token_type == TokenType.R_PAREN:
                depth -= 1
                if not depth:
                    text = self.sql[start : self.token.start]
                    self.index += 1
                    return text
            self.index += 1
        raise self.syntax_error()
