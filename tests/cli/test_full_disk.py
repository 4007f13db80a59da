"""A full disk: one line names the file, no incomplete file has its final name, and committed rows are reported."""

from __future__ import annotations

import csv
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from informix_arrow.unl import write_unl

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow import Connection

ROWS = 20_000


def _mount(*words: str | Path) -> bool:
    try:
        done = subprocess.run(["mount", *words], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return done.returncode == 0


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 256 KiB."""
    path = tmp_path / "disk"
    path.mkdir()
    if not _mount("-t", "tmpfs", "-o", "size=256k", "tmpfs", path):
        pytest.skip("mounting a small disk takes root's rights")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", path], check=True)


@pytest.fixture
def orders(conn: Connection) -> str:
    """Create a table with more bytes than the disk has, even compressed, and return its name."""
    chosen = random.Random(1)
    data = pa.table(
        {"id": pa.array(range(ROWS), pa.int32()), "v": [chosen.randbytes(20).hex() for _ in range(ROWS)]}
    )
    conn.write_arrow("orders", data, mode="create", primary_key=["id"])
    return "orders"


def left(disk: Path) -> list[str]:
    return sorted(str(path.relative_to(disk)) for path in disk.rglob("*") if path.is_file())


@pytest.mark.parametrize("suffix", ["csv", "csv.gz", "json", "jsonl", "parquet", "arrow", "unl"])
def test_unload_names_the_file_and_leaves_nothing(
    cli: Cli, url: str, orders: str, disk: Path, suffix: str
) -> None:
    target = disk / f"orders.{suffix}"
    ran = cli("unload", url, orders, "-o", target)
    assert (ran.code, ran.out) == (1, "")
    assert (
        ran.err == f"informix-arrow: {target}: No space left on device. 0 files with 0 rows are complete.\n"
    )
    assert left(disk) == []


def test_unload_goes_on_when_there_is_room_again(
    cli: Cli, url: str, orders: str, disk: Path, conn: Connection
) -> None:
    words = ("unload", url, orders, "-o", disk / "o.unl", "--rows-per-file", "2000", "--resume", "--checksum")
    ran = cli(*words)
    whole = [name for name in left(disk) if name.endswith(".unl")]
    assert ran.code == 1
    assert 0 < len(whole) < 10
    assert f"{len(whole)} files with {2000 * len(whole):,} rows are complete. Use --resume" in ran.err
    assert ran.err.count("\n") == 1
    assert _mount("-o", "remount,size=8m", disk)
    ran = cli(*words)
    assert (ran.code, ran.err) == (0, "")
    lines = [line for name in sorted(disk.glob("*.unl")) for line in name.read_text().splitlines()]
    assert [int(line.split("|")[0]) for line in lines] == list(range(ROWS))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_query_names_the_file_and_leaves_nothing(
    cli: Cli, url: str, orders: str, disk: Path, suffix: str
) -> None:
    target = disk / f"q.{suffix}"
    ran = cli("query", url, f"SELECT * FROM {orders}", "-o", target)
    assert (ran.code, ran.out, ran.err) == (
        1,
        "",
        f"informix-arrow: {target}: No space left on device\n",
    )
    assert left(disk) == []


@pytest.mark.parametrize("kind", ["parquet", "unl"])
def test_export_names_the_file_and_leaves_nothing(
    cli: Cli, url: str, orders: str, disk: Path, kind: str
) -> None:
    ran = cli("export", url, disk / "all", "--format", kind)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err.endswith(f".{kind}: No space left on device\n")
    assert ran.err.count("\n") == 1
    assert left(disk) == []


def test_copy_names_the_file_and_a_later_one_finds_a_table_that_is_as_before(
    cli: Cli, url: str, orders: str, disk: Path, conn: Connection
) -> None:
    ran = cli("copy", url, f"{disk}/copy/", orders)
    assert ran.code == 1
    assert ran.err.startswith("informix-arrow: orders: ")
    assert ran.err.endswith(".parquet.new: No space left on device\n")
    assert ran.err.count("\n") == 1
    assert [name for name in left(disk) if name.endswith(".parquet")] == []
    assert _mount("-o", "remount,size=8m", disk)
    ran = cli("copy", url, f"{disk}/copy/", orders)
    assert (ran.code, ran.err) == (0, "")
    assert pq.read_table(disk / "copy" / orders).num_rows == ROWS


@pytest.fixture
def twice(tmp_path: Path) -> Path:
    """A CSV file of 4,000 rows with each key twice. Every second one is refused, which is more than the disk holds."""
    path = tmp_path / "twice.csv"
    rows = (f"{number // 2},{'x' * 150}\n" for number in range(4000))
    path.write_text("id,v\n" + "".join(rows))
    return path


def test_refused_rows_without_room_undo_the_load(
    cli: Cli, url: str, conn: Connection, disk: Path, twice: Path
) -> None:
    conn.execute("CREATE TABLE keyed (id INTEGER PRIMARY KEY, v CHAR(150))")
    ran = cli("load", url, "keyed", twice, "--on-error", "collect", "--rejects", disk / "r.csv")
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"informix-arrow: {disk}/r.csv: No space left on device. Nothing was loaded.\n"
    assert left(disk) == []
    assert conn.read_arrow("SELECT COUNT(*) n FROM keyed").to_pylist() == [{"n": 0}]


def test_refused_rows_of_what_was_committed_are_kept_when_there_is_no_room_for_more(
    cli: Cli, url: str, conn: Connection, disk: Path, twice: Path
) -> None:
    conn.execute("CREATE TABLE keyed (id INTEGER PRIMARY KEY, v CHAR(150))")
    words = ("--on-error", "collect", "--rejects", disk / "r.csv", "--commit-every", "500")
    ran = cli("load", url, "keyed", twice, *words)
    committed = int(conn.read_arrow("SELECT COUNT(*) n FROM keyed").column(0)[0].as_py())
    assert 0 < committed < 2000
    assert ran.code == 1
    assert (
        ran.err
        == f"informix-arrow: {disk}/r.csv: No space left on device. {committed:,} rows are committed. Run the "
        f"same command again to continue after them. Refused rows are in {disk}/r.csv.part.\n"
    )
    assert left(disk) == ["r.csv.jsonl.part", "r.csv.part"]
    with (disk / "r.csv.part").open(newline="") as file:
        header, *refused = csv.reader(file)
    assert header == ["id", "v"]
    assert refused == [[str(number), "x" * 150] for number in range(committed)]
    assert len((disk / "r.csv.jsonl.part").read_text().splitlines()) == committed


def test_contents_of_large_objects_without_room_leave_nothing(disk: Path) -> None:
    data = pa.table({"id": [1, 2], "b": [os.urandom(200_000), os.urandom(200_000)]})
    with pytest.raises(OSError, match="No space left"):
        write_unl(data, disk / "o.unl", {"b": "BLOB"})
    assert left(disk) == []


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")
@pytest.mark.parametrize("words", [("unload", "orders", "-o", "-", "--format", "csv"), ("tables",)])
def test_standard_output_without_room_is_reported(url: str, orders: str, words: tuple[str, ...]) -> None:
    command, *more = words
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "informix_arrow", command, url, *more],
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment,  # Python writes its buffer again when it exits
            check=False,
        )
    assert (done.returncode, done.stderr) == (
        1,
        b"informix-arrow: standard output: No space left on device\n",
    )
