"""Tables and queries in partitions: each row is in exactly one of them, whatever its key is."""

from __future__ import annotations

import asyncio
import datetime as dt
import itertools
import pickle
from collections import Counter
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stress import examples

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server

WHOLE = {
    "SMALLINT": (pa.int16(), st.integers(-32767, 32767)),
    "INTEGER": (pa.int32(), st.integers(-(2**31) + 1, 2**31 - 1)),
    "BIGINT": (pa.int64(), st.integers(-(2**63) + 1, 2**63 - 1)),
    "INT8": (pa.int64(), st.integers(-(2**63) + 1, 2**63 - 1)),
    "DECIMAL(18,0)": (pa.decimal128(18, 0), st.integers(-(10**18) + 1, 10**18 - 1).map(Decimal)),
}
OTHERS = {
    "DECIMAL(9,3)": (pa.decimal128(9, 3), st.decimals(-999999, 999999, places=3)),
    "DATE": (pa.date32(), st.dates(dt.date(1, 1, 2))),
    "DATETIME YEAR TO DAY": (pa.date32(), st.dates(dt.date(1, 1, 2))),
    "DATETIME YEAR TO HOUR": (
        pa.timestamp("s"),
        st.datetimes().map(lambda value: value.replace(minute=0, second=0, microsecond=0)),
    ),
    "DATETIME YEAR TO FRACTION(5)": (
        pa.timestamp("us"),
        st.datetimes().map(lambda value: value.replace(microsecond=value.microsecond // 10 * 10)),
    ),
    "DATETIME HOUR TO SECOND": (pa.time32("s"), st.times().map(lambda value: value.replace(microsecond=0))),
    "CHAR(6)": (pa.utf8(), st.text("aAéß \t'Ωz~", max_size=3)),
    "VARCHAR(20)": (pa.utf8(), st.text("aAéß \t'Ωz~", max_size=5)),
    "LVARCHAR(200)": (pa.utf8(), st.text("aAéß \t'Ωz~", max_size=5)),
}
TYPES = WHOLE | OTHERS
WAYS = ("auto", "range", "rowid", "mod", "bounds", "query")
_tables = itertools.count(1)


@pytest.fixture(scope="module")
def conn(server: Server) -> Iterator[ifx.Connection]:
    server.create_database("partitions")
    with ifx.connect(server.url("partitions"), autocommit=True) as connection:
        yield connection
    server.drop_database("partitions")


def made(conn: ifx.Connection, declared: str, keys: list[Any], clause: str = "") -> str:
    """Create a table with a column before the key and one after it, and return its name."""
    name = f"parts_{next(_tables)}"
    conn.execute(f"CREATE TABLE {name} (id INTEGER, k {declared}, after VARCHAR(10)) {clause}")
    conn.write_arrow(name, data(declared, keys))
    return name


def data(declared: str, keys: list[Any]) -> pa.Table:
    count = range(len(keys))
    return pa.table(
        {
            "id": pa.array(count, pa.int32()),
            "k": pa.array(keys, TYPES[declared][0]),
            "after": [f"é{n}" for n in count],
        }
    )


@pytest.fixture(scope="module")
def tables(conn: ifx.Connection) -> dict[str, str]:
    """Create a table for each type, to be filled again and again."""
    return {declared: made(conn, declared, []) for declared in TYPES}


def rows(conn: ifx.Connection, parts: list[ifx.Partition]) -> list[tuple[int, Any, str]]:
    tables = [conn.read_arrow(part.sql, part.parameters) for part in parts]
    whole = pa.concat_tables(tables)
    return sorted(zip(*(whole[name].to_pylist() for name in ("id", "k", "after")), strict=True))


def is_whole(conn: ifx.Connection, source: str, parts: list[ifx.Partition]) -> bool:
    """Return whether the partitions hold exactly the rows of their source. The ids distinguish the rows."""
    everything = conn.read_arrow(source if " " in source else f"SELECT * FROM {source}")
    expected = sorted(zip(*(everything[name].to_pylist() for name in ("id", "k", "after")), strict=True))
    return rows(conn, parts) == expected


@st.composite
def keys_of_a_type(draw: st.DrawFn) -> tuple[str, list[Any]]:
    """Draw values of one type: few or many distinct ones, some much more frequent than others, with NULLs."""
    declared = draw(st.sampled_from(sorted(TYPES)))
    values = draw(st.lists(TYPES[declared][1], min_size=1, max_size=8))
    chosen = draw(st.lists(st.sampled_from([*values, None]), max_size=60))
    often = draw(st.sampled_from([*values, None]))
    return declared, chosen + [often] * draw(st.integers(0, 60))


@settings(
    max_examples=examples(25), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(keys_of_a_type(), st.integers(1, 9), st.sampled_from(WAYS), st.data())
def test_every_row_is_in_exactly_one_part(
    conn: ifx.Connection,
    tables: dict[str, str],
    table: tuple[str, list[Any]],
    parts: int,
    way: str,
    more: st.DataObject,
) -> None:
    declared, keys = table
    name = source = tables[declared]
    conn.write_arrow(name, data(declared, keys), mode="truncate")
    if way == "rowid":
        found = ifx.plan_partitions(conn, name, None, parts, by="rowid")
    elif way == "mod" and declared in WHOLE:
        found = ifx.plan_partitions(conn, name, "k", parts, by="mod")
    elif way == "bounds" and "CHAR" not in declared:
        bounds = sorted(more.draw(st.tuples(TYPES[declared][1], TYPES[declared][1])))
        found = ifx.plan_partitions(conn, name, "k", parts, (bounds[0], bounds[1]))
    elif way == "query":
        query = f"SELECT * FROM {name} WHERE id >= ? AND after <> 'no ? here'"
        found = ifx.plan_partitions(conn, query, "K", parts, parameters=(3,))
        source = f"SELECT * FROM {name} WHERE id >= 3"
    elif way == "auto":
        found = ifx.plan_partitions(conn, name, partition_num=parts)
    else:
        found = ifx.plan_partitions(conn, name, "k", parts, by="range")
    assert 1 <= len(found) <= parts
    assert [part.number for part in found] == list(range(len(found)))
    assert is_whole(conn, source, found)


EXPRESSIONS = st.lists(
    st.sampled_from(
        [
            "k < -5",
            "k >= 0 AND k < 10",
            "(k IN (1, 7, -3))",
            "k IS NULL",
            "MOD(id, 2) = 1",
            "after > 'é2' AND k > 3",
            "k = k",
        ]
    ),
    min_size=1,
    max_size=5,
    unique=True,
)


@settings(
    max_examples=examples(10),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    EXPRESSIONS,
    st.booleans(),
    st.none() | st.integers(1, 7),
    st.lists(st.none() | st.integers(-10, 12), max_size=50),
)
def test_fragments_divide_whatever_their_expressions_say(
    conn: ifx.Connection, expressions: list[str], remainder: bool, parts: int | None, keys: list[int | None]
) -> None:
    """The expressions may overlap, match no fragment, and be NULL."""
    spaces = [
        f"{text} IN dbs{n}" for n, text in enumerate([*expressions, "REMAINDER"][: None if remainder else -1])
    ]
    name = made(conn, "INTEGER", keys, f"FRAGMENT BY EXPRESSION {', '.join(spaces)}")
    try:
        found = ifx.plan_partitions(conn, name, partition_num=parts)
        assert len(found) == (1 if parts == 1 else min(parts or 9, len(expressions) + 1))
        assert {part.by for part in found} == ({"one"} if parts == 1 else {"fragment"})
        assert is_whole(conn, name, found)
    finally:
        conn.execute(f"DROP TABLE {name}")


def test_uneven_values_are_divided_at_quantiles(conn: ifx.Connection) -> None:
    keys = [n**3 for n in range(4000)]
    name = made(conn, "BIGINT", keys)
    even = ifx.plan_partitions(conn, name, "k", 4, (0, 4000**3))
    found = ifx.plan_partitions(conn, name, "k", 4)
    sizes = [conn.read_arrow(part.sql, part.parameters).num_rows for part in found]
    assert conn.read_arrow(even[0].sql).num_rows > 2500
    assert max(sizes) < 1500
    assert "quantiles of a sample" in found[0].reason
    assert is_whole(conn, name, found)


def test_texts_are_divided_where_the_server_orders_them(conn: ifx.Connection) -> None:
    keys = [f"{'éaZ'[n % 3]}{n % 700}" for n in range(2100)]
    name = made(conn, "VARCHAR(20)", keys)
    for source in (name, f"SELECT * FROM {name}"):
        found = ifx.plan_partitions(conn, source, "k", 3)
        assert max(conn.read_arrow(part.sql, part.parameters).num_rows for part in found) < 1100
        assert is_whole(conn, source, found)


def test_auto_says_why(conn: ifx.Connection) -> None:
    conn.execute("CREATE TABLE auto_serial (id SERIAL PRIMARY KEY, k INTEGER, after VARCHAR(10))")
    conn.execute("CREATE TABLE auto_plain (id FLOAT, k INTEGER, after VARCHAR(10))")
    conn.execute("CREATE TABLE auto_robin (id INTEGER) FRAGMENT BY ROUND ROBIN IN dbs1, dbs2")
    conn.execute("CREATE VIEW auto_view AS SELECT * FROM auto_serial")
    for name in ("auto_serial", "auto_plain"):
        conn.write_arrow(name, pa.table({"id": range(1, 901), "k": range(900)}))
    expected = {
        "auto_serial": ("range", "id is a key of the table, equal strides"),
        "auto_plain": ("rowid", "no fragments with expressions, and no key"),
        "auto_robin": ("one", "and no rowids; name a column with partition_on"),
        "auto_view": ("one", "name a column with partition_on"),
        "SELECT * FROM auto_serial": ("one", "a query has no fragments"),
    }
    for source, (by, reason) in expected.items():
        (found, *_) = ifx.plan_partitions(conn, source, partition_num=3)
        assert found.by == by
        assert reason in found.reason


def test_a_part_can_be_read_in_another_process(conn: ifx.Connection) -> None:
    name = made(conn, "VARCHAR(20)", ["b", None, "it's", "ä"])
    found = ifx.plan_partitions(conn, name, "k", 2)
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert is_whole(conn, name, again)


def test_a_table_may_be_named_with_its_owner_and_database(conn: ifx.Connection, owner: str) -> None:
    name = made(conn, "INTEGER", [1, 2, None])
    for full in (f"{owner}.{name}", f"{conn.database}:{owner}.{name}"):
        found = ifx.plan_partitions(conn, full, "k", 2)
        assert len(found) == 2
        assert rows(conn, found) == [(0, 1, "é0"), (1, 2, "é1"), (2, None, "é2")]


def test_names_in_double_quotes_are_kept(server: Server, conn: ifx.Connection) -> None:
    with ifx.connect(server.url("partitions"), autocommit=True, env={"DELIMIDENT": "y"}) as quoting:
        quoting.execute('CREATE TABLE "Part Es" (id INTEGER, "Key Of" INTEGER, k INTEGER, after VARCHAR(10))')
        quoting.write_arrow('"Part Es"', pa.table({"id": [1, 2, 3], "Key Of": [5, None, 9]}))
        found = ifx.plan_partitions(quoting, '"Part Es"', '"Key Of"', 2)
        assert Counter(quoting.read_arrow(part.sql).num_rows for part in found) == {2: 1, 1: 1}
        quoting.execute('DROP TABLE "Part Es"')


@pytest.mark.parametrize(
    ("arguments", "options", "error", "match"),
    [
        (("nowhere",), {}, ifx.ProgrammingError, "-206"),
        (
            ("bad_plain", "nowhere"),
            {},
            ifx.InterfaceError,
            r"There is no column 'nowhere' \(partition_on=\)\. The columns are id, k, f",
        ),
        (("bad_plain", "f"), {}, ifx.InterfaceError, "cannot be divided"),
        (("bad_plain",), {"by": "range"}, ifx.InterfaceError, "no single-column key"),
        (
            ("bad_plain", "k", 2, ("x", "y")),
            {},
            ifx.InterfaceError,
            "partition_range: 'x' is not a whole number",
        ),
        (("bad_plain", "k", 2, (2, 1)), {}, ifx.InterfaceError, "2 is more than 1"),
        (("bad_plain", "t"), {"by": "mod"}, ifx.InterfaceError, "column of whole numbers"),
        (("bad_plain",), {"by": "fragment"}, ifx.InterfaceError, "not fragmented"),
        (("bad_robin",), {"by": "fragment"}, ifx.NotSupportedError, "Round robin"),
        (("bad_robin",), {"by": "rowid"}, ifx.InterfaceError, "has no rowids, because it is fragmented"),
        (("bad_view",), {"by": "rowid"}, ifx.InterfaceError, "is a view, which has no rowids"),
    ],
)
def test_what_cannot_be_divided_is_one_clear_error(
    conn: ifx.Connection, arguments: Any, options: Any, error: type[ifx.Error], match: str
) -> None:
    for statement in (
        "CREATE TABLE IF NOT EXISTS bad_plain (id INTEGER, k INTEGER, f FLOAT, t VARCHAR(5))",
        "CREATE TABLE IF NOT EXISTS bad_robin (id INTEGER) FRAGMENT BY ROUND ROBIN IN dbs1, dbs2",
        "CREATE VIEW IF NOT EXISTS bad_view AS SELECT * FROM bad_plain",
    ):
        conn.execute(statement)
    with pytest.raises(error, match=match):
        ifx.plan_partitions(conn, *arguments, **options)
    assert conn.read_arrow("SELECT COUNT(*) AS n FROM bad_plain")["n"].to_pylist() == [0]


def test_asyncio_makes_the_same_plan(server: Server, conn: ifx.Connection) -> None:
    name = made(conn, "DATE", [dt.date(2026, 1, day) for day in range(1, 30)])

    async def planned() -> list[ifx.Partition]:
        async with aio.connect(server.url("partitions")) as other:
            return await aio.plan_partitions(other, name, "k", 5)

    assert asyncio.run(planned()) == ifx.plan_partitions(conn, name, "k", 5)
