"""Ctrl-C and commits: an interrupt never comes between a commit and its count."""

from __future__ import annotations

import json
import os
import pkgutil
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

from informix_arrow import Connection
from informix_arrow.cli.interrupts import Interrupts
from informix_arrow.transfer import database_export

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow.server import Server


@pytest.mark.usefixtures("ctrl_c")
def test_ctrl_c_waits_for_the_end_of_the_block() -> None:
    before, done = signal.getsignal(signal.SIGINT), []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:  # noqa: PT012
        interrupts.wait()
        os.kill(os.getpid(), signal.SIGINT)
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is before
    with Interrupts() as interrupts:
        interrupts.wait()
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.usefixtures("ctrl_c")
def test_before_that_it_strikes_at_once() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:  # noqa: PT012
        os.kill(os.getpid(), signal.SIGINT)
        interrupts.wait()
        done.append(1)
    assert done == []


@pytest.mark.usefixtures("ctrl_c")
def test_an_error_of_the_block_goes_before_it() -> None:
    with pytest.raises(ZeroDivisionError), Interrupts() as interrupts:  # noqa: PT012
        interrupts.wait()
        os.kill(os.getpid(), signal.SIGINT)
        raise ZeroDivisionError


def test_threads_that_get_no_signals_are_left_alone() -> None:
    seen = []

    def work() -> None:
        with Interrupts() as interrupts:
            interrupts.wait()
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [signal.getsignal(signal.SIGINT)]


def test_ctrl_c_while_a_command_is_imported_ends_as_later(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: an import takes a second on a slow machine, and Ctrl-C during it ended with a traceback."""

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("informix_arrow.cli.import_module", interrupted)
    ran = cli("query", "informix://nowhere/d", "SELECT 1")
    assert (ran.code, ran.out, ran.err) == (130, "", "informix-arrow: interrupted\n")


@pytest.mark.usefixtures("ctrl_c")
@pytest.mark.parametrize(
    ("command", "when", "point", "number"),
    [
        ("load", "after", "informix_arrow.cli.checkpoint.Checkpoint.put", signal.SIGINT),
        ("load", "before", "informix_arrow.transactions.TransactionBlock.__exit__", signal.SIGTERM),
        ("load", "after", "informix_arrow.transactions.TransactionBlock.__exit__", signal.SIGINT),
        ("load", "after", "informix_arrow.cli.rejects.RejectFiles.add", signal.SIGTERM),
        ("copy", "after", "informix_arrow.replicate.parquet_tables.write_files", signal.SIGTERM),
        ("copy", "before", "informix_arrow.replicate.parquet_folder.write_whole", signal.SIGINT),
        ("copy", "before", "informix_arrow.replicate.parquet_folder._finished", signal.SIGTERM),
        ("export", "after", "informix_arrow.transfer.database_export._table", signal.SIGINT),
        ("export", "before", "informix_arrow.transfer.database_export.SchemaFile", signal.SIGTERM),
    ],
)
def test_a_signal_at_any_step_ends_the_command_in_a_line_and_the_next_run_makes_the_same(
    cli: Cli,
    url: str,
    conn: Connection,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    when: str,
    point: str,
    number: signal.Signals,
) -> None:
    """Regression: SIGTERM ended the process at once and left incomplete files."""
    rows = [(row, "x" * (9 if row == 3 else 2)) for row in range(6)]
    good = [row for row in rows if len(row[1]) < 5]
    conn.execute("CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(5))")
    file = tmp_path / "t.csv"
    file.write_text("id,name\n" + "".join(f"{row},{name}\n" for row, name in rows))
    rejects = tmp_path / "r.csv"
    words = {
        "load": ["load", url, "t", str(file), "--commit-every", "2", "--resume", "--rejects", str(rejects)],
        "copy": ["copy", url, f"{tmp_path}/lake/", "t"],
        "export": ["export", url, str(tmp_path), "--format", "unl"],
    }[command]
    if command != "load":
        conn.cursor().executemany("INSERT INTO t VALUES (?, ?)", good)
    owner, _, name = point.rpartition(".")
    holder: Any = pkgutil.resolve_name(owner)
    done = getattr(holder, name)

    def signalled(*given: Any, **more: Any) -> Any:
        monkeypatch.setattr(holder, name, done)
        if when == "before":
            os.kill(os.getpid(), number)
        found = done(*given, **more)
        if when == "after":
            os.kill(os.getpid(), number)
        return found

    monkeypatch.setattr(holder, name, signalled)
    ran = cli(*words)
    word, code = ("interrupted", 130) if number == signal.SIGINT else ("terminated", 143)
    assert (ran.code, ran.out) == (code, "")
    assert ran.err.startswith(f"informix-arrow: {word}")
    assert ran.err.count("\n") == 1
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    again = cli(*words)
    assert (again.code, again.err) == (3 if command == "load" else 0, "")
    if command == "load":
        assert [
            tuple(row.values()) for row in conn.read_arrow("SELECT * FROM t ORDER BY id").to_pylist()
        ] == good
        assert rejects.read_text() == '"id","name"\n"3","xxxxxxxxx"\n'
    elif command == "copy":
        names = json.loads((tmp_path / "lake" / "t" / "_informix_arrow.json").read_text())["files"]
        assert sorted(each.name for each in (tmp_path / "lake" / "t").iterdir()) == [
            "_informix_arrow.json",
            *names,
        ]
        found = pq.read_table([tmp_path / "lake" / "t" / each for each in names])
        assert [tuple(row.values()) for row in found.to_pylist()] == good
    else:
        (exported,) = tmp_path.glob("*.exp/*.unl")
        assert exported.read_text() == "".join(f"{row}|{name}|\n" for row, name in good)
    assert not list(tmp_path.rglob("*.part"))


def test_what_an_export_that_was_killed_has_left_is_in_nobodys_way(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    """Regression: the next run ended with "File exists", and so did all later ones."""
    conn.execute("CREATE TABLE t (id INT)")
    part = tmp_path / f"{conn.database}.exp.part"
    part.mkdir()
    (part / "old.unl").write_text("1|\n")
    with database_export._directory_lock(part):
        ran = cli("export", url, str(tmp_path), "--format", "unl")
    assert (ran.code, "Another export is writing to it" in ran.err) == (2, True)
    assert (part / "old.unl").exists()
    assert cli("export", url, str(tmp_path), "--format", "unl").code == 0
    assert not part.exists()
    assert not list(tmp_path.rglob("old.unl"))


@pytest.mark.usefixtures("ctrl_c_ends_no_wait")
@pytest.mark.parametrize("command", ["copy", "unload"])
def test_a_job_that_is_ended_waits_for_no_rows(
    cli: Cli,
    url: str,
    conn: Connection,
    tmp_path: Path,
    server: Server,
    monkeypatch: pytest.MonkeyPatch,
    command: str,
) -> None:
    """Regression: it waited until the server had the first rows, and for all rows in a process with Polars."""
    conn.execute("CREATE TABLE t (id INT PRIMARY KEY)")
    conn.execute("INSERT INTO t VALUES (1)")
    words, done = {
        "copy": (["copy", url, f"{tmp_path}/lake/", "t"], "0 tables were copied"),
        "unload": (
            ["unload", url, "t", "-o", str(tmp_path / "t.csv"), "--partition-on", "id", "--partitions", "2"],
            "0 files with 0 rows are complete",
        ),
    }[command]
    query = Connection.query

    def signalled(self: Connection, sql: str, *given: Any, **more: Any) -> Any:
        if sql.startswith("SELECT * FROM t") and "1 = 0" not in sql:
            server.faults.delay_next(1000, matching="SELECT * FROM t")
            os.kill(os.getpid(), signal.SIGINT)
        return query(self, sql, *given, **more)

    monkeypatch.setattr(Connection, "query", signalled)
    ran = cli(*words)
    assert (ran.code, ran.out) == (130, "")
    assert f"interrupted: {done}" in ran.err
    monkeypatch.setattr(Connection, "query", query)
    server.faults.clear()
    assert cli(*words).code == 0


@pytest.mark.skipif(os.name != "posix", reason="no named pipes")
@pytest.mark.parametrize(
    "rows", [0, 2, 3, 4], ids=["before the first row", "at a chunk", "in a chunk", "at the next"]
)
def test_a_pipe_that_gives_nothing_more_ends_the_load_at_its_limit(
    cli: Cli, url: str, conn: Connection, tmp_path: Path, rows: int
) -> None:
    """The load waits for the columns, within a chunk, or between two chunks."""
    conn.execute("CREATE TABLE piped (id INT, tail INT)")
    path, done = tmp_path / "pipe", threading.Event()
    os.mkfifo(path)

    def write() -> None:
        with open(path, "wb") as file:
            file.write(b"id,tail\n"[: 8 if rows else 2] + b"".join(b"%d,7\n" % row for row in range(rows)))
            file.flush()
            done.wait(60)

    thread = threading.Thread(target=write)
    thread.start()
    words = ["--format", "csv", "--on-error", "collect", "--commit-every", "2"]
    try:
        ran = cli("load", f"{url}&call_timeout=0.5", "piped", str(path), *words)
        assert not done.is_set()
    finally:
        done.set()
        thread.join()
    assert ran.code == 1
    assert "0.5 s" in ran.err
    assert conn.execute("SELECT COUNT(*) FROM piped").fetchone()[0] in (0, 2, 4)
