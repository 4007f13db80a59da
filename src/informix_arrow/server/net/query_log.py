"""The log of statements that clients have executed, for tests and for debugging of drivers."""

from __future__ import annotations

import json
import logging
import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import IO, overload

log = logging.getLogger("informix_arrow.server")

MAX_QUERIES = 10_000
"""Number of statements in the log; older ones are removed."""

MAX_TEXT = 64 << 20
"""Total number of characters of their texts; above it the log holds fewer statements."""


@dataclass(frozen=True, slots=True)
class Query:
    """One statement that was executed or refused.

    `session` and `database` identify the session. `parameters` is the number of `?`; their values are not logged.
    `executions` is above 1 for consecutive INSERTs that were executed together. `rows` is the number of result rows or
    of changed rows. It is -1 if the server sent the first row before it knew how many follow. It produces up to 65,536
    rows before that. `seconds` is the time in the engine until the first row was ready. `sqlcode` and `isamcode` are 0
    for success. In a batch they are those of its first failure. `detail` names what the server does not support, if a
    statement needs it.
    """

    session: int
    database: str | None
    sql: str
    parameters: int
    rows: int
    seconds: float
    sqlcode: int = 0
    isamcode: int = 0
    executions: int = 1
    detail: str = ""


class QueryLog(Sequence[Query]):
    """The last statements, oldest first: a sequence of `Query`.

    It holds at most `kept` statements and at most MAX_TEXT characters of SQL. Thread-safe: it can be read while
    sessions run.
    """

    def __init__(self, kept: int = MAX_QUERIES, file: IO[str] | None = None) -> None:
        self._lock = threading.Lock()
        self._max_queries = kept
        self._queries: deque[Query] = deque()
        self._text_size = 0
        self._file = file

    def add(self, query: Query) -> None:
        """Add a statement, and write it to the file as a line of JSON."""
        # ASCII can be written whatever the file's encoding is, and contains no character that ends the line.
        line = None if self._file is None else json.dumps(asdict(query)) + "\n"
        with self._lock:
            self._queries.append(query)
            self._text_size += len(query.sql)
            while len(self._queries) > self._max_queries or self._text_size > MAX_TEXT:
                self._text_size -= len(self._queries.popleft().sql)
            if self._file is None or line is None:
                return
            try:
                self._file.write(line)
                self._file.flush()
            except (OSError, ValueError) as problem:
                # A full disk or a closed file (ValueError) must not end sessions.
                self._file = None
                log.error("The query log stops here, because its file cannot be written: %s", problem)

    def clear(self) -> None:
        """Remove all statements from memory. The file is not changed."""
        with self._lock:
            self._queries.clear()
            self._text_size = 0

    def matching(self, pattern: str) -> list[Query]:
        """Return the statements whose text has a match of a regular expression, ignoring case."""
        expression = re.compile(pattern, re.IGNORECASE)
        return [query for query in self if expression.search(query.sql)]

    def _snapshot(self) -> list[Query]:
        with self._lock:
            return list(self._queries)

    def __len__(self) -> int:
        return len(self._queries)

    def __iter__(self) -> Iterator[Query]:
        return iter(self._snapshot())

    @overload
    def __getitem__(self, index: int) -> Query: ...

    @overload
    def __getitem__(self, index: slice) -> list[Query]: ...

    def __getitem__(self, index: int | slice) -> Query | list[Query]:
        return self._snapshot()[index]

    def __repr__(self) -> str:
        return f"QueryLog({self._snapshot()!r})"
