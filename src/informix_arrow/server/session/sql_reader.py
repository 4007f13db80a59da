"""Parsing of queries and of statements that change rows, with the settings of a session."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from sqlglot import exp

from ..catalog.catalog import TableInfo
from ..errors import ISAM_INTERRUPTED, SqlError
from ..parse.lexical import find_quoted_newline
from ..parse.parse_query import parse
from ..plan.views import view_query
from .current_database import CurrentDatabase
from .environment import SessionEnvironment


@dataclass(eq=False, repr=False)
class SqlReader:
    """Parses text with the session's DELIMIDENT, until `interrupted` is set.

    Attributes
    ----------
    allows_newlines
        True if quoted strings may span several lines (IFX_ALLOW_NEWLINE).
    """

    _environment: SessionEnvironment
    _database: CurrentDatabase
    _interrupted: threading.Event
    allows_newlines: bool = field(default=False, init=False)

    def check_newlines(self, sql: str) -> None:
        """Raise -282 for a quoted string that spans lines where that is not allowed."""
        if "\n" in sql and not self.allows_newlines:
            at = find_quoted_newline(sql, self._environment.delimident)
            if at >= 0:
                detail = "a quoted string goes over several lines: EXECUTE PROCEDURE IFX_ALLOW_NEWLINE('t') allows it"
                raise SqlError(-282, 0, at + 1, "", detail)

    def parse(self, sql: str) -> exp.Expression:
        """Parse one query or data change. -201 for anything else; a routine of another database is refused."""
        return self._parse(sql, delimident=self._environment.delimident)

    def _parse(self, sql: str, *, delimident: bool) -> exp.Expression:
        tree = parse(sql, delimident, self.check_interrupt)
        if ":" in sql:
            for node in tree.find_all(exp.Dot):  # db:f(...)
                self._database.require_current(node.meta.get("database"))
        return tree

    def parse_view(self, view: TableInfo, query: str | None = None) -> exp.Expression:
        """Parse the query of a view, or another one in its place."""
        sql = view_query(view) if query is None else query
        return self._parse(sql, delimident=view.is_delimited or self._environment.delimident)

    def check_interrupt(self) -> None:
        """Raise -213 if the session's statement is to end.

        Parsing and planning a very long one takes seconds in which DuckDB has nothing to interrupt.
        """
        if self._interrupted.is_set():
            raise SqlError(-213, ISAM_INTERRUPTED)
