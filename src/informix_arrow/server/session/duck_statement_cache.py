"""Cache of parsed DuckDB statements of one session: parsing a statement by key takes longer than running it."""

from __future__ import annotations

import duckdb

from .plan_cache import MAX_TEXT

CACHE_SIZE = 128


class DuckStatementCache:
    """Parsed statements by text, evicted first in, first out. Used by one thread at a time.

    They hold names only and stay valid whatever happens to the tables: DuckDB looks the names up at every run.
    """

    def __init__(self) -> None:
        self._statements: dict[str, duckdb.Statement] = {}

    def clear(self) -> None:
        """Clear the cache."""
        self._statements.clear()

    def parse(self, con: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement | str:
        """Return the parsed statement for a text.

        Several statements, and texts too long for the cache, are returned as text.
        """
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
