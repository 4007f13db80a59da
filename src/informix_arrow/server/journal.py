"""What a transaction has written so far, so that it can be done again.

Informix rolls a failing statement back alone and leaves the transaction open; DuckDB aborts the whole
transaction at any error, a mistyped name included. So every write is recorded (text and values as they were
bound, so that CURRENT and serials do not change), and after an error the transaction is rolled back, begun
again and replayed up to the failing statement. Savepoints are positions in the record. Statements check
what they can before writing, so replays are rare.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import duckdb

_READS = ("SELECT", "DESCRIBE", "WITH")


@dataclass(frozen=True, slots=True)
class Write:
    """One statement as it was run; `rows` is an Arrow table that the text calls `_ifx_rows`.

    What it changes must not depend on what other sessions do: an UPDATE or DELETE names its rows (engine.py)."""

    sql: str
    parameters: Any = None
    rows: Any = None


class Recorder:
    """Runs SQL on a DuckDB connection and remembers the writes of the current statement."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self.con = con
        self.log: list[Write] = []

    def execute(self, query: str, parameters: Any = None) -> Any:
        """Run one statement; writes are recorded before they run, so that a failed one is seen as begun."""
        if not query.lstrip().upper().startswith(_READS):
            self.log.append(Write(query, parameters))
        return self.con.execute(query, parameters) if parameters is not None else self.con.execute(query)

    def execute_over(self, query: str, rows: Any, parameters: Any = None) -> list[tuple[Any, ...]]:
        """Run a write that reads the Arrow table `rows` as `_ifx_rows`; DuckDB's answer."""
        self.log.append(Write(query, parameters, rows))
        return _over(self.con, query, rows, parameters)

    def freeze(self, query: str, text: str) -> None:
        """The last write is to be repeated with the rows that `query` finds now: `text` reads them as `_ifx_rows`."""
        self.log[-1] = Write(text, None, self.con.sql(query).to_arrow_table())

    def read_with(self, query: str, rows: Any) -> list[tuple[Any, ...]]:
        """Run a query over the Arrow table `rows` as `_ifx_rows`."""
        return list(_over(self.con, query, rows))

    def table_with(self, query: str, rows: Any, parameters: Any = None) -> Any:
        """As `read_with`, the answer as an Arrow table."""
        return _table_over(self.con, query, rows, parameters)


def run(con: duckdb.DuckDBPyConnection, write: Write) -> None:
    """Run a recorded write."""
    if write.rows is None:
        if write.parameters is None:
            con.execute(write.sql)
        else:
            con.execute(write.sql, write.parameters)
        return
    _over(con, write.sql, write.rows, write.parameters)


def _over(
    con: duckdb.DuckDBPyConnection, query: str, _ifx_rows: Any, parameters: Any = None
) -> list[tuple[Any, ...]]:
    """Run text that reads the Arrow table `_ifx_rows`: DuckDB finds it by its name among the variables of this
    function, which costs half of what registering it does."""
    found: list[tuple[Any, ...]] = con.execute(query, parameters or None).fetchall()
    return found


def _table_over(con: duckdb.DuckDBPyConnection, query: str, _ifx_rows: Any, parameters: Any) -> Any:
    relation = con.sql(query, params=parameters) if parameters else con.sql(query)
    return relation.to_arrow_table()


@dataclass(slots=True)
class Savepoint:
    name: str
    position: int
    unique: bool
    temp_tables: dict[str, Any]


@dataclass(slots=True)
class Journal:
    """The writes of an open transaction and its savepoints."""

    writes: list[Write] = field(default_factory=list)
    savepoints: list[Savepoint] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """Rows of Arrow tables in it: what a replay costs, more or less."""
        return sum(write.rows.num_rows for write in self.writes if write.rows is not None)

    def replay(self, con: duckdb.DuckDBPyConnection) -> None:
        """Do everything again in a new transaction."""
        for write in self.writes:
            run(con, write)
