"""The record of a load with --commit-every: finished and interrupted loads, and their refused rows."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import informix_arrow
from informix_arrow.cli.checkpoint import Checkpoint
from informix_arrow.cli.formats import Options, open_file, write_file
from informix_arrow.cli.rejects import RejectFiles

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow import Connection


def file(tmp_path: Path, text: str, name: str = "x.csv") -> str:
    path = tmp_path / name
    path.write_text(text)
    return str(path)


def rows_of(conn: Connection, table: str) -> list[dict[str, Any]]:
    return conn.read_arrow(f"SELECT * FROM {table} ORDER BY id").to_pylist()


def test_a_finished_load_is_skipped_unless_again_is_given(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE h (id INT, tail CHAR(3))")  # no key, so duplicate rows are not refused
    path = file(tmp_path, "id,tail\n1,a\n2,b\n3,\n")
    words = ["load", url, "h", path, "--commit-every", "2"]
    assert cli(*words).out == "3 rows into h\n"
    os.utime(path, (1, 1))  # the content counts, not the file's time
    for again in ([], ["--resume"]):
        ran = cli(*words, *again)
        assert (ran.code, ran.err) == (0, "")
        assert ran.out.startswith("already loaded: 3 rows into h, finished at 20")
        assert "Use --again" in ran.out
    assert len(rows_of(conn, "h")) == 3
    assert cli(*words, "--again").out == "3 rows into h\n"
    assert cli(*words, "--again", "--resume").out == "3 rows into h\n"
    assert len(rows_of(conn, "h")) == 9
    conn.execute("DELETE FROM h")
    assert "h has no rows now. Use --again" in cli(*words).out
    file(tmp_path, "id,tail\n1,a\n2,b\n3,c\n")  # the file of the next night, of the same size
    assert cli(*words).out == "3 rows into h\n"
    assert cli(*words, "--null", "c").out == "3 rows into h\n"
    assert cli(*words).out.startswith("already loaded")
    assert [row["tail"] for row in rows_of(conn, "h")].count("c  ".strip()) == 1
    assert cli(*words, "--forget", "--again").code == 2
    assert cli(*words, "--mode", "truncate", "--again").code == 2
    assert cli(*words[:-2], "--again").code == 2


def test_a_load_that_was_not_begun_with_resume_is_continued(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    """Regression: the load began again from the start, so committed rows were inserted twice."""
    conn.execute("CREATE TABLE h (id INT, tail CHAR(3))")
    conn.execute("CREATE TABLE parents (id INT PRIMARY KEY)")
    conn.execute("ALTER TABLE h ADD CONSTRAINT FOREIGN KEY (id) REFERENCES parents")
    conn.execute("INSERT INTO parents VALUES (1)")
    path = file(tmp_path, "id,tail\n1,a\n1,b\n1,c\n2,d\n1,e\n")
    words = ["load", url, "h", path, "--commit-every", "2"]
    ran = cli(*words)
    assert ran.code == 1
    assert "2 rows are committed. Run the same command again to continue after them." in ran.err
    conn.execute("INSERT INTO parents VALUES (2)")
    assert cli(*words, "--resume").out == "5 rows into h, 2 of them before this run\n"
    assert sorted(row["tail"] for row in rows_of(conn, "h")) == ["a", "b", "c", "d", "e"]


def test_create_append_is_continued_too(cli: Cli, url: str, conn: Connection, tmp_path: Path) -> None:
    path = file(tmp_path, "id,tail\n1,a\n2,b\n3,c\n")
    words = [
        "load",
        url,
        "made",
        path,
        "--mode",
        "create_append",
        "--types",
        "id=INT",
        "--types",
        "tail=CHAR(2)",
    ]
    words += ["--commit-every", "2"]
    assert cli(*words).out == "3 rows into made\n"
    assert cli(*words).out.startswith("already loaded")
    assert [row["id"] for row in rows_of(conn, "made")] == [1, 2, 3]


def test_two_processes_do_not_load_the_same_rows(
    cli: Cli, url: str, conn: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second process continues after the first one's first commit. The first one's next commit is rolled back and
    it ends."""
    conn.execute("CREATE TABLE h (id INT)")
    path = file(tmp_path, "id\n1\n2\n3\n4\n5\n")
    words = ["load", url, "h", path, "--commit-every", "2"]
    put, calls = Checkpoint.put, itertools.count(1)

    def putting(checkpoint: Checkpoint, *arguments: Any, **named: Any) -> None:
        if next(calls) == 1:
            put(checkpoint, *arguments, **named)
            return
        monkeypatch.setattr(Checkpoint, "put", put)
        conn.execute("UPDATE informix_arrow_loads SET run = 'of another process'")
        put(checkpoint, *arguments, **named)

    monkeypatch.setattr(Checkpoint, "put", putting)
    ran = cli(*words)
    assert ran.code == 1
    assert "Another process loads the same files into h" in ran.err
    assert [row["id"] for row in rows_of(conn, "h")] == [1, 2]
    assert cli(*words).code == 0
    assert [row["id"] for row in rows_of(conn, "h")] == [1, 2, 3, 4, 5]


def test_a_file_that_grows_during_its_load_is_noticed(
    cli: Cli, url: str, conn: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conn.execute("CREATE TABLE h (id INT)")
    path = file(tmp_path, "id\n1\n2\n3\n")
    find = Checkpoint.find

    def finding(*arguments: Any, **named: Any) -> Any:
        with open(path, "a") as grown:
            grown.write("4\n")
        return find(*arguments, **named)

    monkeypatch.setattr(Checkpoint, "find", finding)
    ran = cli("load", url, "h", path, "--commit-every", "2")
    assert (ran.code, "A file was changed while it was loaded." in ran.err) == (1, True)


def test_old_records_are_swept_and_unfinished_ones_stay(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE h (id INT)")
    names = []
    for number in range(3):
        names.append(file(tmp_path, f"id\n{number}\n", f"{number}.csv"))
        assert cli("load", url, "h", names[-1], "--commit-every", "2").code == 0
    old = "finished = CURRENT YEAR TO SECOND - 91 UNITS DAY"
    conn.execute(f"UPDATE informix_arrow_loads SET {old} WHERE files LIKE '%0.csv'")
    conn.execute("UPDATE informix_arrow_loads SET finished = NULL WHERE files LIKE '%1.csv'")
    assert cli("load", url, "h", names[2], "--commit-every", "2").out.startswith("already")
    kept = conn.execute("SELECT files, target FROM informix_arrow_loads ORDER BY files").fetchall()
    assert [tuple(row) for row in kept] == [(names[1], "h"), (names[2], "h")]


@pytest.mark.parametrize("kind", ["csv", "jsonl", "json", "parquet", "arrow", "unl"])
def test_refused_rows_of_a_resumed_load_are_in_one_file_once(
    cli: Cli, url: str, conn: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Every third row is refused. The load ends at each of its commits in turn."""
    conn.execute("CREATE TABLE h (id INT, name VARCHAR(5), tail INT)")
    rows = pa.table(
        {
            "id": pa.array(range(11), pa.int32()),
            "name": ["toolong" if row % 3 == 0 else "é" for row in range(11)],
            "tail": pa.array([7] * 11, pa.int32()),
        }
    )
    path = str(tmp_path / f"x.{kind}")
    with write_file(path, kind, rows.schema, Options()) as writer:
        for batch in rows.to_batches():
            writer.write(batch)
    rejects = tmp_path / f"r.{kind}"
    words = ["load", url, "h", path, "--commit-every", "4", "--rejects", str(rejects)]
    put = Checkpoint.put
    for number in range(3):

        def failing(checkpoint: Checkpoint, at: Any, *, finished: bool, number: int = number) -> None:
            if at.read > 4 * number:
                raise informix_arrow.OperationalError("the network is gone")
            put(checkpoint, at, finished=finished)

        monkeypatch.setattr(Checkpoint, "put", failing)
        assert cli(*words).code == 1
    monkeypatch.setattr(Checkpoint, "put", put)
    ended = RejectFiles.end

    def failing_end(rejects: RejectFiles) -> None:
        rejects.suspend()
        raise informix_arrow.OperationalError("and again")

    monkeypatch.setattr(RejectFiles, "end", failing_end)  # before the file gets its final name
    assert cli(*words).code == 1
    assert not rejects.exists()
    monkeypatch.setattr(RejectFiles, "end", ended)
    for _ in range(2):
        ran = cli(*words)
        assert (ran.code, ran.out.partition(",")[0]) == (3, "already loaded: 7 rows into h")
        with open_file(str(rejects), kind, Options(types=rows.schema)) as found:
            ids = [row["id"] for batch in found.batches for row in batch.to_pylist()]
        assert [int(each) for each in ids] == [0, 3, 6, 9]
        log = [json.loads(line) for line in Path(f"{rejects}.jsonl").read_text().splitlines()]
        assert len(log) == 4
        assert not list(tmp_path.glob("*.part"))
    assert [row["id"] for row in rows_of(conn, "h")] == [1, 2, 4, 5, 7, 8, 10]
