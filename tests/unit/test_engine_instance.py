"""The DuckDB instance of a server, on releases that know less."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

from informix_arrow.server.engine import instance
from informix_arrow.server.engine.instance import Instance, Memory


class Older:
    """A connection of a DuckDB that takes no parts of the machine's memory, as those before 2.0."""

    def __init__(self, con: duckdb.DuckDBPyConnection) -> None:
        self._con = con

    def execute(self, sql: str, *arguments: Any) -> Any:
        if "memory_limit" in sql and "%" in sql:
            raise duckdb.ParserException("Parser Error: Unknown unit for memory: '%'")
        return self._con.execute(sql, *arguments)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._con, name)


def limit(made: Instance) -> float:
    (told,) = made.root.execute("SELECT current_setting('memory_limit')").fetchone()  # type: ignore[misc]
    number, unit = told.split()
    return float(number) * {"MiB": 1, "GiB": 1024, "TiB": 1 << 20}[str(unit)]


def test_a_part_of_the_memory_is_the_same_where_duckdb_knows_amounts_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    told = Instance(None, Memory("50%"))
    connect = duckdb.connect
    monkeypatch.setattr(instance.duckdb, "connect", lambda *given: Older(connect(*given)))
    computed = Instance(None, Memory("50%"))
    try:
        assert limit(computed) == pytest.approx(limit(told), rel=0.02)
        for wrong in ("0%", "101%", "half", "-5%"):
            with pytest.raises(ValueError, match="memory_limit is an amount such as"):
                Instance(None, Memory(wrong))
    finally:
        told.close()
        computed.close()
