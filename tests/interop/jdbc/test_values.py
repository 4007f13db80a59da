"""Every type is written by our driver and read by IBM's JDBC driver, and vice versa."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pytest

import informix_arrow

from ..clients import Table
from ..target import Target
from ..values import CASES, UTF8, Case, sentinel, wide_table
from .driver import Jdbc, JdbcError

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = pytest.mark.reference_client

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
Connect = Callable[..., Jdbc]
ConnectOurs = Callable[[str], "Connection"]
NewTable = Callable[[str, str], str]


def columns_of(case: Case) -> str:
    """Return the columns of a case, named as in the other tests, so that they share the table."""
    return Table.fields([case])


def jdbc_rows(case: Case) -> list[list[str | None]]:
    """Return the case's rows as text for JDBC's setters."""
    return [[str(n), None if v is None else case.to_jdbc(v), str(tail)] for n, v, tail in case.rows]


def from_jdbc(case: Case, rows: Sequence[Sequence[str | None]]) -> list[tuple[int, object, int]]:
    """Return JDBC's text as our values."""
    return [(int(n or ""), None if v is None else case.from_jdbc(v), int(tail or "")) for n, v, tail in rows]


def read_with_jdbc(jdbc: Jdbc, case: Case, table: str) -> list[tuple[int, object, int]]:
    _, rows = jdbc.query(f"SELECT id, v0, s0 FROM {table} ORDER BY id", ("Int", case.read_method, "Int"))
    return from_jdbc(case, rows)


def read_with_ours(connection: Connection, table: str) -> list[tuple[object, ...]]:
    result = connection.read_arrow(f"SELECT * FROM {table} ORDER BY id")
    return [tuple(row.values()) for row in result.to_pylist()]


@every_case
def test_what_jdbc_writes_row_by_row_both_sides_read(
    case: Case, kept_jdbc: Connect, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    table = kept_table(case.database, columns_of(case))
    other = kept_jdbc(case.database)
    counts = other.insert(
        f"INSERT INTO {table} VALUES (?, ?, ?)", ("Int", case.setter, "Int"), jdbc_rows(case)
    )
    assert counts == [1] * len(case.rows)
    assert read_with_jdbc(other, case, table) == case.rows
    assert read_with_ours(kept_ours(case.database), table) == case.rows


@every_case
def test_what_our_cursor_writes_jdbc_reads(
    case: Case, kept_jdbc: Connect, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    table = kept_table(case.database, columns_of(case))
    connection = kept_ours(case.database)
    cursor = connection.cursor()
    cursor.executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", case.rows)
    assert cursor.rowcount == len(case.rows)
    assert read_with_jdbc(kept_jdbc(case.database), case, table) == case.rows
    assert read_with_ours(connection, table) == case.rows


@every_case
def test_a_batch_of_jdbc_gives_the_same_rows(
    case: Case, kept_jdbc: Connect, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    """addBatch sends all rows in one PDU (JDBC section 8), which the server may execute together."""
    table = kept_table(case.database, columns_of(case))
    other = kept_jdbc(case.database)
    statement = f"INSERT INTO {table} VALUES (?, ?, ?)"
    counts = other.insert(statement, ("Int", case.setter, "Int"), jdbc_rows(case), batch=True)
    assert counts == [1] * len(case.rows)
    assert read_with_ours(kept_ours(case.database), table) == case.rows


@pytest.mark.parametrize("case", [c for c in CASES if c.rendering], ids=lambda case: case.id)
def test_the_servers_own_text_of_a_value_is_what_was_written(
    case: Case, kept_jdbc: Connect, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    """The SQL engine formats ``v::LVARCHAR``, so none of our codecs is between the value and its text."""
    assert case.rendering is not None
    table = kept_table(case.database, columns_of(case))
    other = kept_jdbc(case.database)
    other.insert(f"INSERT INTO {table} VALUES (?, ?, ?)", ("Int", case.setter, "Int"), jdbc_rows(case))
    sql = f"SELECT id, v0::LVARCHAR, s0 FROM {table} ORDER BY id"
    wanted = [(n, None if v is None else case.rendering(v), tail) for n, v, tail in case.rows]
    _, rows = other.query(sql, ("Int", "String", "Int"))
    assert [(int(n or ""), v, int(tail or "")) for n, v, tail in rows] == wanted
    ours_rows = kept_ours(case.database).read_arrow(sql).to_pylist()
    assert [tuple(row.values()) for row in ours_rows] == wanted


@pytest.mark.parametrize("case", wide_table(), ids=lambda case: case.id)
def test_jdbc_receives_the_declared_type(case: Case, kept_jdbc: Connect, kept_table: NewTable) -> None:
    table = kept_table(case.database, columns_of(case))
    columns, rows = kept_jdbc(case.database).query(
        f"SELECT id, v0, s0 FROM {table}", ("Int", case.read_method, "Int")
    )
    assert rows == []
    assert [column["name"] for column in columns] == ["id", "v0", "s0"]
    described = columns[1]
    assert described["type"] == case.jdbc_type
    arguments = [int(n) for n in case.sql.partition("(")[2].rstrip(")").split(",") if n]
    if case.sql.startswith(("DECIMAL", "MONEY")):
        assert described["precision"] == arguments[0]
        assert described["scale"] == (arguments[1] if len(arguments) > 1 else 255)
    elif "CHAR" in case.sql:
        # VARCHAR(m,r): the driver uses the encoded length, r << 8 | m, as the length.
        assert described["precision"] == (arguments[-1] << 8 if len(arguments) > 1 else 0) | arguments[0]


def test_a_parameter_of_a_query_finds_the_row_that_it_names(
    jdbc: Connect, ours: ConnectOurs, new_table: NewTable
) -> None:
    table = new_table(
        UTF8, "id INTEGER, d DECIMAL(8,2), s VARCHAR(20), t DATETIME YEAR TO SECOND, tail INTEGER"
    )
    other = jdbc(UTF8)
    texts = [
        [str(n), f"{n}.25", f"name é {n}", f"2026-01-0{n} 00:00:00", str(sentinel(n))] for n in range(1, 6)
    ]
    setters = ("Int", "BigDecimal", "String", "Timestamp", "Int")
    other.insert(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?)", setters, texts)
    for column, setter, value in (
        ("id", "Int", "3"),
        ("d", "BigDecimal", "3.25"),
        ("s", "String", "name é 3"),
        ("t", "Timestamp", "2026-01-03 00:00:00"),
    ):
        sql = f"SELECT id, tail FROM {table} WHERE {column} = ?"
        _, rows = other.query(sql, ("Int", "Int"), (setter,), (value,))
        assert rows == [["3", str(sentinel(3))]], column


def test_jdbc_sees_our_uncommitted_rows_only_after_the_commit(
    jdbc: Connect, target: Target, ours: ConnectOurs, new_table: NewTable
) -> None:
    table = new_table(UTF8, "id INTEGER, tail INTEGER")
    other = jdbc(UTF8)
    count = f"SELECT COUNT(*) FROM {table}"
    with informix_arrow.connect(target.url(UTF8), read_timeout=60.0) as connection:
        connection.cursor().execute(f"INSERT INTO {table} VALUES (?, ?)", (1, 2))
        other.update("SET ISOLATION TO COMMITTED READ")
        with pytest.raises(JdbcError) as refused:  # a locked row, without SET LOCK MODE
            other.query(count, ("Long",))
        assert refused.value.code == -244
        other.update("SET ISOLATION TO COMMITTED READ LAST COMMITTED")
        assert other.query(count, ("Long",))[1] == [["0"]]
        connection.commit()
        assert other.query(count, ("Long",))[1] == [["1"]]
        connection.cursor().execute(f"INSERT INTO {table} VALUES (?, ?)", (2, 3))
        connection.rollback()
    assert other.query(count, ("Long",))[1] == [["1"]]
    assert ours(UTF8).read_arrow(f"SELECT id, tail FROM {table}").to_pylist() == [{"id": 1, "tail": 2}]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELEKT 1 FROM systables", -201),
        ("SELECT * FROM no_such_table_xyz", -206),
        ("SELECT no_such_column FROM systables", -217),
    ],
)
def test_jdbc_and_we_receive_the_same_error(sql: str, code: int, jdbc: Connect, ours: ConnectOurs) -> None:
    other = jdbc(UTF8)
    with pytest.raises(JdbcError) as theirs:
        other.query(sql, ("Object",))
    with pytest.raises(informix_arrow.ProgrammingError) as mine:
        ours(UTF8).read_arrow(sql)
    assert theirs.value.code == mine.value.sqlcode == code
    # Both connections are usable.
    assert other.query("SELECT tabid FROM systables WHERE tabid = 1", ("Int",))[1] == [["1"]]


@pytest.mark.parametrize(
    ("columns", "setters", "row"),
    [
        ("a INT, c CHAR(3), b INT", ("Int", "String", "Int"), lambda n: [str(n), "abc", str(-n)]),
        ("c CHAR(5), d DATE, b INT", ("String", "Date", "Int"), lambda n: ["xyz", "2020-02-29", str(n)]),
        ("a INT, b INT", ("Int", "Int"), lambda n: [str(n), None if n % 3 else str(-n)]),
        ("c CHAR(3)", ("String",), lambda n: [f"{n % 1000:03d}"]),
    ],
    ids=["odd rows", "odd rows, a date", "even rows", "one column"],
)
@pytest.mark.parametrize("rows", [1, 2, 3, 1001])
def test_an_insert_cursor_of_fixed_columns_puts_all_rows_into_one_message(
    columns: str,
    setters: tuple[str, ...],
    row: Callable[[int], list[str | None]],
    rows: int,
    jdbc: Connect,
    ours: ConnectOurs,
    new_table: NewTable,
) -> None:
    """IFX_USEPUT=1: one SQ_PUT with the number of rows, each with its own pad, if no column has a variable length."""
    table = new_table(UTF8, columns)
    sent = [row(n) for n in range(rows)]
    other = jdbc(UTF8, IFX_USEPUT="1")
    places = ", ".join("?" * len(setters))
    counts = other.insert(f"INSERT INTO {table} VALUES ({places})", setters, sent, batch=True)
    assert counts[0] == rows
    found = ours(UTF8).read_arrow(f"SELECT * FROM {table}").to_pylist()
    texts = [[None if v is None else str(v) for v in each.values()] for each in found]
    assert sorted(texts, key=str) == sorted(sent, key=str)
