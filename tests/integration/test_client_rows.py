"""Row factories: the types of the rows that cursors return."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import session_of

import informix_arrow as ifx
from informix_arrow import dbapi
from informix_arrow.rows.python_rows import NO_ROW, ROWS_AT_ONCE, RowBuffer, row_class
from informix_arrow.server import Server

QUERY = "SELECT id, name, price, day FROM client_rows ORDER BY id"


def test_rows_that_are_here_are_not_given_behind_the_end_of_the_connection(server: Server) -> None:
    connection = dbapi.connect(server.url("stores_demo"))
    cursor = connection.cursor()
    cursor.execute("SELECT tabid, tabname FROM systables WHERE tabid = 1")
    connection.close()
    for fetch in (cursor.fetchall, cursor.fetchone, cursor.fetch_arrow_table):
        with pytest.raises(ifx.InterfaceError, match="The connection is closed"):
            fetch()


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    with dbapi.connect(server.url("stores_demo")) as connection:
        connection.execute(
            "CREATE TEMP TABLE client_rows (id INT NOT NULL, name VARCHAR(12), price DECIMAL(8,2), day DATE)"
        )
        connection.cursor().executemany(
            "INSERT INTO client_rows VALUES (?, ?, ?, ?)",
            [
                (1, "äö", Decimal("1.50"), date(2026, 1, 31)),
                (2, None, None, None),
                (3, "", Decimal(-7), date.min),
            ],
        )
        yield connection
        connection.rollback()


def test_named_rows_are_had_by_number_name_and_attribute(conn: ifx.Connection) -> None:
    cursor = conn.cursor(row_factory="namedtuple").execute(QUERY)
    row = cursor.fetchone()
    assert (row[0], row["name"], row.price, row[-1]) == (1, "äö", Decimal("1.50"), date(2026, 1, 31))
    assert row == (1, "äö", Decimal("1.50"), date(2026, 1, 31))
    assert row[1:3] == ("äö", Decimal("1.50"))
    assert row._fields == ("id", "name", "price", "day")
    assert (
        row._asdict()
        == dict(row)
        == {"id": 1, "name": "äö", "price": Decimal("1.50"), "day": date(2026, 1, 31)}
    )
    assert isinstance(row, tuple)
    assert isinstance(row, ifx.Row)
    assert repr(row) == "Row(id=1, name='äö', price=Decimal('1.50'), day=datetime.date(2026, 1, 31))"
    identity, name, *rest = cursor.fetchone()
    assert (identity, name, rest) == (2, None, [None, None])
    assert hash(row) == hash(tuple(row))


def test_named_rows_can_be_pickled_and_copied(conn: ifx.Connection) -> None:
    rows = conn.cursor(row_factory="namedtuple").execute(QUERY).fetchall()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        twins = pickle.loads(pickle.dumps(rows, protocol))
        assert twins == rows
        assert [twin.name for twin in twins] == ["äö", None, ""]
        assert type(twins[0]) is type(rows[0])
    assert copy.deepcopy(rows[0])._asdict() == rows[0]._asdict()
    assert copy.copy(rows[0]) == rows[0]


def test_a_wrong_name_says_which_there_are(conn: ifx.Connection) -> None:
    row = conn.cursor(row_factory="namedtuple").execute(QUERY).fetchone()
    with pytest.raises(KeyError, match=r"no column 'nmae'\. The columns are 'id', 'name', 'price', 'day'"):
        row["nmae"]
    with pytest.raises(AttributeError, match="no column 'nmae'"):
        row.nmae  # noqa: B018
    with pytest.raises(IndexError):
        row[4]
    assert not hasattr(row, "Name")


def test_columns_of_the_same_name_keep_their_positions_and_refuse_the_name(conn: ifx.Connection) -> None:
    row = (
        conn.cursor(row_factory="namedtuple")
        .execute("SELECT id, id + 10 AS id, 7 AS x FROM client_rows")
        .fetchone()
    )
    assert tuple(row) == (1, 11, 7)
    assert row.x == 7
    with pytest.raises(KeyError, match="Columns 0, 1 are all called 'id'"):
        row["id"]
    with pytest.raises(AttributeError, match="Use their positions"):
        row.id  # noqa: B018
    with pytest.raises(KeyError):
        row._asdict()
    assert pickle.loads(pickle.dumps(row)) == row


@pytest.mark.parametrize(
    "name",
    ["(expression)", "class", "2nd", "count", "index", "keys", "_fields", "_index", "__len__", "ärger", ""],
)
def test_odd_column_names_are_had_by_name(name: str) -> None:
    """A column's name takes precedence over attributes of tuples, but never breaks the row."""
    row: Any = row_class((name, "sentinel"))((3, 12345))
    assert (row[name], row["sentinel"], row.sentinel, len(row)) == (3, 12345, 12345, 2)
    assert row == (3, 12345)
    assert row._fields == (name, "sentinel")
    assert row._asdict() == {name: 3, "sentinel": 12345}
    assert pickle.loads(pickle.dumps(row))[name] == 3
    if name in ("count", "index", "keys", "ärger"):
        assert getattr(row, name) == 3


def test_rows_of_the_same_columns_have_the_same_class(conn: ifx.Connection) -> None:
    first = conn.cursor(row_factory="namedtuple").execute(QUERY).fetchone()
    second = conn.cursor(row_factory="namedtuple").execute(QUERY).fetchone()
    other = conn.cursor(row_factory="namedtuple").execute("SELECT id FROM client_rows").fetchone()
    assert type(first) is type(second) is not type(other)


def test_rows_can_be_dicts(conn: ifx.Connection) -> None:
    rows = conn.cursor(row_factory="dict").execute(QUERY).fetchall()
    assert rows == conn.read_arrow(QUERY).to_pylist()
    assert list(rows[0]) == ["id", "name", "price", "day"]


def test_dicts_of_columns_of_the_same_name_are_refused_and_nothing_stays_open(conn: ifx.Connection) -> None:
    cursor = conn.cursor(row_factory="dict")
    for _ in range(3):
        with pytest.raises(ifx.ProgrammingError, match="Two columns are called 'id'"):
            cursor.execute("SELECT id, name, id + 1 AS id FROM client_rows")
    assert cursor.description is None
    with pytest.raises(ifx.ProgrammingError, match="nothing to fetch"):
        cursor.fetchone()
    assert cursor.execute("SELECT id FROM client_rows WHERE id = 3").fetchall() == [{"id": 3}]
    assert not session_of(conn).cursors


def test_rows_can_be_made_by_a_function(conn: ifx.Connection) -> None:
    seen: list[Any] = []

    def factory(description: Any) -> Any:
        seen.append([item[0] for item in description])
        return lambda values: "|".join(map(str, values))

    cursor = conn.cursor(row_factory=factory)
    assert cursor.execute("SELECT id, name FROM client_rows ORDER BY id").fetchall() == [
        "1|äö",
        "2|None",
        "3|",
    ]
    assert cursor.execute("SELECT price FROM client_rows WHERE id = 1").fetchone() == "1.50"
    assert seen == [["id", "name"], ["price"]]


def test_a_factory_that_fails_leaves_the_cursor_usable(conn: ifx.Connection) -> None:
    def factory(description: Any) -> Any:
        raise LookupError("mine")

    cursor = conn.cursor(row_factory=factory)
    with pytest.raises(LookupError, match="mine"):
        cursor.execute(QUERY)
    cursor.row_factory = lambda description: lambda values: 1 // values[0]
    assert cursor.execute("SELECT id - 1 AS z FROM client_rows WHERE id = 2").fetchall() == [1]
    with pytest.raises(ZeroDivisionError):
        cursor.execute("SELECT id - 1 AS z FROM client_rows WHERE id = 1").fetchall()
    cursor.row_factory = "tuple"
    assert len(cursor.execute(QUERY).fetchall()) == 3
    assert not conn.closed


@pytest.mark.parametrize("broken", [0, 1, 1023, 1024, 2998, 2999])
def test_rows_behind_one_that_could_not_be_made_do_not_pass_for_the_next_ones(broken: int) -> None:
    willing = False

    def make(values: tuple[Any, ...]) -> tuple[Any, ...]:
        if values[0] == broken and not willing:
            raise LookupError("mine")
        return values

    rows = RowBuffer(make)
    rows.add(pa.RecordBatch.from_pydict({"a": range(3000), "sentinel": [12345] * 3000}))
    assert [row[0] for row in rows.fetch(min(broken, 700))] == list(range(min(broken, 700)))
    for again in (rows.fetch, rows.fetch, lambda: [rows.next_row() for _ in range(3000)], rows.fetch):
        with pytest.raises(LookupError):
            again()
    assert rows.rows_returned == broken  # earlier rows were fetched one by one
    willing = True
    assert rows.fetch() == [(number, 12345) for number in range(broken, 3000)]
    assert rows.next_row() is NO_ROW


@pytest.mark.parametrize("factory", ["list", 7, None, ["tuple"]], ids=repr)
def test_what_is_no_factory_is_refused_when_it_is_set(conn: ifx.Connection, factory: Any) -> None:
    cursor = conn.cursor()
    with pytest.raises(ifx.InterfaceError, match="row_factory must be"):
        cursor.row_factory = factory
    assert cursor.row_factory == "tuple"
    if factory is not None:
        with pytest.raises(ifx.InterfaceError, match="row_factory must be"):
            conn.cursor(row_factory=factory)


def test_a_factory_must_make_a_function(conn: ifx.Connection) -> None:
    wrong: Any = lambda description: []  # noqa: E731
    cursor = conn.cursor(row_factory=wrong)
    with pytest.raises(ifx.InterfaceError, match="row_factory returned list"):
        cursor.execute(QUERY)
    assert not conn.closed


def test_the_classes_stand_for_their_names(conn: ifx.Connection) -> None:
    query = "SELECT id FROM client_rows WHERE id = 2"
    assert conn.cursor(row_factory=dict).execute(query).fetchone() == {"id": 2}
    assert conn.cursor(row_factory=ifx.Row).execute(query).fetchone().id == 2
    assert type(conn.cursor(row_factory=tuple).execute(query).fetchone()) is tuple


def test_the_connection_has_a_factory_for_its_cursors(conn: ifx.Connection) -> None:
    conn.row_factory = "dict"
    assert conn.execute("SELECT id FROM client_rows WHERE id = 1").fetchall() == [{"id": 1}]
    assert conn.cursor(scrollable=True).execute("SELECT id FROM client_rows").fetch_last() == {"id": 3}
    assert conn.cursor(row_factory="tuple").execute("SELECT id FROM client_rows WHERE id = 1").fetchall() == [
        (1,)
    ]


@pytest.mark.parametrize("total", [0, 1, ROWS_AT_ONCE - 1, ROWS_AT_ONCE, ROWS_AT_ONCE + 1, 3 * ROWS_AT_ONCE])
@pytest.mark.parametrize("first", [0, 1, 5])
def test_rows_and_the_rest_of_a_batch_are_the_batch(total: int, first: int) -> None:
    """However some rows are fetched, the Arrow batch of the rest has exactly the other rows."""
    batch = pa.record_batch(
        {
            "id": pa.array(range(total), pa.int32()),
            "f": pa.array([None] * total, pa.float64()),
            "s": ["x"] * total,
        }
    )
    expected = [tuple(row.values()) for row in batch.to_pylist()]
    rows = RowBuffer()
    assert rows.next_row() is NO_ROW
    rows.add(batch)
    taken = rows.fetch(first)
    if total > first:
        taken.append(rows.next_row())
    assert rows.rows_returned == len(taken)
    rest = rows.remaining_batch()
    left = [] if rest is None else [tuple(row.values()) for row in rest.to_pylist()]
    assert taken + left == expected
    assert rows.next_row() is NO_ROW
    assert rows.fetch() == []


def test_plain_numbers_are_python_numbers() -> None:
    batch = pa.record_batch(
        {
            "small": pa.array([-32767, 32767], pa.int16()),
            "big": pa.array([-(2**63) + 1, 2**63 - 1], pa.int64()),
            "real": pa.array([0.1, float("inf")], pa.float32()),
            "double": pa.array([-0.0, 1e308], pa.float64()),
            "holes": pa.array([None, 4], pa.int32()),
        }
    )
    rows = RowBuffer()
    rows.add(batch)
    made = rows.fetch()
    assert made == [tuple(row.values()) for row in batch.to_pylist()]
    assert [type(value) for value in made[1]] == [int, int, float, float, int]


def test_a_floating_decimal_can_be_a_decimal_in_rows_and_text_in_arrow(server: Server) -> None:
    with ifx.connect(server.url("stores_demo")) as conn:
        conn.execute("CREATE TEMP TABLE floating (x DECIMAL(32), tail INT)")
        values = [Decimal("12345678901234567890123456789012"), Decimal("-1E-20"), Decimal("0"), None]
        conn.cursor().executemany("INSERT INTO floating VALUES (?, 7)", [(value,) for value in values])
        for scrollable in (False, True):
            cursor = conn.cursor(scrollable=scrollable)
            cursor.floating_decimals = "decimal"
            cursor.execute("SELECT x, tail FROM floating")
            assert cursor.fetchall() == [(value, 7) for value in values]
        cursor = conn.cursor()
        cursor.floating_decimals = "decimal"
        assert (
            cursor.execute("SELECT x FROM floating").fetch_arrow_table().schema.field("x").type == pa.utf8()
        )
        cursor.floating_decimals = "float64"
        assert cursor.execute("SELECT x FROM floating WHERE x = 0").fetchall() == [(0.0,)]


MANY = 40_000  # rows of several batches


def many_rows() -> pa.Table:
    texts = [None if i % 7 == 0 else f"row ä number {i}" + "x" * (i % 30) for i in range(MANY)]
    return pa.table({"id": pa.array(range(MANY), pa.int32()), "name": texts, "sentinel": [12345] * MANY})


def test_a_cursor_gives_rows_of_many_batches_and_their_rest_to_arrow(conn: ifx.Connection) -> None:
    many = many_rows()
    conn.execute("CREATE TEMP TABLE client_many (id INT, name VARCHAR(64), sentinel INT)")
    conn.write_arrow("client_many", many)
    rows = list(zip(*(column.to_pylist() for column in many.columns), strict=True))
    query = "SELECT * FROM client_many ORDER BY id"
    cursor = conn.cursor()
    assert cursor.execute(query).fetchall() == rows
    cursor.execute(query)
    assert [cursor.fetchone(), *cursor.fetchmany(20_000), next(cursor)] == rows[:20_002]
    rest = cursor.fetch_arrow_table()
    assert rest.column_names == ["id", "name", "sentinel"]
    assert list(zip(*(column.to_pylist() for column in rest.columns), strict=True)) == rows[20_002:]
    assert cursor.execute(query).fetch_arrow_table().equals(many.cast(rest.schema))
    assert [tuple(row) for row in conn.cursor(row_factory="namedtuple").execute(query)] == rows


def test_rows_that_c_makes_take_nothing_of_pyarrows_memory(server_process: str) -> None:
    """pyarrow allocates whole huge pages, for a few bytes of a schema."""
    pool = pa.default_memory_pool()
    with dbapi.connect(server_process) as conn:
        conn.execute("CREATE TEMP TABLE client_pool (id INT, name VARCHAR(64), sentinel INT)")
        conn.write_arrow("client_pool", many_rows())
        cursor = conn.cursor().execute("SELECT * FROM client_pool")
        before = pool.num_allocations()
        assert len(cursor.fetchall()) == MANY
        assert pool.num_allocations() == before
        assert conn.read_arrow("SELECT FIRST 2 * FROM client_pool").num_rows == 2
        assert pool.num_allocations() > before  # an allocation would have been counted
