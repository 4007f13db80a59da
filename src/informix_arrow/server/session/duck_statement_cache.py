"""DuckDB's texts of one session, parsed once: a statement by key is otherwise parsed for longer than it runs."""

from __future__ import annotations

import duckdb

from .plan_cache import MAX_TEXT

CACHE_SIZE = 128


class DuckStatementCache:
    """Parsed statements by their texts; the one that was parsed first goes first. Used by one thread at a time.

    They are trees of names, so they hold whatever happens to the tables: DuckDB looks names up at every run.
    """

    def __init__(self) -> None:
        self._statements: dict[str, duckdb.Statement] = {}

    def clear(self) -> None:
        """Forget all of them."""
        self._statements.clear()

    def parse(self, con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement | str:
        """What to execute for a text: one statement, parsed. Several, and what is too long to be kept, stay a text."""
        found = self._statements.get(sql)
        if found is not None:
            return found
        if len(sql) > MAX_TEXT:
            return sql
        statements = con.extract_statements(sql)
        if len(statements) != 1:
            return sql
        if len(self._statements) >= CACHE_SIZE:
            del self._statements[next(iter(self._statements))]
        self._statements[sql] = statements[0]
        return statements[0]
