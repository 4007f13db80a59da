"""The DuckDB instance of an engine."""

from __future__ import annotations

import subprocess
import sys

import duckdb
import pytest

from informix_arrow.server.session.duck_instance import DuckInstance, ResourceLimits

BY_ROW_IDS = """
from informix_arrow.server.session.duck_instance import DuckInstance, ResourceLimits

instance = DuckInstance(None, ResourceLimits())
con = instance.connect()
con.execute("create table t as select range as n from range(20000)")
for i in range(20):
    con.execute("begin")
    con.execute(f"insert into t select {i} + range from range(5)")
    ours = f"select rowid from t where n % 60 = {i}"
    (count,) = con.execute(f"select count(*) from t where n % 60 = {i}").fetchone()
    (found,) = con.execute(f"select count(rowid) from t where rowid in ({ours})").fetchone()
    (first,) = con.execute("select n from t where n < 19000 order by n desc limit 1").fetchone()
    print(count, found, first, *con.execute(f"delete from t where rowid in ({ours})").fetchone())
    con.execute("commit")
instance.close()
"""


def test_rows_are_found_by_their_ids_beside_rows_that_the_transaction_has_added() -> None:
    """Runs in a separate process: without the workaround DuckDB 2.0.0 crashes here
    (src/informix_arrow/server/README.md)."""
    done = subprocess.run([sys.executable, "-c", BY_ROW_IDS], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr[-500:]
    rows = list(range(20_000))
    for i, line in enumerate(done.stdout.splitlines()):
        rows += range(i, i + 5)
        count = sum(n % 60 == i for n in rows)
        assert line == f"{count} {count} {max(n for n in rows if n < 19_000)} {count}", i
        rows = [n for n in rows if n % 60 != i]
    assert len(done.stdout.splitlines()) == 20


def test_the_optimizer_that_loses_rows_in_duckdb_2_0_0_is_off_for_all_sessions() -> None:
    """The optimizer is off with any release of DuckDB: later ones do not have the fault that the test above detects."""
    instance = DuckInstance(None, ResourceLimits())
    try:
        with instance.connect() as con:
            assert con.execute("SELECT current_setting('disabled_optimizers')").fetchone() == (
                "join_filter_pushdown",
            )
            with pytest.raises(duckdb.Error, match="locked"):
                con.execute("SET disabled_optimizers = ''")
    finally:
        instance.close()


@pytest.mark.parametrize("threads", [1, 3, None])
def test_statements_run_with_as_many_threads_as_were_given(threads: int | None) -> None:
    asked = "SELECT current_setting('threads'), 7"
    default = duckdb.connect().execute(asked).fetchone()
    instance = DuckInstance(None, ResourceLimits(threads=threads))
    try:
        assert instance.connect().execute(asked).fetchone() == ((threads, 7) if threads else default)
    finally:
        instance.close()


@pytest.mark.parametrize("threads", [0, -1])
def test_less_than_one_thread_is_refused(threads: int) -> None:
    with pytest.raises(ValueError, match=rf"^threads={threads}: It must be at least 1\.$"):
        DuckInstance(None, ResourceLimits(threads=threads))
