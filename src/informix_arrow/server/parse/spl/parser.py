"""Parsing of CREATE FUNCTION and CREATE PROCEDURE, DROP of routines, and EXECUTE and CALL by a client."""

from __future__ import annotations

from sqlglot.tokens import TokenType

from ....wire.types import ColumnType
from ...errors import SqlError, not_supported
from ...types.result_types import SERIALS
from ..ddl_tokens import TokenStream
from ..ddl_types import TypeParser
from . import codes
from . import nodes as n
from .statements import BlockParser


class RoutineParser(BlockParser):
    """Parses a routine after CREATE."""

    def routine(self) -> n.Routine:
        """Parse a whole CREATE [OR REPLACE] [DBA] FUNCTION or PROCEDURE, from after CREATE to the end of the text."""
        replace = self.accept("OR", "REPLACE")
        dba = self.accept("DBA")
        kind = self.word
        if kind not in ("FUNCTION", "PROCEDURE"):
            raise self.syntax_error()
        self.index += 1
        missing = self.accept("IF", "NOT", "EXISTS")
        if self.word == "FROM":
            raise not_supported(f"CREATE {kind} FROM a file", offset=self.token.start + 1)
        name = self.object_name()
        parameters = self._parameters()
        table = self._referencing() if self.word == "REFERENCING" else ""
        returns = self._returns() if self.accept("RETURNING") or self.accept("RETURNS") else ()
        specific, modifiers = self._clauses()
        self.skip_semicolons()
        body = self.block("END", unit=True)
        self.expect("END", kind)
        routine = n.Routine(
            kind,
            name,
            parameters,
            returns,
            body,
            self.sql,
            specific,
            modifiers,
            self._document(),
            dba,
            missing,
            replace,
            table,
            self.old,
            self.new,
        )
        return routine

    def _referencing(self) -> str:
        """Parse REFERENCING of a trigger routine with its names of old and new values. Return the table after FOR."""
        self.expect("REFERENCING")
        while self.word in ("OLD", "NEW"):
            word = self.word
            self.index += 1
            self.accept("AS")
            at = self.token.start
            name = self.identifier()
            if name in (self.old, self.new):
                raise SqlError(codes.WRONG_CORRELATION, 0, at + 1, name)
            if word == "OLD":
                self.old = name
            else:
                self.new = name
            self.accept(",")
        if not (self.old or self.new):
            raise self.syntax_error()
        self.expect("FOR")
        table = self.table_name()
        self.accept(";")
        return table

    def _parameters(self) -> tuple[n.Parameter, ...]:
        self.expect("(")
        parameters: list[n.Parameter] = []
        while not self.accept(")"):
            if parameters:
                self.expect(",")
            mode = ""
            if self.word in ("OUT", "INOUT") and self.peek() not in (",", ")"):
                mode = self.word
                self.index += 1
            name = self.identifier()
            if any(name == other.name for other in parameters):
                raise SqlError(codes.REDECLARED, 0, 0, name)
            if self.word == "REFERENCES":
                raise not_supported("REFERENCES BYTE and REFERENCES TEXT", offset=self.token.start + 1)
            declared = self.declared()
            if isinstance(declared, ColumnType) and declared.code in SERIALS:
                raise SqlError(codes.SERIAL_VARIABLE, 0, 0, name)
            default = None
            if self.accept("DEFAULT"):
                default = self.default(
                    declared if isinstance(declared, ColumnType) else ColumnType.lvarchar(2048)
                )
            parameters.append(n.Parameter(name, declared, default, mode))
        return tuple(parameters)

    def _returns(self) -> tuple[tuple[str, n.DeclaredVariableType], ...]:
        returns: list[tuple[str, n.DeclaredVariableType]] = []
        bracket = self.accept("(")
        while True:
            if self.word == "REFERENCES":
                raise not_supported("RETURNING REFERENCES BYTE and TEXT", offset=self.token.start + 1)
            if self.word in ("SET", "MULTISET", "LIST", "ROW"):
                raise not_supported("RETURNING of collections and ROWs", offset=self.token.start + 1)
            declared = self.declared()
            name = self.identifier() if self.accept("AS") else "(expression)"
            returns.append((name, declared))
            if not self.accept(","):
                break
        if bracket:
            self.expect(")")
        return tuple(returns)

    def _clauses(self) -> tuple[str, tuple[str, ...]]:
        """Parse SPECIFIC and WITH ( ... ) in either order. Modifiers are stored without effect."""
        specific = ""
        modifiers: tuple[str, ...] = ()
        while True:
            if self.accept("SPECIFIC"):
                specific = self.object_name()
            elif self.word == "WITH" and self.peek() == "(":
                self.index += 1
                modifiers = tuple(part.strip().lower() for part in self.parenthesised().split(","))
            elif self.word == "EXTERNAL":
                raise not_supported("EXTERNAL NAME (routines in C and Java)", offset=self.token.start + 1)
            else:
                return specific, modifiers

    def _document(self) -> str:
        """Parse the text after END: DOCUMENT, and WITH LISTING IN, which is ignored."""
        self.skip_semicolons()
        lines: list[str] = []
        if self.accept("DOCUMENT"):
            while True:
                if self.token.token_type != TokenType.STRING:
                    raise self.syntax_error()
                lines.append(str(self.token.text))
                self.index += 1
                if not self.accept(","):
                    break
        if self.accept("WITH", "LISTING", "IN"):
            self.index += 1
        self.skip_semicolons()
        if not self.at_end:
            raise self.syntax_error()
        return "\n".join(lines)


def parse_routine(sql: str, delimident: bool) -> n.Routine:
    """Parse the CREATE statement of a routine."""
    parser = RoutineParser(sql, delimident)
    parser.expect("CREATE")
    return parser.routine()


def parse_drop_routine(parser: TypeParser) -> n.DropRoutine:
    """Parse after DROP."""
    specific = parser.accept("SPECIFIC")
    kind = parser.word
    parser.index += 1
    exists = parser.accept("IF", "EXISTS")
    name = parser.object_name()
    types = parser.argument_types()
    if not parser.at_end or kind not in ("FUNCTION", "PROCEDURE", "ROUTINE"):
        raise parser.syntax_error()
    return n.DropRoutine(kind, name, types, specific, exists)


def parse_call(tokens: TokenStream) -> n.ExecuteRoutine:
    """Parse after EXECUTE FUNCTION, EXECUTE PROCEDURE or CALL."""
    database, name = tokens.table_in_any_database()
    if tokens.at_end or tokens.token.token_type != TokenType.L_PAREN:
        raise tokens.syntax_error()
    start = tokens.token.start + 1
    arguments = tokens.parenthesised()
    if tokens.word in ("INTO", "RETURNING"):
        raise not_supported("EXECUTE ... INTO from a client", offset=tokens.token.start + 1)
    if not tokens.at_end:
        raise tokens.syntax_error()
    return n.ExecuteRoutine(name, arguments, start, database)
