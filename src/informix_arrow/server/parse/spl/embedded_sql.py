"""Detection of the SQL inside a routine: conditions, lists of expressions, whole statements.

SPL has no separator between a condition and the statement that follows it (`WHILE a < b LET a = 1;`). So the SQL also
ends where a word that begins statements follows a complete expression.
"""

from __future__ import annotations

from sqlglot.tokens import TokenType

from ...errors import SqlError, not_supported
from ..ddl_types import TypeParser
from . import nodes as n

OPENING = frozenset({TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE})
CLOSING = frozenset({TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE})


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


SQL = _words(
    "INSERT UPDATE DELETE MERGE CREATE DROP ALTER RENAME TRUNCATE GRANT REVOKE LOCK UNLOCK SET COMMIT ROLLBACK"
)
"""First words of SQL statements without results."""

DYNAMIC = _words("PREPARE DECLARE OPEN FETCH CLOSE FREE")
ILLEGAL = _words("DATABASE CONNECT DISCONNECT FLUSH INFO LOAD OUTPUT PUT UNLOAD")
BLOCK_ENDS = _words("END ELSE ELIF")
_SPL_WORDS = _words(
    "LET IF FOR FOREACH WHILE LOOP CALL EXECUTE RETURN RAISE EXIT CONTINUE BEGIN DEFINE SYSTEM TRACE CASE SELECT GOTO"
)
_STARTERS = SQL | DYNAMIC | _SPL_WORDS

# After these words an expression continues, so no statement begins there.
_CONTINUED_BY_OPERAND = _words(
    "AND OR NOT IN LIKE MATCHES BETWEEN IS SELECT DISTINCT UNIQUE ALL FROM WHERE BY HAVING ON WHEN THEN ELSE CASE "
    "UNION EXCEPT INTERSECT MINUS JOIN AS SET INTO VALUES TO STEP FOR EXISTS ANY SOME ESCAPE FIRST SKIP"
)


class EmbeddedSqlParser(TypeParser):
    """Cuts SQL out of a routine's text.

    Attributes
    ----------
    old, new
        Names of the values of a row before and after the change, in a trigger routine. "" elsewhere.
    """

    def __init__(self, sql: str, delimident: bool = False) -> None:
        super().__init__(sql, delimident)
        self.old = self.new = ""

    def skip_semicolons(self) -> None:
        while self.accept(";"):
            pass

    def embedded_sql(self, *stops: str, statements: bool = False) -> n.SqlText:
        """Return the text from here to a semicolon, an unmatched closing bracket, END, ELSE, ELIF or one of `stops`.

        With `statements` it also ends where the next statement begins. Raises -201 if the text is empty.
        """
        start, depth, cases = self.index, 0, 0
        while not self.at_end:
            kind, word = self.token.token_type, self.word
            if kind in OPENING:
                depth += 1
            elif kind in CLOSING:
                if not depth:
                    break
                depth -= 1
            elif depth:
                pass
            elif cases:
                cases += {"CASE": 1, "END": -1}.get(word, 0)
            elif kind == TokenType.SEMICOLON or word in BLOCK_ENDS or (word in stops and self.index > start):
                break
            elif word == "CASE" and not (statements and self._is_complete(start)):
                cases = 1
            elif statements and self._is_next_statement(start):
                break
            self.index += 1
        if self.index == start:
            raise self.syntax_error()
        return self._text(start, self.index)

    def _text(self, start: int, end: int) -> n.SqlText:
        first = self.tokens[start].start
        return n.SqlText(self.sql[first : self.tokens[end - 1].end + 1], first)

    def _is_complete(self, start: int) -> bool:
        """Return whether the tokens from `start` to here can be a complete expression."""
        if self.index == start:
            return False
        last = self.tokens[self.index - 1]
        if (
            last.token_type in (TokenType.STRING, TokenType.NUMBER, TokenType.IDENTIFIER)
            or last.token_type in CLOSING
        ):
            return True
        word = last.text.upper()
        return word == "*" or (
            (word[:1].isalpha() or word[:1] == "_") and word.split()[-1] not in _CONTINUED_BY_OPERAND
        )

    def _is_next_statement(self, start: int) -> bool:
        word, after = self.word, self.peek()
        if word == "ON":
            return after == "EXCEPTION"
        if word == "FOR" and after in ("UPDATE", "READ"):
            return False
        if word == "<<" or (word == "<" and after == "<"):
            return True
        return word in _STARTERS and self._is_complete(start)

    def _variables(self) -> tuple[str, ...]:
        names = [self._variable()]
        while self.accept(","):
            names.append(self._variable())
        return tuple(names)

    def _variable(self) -> str:
        """Parse an assigned variable: its name, `new.column`, or `name[first,last]` for a part of a text."""
        at = self.token.start
        name = self.identifier()
        if name == self.new and name and self.accept("."):
            return f"{name}.{self.identifier()}"
        if self.word == ".":
            raise not_supported("an assignment to a part of a variable", offset=at + 1)
        if self.accept("["):
            first = self.integer()
            last = self.integer() if self.accept(",") else first
            self.expect("]")
            if not 1 <= first <= last:
                raise SqlError(-307)
            return f"{name}[{first},{last}]"
        return name
