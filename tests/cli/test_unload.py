"""``informix-arrow unload``: files are complete or absent, a manifest lists them, and an unload can be resumed."""

from __future__ import annotations

import hashlib
import json
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from informix_arrow.cli import manifest

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow import Connection

ROWS = 2500


@pytest.fixture
def orders(conn: Connection) -> pa.Table:
    conn.execute(
        "CREATE TABLE orders (id INT PRIMARY KEY, day DATE, name VARCHAR(20), digits DECIMAL(16), tail CHAR(3))"
    )
    conn.execute("CREATE TABLE heap (a INT, b INT)")
    conn.execute("INSERT INTO heap VALUES (1, 1)")
    conn.execute("INSERT INTO heap VALUES (1, 2)")
    numbers = list(range(ROWS))
    table = pa.table(
        {
            "id": pa.array([number * 3 - 100 for number in numbers], pa.int32()),
            "day": pa.array([number % 30000 for number in numbers], pa.int32()).cast(pa.date32()),
            "name": [
                None if number % 5 == 0 else "" if number % 5 == 1 else f"é{number}" for number in numbers
            ],
            "digits": [f"{number}.5" for number in numbers],
            "tail": ["x" for _ in numbers],
        }
    )
    conn.write_arrow("orders", table)
    return table


def lines(path: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (path.parent / (path.name + manifest.SUFFIX)).read_text().splitlines()
    ]


def test_a_table_becomes_one_file_and_a_manifest_that_describes_it(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "orders.parquet"
    ran = cli("unload", url, "orders", "-o", str(path), "--compression", "zstd", "--checksum")
    assert (ran.code, ran.out, ran.err) == (0, "", "")
    found = pq.read_table(path)
    assert found.sort_by("id").to_pylist() == orders.to_pylist()
    assert found.schema.field("digits").metadata[b"informix.type"] == b"DECIMAL(16)"
    head, entry, end = lines(path)
    assert head["statement"] == "SELECT * FROM orders"
    assert head["statement_sha256"] == hashlib.sha256(b"SELECT * FROM orders").hexdigest()
    assert entry["rows"] == ROWS
    assert entry["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
    assert entry["bytes"] == path.stat().st_size
    assert end == {"done": True, "files": 1, "rows": ROWS}
    subprocess.run(["sha256sum", "--check", "--quiet", path.name + ".sha256"], cwd=tmp_path, check=True)
    assert {each.name for each in tmp_path.iterdir()} == {
        "orders.parquet",
        "orders.parquet.manifest.jsonl",
        "orders.parquet.sha256",
    }


def test_without_a_path_or_a_table_it_is_used_wrongly(cli: Cli, url: str, orders: pa.Table) -> None:
    assert cli("unload", url, "orders").code == 2
    assert cli("unload", url, "-o", "x.csv").code == 2
    assert cli("unload", url, "orders; DROP TABLE orders", "-o", "x.csv").code == 2
    assert cli("unload", url, "orders", "-o", "-", "--resume").code == 2
    assert cli("unload", url, "orders", "-o", "x.csv", "--rows-per-file", "0").code == 2


@pytest.mark.parametrize("suffix", ["csv", "json", "jsonl", "parquet", "arrow", "csv.gz", "unl"])
def test_every_format_holds_all_rows(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path, suffix: str
) -> None:
    path = tmp_path / f"x.{suffix}"
    sql = "SELECT id, name, tail FROM orders WHERE id < 200"
    assert cli("unload", url, "--query", sql, "-o", str(path)).code == 0
    assert lines(path)[1]["rows"] == 100
    assert path.stat().st_size > 100


def test_rows_go_to_standard_output_too(cli: Cli, url: str, orders: pa.Table) -> None:
    ran = cli("unload", url, "--query", "SELECT FIRST 2 id, tail FROM orders ORDER BY id", "-o", "-")
    assert (ran.code, ran.out, ran.err) == (0, '"id","tail"\n-100,"x"\n-97,"x"\n', "")


def test_files_of_so_many_rows_know_their_key_ranges(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "orders.parquet"
    ran = cli("unload", url, "orders", "-o", str(path), "--rows-per-file", "1000", "--key", "id")
    assert (ran.code, ran.err) == (0, "")
    files = [tmp_path / f"orders-{number:05d}.parquet" for number in (1, 2, 3)]
    assert [pq.read_metadata(each).num_rows for each in files] == [1000, 1000, 500]
    assert pa.concat_tables([pq.read_table(each) for each in files]).to_pylist() == orders.to_pylist()
    assert [(each["first"], each["last"]) for each in lines(path)[1:4]] == [
        (["-100"], ["2897"]),
        (["2900"], ["5897"]),
        (["5900"], ["7397"]),
    ]


def test_an_empty_table_becomes_a_file_without_rows(
    cli: Cli, url: str, conn: Connection, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE nothing (a INT, tail DATE)")
    for more in ([], ["--rows-per-file", "10"]):
        assert cli("unload", url, "nothing", "-o", str(tmp_path / f"x{len(more)}.parquet"), *more).code == 0
    assert pq.read_table(tmp_path / "x0.parquet").schema.names == ["a", "tail"]
    assert pq.read_table(tmp_path / "x2-00001.parquet").num_rows == 0


def test_what_was_interrupted_goes_on_behind_the_files_that_are_whole(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "orders.parquet"
    words = ["unload", url, "orders", "-o", str(path), "--rows-per-file", "700", "--resume"]
    written = manifest.Manifest.add

    def dying(self: manifest.Manifest, entry: manifest.ManifestFile) -> None:
        if len(self.entries) == 2:
            raise KeyboardInterrupt
        written(self, entry)

    with monkeypatch.context() as patch:
        patch.setattr(manifest.Manifest, "add", dying)
        ran = cli(*words)
    assert ran.code == 130
    assert "2 files with 1,400 rows are complete. Use --resume to continue after them." in ran.err
    with (tmp_path / "orders.parquet.manifest.jsonl").open("a") as file:
        file.write('{"file": "orders-0')  # the machine crashed while the line was written
    kept = (tmp_path / "orders-00001.parquet").stat().st_mtime_ns
    reads: list[str] = []
    with monkeypatch.context() as patch:
        read = manifest.read
        patch.setattr(manifest, "read", lambda path: (reads.append(path), read(path))[1])
        assert cli(*words).code == 0
    assert len(reads) == 1  # the manifest may be far away, so it is read once
    assert (tmp_path / "orders-00001.parquet").stat().st_mtime_ns == kept
    files = sorted(tmp_path.glob("orders-*.parquet"))
    assert pa.concat_tables([pq.read_table(each) for each in files]).to_pylist() == orders.to_pylist()
    assert lines(path)[-1] == {"done": True, "files": 4, "rows": ROWS}
    assert cli(*words).code == 0  # all files exist
    files[0].unlink()
    assert "in the manifest but is missing" in cli(*words).err


def test_parts_are_read_at_the_same_time_into_a_file_each(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "orders.parquet"
    words = [
        "unload",
        url,
        "orders",
        "-o",
        str(path),
        "--partition-on",
        "id",
        "--partitions",
        "4",
        "--resume",
    ]
    written = manifest.Manifest.add

    def dying(self: manifest.Manifest, entry: manifest.ManifestFile) -> None:
        if len(self.entries) == 2:
            raise OSError(28, "No space left on device")
        written(self, entry)

    with monkeypatch.context() as patch:
        patch.setattr(manifest.Manifest, "add", dying)
        ran = cli(*words)
    assert ran.code == 1
    assert "No space left on device" in ran.err
    assert "2 files with" in ran.err
    assert "Use --resume to write the rest" in ran.err
    whole = [each["file"] for each in lines(path)[1:]]
    assert len(whole) == 2
    kept = [(tmp_path / name).stat().st_mtime_ns for name in whole]
    ran = cli(*words)
    assert (ran.code, ran.err) == (0, "")
    assert [(tmp_path / name).stat().st_mtime_ns for name in whole] == kept
    files = sorted(tmp_path.glob("orders-*.parquet"))
    assert len(files) == 4
    found = pa.concat_tables([pq.read_table(each) for each in files]).sort_by("id")
    assert found.to_pylist() == orders.to_pylist()
    assert all(each["condition"] for each in lines(path)[1:5])
    assert lines(path)[-1] == {"done": True, "files": 4, "rows": ROWS}
    sql = "SELECT id, tail FROM orders WHERE id > 0"
    assert (
        cli(
            "unload",
            url,
            "--query",
            sql,
            "-o",
            str(tmp_path / "q.csv"),
            "--partitions",
            "2",
            "--partition-on",
            "id",
        ).code
        == 0
    )
    assert cli("unload", url, "orders", "-o", str(tmp_path / "x.csv"), "--partition-on", "id").code == 2
    assert (
        cli("unload", url, "orders", "-o", str(tmp_path / "x.csv"), "--partitions", "2", "--key", "id").code
        == 2
    )


def test_several_columns_of_every_kind_make_a_key(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.parquet"
    sql = "SELECT name, tail, day, digits FROM orders WHERE name IS NOT NULL"
    words = ["unload", url, "--query", sql, "-o", str(path), "--rows-per-file", "300", "--resume"]
    words += ["--key", "tail, day, digits"]
    written = manifest.Manifest.add

    def dying(self: manifest.Manifest, entry: manifest.ManifestFile) -> None:
        written(self, entry)
        if len(self.entries) == 3:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(manifest.Manifest, "add", dying)
        assert cli(*words).code == 130
    ran = cli(*words)
    assert (ran.code, ran.err) == (0, "")
    found = pa.concat_tables([pq.read_table(each) for each in sorted(tmp_path.glob("x-*.parquet"))])
    wanted = orders.filter(pa.compute.is_valid(orders.column("name"))).select(
        ["name", "tail", "day", "digits"]
    )
    assert found.to_pylist() == wanted.to_pylist()


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["heap"], 2, "no primary key"),
        (["--query", "SELECT * FROM orders"], 2, "--key"),
        (["heap", "--key", "a"], 1, "Two rows have the same a"),
        (["heap", "--key", "c"], 1, "-217"),
        (["orders", "--key", "name"], 1, "NULL"),
    ],
)
def test_resuming_without_an_order_is_refused(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path, words: list[str], code: int, says: str
) -> None:
    ran = cli("unload", url, *words, "-o", str(tmp_path / "x.csv"), "--resume")
    assert ran.code == code
    assert says in ran.err
    assert not (tmp_path / "x.csv").exists()


def test_what_is_there_is_neither_replaced_nor_mixed(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "x.parquet"
    assert cli("unload", url, "orders", "-o", str(path), "--rows-per-file", "600").code == 0
    ran = cli("unload", url, "orders", "-o", str(path))
    assert ran.code == 2
    assert "exists already" in ran.err
    ran = cli("unload", url, "heap", "-o", str(path), "--resume", "--key", "b")
    assert ran.code == 2
    assert "another statement" in ran.err
    assert cli("unload", url, "heap", "-o", str(path), "--rows-per-file", "1", "--overwrite").code == 0
    assert {each.name for each in tmp_path.iterdir()} == {
        "x.parquet.manifest.jsonl",
        "x-00001.parquet",
        "x-00002.parquet",
    }
    (tmp_path / "x.parquet.manifest.jsonl").write_text("nonsense\n")
    assert "not a manifest" in cli("unload", url, "heap", "-o", str(path), "--resume", "--key", "b").err


def test_an_unload_that_fails_leaves_nothing_under_a_final_name(
    cli: Cli, url: str, orders: pa.Table, tmp_path: Path
) -> None:
    path = tmp_path / "x.csv"
    ran = cli("unload", url, "--query", "SELECT 1 / (id - 2900) FROM orders ORDER BY id", "-o", str(path))
    assert ran.code == 1
    assert ran.err.count("\n") == 1
    assert "0 files with 0 rows are complete" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_remote_files_are_written_by_fsspec(cli: Cli, url: str, orders: pa.Table) -> None:
    import fsspec

    path = "memory://unload/orders.parquet"
    assert cli("unload", url, "orders", "-o", path, "--rows-per-file", "1000", "--resume").code == 0
    with fsspec.open("memory://unload/orders-00003.parquet") as file:
        assert pq.read_table(file).num_rows == 500
    with fsspec.open(path + manifest.SUFFIX) as file:
        assert json.loads(file.read().splitlines()[-1])["rows"] == ROWS
