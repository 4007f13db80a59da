"""All ways of loading store the same rows of every type alike.

The ways: our insert cursor, our pipeline, our executemany; JDBC's batches with and without ``IFX_USEPUT=1``;
informix-driver's executemany. The server compares the tables, and ``read_arrow`` reads them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from informix_arrow.wire.types import ColumnType

from .jdbc.driver import Jdbc
from .values import UTF8, Case, wide_table

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = pytest.mark.reference_client

ConnectJdbc = Callable[..., Jdbc]
ConnectPeer = Callable[[str], Any]
ConnectOurs = Callable[[str], "Connection"]
NewTable = Callable[[str, str], str]
ROWS = 450
#: Rows of one call of the reference clients. There are more rows, so that each way needs several calls.
JDBC_BATCH, PEER_BATCH = 200, 150
ALPHABET = "abcXYZ 0189'\"\\,;?{}äöüßé€日本"
CASES = wide_table()
FIELDS = f"id INTEGER, {', '.join(f'c{n} {case.sql}' for n, case in enumerate(CASES))}, tail INTEGER"
NAMES = ["id", *(f"c{n}" for n in range(len(CASES))), "tail"]

Row = tuple[object, ...]


def text_of(r: random.Random, most: int) -> str:
    """Return text of 0 .. ``most`` bytes, odd and even, of characters of one to three bytes, without trailing
    blanks."""
    text = "".join(r.choices(ALPHABET, k=r.randint(0, most)))
    return text.encode()[:most].decode("utf-8", "ignore").rstrip(" ")


def value_of(r: random.Random, case: Case) -> object:
    """Return a value for a column: NULL, one that is known to break drivers, or a random one."""
    if case.nullable and r.random() < 0.1:
        return None
    if r.random() < 0.3:
        return r.choice(case.values)
    ct = ColumnType.parse_sql(case.sql)
    sample = case.values[0]
    if isinstance(sample, bool):
        return r.random() < 0.5
    if isinstance(sample, int):
        largest = {"SMALLINT": 2**15 - 1, "INTEGER": 2**31 - 1, "SERIAL": 2**31 - 1}.get(case.sql, 2**63 - 1)
        return r.randint(-largest if case.nullable else 1, largest) >> r.randrange(15)
    if isinstance(sample, Decimal):
        assert ct.precision is not None
        assert ct.scale is not None
        digits = r.randint(0, 10 ** r.randint(1, ct.precision) - 1)
        return Decimal(r.choice((digits, -digits))).scaleb(-ct.scale)
    if isinstance(sample, str) and (ct.is_lvarchar or "CHAR" in case.sql):
        return text_of(r, min(ct.content_width if ct.is_lvarchar else ct.encoded_length & 0xFF, 90))
    if type(sample) is date and case.sql == "DATE":
        return date.fromordinal(r.randint(1, date(9999, 12, 31).toordinal()))
    if isinstance(sample, datetime) and case.sql == "DATETIME YEAR TO SECOND":
        return datetime(1, 1, 1) + timedelta(seconds=r.randrange(9998 * 365 * 86400))
    if case.sql == "FLOAT":
        return r.choice((r.uniform(-1e9, 1e9), r.uniform(-1, 1) * 10.0 ** r.randint(-290, 290)))
    return r.choice(case.values)


def rows_of(seed: int) -> list[Row]:
    r = random.Random(seed)
    return [(n, *(value_of(r, case) for case in CASES), -n) for n in range(ROWS)]


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return rows_of(20260717)


INSERT = f"INSERT INTO {{}} VALUES ({', '.join('?' * len(NAMES))})"


def by_write_arrow(ours: Connection, table: str, rows: Sequence[Row], method: Any) -> None:
    schema = ours.read_arrow(f"SELECT * FROM {table}").schema
    columns = [
        pa.array(values, field.type) for values, field in zip(zip(*rows, strict=True), schema, strict=True)
    ]
    report = ours.write_arrow(table, pa.table(columns, names=NAMES), method=method)
    assert (report.rows, report.method) == (len(rows), method)


def by_jdbc(jdbc: Jdbc, table: str, rows: Sequence[Row]) -> None:
    def given(row: Row) -> list[str | None]:
        middle = [None if v is None else case.to_jdbc(v) for v, case in zip(row[1:-1], CASES, strict=True)]
        return [str(row[0]), *middle, str(row[-1])]

    setters = ["Int", *(case.setter for case in CASES), "Int"]
    for at in range(0, len(rows), JDBC_BATCH):
        part = [given(row) for row in rows[at : at + JDBC_BATCH]]
        counts = jdbc.insert(INSERT.format(table), setters, part, batch=True)
        assert counts == [1] * len(part) or counts == [len(part), *[-2] * (len(part) - 1)]  # JDBC section 8


def by_peer(peer: Any, table: str, rows: Sequence[Row]) -> None:
    cursor = peer.cursor()
    for at in range(0, len(rows), PEER_BATCH):  # it reads no reply before it has sent all rows of a call
        part = [
            (row[0], *(case.to_peer(v) for v, case in zip(row[1:-1], CASES, strict=True)), row[-1])
            for row in rows[at : at + PEER_BATCH]
        ]
        cursor.executemany(INSERT.format(table), part)


@pytest.fixture
def reference(ours: ConnectOurs, new_table: NewTable, rows: list[Row]) -> str:
    """A table that our insert cursor has loaded."""
    table = new_table(UTF8, FIELDS)
    by_write_arrow(ours(UTF8), table, rows, "put")
    return table


def same(ours: Connection, reference: str, other: str) -> None:
    left, right = (ours.read_arrow(f"SELECT * FROM {table} ORDER BY id") for table in (reference, other))
    for name in NAMES:
        assert left.column(name).to_pylist() == right.column(name).to_pylist(), name
    for table, against in ((reference, other), (other, reference)):
        assert ours.read_arrow(f"SELECT * FROM {table} EXCEPT SELECT * FROM {against}").to_pylist() == []
    for table in (reference, other):
        found = ours.read_arrow(f"SELECT COUNT(*)::INT AS c, COUNT(DISTINCT id)::INT AS ids FROM {table}")
        assert found.to_pylist() == [{"c": ROWS, "ids": ROWS}]


def test_what_our_insert_cursor_loads_is_what_was_given(
    ours: ConnectOurs, reference: str, rows: list[Row]
) -> None:
    found = ours(UTF8).read_arrow(f"SELECT * FROM {reference} ORDER BY id")
    for number, name in enumerate(NAMES):
        assert found.column(name).to_pylist() == [row[number] for row in rows], FIELDS.split(", ")[number]


def test_our_pipeline_loads_the_same(
    ours: ConnectOurs, new_table: NewTable, reference: str, rows: list[Row]
) -> None:
    other = new_table(UTF8, FIELDS)
    by_write_arrow(ours(UTF8), other, rows, "pipeline")
    same(ours(UTF8), reference, other)


def test_our_executemany_loads_the_same(
    ours: ConnectOurs, new_table: NewTable, reference: str, rows: list[Row]
) -> None:
    other = new_table(UTF8, FIELDS)
    ours(UTF8).cursor().executemany(INSERT.format(other), rows)
    same(ours(UTF8), reference, other)


def test_batches_of_jdbc_load_the_same(
    jdbc: ConnectJdbc, ours: ConnectOurs, new_table: NewTable, reference: str, rows: list[Row]
) -> None:
    other = new_table(UTF8, FIELDS)
    by_jdbc(jdbc(UTF8), other, rows)
    same(ours(UTF8), reference, other)


#: DATETIMEs that JDBC cannot send: its setters fail with -79716 before anything is sent, and YEAR TO MONTH 2026-01 is
#: sent as c715260a, which is 2138-10.
UNPUT = ("HOUR TO", "YEAR TO YEAR", "YEAR TO MONTH", "DAY TO", "MINUTE TO", "SECOND TO", "FRACTION TO")


def test_the_insert_cursor_of_jdbc_loads_the_same(
    jdbc: ConnectJdbc, ours: ConnectOurs, new_table: NewTable, rows: list[Row]
) -> None:
    """The table has all types that JDBC can send. The other columns are NULL."""
    able = [not case.sql.removeprefix("DATETIME ").startswith(UNPUT) for case in CASES]
    assert able.count(False) == 10
    fewer: list[Row] = [
        (row[0], *(v if can else None for v, can in zip(row[1:-1], able, strict=True)), row[-1])
        for row in rows
    ]
    reference, other = (new_table(UTF8, FIELDS) for _ in range(2))
    by_write_arrow(ours(UTF8), reference, fewer, "put")
    by_jdbc(jdbc(UTF8, IFX_USEPUT="1"), other, fewer)
    same(ours(UTF8), reference, other)


def test_executemany_of_informix_driver_loads_the_same(
    peer: ConnectPeer, ours: ConnectOurs, new_table: NewTable, reference: str, rows: list[Row]
) -> None:
    other = new_table(UTF8, FIELDS)
    by_peer(peer(UTF8), other, rows)
    same(ours(UTF8), reference, other)
