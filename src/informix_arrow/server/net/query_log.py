"""What clients have executed, for testers and for whoever wonders what a driver sends."""

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
"""Statements that a server remembers; older ones are forgotten."""

MAX_TEXT = 64 << 20
"""Characters that their texts may have together; above, fewer statements are remembered."""


@dataclass(frozen=True, slots=True)
class Query:
    """One statement that was executed, or refused.

    `session` and `database` tell whose it was; `parameters` is how many `?` it had: their values are not
    recorded; `executions` is above 1 where consecutive INSERTs were taken together. `rows` are the rows of the
    result, -1 where they are more than were made before the first was sent (65,536 or fewer), or those changed.
    `seconds` is the time in the engine until then. `sqlcode` and `isamcode` are 0 when it went well;
    in a batch they are those of its first failure. `detail` says what the server lacks, where a statement needs it.
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
    """The last statements, oldest first; a sequence of `Query`: at most `kept`, and at most KEPT_TEXT characters of
    SQL. Thread-safe: it is looked at while sessions run."""

    def __init__(self, kept: int = MAX_QUERIES, file: IO[str] | None = None) -> None:
        self._lock = threading.Lock()
        self._max_queries = kept
        self._queries: deque[Query] = deque()
        self._text_size = 0
        self._file = file

    def add(self, query: Query) -> None:
        """Remember one, and write it to the file as a line of JSON."""
        # ASCII: it can be written whatever the file's encoding is, and no character of it ends the line.
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
                # A full disk must not end sessions, nor a file that was closed (ValueError).
                self._file = None
                log.error("the query log ends here, its file cannot be written: %s", problem)

    def clear(self) -> None:
        """Forget all of them; what the file has stays."""
        with self._lock:
            self._queries.clear()
            self._text_size = 0

    def matching(self, pattern: str) -> list[Query]:
        """Those whose text has a match of a regular expression, whatever its case."""
        wanted = re.compile(pattern, re.IGNORECASE)
        return [query for query in self if wanted.search(query.sql)]

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
