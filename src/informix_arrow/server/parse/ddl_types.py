"""Parsing of types and DEFAULT values in DDL."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from ...wire.qualifiers import Qualifier
from ...wire.types import ColumnType, TypeCode
from ..errors import SqlError, not_supported
from ..types import intervals
from .ddl_tokens import TokenStream
from .dialect_parser import FIELDS, SIMPLE_TYPES

BUILTIN_OWNER = "informix"
"""Owner of the built-in types and of the system catalog."""

_NO_TYPE = -9628
_SPATIAL = frozenset({"GEOPOINT", "GEOGRAPHY", "GEOMETRY"})
_TEXT_INSTEAD = "this server has no spatial types: keep the well-known text in an LVARCHAR column"
_TABLE_INSTEAD = "this server has no time series: keep one row for each DATETIME in a table"

UNRESOLVED = -1
"""Extended id of a type that needs the catalogue: a named type, or a collection or ROW."""


def unresolved(text: str) -> ColumnType:
    """Return a type that is resolved later by its text."""
    return ColumnType(TypeCode.UDTVAR.value, 0, 0, UNRESOLVED, "", text)


class TypeParser(TokenStream):
    """Parses the part of a column definition after the name."""

    def argument_types(self) -> tuple[ColumnType, ...] | None:
        """Parse the types in parentheses that tell routines of a name apart. Return None if there are none."""
        if not self.accept("("):
            return None
        types: list[ColumnType] = []
        while not self.accept(")"):
            if types:
                self.expect(",")
            types.append(self.column_type()[0])
        return tuple(types)

    def column_type(self) -> tuple[ColumnType, int]:
        """Parse a type. Return it with the first value, for serials. A type that is not built in is returned
        unresolved."""
        self.skip_builtin_owner()
        if self.token.token_type == TokenType.STRING and self.peek() == ".":  # the owner of a named type
            self.index += 2
            return unresolved(self.identifier()), 1
        start = self.token
        word = self.word
        if (
            self.at_end
            or self.token.token_type in (TokenType.STRING, TokenType.NUMBER)
            or not word[:1].isalpha()
        ):
            raise self.syntax_error()
        self.index += 1
        if word in ("SET", "MULTISET", "LIST", "ROW"):
            self.parenthesised()
            return unresolved(self._text_since(start.start)), 1
        first = 1
        if word == "DOUBLE":
            self.expect("PRECISION")
        elif word in ("CHARACTER VARYING", "CHAR VARYING") or (
            word in ("CHARACTER", "CHAR") and self.accept("VARYING")
        ):
            pass
        elif word in ("DATETIME", "INTERVAL"):
            self.qualifier()
        elif word not in SIMPLE_TYPES:
            instead = _TABLE_INSTEAD if word == "TIMESERIES" else _TEXT_INSTEAD
            if word == "TIMESERIES" or word.startswith("ST_") or word in _SPATIAL:
                raise not_supported(f"{start.text.lower()} ({instead})", _NO_TYPE)
            if self.accept("."):
                name = self.identifier()
                return unresolved(name), 1
            return unresolved(
                start.text if start.token_type == TokenType.IDENTIFIER else start.text.lower()
            ), 1
        if self.word == "(":
            if word in ("SERIAL", "SERIAL8", "BIGSERIAL"):
                self.index += 1
                first = self.integer()
                self.expect(")")
            elif word == "BOOLEAN":
                return self._sized_boolean(), 1
            else:
                self.parenthesised()
        try:
            return ColumnType.parse_sql(self._text_since(start.start)), first
        except ValueError as e:
            raise SqlError(-201, 0, start.start + 1, word.lower(), str(e)) from None

    def skip_builtin_owner(self) -> None:
        """Skip `"informix".` before a built-in type, as dbexport and dbschema write it for BOOLEAN, LVARCHAR and
        others."""
        if self.token.text.lower() == BUILTIN_OWNER and self.peek() == "." and self.peek(2) in SIMPLE_TYPES:
            self.index += 2

    def _sized_boolean(self) -> ColumnType:
        """Parse the size of BOOLEAN(1), which some schemas have. The type is the same as BOOLEAN."""
        self.expect("(")
        if self.integer() != 1:
            self.index -= 1
            raise self.syntax_error()
        self.expect(")")
        return ColumnType.boolean()

    def _text_since(self, start: int) -> str:
        return str(self.sql[start : self.tokens[self.index - 1].end + 1])

    def qualifier(self) -> None:
        """Skip `YEAR(4) TO FRACTION(3)`."""
        self._field()
        self.expect("TO")
        self._field()

    def _field(self) -> None:
        if self.word not in FIELDS:
            raise self.syntax_error()
        self.index += 1
        if self.accept("("):
            self.integer()
            self.expect(")")

    def storage_space(self) -> None:
        """Skip `IN blobspace1` or `IN TABLE` after BYTE and TEXT. Storage has no effect."""
        if self.accept("IN") and not self.accept("TABLE"):
            self.identifier()

    def default(self, t: ColumnType) -> tuple[str, str]:
        """Parse the value after DEFAULT of a column of type `t`. Return its catalogue kind and text."""
        word, token = self.word, self.token
        if token.token_type == TokenType.STRING:
            self.index += 1
            return "L", str(token.text)
        if word in (
            "NULL",
            "TODAY",
            "USER",
            "CURRENT_USER",
            "CURRENT",
            "SYSDATE",
            "DBSERVERNAME",
            "SITENAME",
        ):
            self.index += 1
            if word in ("CURRENT", "SYSDATE") and self.word in FIELDS:
                self.qualifier()
            letters = {
                "NULL": "N",
                "TODAY": "T",
                "USER": "U",
                "CURRENT_USER": "U",
                "CURRENT": "C",
                "SYSDATE": "C",
            }
            return letters.get(word, "S"), ""
        if word in ("DATETIME", "INTERVAL"):
            self.index += 1
            text = self.parenthesised().strip()
            start = self.token.start
            self.qualifier()
            if word == "INTERVAL" and intervals.is_interval(t):
                text = _interval_text(text, self._text_since(start), intervals.qualifier_of(t))
            return "L", text
        sign = "-" if self.accept("-") else ""
        if not sign:
            self.accept("+")
        if self.token.token_type != TokenType.NUMBER:
            raise self.syntax_error()
        text = sign + str(self.token.text)
        self.index += 1
        return "L", text


def _interval_text(text: str, declared: str, qualifier: Qualifier) -> str:
    """Convert an INTERVAL literal to the column's qualifier. Return its text."""
    try:
        source = Qualifier.parse(declared, interval=True)
    except ValueError as e:
        raise SqlError(-201, 0, 1, "", str(e)) from None
    units = intervals.convert_units(intervals.parse(text, source), source, qualifier)
    return intervals.format_units(units, qualifier)
