"""The pytest plugin as users run it: in a separate pytest run, which finds it by its entry point."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

TESTS = """
import informix_arrow
import pytest

seen = []


def test_a_connection_to_an_empty_database(informix_connection, informix_database):
    cursor = informix_connection.cursor()
    cursor.execute("CREATE TABLE t (id SERIAL, b NVARCHAR(20), s INT)")
    cursor.execute("INSERT INTO t VALUES (0, ?, 7)", ("Zo\\u00eb \\u20ac",))
    informix_connection.commit()
    cursor.execute("SELECT id, b, s FROM t")
    assert cursor.fetchall() == [(1, "Zo\\u00eb \\u20ac", 7)]
    seen.append(informix_database)


def test_another_test_has_another_database(informix_database, informix_server):
    assert informix_database not in seen
    left_open = informix_arrow.connect(informix_database)
    cursor = left_open.cursor()
    cursor.execute("CREATE TABLE t (id INT)")
    seen.append(left_open)
    informix_server.faults.fail_next(-243, -107, matching="never executed")
    assert informix_server.queries.matching("create table t")


def test_what_others_left_behind_is_gone(informix_connection, informix_server):
    names = [name for name in informix_server.queries if "create table" in name.sql.lower()]
    assert not names
    assert informix_server.faults.pending == 0
    with pytest.raises(informix_arrow.Error):  # its database was dropped
        seen[-1].cursor().execute("SELECT COUNT(*) FROM t")
    seen[-1].close()


def test_a_transaction_that_is_left_open(informix_connection):
    informix_connection.cursor().execute("CREATE TABLE t (id INT)")
    informix_connection.cursor().execute("INSERT INTO t VALUES (1)")


def test_a_fault(informix_connection, informix_server):
    cursor = informix_connection.cursor()
    cursor.execute("CREATE TABLE t (id INT)")
    informix_server.faults.fail_next(-268, -100, matching="insert into t")
    with pytest.raises(informix_arrow.IntegrityError) as error:
        cursor.execute("INSERT INTO t VALUES (1)")
    assert (error.value.sqlcode, error.value.isamcode) == (-268, -100)


def test_loaded_tables(informix_server):
    with informix_arrow.connect(informix_server.url("shop")) as connection:
        assert connection.read_arrow("SELECT id FROM orders").column("id").to_pylist() == [3]
"""

CONFTEST = """
import pyarrow as pa
import pytest


@pytest.fixture(scope="session")
def informix_server_options():
    return {"load": {"shop.orders": pa.table({"id": [3]})}, "max_sessions": 20}
"""


HOW_TO = Path(__file__).parents[2] / "docs" / "howto" / "testing.md"
WHAT_IS_TESTED = """
def store_order(connection, total):
    connection.execute("INSERT INTO orders VALUES (0, ?)", (total,))


"""


def test_the_fixtures_are_found_and_work(tmp_path: Path) -> None:
    (tmp_path / "test_user.py").write_text(TESTS)
    documented = re.findall(r"```python\n(def test_.*?)```", HOW_TO.read_text(encoding="utf-8"), re.DOTALL)
    (tmp_path / "test_documented.py").write_text(WHAT_IS_TESTED + "\n\n".join(documented))
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-W",
        "error::pytest.PytestUnhandledThreadExceptionWarning",
    ]
    run = subprocess.run(
        [*command, "."], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "7 passed" in run.stdout


def test_the_entry_point_is_the_plugin() -> None:
    (found,) = entry_points(group="pytest11", name="informix_arrow")
    assert found.value == "pytest_informix_arrow"


def test_a_run_that_wants_no_server_imports_none_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "test_user.py").write_text(
        "import sys, threading\n"
        "def test_nothing():\n"
        "    packages = {name.partition('.')[0] for name in sys.modules}\n"
        "    assert not packages & {'informix_arrow', 'pyarrow', 'duckdb'}\n"
    )
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "."],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


SHARED = """
import informix_arrow
import pytest


@pytest.fixture(scope="session")
def informix_shared_database(informix_shared_database):
    with informix_arrow.connect(informix_shared_database) as connection:
        connection.execute("CREATE TABLE kept (id SERIAL, b VARCHAR(20), s INT)")
        connection.execute("INSERT INTO kept VALUES (0, 'first', 7)")
        connection.commit()
    return informix_shared_database


@pytest.mark.parametrize("turn", [1, 2])
def test_it_finds_what_there_was_and_leaves_nothing(informix_transaction, turn):
    cursor = informix_transaction.cursor()
    cursor.execute("SELECT b, s FROM kept")
    assert cursor.fetchall() == [("first", 7)]
    cursor.execute("CREATE TABLE mine (id INT)")
    cursor.execute("DELETE FROM kept")
    cursor.execute("INSERT INTO kept VALUES (0, ?, 8)", (f"turn {turn}",))
    cursor.execute("SELECT b, s FROM kept")
    assert cursor.fetchall() == [(f"turn {turn}", 8)]


def test_a_rollback_is_no_commit(informix_transaction):
    informix_transaction.execute("DELETE FROM kept")
    informix_transaction.rollback()
    assert informix_transaction.read_arrow("SELECT b FROM kept").num_rows == 1


def test_a_database_of_ones_own_may_be_committed(informix_connection):
    informix_connection.execute("CREATE TABLE kept (id INT)")
    informix_connection.commit()


def test_it_commits(informix_transaction):
    informix_transaction.execute("INSERT INTO kept VALUES (0, 'second', 9)")
    informix_transaction.commit()


def test_it_turns_autocommit_on(informix_transaction):
    informix_transaction.autocommit = True
"""


def test_a_transaction_is_rolled_back_after_each_test_and_a_commit_is_reported(
    pytester: pytest.Pytester,
) -> None:
    pytester.makepyfile(SHARED)
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(passed=6, errors=2)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_it_commits*",
            "this test has committed to test_shared, which it shares with others: use informix_connection*",
            "*ERROR at teardown of test_it_turns_autocommit_on*",
        ]
    )
