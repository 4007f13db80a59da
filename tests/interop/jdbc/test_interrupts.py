"""Query timeouts: JDBC sends one urgent byte (JDBC section 10), and the server stops the query."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from ..values import UTF8
from .driver import Jdbc, JdbcError

pytestmark = pytest.mark.reference_client

#: The driver's code for a query timeout, whatever the server replies, and the server's code, which 4.10 reports.
TIMED_OUT, INTERRUPTED = -80505, -213


def test_a_query_timeout_of_jdbc_stops_the_query_and_the_connection_goes_on(
    jdbc: Callable[..., Jdbc], jdbc_release: str, new_table: Callable[[str, str], str]
) -> None:
    table = new_table(UTF8, "id INTEGER, tail INTEGER")
    other = jdbc(UTF8)
    rows = [[str(n), str(-n)] for n in range(1, 4001)]
    other.insert(f"INSERT INTO {table} VALUES (?, ?)", ("Int", "Int"), rows, batch=True)
    endless = f"SELECT COUNT(*) FROM {table} a, {table} b, {table} c WHERE a.id * b.tail + c.id = 7"
    for _ in range(2):
        began = time.monotonic()
        with pytest.raises(JdbcError) as caught:
            other.query(endless, ("Long",), timeout=1)
        assert caught.value.code == (INTERRUPTED if jdbc_release.startswith("4.10.") else TIMED_OUT)
        assert 0.9 < time.monotonic() - began < 20
        assert other.query(f"SELECT COUNT(*) FROM {table}", ("Long",))[1] == [["4000"]]
