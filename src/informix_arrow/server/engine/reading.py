"""Text of queries and changes of rows as a session reads it."""

from __future__ import annotations

from sqlglot import exp

from ..errors import SqlError
from ..grammar.lexical import quoted_newline
from ..grammar.parsing import parse
from .current_database import CurrentDatabase
from .environment import Environment


class TextReader:
    """Parses text by the session's DELIMIDENT.

    Attributes
    ----------
    newlines
        Whether quoted strings may go over several lines (IFX_ALLOW_NEWLINE).
    """

    def __init__(self, environment: Environment, database: CurrentDatabase) -> None:
        self._environment = environment
        self._database = database
        self.newlines = False

    def check_newlines(self, sql: str) -> None:
        """-282 for a quoted string that goes over the end of its line where that is not allowed."""
        if "\n" in sql and not self.newlines:
            at = quoted_newline(sql, self._environment.delimident)
            if at >= 0:
                detail = "a quoted string goes over several lines: EXECUTE PROCEDURE IFX_ALLOW_NEWLINE('t') allows it"
                raise SqlError(-282, 0, at + 1, "", detail)

    def parse(self, sql: str) -> exp.Expression:
        """One query or data change as a tree. -201 for what is none; a routine of another database is refused."""
        tree = parse(sql, self._environment.delimident)
        if ":" in sql:
            for node in tree.find_all(exp.Dot):  # db:f(...)
                self._database.require_here(node.meta.get("database"))
        return tree
