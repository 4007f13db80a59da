"""``informix-arrow compare``: compare databases, exports and files, and report the rows that differ."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.stress import examples

from informix_arrow.comparison import FileSide, compare, compare_tables
from informix_arrow.unl import write_unl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Cli

    from informix_arrow import Connection
    from informix_arrow.server import Server

ROWS = 3000


def items(rows: int = ROWS) -> pa.Table:
    numbers = range(rows)
    return pa.table(
        {
            "id": pa.array(numbers, pa.int32()),
            "name": [None if n % 7 == 0 else f"näme {n}" * (n % 9) for n in numbers],
            "price": pa.array([Decimal(n).scaleb(-2) for n in numbers], pa.decimal128(8, 2)),
            "day": pa.array([dt.date(2020, 1, 1) + dt.timedelta(days=n % 999) for n in numbers]),
            "rate": [n / 7 if n % 5 else None for n in numbers],
            "paid": [n % 3 == 0 for n in numbers],
            "last": pa.array(numbers, pa.int64()),
        }
    )


def changed(table: pa.Table, change: Callable[[list[dict[str, Any]]], None]) -> pa.Table:
    rows = table.to_pylist()
    change(rows)
    return pa.Table.from_pylist(rows, schema=table.schema)


def three_changes(rows: list[dict[str, Any]]) -> None:
    rows[1234]["price"] = Decimal("99.99")
    rows[1234]["name"] = None
    del rows[2000]
    rows.append({**rows[0], "id": 5000, "last": -1})


THREE = [
    "  id=1234: name: A 'näme 1234' B NULL",
    "  id=1234: price: A 12.34 B 99.99",
    "  id=2000: only in A",
    "  id=5000: only in B",
]


@pytest.fixture
def other(server: Server, url: str) -> Iterator[str]:
    """URL of another empty database."""
    name = url.partition("?")[0].rpartition("/")[2]
    server.create_database(f"{name}_other")
    yield url.replace(f"/{name}", f"/{name}_other")
    server.drop_database(f"{name}_other")


def load(connection: Connection, table: pa.Table) -> None:
    connection.write_arrow("items", table, mode="create", primary_key="id")


def test_the_same_rows_are_the_same_in_whatever_order_and_wherever_they_lie(
    cli: Cli, conn: Connection, url: str, tmp_path: Path
) -> None:
    load(conn, items())
    shuffled = items().take(random.Random(1).sample(range(ROWS), ROWS))
    pq.write_table(shuffled, tmp_path / "items.parquet", row_group_size=700)
    write_unl(items().slice(100), tmp_path / "items.unl")
    assert (
        cli("compare", url, tmp_path / "items.parquet", "--tables", "items").out
        == "items: 3000 rows, the same\n"
    )
    assert cli("compare", url, url).code == 0
    ran = cli("compare", tmp_path / "items.unl", url, "--limit", "3")
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "items: at least 3 rows differ (A has 2900 rows, B 3000)",
        "  id=0: only in B", "  id=1: only in B", "  id=2: only in B",
    ]  # fmt: skip
    write_unl(shuffled, tmp_path / "items.unl")
    assert cli("compare", tmp_path / "items.unl", tmp_path / "items.parquet").code == 0
    assert cli("export", url, tmp_path / "out", "--format", "unl").code == 0
    ran = cli("compare", tmp_path / "out", url)
    assert (ran.code, ran.out, ran.err) == (0, "items: 3000 rows, the same\n", "")


def test_rows_that_differ_are_reported_with_key_column_and_both_values(
    cli: Cli, server: Server, conn: Connection, url: str, other: str, tmp_path: Path
) -> None:
    import informix_arrow

    load(conn, items())
    with informix_arrow.connect(other, password=server.password, autocommit=True) as second:
        load(second, changed(items(), three_changes))
    ran = cli("compare", url, other)
    assert ran.code == 1
    lines = ran.out.splitlines()
    assert lines[0] == "items: 3 rows differ (A has 3000 rows, B 3000)"
    assert lines[1:] == THREE
    pq.write_table(changed(items(), three_changes), tmp_path / "items.parquet")
    assert cli("compare", url, tmp_path / "items.parquet", "--key", "id").out == ran.out
    write_unl(items(), tmp_path / "a.unl")
    assert cli(
        "compare", tmp_path / "a.unl", tmp_path / "items.parquet", "--key", "ID"
    ).out == ran.out.replace("items", "a")


@pytest.mark.parametrize("most", [4, 50, 1000])
def test_buckets_that_are_too_large_are_divided_again(
    cli: Cli, conn: Connection, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """If this fails: keys far apart put nearly all rows into one bucket of the first level."""
    monkeypatch.setattr(compare, "MOST_ROWS", most)
    table = items(600).append_column("big", pa.array([n if n < 599 else 2**62 for n in range(600)]))
    conn.write_arrow("items", table, mode="create", primary_key="big")

    def change(rows: list[dict[str, Any]]) -> None:
        rows[17]["last"] = -1
        rows[599]["paid"] = not rows[599]["paid"]
        del rows[300:303]

    pq.write_table(changed(table, change), tmp_path / "items.parquet")
    ran = cli("compare", url, tmp_path / "items.parquet")
    assert ran.out.splitlines() == [
        "items: 5 rows differ (A has 600 rows, B 597)",
        "  big=17: last: A 17 B -1",
        "  big=300: only in A", "  big=301: only in A", "  big=302: only in A",
        f"  big={2**62}: paid: A False B True",
    ]  # fmt: skip


def test_without_a_key_whole_rows_are_compared_as_often_as_they_are_there(cli: Cli, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1, 1, 2, None], "b": ["x", "x", "y", None]}), tmp_path / "one.parquet")
    pq.write_table(pa.table({"a": [None, 1, 2, 3], "b": [None, "x", "y", "é"]}), tmp_path / "two.parquet")
    ran = cli("compare", tmp_path / "one.parquet", tmp_path / "two.parquet")
    assert (ran.code, ran.out.splitlines()) == (
        1,
        ["one: 2 rows differ (A has 4 rows, B 4)", "  a=1, b='x': only in A", "  a=3, b='é': only in B"],
    )


def test_tables_and_columns_that_one_side_lacks_are_reported(
    cli: Cli, conn: Connection, url: str, tmp_path: Path
) -> None:
    load(conn, items(5))
    conn.execute("CREATE TABLE alone (a INT)")
    pq.write_table(items(5).drop_columns(["day"]).append_column("new", [[1] * 5]), tmp_path / "items.parquet")
    pq.write_table(pa.table({"z": [1]}), tmp_path / "extra.parquet")
    ran = cli("compare", url, tmp_path)
    assert ran.code == 1
    assert ran.out.splitlines() == [
        "alone: only in A", "extra: only in B", "items: columns only in A: day", "items: columns only in B: new",
        "items: 5 rows, the same in the columns that both have",
    ]  # fmt: skip
    assert (
        cli("compare", url, tmp_path, "--tables", "ite*").out.splitlines()[0]
        == "items: columns only in A: day"
    )


def test_numbers_and_moments_are_the_same_whatever_holds_them(
    cli: Cli, conn: Connection, url: str, tmp_path: Path
) -> None:
    conn.execute(
        "CREATE TABLE t (k INT PRIMARY KEY, f DECIMAL(16), s SMALLINT, t DATETIME YEAR TO SECOND, c CHAR(9))"
    )
    conn.execute("INSERT INTO t VALUES (1, 1.50, 7, '2020-01-02 03:04:05', 'x')")
    conn.execute("INSERT INTO t VALUES (2, NULL, NULL, NULL, NULL)")
    moment = dt.datetime(2020, 1, 2, 3, 4, 5)
    columns = {"k": [2, 1], "f": [None, "1.5"], "s": [None, 7], "t": [None, moment], "c": [None, "x"]}
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    assert cli("compare", url, tmp_path / "t.parquet").out == "t: 2 rows, the same\n"
    (tmp_path / "t.unl").write_text("1|1.500|7|2020-01-02 03:04:05|x  |\n2|||||\n")
    assert cli("compare", tmp_path / "t.unl", url).out == "t: 2 rows, the same\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("none.parquet", "x.parquet"), "none.parquet is neither an existing file or directory nor a URL"),
        (("x.parquet", "x.txt"), "compare reads .parquet and .unl files"),
        (("x.parquet", "bad.parquet"), "bad.parquet is not a Parquet file"),
        (("x.parquet", "x.parquet", "--key", "zz"), "Both sides must have the key column 'zz'"),
        (("x.parquet", "empty"), "holds neither an export nor files .parquet or .unl"),
        (("x.parquet", "x.parquet", "--tables", "y*"), "Neither side has a table y*"),
    ],
)
def test_what_cannot_be_compared_is_one_line_and_neither_same_nor_different(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"a": [1]}), "x.parquet")
    Path("x.txt").write_text("x")
    Path("bad.parquet").write_text("x")
    Path("empty").mkdir()
    ran = cli("compare", *words)
    assert ran.code > 0
    assert ran.out == ""
    assert message in ran.err


VALUES = st.one_of(st.none(), st.integers(-3, 3))
TEXTS = st.one_of(st.none(), st.text("aé|", max_size=3), st.just("x" * 70), st.just("x" * 69 + "y"))
ROW = st.tuples(st.integers(-(2**63), 2**63 - 1), VALUES, TEXTS, st.floats(width=32))


@settings(max_examples=examples(20), deadline=None)
@given(rows=st.lists(ROW, max_size=12, unique_by=lambda row: row[0]), data=st.data())
def test_the_report_lists_what_was_changed(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[Any, ...]], data: st.DataObject
) -> None:
    schema = pa.schema({"k": pa.int64(), "v": pa.int32(), "t": pa.utf8(), "f": pa.float64()})
    others = []
    for row in rows:
        fate = data.draw(st.sampled_from(["keep", "keep", "drop", "change"]))
        if fate != "drop":
            others.append(row if fate == "keep" else (row[0], *data.draw(ROW)[1:]))
    others = data.draw(st.permutations(others))
    where = tmp_path_factory.mktemp("compare")
    for name, side in (("a", rows), ("b", others)):
        pq.write_table(
            pa.table([list(each) for each in zip(*side, strict=True)] or [[]] * 4, schema=schema),
            where / f"{name}.parquet",
        )
    tables = [next(iter(FileSide(where / f"{name}.parquet").tables().values())) for name in "ab"]
    result = compare_tables(*tables, key=["k"])
    there = {row[0]: row for row in others}
    expected = {
        row[0]
        for row in rows
        if row[0] not in there
        or any(x != y and not (x != x and y != y) for x, y in zip(row, there[row[0]], strict=True))
    }
    assert {each.key["k"] for each in result.differences} == expected
    assert (result.rows_a, result.rows_b, result.same) == (len(rows), len(others), not expected)
