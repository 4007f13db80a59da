"""Options of copies: partition folders, rejected rows, conditions, and numbers with all their digits."""

from __future__ import annotations

import datetime as dt
import itertools
import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from tests.integration import copy_targets
from tests.integration.copy_targets import held, kind_of

import informix_arrow as ifx
from informix_arrow.server import Server

_numbers = itertools.count(1)


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    name = f"copy_forms_{next(_numbers)}"
    server.create_database(name)
    with ifx.connect(server.url(name), autocommit=True) as connection:
        yield connection
    server.drop_database(name)


@pytest.fixture(params=copy_targets.KINDS)
def target(request: pytest.FixtureRequest, tmp_path: Path, server: Server) -> Iterator[str]:
    with copy_targets.made(request.param, tmp_path, server, f"copy_forms_target_{next(_numbers)}") as text:
        yield text


def only(*kinds: str) -> Any:
    return pytest.mark.parametrize("target", [k for k in copy_targets.KINDS if k in kinds], indirect=True)


# ---- partition folders --------------------------------------------------------------------------


@pytest.fixture
def visits(conn: ifx.Connection) -> ifx.Connection:
    conn.execute("CREATE TABLE visits (id INTEGER, day DATE, place VARCHAR(40), n INTEGER, after VARCHAR(9))")
    return conn


def visit(conn: ifx.Connection, *rows: tuple[Any, ...]) -> None:
    conn.cursor().executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", rows)


MONDAY, TUESDAY = dt.date(2026, 1, 5), dt.date(2026, 1, 6)
ODD = "a/b=c:50%\\ \"'*?{[^"


def paths(folder: Path) -> set[str]:
    return {str(path.parent.relative_to(folder)) for path in folder.rglob("*.parquet")}


def read(folder: Path) -> list[tuple[Any, ...]]:
    """Return the rows that a reader of Hive partitions finds, in the order of the table's columns."""
    found = ds.dataset(
        [str(path) for path in folder.rglob("*.parquet")],
        partitioning=ds.partitioning(flavor="hive"),
        partition_base_dir=str(folder),
    ).to_table()
    names = ("id", "day", "place", "n", "after")
    return sorted(zip(*(found[name].to_pylist() for name in names), strict=True), key=str)


def test_rows_are_in_folders_that_are_named_after_values(visits: ifx.Connection, tmp_path: Path) -> None:
    rows = [
        (1, MONDAY, "here", 1, "a"),
        (2, MONDAY, ODD, 2, "b"),
        (3, None, "zürich", 3, "c"),
        (4, TUESDAY, None, None, "d"),
        (5, MONDAY, "here", 5, "e"),
    ]
    visit(visits, *rows)
    lake = f"{tmp_path}/lake/"
    (report,) = ifx.copy(visits, lake, ["visits"], partition_by=["DAY", "place"])
    assert (report.rows, report.target_rows) == (5, 5)
    folder = tmp_path / "lake" / "visits"
    assert paths(folder) == {
        "day=2026-01-05/place=here",
        "day=2026-01-05/place=a%2Fb%3Dc%3A50%25%5C %22%27%2A%3F%7B%5B%5E",
        "day=__HIVE_DEFAULT_PARTITION__/place=zürich",
        "day=2026-01-06/place=__HIVE_DEFAULT_PARTITION__",
    }
    (one,) = (folder / "day=2026-01-05" / "place=here").iterdir()
    assert pq.read_table(one, partitioning=None).to_pylist() == [
        {"id": 1, "n": 1, "after": "a"},
        {"id": 5, "n": 5, "after": "e"},
    ]
    expected = sorted(((i, d and str(d), p, n, a) for i, d, p, n, a in rows), key=str)
    assert read(folder) == expected


def test_another_reader_finds_the_same(visits: ifx.Connection, tmp_path: Path) -> None:
    duckdb = pytest.importorskip("duckdb")
    rows = [(1, MONDAY, ODD, 1, "a"), (2, TUESDAY, None, 2, "b"), (3, MONDAY, "x y", 3, "c")]
    visit(visits, *rows)
    ifx.copy(visits, f"{tmp_path}/lake/", ["visits"], partition_by=["day", "place"])
    found = duckdb.sql(
        f"SELECT id, day, place, n, after FROM read_parquet('{tmp_path}/lake/visits/**/*.parquet', "
        "hive_partitioning = true) ORDER BY id"
    ).fetchall()
    assert found == rows


def test_each_mode_goes_on_with_folders(visits: ifx.Connection, tmp_path: Path) -> None:
    lake, folder = f"{tmp_path}/lake/", tmp_path / "lake" / "visits"
    visit(visits, (1, MONDAY, "a", 1, "x"), (2, TUESDAY, "a", 2, "x"))
    ifx.copy(visits, lake, ["visits"], partition_by="day", mode="incremental", watermark="id")
    visit(visits, (3, TUESDAY, "a", 3, "x"), (4, None, "a", 4, "x"))
    (report,) = ifx.copy(visits, lake, ["visits"], partition_by="day", mode="incremental", watermark="id")
    assert (report.rows, report.target_rows) == (2, 4)
    # A row that has moved to another folder replaces the one with its key, and an empty folder is removed.
    visits.execute("UPDATE visits SET day = ?, n = 10 WHERE id = 1", [TUESDAY])
    (report,) = ifx.copy(visits, lake, ["visits"], partition_by="day", mode="merge", key="id")
    assert report.target_rows == 4
    expected = [
        (1, "2026-01-06", "a", 10, "x"),
        (2, "2026-01-06", "a", 2, "x"),
        (3, "2026-01-06", "a", 3, "x"),
        (4, None, "a", 4, "x"),
    ]
    assert read(folder) == expected
    assert paths(folder) == {"day=2026-01-06", "day=__HIVE_DEFAULT_PARTITION__"}
    assert not (folder / "day=2026-01-05").exists()
    (report,) = ifx.copy(
        visits, lake, ["visits"], partition_by="day", mode="merge", key=["day", "id"], where="id < 4"
    )
    assert read(folder) == expected
    (report,) = ifx.copy(visits, lake, ["visits"], partition_by="day", mode="append", where="id = 4")
    assert report.target_rows == 5
    with pytest.raises(
        ifx.CopyFailed, match=r"was partitioned by day\. Copy the table in full to change that"
    ):
        ifx.copy(visits, lake, ["visits"], mode="append")
    ifx.copy(visits, lake, ["visits"])
    assert paths(folder) == {"."}
    assert sorted(each.name for each in folder.iterdir() if each.is_dir()) == []
    assert held(lake, "visits").num_rows == 4


def test_many_folders_are_written_with_few_files_open(
    visits: ifx.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("informix_arrow.replicate.parquet_tables.MAX_OPEN_FILES", 3)
    visit(visits, *((n, None, "p", n % 10, "x") for n in range(50)))
    (report,) = ifx.copy(visits, f"{tmp_path}/lake/", ["visits"], partition_by="n")
    assert report.target_rows == 50
    assert len(paths(tmp_path / "lake" / "visits")) == 10
    assert [row[0] for row in sorted(read(tmp_path / "lake" / "visits"))] == list(range(50))


def test_what_cannot_name_a_folder_is_refused_before_anything_is_written(
    visits: ifx.Connection, tmp_path: Path
) -> None:
    lake = f"{tmp_path}/lake/"
    visits.execute("CREATE TABLE b (id INTEGER, f FLOAT, after INTEGER)")
    for table, by, match in (
        ("visits", "nowhere", "visits has no column 'nowhere'"),
        ("b", "f", r"b\.f: Directories cannot be named after values of double"),
        ("b", ["id", "ID"], "names a column twice"),
        ("b", ["id", "after", "f"], "Directories cannot be named"),
    ):
        with pytest.raises(ifx.CopyFailed, match=match):
            ifx.copy(visits, lake, [table], partition_by=by)
    visit(visits, (1, MONDAY, "a", 1, "x"))
    ifx.copy(visits, lake, ["visits"], partition_by="place")
    visit(visits, (2, MONDAY, "", 1, "x"))
    with pytest.raises(ifx.CopyFailed, match="means NULL"):
        ifx.copy(visits, lake, ["visits"], partition_by="place")
    assert [row[0] for row in read(tmp_path / "lake" / "visits")] == [1]
    with pytest.raises(ifx.InterfaceError, match="partition_by= works with directories of Parquet files"):
        ifx.copy(visits, f"{tmp_path}/x.duckdb", ["visits"], partition_by="day")


def test_what_a_copy_that_failed_has_left_is_removed_with_its_folders(
    visits: ifx.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next copy removes them, even if it has no rows for these folders, or nothing was copied before."""
    lake = tmp_path / "lake"

    def failing(day: dt.date, n: int) -> None:
        visit(visits, (n, day, "p", n, "x"))
        with monkeypatch.context() as patch:
            patch.setattr("informix_arrow.replicate.parquet_tables.reconcile", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                ifx.copy(visits, f"{lake}/", ["visits"], partition_by=["day", "n"])
        assert list(lake.rglob("*.new"))
        visits.execute("DELETE FROM visits WHERE id = ?", (n,))

    failing(MONDAY, 1)
    visit(visits, (2, TUESDAY, "p", 2, "x"))
    ifx.copy(visits, f"{lake}/", ["visits"], partition_by=["day", "n"])
    failing(MONDAY, 3)
    ifx.copy(visits, f"{lake}/", ["visits"], partition_by=["day", "n"])
    folders = {
        str(path.relative_to(lake / "visits")) for path in (lake / "visits").rglob("*") if path.is_dir()
    }
    assert folders == {f"day={TUESDAY}", f"day={TUESDAY}/n=2"}


def test_a_table_without_rows_has_its_columns_and_gets_folders_later(
    visits: ifx.Connection, tmp_path: Path
) -> None:
    lake = f"{tmp_path}/lake/"
    ifx.copy(visits, lake, ["visits"], partition_by="day")
    assert held(lake, "visits").schema.names == ["id", "place", "n", "after"]
    visit(visits, (1, MONDAY, "a", 1, "x"))
    (report,) = ifx.copy(visits, lake, ["visits"], partition_by="day", mode="merge", key="id")
    assert report.target_rows == 1
    assert paths(tmp_path / "lake" / "visits") == {".", "day=2026-01-05"}


# ---- a condition --------------------------------------------------------------------------------


def test_only_rows_that_meet_a_condition_are_copied(visits: ifx.Connection, target: str) -> None:
    visit(visits, *((n, MONDAY, "p", n % 3, "x") for n in range(1, 10)))
    options: dict[str, Any] = {"mode": "incremental", "watermark": "id", "where": "n = 0 OR n = 1"}
    ifx.copy(visits, target, ["visits"], **options)
    visit(visits, *((n, MONDAY, "p", n % 3, "x") for n in range(10, 13)))
    (report,) = ifx.copy(visits, target, ["visits"], **options)
    assert (report.rows, report.target_rows) == (2, 8)
    assert sorted(held(target, "visits")["id"].to_pylist()) == [1, 3, 4, 6, 7, 9, 10, 12]
    (report,) = ifx.copy(visits, target, ["visits"], where="n = 2", connections=2)
    assert report.target_rows == 4
    with pytest.raises(ifx.InterfaceError, match="where= must be a condition"):
        ifx.copy(visits, target, ["visits"], where=" ")


@only("folder")
def test_another_condition_needs_a_full_copy(visits: ifx.Connection, target: str) -> None:
    """Otherwise rows below the watermark would be missing, or remain. A condition may end in a comment."""
    visit(visits, *((n, MONDAY, "p", n % 3, "x") for n in range(1, 10)))
    options: dict[str, Any] = {"mode": "incremental", "watermark": "id"}
    few = "n = 0 OR n = 1 -- for now"
    ifx.copy(visits, target, ["visits"], where=few, **options)
    (report,) = ifx.copy(visits, target, ["visits"], where=few, **options)
    assert (report.mode, report.rows, report.target_rows) == ("incremental", 0, 6)
    for other in ("n < 2", None):
        with pytest.raises(
            ifx.CopyFailed, match=r"The last copy used where = n = 0 OR n = 1 -- for now, and this one uses"
        ):
            ifx.copy(visits, target, ["visits"], where=other, **options)
        assert held(target, "visits").num_rows == 6
    ifx.copy(visits, target, ["visits"], mode="merge", key="id", where="n = 2")
    ifx.copy(visits, target, ["visits"], where=few, connections=2)
    (report,) = ifx.copy(visits, target, ["visits"], **options)
    assert (report.mode, report.target_rows) == ("full", 9)


# ---- numbers without a scale --------------------------------------------------------------------

DIGITS = ["1234567890123456.789012345678901", "-0.00000000000000000000000001", "1E40", "1.50", "0", None]


def test_decimals_without_a_scale_keep_their_digits(conn: ifx.Connection, target: str) -> None:
    conn.execute("CREATE TABLE exact (id INTEGER, d DECIMAL(32), after INTEGER)")
    for number, text in enumerate(DIGITS):
        conn.execute("INSERT INTO exact VALUES (?, ?, ?)", [number, text and Decimal(text), number])
    for _ in range(2):
        ifx.copy(conn, target, ["exact"])
    (report,) = ifx.copy(conn, target, ["exact"], mode="merge", key="id")
    assert report.target_rows == len(DIGITS)
    found = held(target, "exact").sort_by("id")
    assert found["after"].to_pylist() == list(range(len(DIGITS)))
    got = [None if value is None else Decimal(str(value)) for value in found["d"].to_pylist()]
    assert got == [None if text is None else Decimal(text) for text in DIGITS]
    with pytest.raises(ifx.CopyFailed, match=r"d was DECIMAL\(32\) and is DECIMAL\(32\) as float64"):
        ifx.copy(conn, target, ["exact"], floating_decimals="float64")
    if kind_of(target) not in ("informix", "postgresql"):
        conn.execute("UPDATE exact SET d = 1.5")
        ifx.copy(conn, target, ["exact"], floating_decimals="float64", evolve=True)
        assert held(target, "exact")["d"].to_pylist() == [1.5] * len(DIGITS)


# ---- rejects ------------------------------------------------------------------------------------


@pytest.fixture
def narrow(server: Server) -> Iterator[str]:
    """A target whose code set has fewer characters than the source's."""
    name = f"copy_forms_narrow_{next(_numbers)}"
    server.create_database(name, locale="en_US.8859-1")
    yield server.url(name)
    server.drop_database(name)


def test_values_that_the_target_cannot_hold_are_an_error_or_written_down(
    conn: ifx.Connection, narrow: str, tmp_path: Path
) -> None:
    conn.execute(
        "CREATE TABLE notes (id INTEGER PRIMARY KEY, note LVARCHAR(100), other VARCHAR(20), after INTEGER)"
    )
    for row in (
        (1, "fine é", "a", 1),
        (2, "語", "b", 2),
        (3, None, "語語", 3),
        (4, "語", "語", 4),
        (5, "z", "c", 5),
    ):
        conn.execute("INSERT INTO notes VALUES (?, ?, ?, ?)", row)
    with pytest.raises(
        ifx.CopyFailed, match=r"notes: note has a character that .* has not, in the row id=2\."
    ) as error:
        ifx.copy(conn, narrow, ["notes"])
    assert isinstance(error.value.copies[0].error, ifx.DataError)
    rejects = tmp_path / "rejects.jsonl"
    for count in (1, 2):
        (report,) = ifx.copy(conn, narrow, ["notes"], rejects=rejects)
        assert (report.rows, report.rejected, report.target_rows) == (5, 3, 2)
        told = [json.loads(line) for line in rejects.read_text("utf-8").splitlines()]
        assert len(told) == 4 * count
    assert [(each["table"], each["key"], each["column"], each["value"]) for each in told[:4]] == [
        ("notes", {"id": 2}, "note", "語"),
        ("notes", {"id": 3}, "other", "語語"),
        ("notes", {"id": 4}, "note", "語"),
        ("notes", {"id": 4}, "other", "語"),
    ]
    assert "code set" in told[0]["reason"]
    with ifx.connect(narrow) as there:
        assert there.read_arrow("SELECT id, note, after FROM notes ORDER BY id").to_pylist() == [
            {"id": 1, "note": "fine é", "after": 1},
            {"id": 5, "note": "z", "after": 5},
        ]


@only("postgresql")
def test_texts_with_zeros_are_left_out_of_postgresql(
    conn: ifx.Connection, target: str, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE notes (id INTEGER, note TEXT, after INTEGER)")
    conn.execute("INSERT INTO notes VALUES (1, ?, 1)", ["fine"])
    conn.execute("INSERT INTO notes VALUES (2, ?, 2)", ["x\0y"])
    (report,) = ifx.copy(conn, target, ["notes"], rejects=tmp_path / "r", mode="merge", key="id")
    assert (report.rows, report.rejected, report.target_rows) == (2, 1, 1)
    (told,) = [json.loads(line) for line in (tmp_path / "r").read_text("utf-8").splitlines()]
    assert (told["key"], told["column"], told["value"]) == ({"id": 2}, "note", "x\0y")
    assert held(target, "notes").to_pylist() == [{"id": 1, "note": "fine", "after": 1}]


# ---- documents ----------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["full", "incremental", "merge"])
def test_documents_are_copied_as_they_are(conn: ifx.Connection, target: str, mode: Any) -> None:
    """JSON is copied as text and BSON as bytes to targets of other systems. Informix gets columns of both types."""
    conn.execute("CREATE TABLE docs (id INTEGER, v JSON, b BSON, after INTEGER)")
    hello = bytes.fromhex("16000000 02 68656c6c6f 00 06000000 776f726c64 00 00")
    rows: list[tuple[int, Any, Any, int]] = [
        (1, '{"a" : "é"}', hello, 11),
        (2, None, b"\5\0\0\0\0", 12),
        (3, '{"long":"' + "x" * 40_001 + '"}', None, 13),
        (4, "[1,{}]", {"deep": {"n": [1, 2.5, None, True]}}, 14),
    ]
    more = {"full": {}, "incremental": {"watermark": "id"}, "merge": {"key": "id"}}[mode]
    for row in rows[:3]:
        conn.execute("INSERT INTO docs VALUES (?, ?, ?, ?)", row)
    ifx.copy(conn, target, ["docs"], mode=mode, **more)
    conn.execute("INSERT INTO docs VALUES (?, ?, ?, ?)", rows[3])
    (report,) = ifx.copy(conn, target, ["docs"], mode=mode, **more)
    assert report.target_rows == 4
    source = conn.read_arrow("SELECT * FROM docs ORDER BY id").to_pylist()
    assert [(each["v"], each["b"]) for each in source[:3]] == [(v, b) for _, v, b, _ in rows[:3]]
    assert sorted(held(target, "docs").to_pylist(), key=lambda row: row["id"]) == source
    if kind_of(target) == "informix":
        with ifx.connect(target) as there:
            types = {each["column_name"]: each["data_type"] for each in there.columns("docs").to_pylist()}
            assert (types["v"], types["b"]) == ("JSON", "BSON")
            assert there.execute("SELECT b::JSON::LVARCHAR FROM docs WHERE id = 1").fetchall() == [
                ('{"hello":"world"}',)
            ]
