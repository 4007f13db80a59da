"""``informix-arrow query``, ``tables``, ``describe`` and ``ping``."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow import Connection


@pytest.fixture
def table(conn: Connection) -> None:
    conn.execute(
        "CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), digits DECIMAL(16), tail LIST(INT NOT NULL))"
    )
    conn.execute("INSERT INTO t VALUES (1, 'é', 1.234567890123456, LIST{1, 2})")
    conn.execute("INSERT INTO t VALUES (2, '', NULL, NULL)")
    conn.execute("INSERT INTO t VALUES (3, NULL, -1e-20, LIST{})")


def test_rows_are_csv_into_a_pipe_and_stderr_stays_empty(cli: Cli, url: str, table: None) -> None:
    ran = cli("query", url, "SELECT id, name, digits FROM t WHERE id > ? ORDER BY id", "--param", "0")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines() == [
        '"id","name","digits"',
        '1,"é","1.234567890123456"',
        '2,"",',
        '3,,"-0.00000000000000000001"',
    ]


def test_rows_are_a_table_on_a_terminal(
    cli: Cli, url: str, table: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert cli("query", url, "SELECT id, name FROM t ORDER BY 1").out.splitlines()[2:] == [
        "  1 | é",
        "  2 |",
        "  3 | NULL",
        "(3 rows)",
    ]
    assert cli("query", url, "DELETE FROM t WHERE id < 3").out == "(2 rows changed)\n"


@pytest.mark.parametrize("suffix", [".csv", ".json", ".jsonl", ".parquet", ".arrow", ".md", ".csv.gz"])
def test_the_suffix_decides_the_format(cli: Cli, url: str, table: None, tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    ran = cli("query", url, "SELECT * FROM t ORDER BY id", "-o", str(path))
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    assert path.stat().st_size > 20
    if suffix == ".jsonl":
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert [row["tail"] for row in rows] == [[1, 2], None, []]
    again = cli("query", url, "SELECT * FROM t", "-o", str(path))
    assert (again.code, again.out) == (2, "")
    assert "exists already" in again.err
    assert cli("query", url, "SELECT * FROM t", "-o", str(path), "--overwrite").code == 0


def test_floating_decimals_keep_all_their_digits_in_files(
    cli: Cli, url: str, table: None, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    assert cli("query", url, "SELECT digits, id FROM t ORDER BY id", "-o", str(path)).code == 0
    found = pq.read_table(path)
    assert found.column("digits").to_pylist() == ["1.234567890123456", None, "-0.00000000000000000001"]
    assert found.column("id").to_pylist() == [1, 2, 3]
    assert found.schema.field("digits").metadata[b"informix.type"] == b"DECIMAL(16)"


def test_a_query_that_fails_leaves_no_file(cli: Cli, url: str, table: None, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    ran = cli("query", url, "SELECT * FROM nowhere", "-o", str(path))
    assert ran.code == 1
    assert "nowhere" in ran.err
    assert ran.err.count("\n") == 1
    ran = cli("query", url, "SELECT id / (id - 2) FROM t ORDER BY id", "-o", str(path))
    assert ran.code == 1
    assert list(tmp_path.iterdir()) == []
    assert "\n  " in cli("-v", "query", url, "SELECT * FRM t").err
    assert "\n  " in cli("query", url, "SELECT * FRM t", "-v").err


def test_a_script_runs_statement_by_statement_with_spl(cli: Cli, url: str, tmp_path: Path) -> None:
    script = tmp_path / "x.sql"
    script.write_text(
        "CREATE TABLE u (a INT);\n"
        "CREATE PROCEDURE fill(n INT)\n"
        "    DEFINE i INT;\n"
        "    FOR i = 1 TO n INSERT INTO u VALUES (i); END FOR;\n"
        "END PROCEDURE;\n"
        "EXECUTE PROCEDURE fill(3);\n"
        "BEGIN WORK; DELETE FROM u WHERE a = 1; COMMIT WORK;\n"
        "SELECT SUM(a) s FROM u;\n"
    )
    ran = cli("query", url, "-f", str(script))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == '"s"\n5\n'


def test_each_statement_is_committed_and_an_error_names_its_line(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    script = tmp_path / "x.sql"
    script.write_text("CREATE TABLE u (a INT);\nINSERT INTO u VALUES (1);\nINSERT INTO u VALUES ('x');\n")
    ran = cli("query", url, "-f", str(script))
    assert ran.code == 1
    assert ran.err.startswith(f"informix-arrow: {script}, line 3: ")
    assert conn.read_arrow("SELECT a FROM u").column("a").to_pylist() == [1]


def test_a_transaction_that_nobody_commits_is_rolled_back_and_reported(
    cli: Cli, url: str, conn: Connection
) -> None:
    conn.execute("CREATE TABLE u (a INT)")
    ran = cli("query", url, "BEGIN WORK; INSERT INTO u VALUES (1)")
    assert ran.code == 1
    assert "rolled back" in ran.err
    assert conn.read_arrow("SELECT a FROM u").num_rows == 0


def test_one_file_holds_the_rows_of_one_statement(cli: Cli, url: str, table: None, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    ran = cli("query", url, "SELECT id FROM t; SELECT name FROM t", "-o", str(path))
    assert ran.code == 1
    assert list(tmp_path.iterdir()) == []
    assert (
        cli("query", url, "SELECT 1 a FROM t WHERE id=1; SELECT 2 b FROM t WHERE id=1").out
        == '"a"\n1\n\n"b"\n2\n'
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["SELECT 1", "more"], "too many arguments"),
        ([";"], "no statement"),
        (["SELECT 1; SELECT 2", "--param", "1"], "single statement"),
        (["SELECT 1", "-o", "/nowhere/x.csv"], "no directory"),
        (["SELECT 1", "-o", "x.unknown"], "--format"),
    ],
)
def test_what_cannot_be_meant_is_a_usage_error(cli: Cli, url: str, words: list[str], says: str) -> None:
    ran = cli("query", url, *words)
    assert (ran.code, ran.out) == (2, "")
    assert says in ran.err


def test_progress_for_machines_goes_to_stderr(cli: Cli, url: str, table: None, tmp_path: Path) -> None:
    ran = cli("query", url, "SELECT * FROM t", "-o", str(tmp_path / "x.parquet"), "--progress", "json")
    assert json.loads(ran.err.splitlines()[-1])["rows"] == 3


def test_tables_are_listed(cli: Cli, url: str, table: None) -> None:
    ran = cli("tables", url, "T%", "--format", "table")
    assert ran.out.splitlines()[2].split(" | ")[1:3] == ["t         ", "TABLE     "]
    assert '"table_type"' in cli("tables", url).out
    assert "systables" in cli("tables", url, "--system").out


def test_a_table_is_described_with_its_keys(cli: Cli, url: str, table: None) -> None:
    ran = cli("describe", url, "t", "--format", "table")
    assert "DECIMAL(16)" in ran.out
    assert "primary key" in ran.out
    rows = json.loads(cli("describe", url, "t", "--format", "json").out)
    assert [row["column_name"] for row in rows] == ["id", "name", "digits", "tail"]
    ran = cli("describe", url, "nowhere")
    assert (ran.code, ran.out) == (1, "")
    assert "-206" in ran.err


def test_ping_says_who_answers(cli: Cli, url: str) -> None:
    ran = cli("ping", url)
    assert ran.code == 0
    assert "Informix" in ran.out
    ran = cli("ping", "informix://u@127.0.0.1:1/x")
    assert ran.code == 1
    assert ran.err.count("\n") == 1
