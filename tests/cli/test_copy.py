"""`informix-arrow copy`: copies tables to a target, with a summary, a log, and an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq

from informix_arrow import Connection
from informix_arrow.server import Server

from .conftest import Cli


def test_tables_are_copied_and_reported(conn: Connection, url: str, cli: Cli, tmp_path: Path) -> None:
    conn.execute("CREATE TABLE orders (id INTEGER, after VARCHAR(9))")
    conn.execute("INSERT INTO orders VALUES (1, 'é')")
    log = tmp_path / "log.jsonl"
    command = ("copy", url, f"{tmp_path}/lake/", "orders", "--mode", "incremental", "--watermark", "id")
    for rows in (1, 0):
        ran = cli(*command, "--log", str(log), "--progress", "never")
        assert ran.code == 0, ran.err
        title, line = ran.out.splitlines()
        assert title.split() == ["table", "mode", "rows", "read", "rows", "there", "seconds", "watermark"]
        assert line.split()[0] == "orders"
        assert line.split()[2:4] == [str(rows), "1"]
    reported = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(each["table"], each["mode"], each["watermark"]) for each in reported] == [
        ("orders", "full", "1"),
        ("orders", "incremental", "1"),
    ]
    assert pq.read_table(tmp_path / "lake" / "orders")["after"].to_pylist() == ["é"]


def test_a_table_that_fails_is_reported_and_the_others_are_copied(
    conn: Connection, url: str, cli: Cli, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE orders (id INTEGER, after VARCHAR(9))")
    ran = cli("copy", url, f"{tmp_path}/lake/", "nowhere", "orders", "--progress", "never")
    assert ran.code == 1
    assert [line.split()[:3] for line in ran.out.splitlines()[1:]] == [
        ["nowhere", "full", "failed"],
        ["orders", "full", "0"],
    ]
    assert "informix-arrow: nowhere: The table 'nowhere' does not exist" in ran.err


def test_wrong_arguments_are_reported(url: str, cli: Cli, tmp_path: Path) -> None:
    for words, text in (
        (("orders.xlsx",), "is not a target"),
        ((f"{tmp_path}/lake/", "--mode", "merge"), "needs --key"),
        (
            (f"{tmp_path}/lake/", "--overlap", "x", "--mode", "incremental", "--watermark", "id"),
            "--overlap must be a number",
        ),
    ):
        ran = cli("copy", url, *words)
        assert ran.code == 2
        assert text in ran.err


def test_the_rows_of_a_run_are_added_once(conn: Connection, url: str, cli: Cli, tmp_path: Path) -> None:
    conn.execute("CREATE TABLE orders (id INTEGER, after VARCHAR(9))")
    conn.execute("INSERT INTO orders VALUES (1, 'é')")
    words = ("copy", url, f"{tmp_path}/lake/", "orders", "--mode", "append", "--run-id", "monday")
    ran = cli(*words)
    assert (ran.out.splitlines()[1].split()[2:4], ran.err) == (["1", "1"], "")
    ran = cli(*words)
    assert ran.code == 0
    _, line, reported = ran.out.splitlines()
    assert line.split()[2:4] == ["already", "1"]
    assert reported == "The rows of --run-id monday were added before. Use --again to add them once more."
    assert cli(*words, "--again").out.splitlines()[1].split()[2:4] == ["1", "2"]


def test_an_append_without_a_run_id_says_once_that_it_repeats_its_rows(
    conn: Connection, url: str, cli: Cli, tmp_path: Path
) -> None:
    for table in ("orders", "items"):
        conn.execute(f"CREATE TABLE {table} (id INTEGER, after VARCHAR(9))")
        conn.execute(f"INSERT INTO {table} VALUES (1, 'é')")
    words = ("copy", url, f"{tmp_path}/lake/", "orders", "items")
    for rows in (1, 2):
        ran = cli(*words, "--mode", "append")
        assert [line.split()[3] for line in ran.out.splitlines()[1:]] == [str(rows)] * 2
        (line,) = ran.err.splitlines()
        assert "If the command is run again, it adds its rows again" in line
        assert "--run-id" in line
    assert cli(*words).err == ""  # a full copy


def test_folders_conditions_and_rejects_are_options(
    conn: Connection, server: Server, url: str, cli: Cli, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE orders (id INTEGER, place VARCHAR(9), total DECIMAL(32), after VARCHAR(9))")
    for row in ((1, "a b", "1.25", "x"), (2, None, None, "語"), (3, "c", "7E30", "z")):
        conn.execute("INSERT INTO orders VALUES (?, ?, ?, ?)", row)
    words = ("orders", "--progress", "never", "--where", "id < 3")
    ran = cli(
        "copy", url, f"{tmp_path}/lake/", *words, "--partition-by", "place", "--floating-decimals", "float64"
    )
    assert ran.code == 0, ran.err
    (path,) = (tmp_path / "lake" / "orders" / "place=a b").iterdir()
    assert pq.read_table(path, partitioning=None).to_pylist() == [{"id": 1, "total": 1.25, "after": "x"}]
    server.create_database("narrow", locale="en_US.8859-1")
    rejects = tmp_path / "rejects.jsonl"
    ran = cli(
        "copy", url, server.url("narrow"), *words, "--rejects", str(rejects), "--log", str(tmp_path / "log")
    )
    server.drop_database("narrow")
    assert ran.code == 0, ran.err
    title, line = ran.out.splitlines()
    assert title.split()[2:7] == ["rows", "read", "rejected", "rows", "there"]
    assert line.split()[2:5] == ["2", "1", "1"]
    assert json.loads(rejects.read_text("utf-8"))["key"] == {
        "id": 2,
        "place": None,
        "total": None,
        "after": "語",
    }
    assert json.loads((tmp_path / "log").read_text("utf-8"))["rejected"] == 1
