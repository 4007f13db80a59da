"""INTERVAL of both classes, written by each of the clients and read by each of the others (TYPES section 7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

import informix_arrow

from .jdbc.driver import Jdbc
from .values import UTF8, sentinel

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = pytest.mark.reference_client

ConnectJdbc = Callable[..., Jdbc]
ConnectPeer = Callable[[str], Any]
ConnectOurs = Callable[[str], "Connection"]
NewTable = Callable[[str, str], str]
FIELDS = "id INTEGER, v INTERVAL {}, tail INTEGER"


@dataclass(frozen=True, slots=True)
class Interval:
    """One qualifier: the literal texts of its values, and the value that we read for each: months or a timedelta."""

    qualifier: str
    texts: tuple[str, ...]
    months: bool = False

    def value(self, text: str) -> int | timedelta:
        sign, text = (-1, text[1:]) if text.startswith("-") else (1, text)
        if self.months:
            years, _, rest = text.partition("-")
            return sign * (12 * int(years) + int(rest or 0))
        days, _, clock = text.rpartition(" ")
        first = self.qualifier.split("(")[0].split()[0]
        units = ["DAY", "HOUR", "MINUTE", "SECOND"]
        names = units[units.index(first) + (1 if days else 0) :]
        whole, _, fraction = clock.partition(".")
        seconds = {"DAY": 86400, "HOUR": 3600, "MINUTE": 60, "SECOND": 1}
        total = 86400 * int(days or 0)
        total += sum(seconds[name] * int(part) for name, part in zip(names, whole.split(":"), strict=False))
        return sign * timedelta(seconds=total, microseconds=int(fraction.ljust(6, "0") or 0))

    @property
    def rows(self) -> list[tuple[int, object, int]]:
        values: list[object] = [*map(self.value, self.texts), None]
        return [(n, value, sentinel(n)) for n, value in enumerate(values)]


CASES = (
    Interval("YEAR(4) TO MONTH", ("1-06", "-1-06", "0-00", "9999-11", "-0-01", "-9999-11"), months=True),
    Interval("YEAR(9) TO MONTH", ("123456789-11", "5-00", "-123456789-11"), months=True),
    Interval("YEAR(5) TO YEAR", ("12345", "-1", "0"), months=True),
    Interval(
        "DAY(2) TO SECOND",
        ("1 02:03:04", "-1 02:03:04", "0 00:00:00", "0 00:00:05", "99 23:59:59", "-0 00:00:01"),
    ),
    Interval("DAY(9) TO SECOND", ("106751990 23:59:59", "-106751990 00:00:01", "3 00:00:00")),
    Interval(
        "DAY(3) TO FRACTION(5)",
        ("3 03:27:01.12345", "-3 03:27:01.12345", "0 00:00:00.00001", "-999 23:59:59.99999"),
    ),
    Interval("DAY(2) TO FRACTION(1)", ("1 00:00:00.5", "-0 00:00:00.1")),
    Interval("DAY(2) TO HOUR", ("1 02", "-99 23", "0 00")),
    Interval("HOUR(4) TO SECOND", ("1234:05:06", "-00:00:01", "00:00:00")),
    Interval("MINUTE(5) TO SECOND", ("12345:59", "-00:01")),
    Interval("SECOND(3) TO FRACTION(2)", ("-999.99", "0.01", "12.50")),
)
every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.qualifier)


def literal(case: Interval, n: int, text: str) -> str:
    return f"INTERVAL({text}) {case.qualifier}"


def filled_by_the_server(ours: Connection, case: Interval, table: str) -> None:
    """Insert from literals in SQL text, without the codec of any client."""
    cursor = ours.cursor()
    for n, text in enumerate(case.texts):
        cursor.execute(f"INSERT INTO {table} VALUES ({n}, {literal(case, n, text)}, {sentinel(n)})")
    cursor.execute(f"INSERT INTO {table} VALUES ({len(case.texts)}, NULL, {sentinel(len(case.texts))})")


def read_with_ours(connection: Connection, table: str) -> list[tuple[object, ...]]:
    result = connection.read_arrow(f"SELECT id, v, tail FROM {table} ORDER BY id")
    return [tuple(row.values()) for row in result.to_pylist()]


def sixty(text: str) -> str:
    """Return JDBC's text without blanks and leading zeros of its fields, as its padding varies."""
    sign, text = ("-", text.strip()[1:]) if text.strip().startswith("-") else ("", text.strip())
    parts = [part.strip() for part in text.replace("-", " ").replace(":", " ").split()]
    return sign + " ".join(part.lstrip("0") or "0" if "." not in part else str(float(part)) for part in parts)


def test_the_cases_say_what_they_mean() -> None:
    """Check the cases' own conversion of texts by hand."""
    by_name = {case.qualifier: case for case in CASES}
    assert by_name["YEAR(4) TO MONTH"].value("-1-06") == -18
    assert by_name["DAY(2) TO HOUR"].value("1 02") == timedelta(days=1, hours=2)
    assert by_name["HOUR(4) TO SECOND"].value("1234:05:06") == timedelta(hours=1234, minutes=5, seconds=6)
    assert by_name["MINUTE(5) TO SECOND"].value("-00:01") == timedelta(seconds=-1)
    assert by_name["SECOND(3) TO FRACTION(2)"].value("-999.99") == timedelta(
        seconds=-999, microseconds=-990000
    )
    assert by_name["DAY(3) TO FRACTION(5)"].value("0 00:00:00.00001") == timedelta(microseconds=10)


@every_case
def test_what_the_server_made_of_literals_jdbc_and_we_read(
    case: Interval, kept_jdbc: ConnectJdbc, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    table = kept_table(UTF8, FIELDS.format(case.qualifier))
    filled_by_the_server(kept_ours(UTF8), case, table)
    _, rows = kept_jdbc(UTF8).query(f"SELECT id, v, tail FROM {table} ORDER BY id", ("Int", "String", "Int"))
    assert [(int(n or ""), None if v is None else sixty(v), int(tail or "")) for n, v, tail in rows] == [
        *((n, sixty(text), sentinel(n)) for n, text in enumerate(case.texts)),
        (len(case.texts), None, sentinel(len(case.texts))),
    ]
    assert read_with_ours(kept_ours(UTF8), table) == case.rows


@every_case
def test_what_jdbc_writes_as_text_we_read(
    case: Interval, kept_jdbc: ConnectJdbc, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    table = kept_table(UTF8, FIELDS.format(case.qualifier))
    texts = [[str(n), text, str(sentinel(n))] for n, text in enumerate([*case.texts, None])]
    kept_jdbc(UTF8).insert(f"INSERT INTO {table} VALUES (?, ?, ?)", ("Int", "String", "Int"), texts)
    assert read_with_ours(kept_ours(UTF8), table) == case.rows


@pytest.mark.parametrize(
    ("column", "setter", "texts"),
    [
        ("YEAR(9) TO MONTH", "IntervalYM", ("1-06", "-1-06", "0-00", "0-01", "-0-01", "9999-11", "-9999-11")),
        (
            "DAY(9) TO FRACTION(5)",
            "IntervalDF",
            (
                "3 04:05:06.78900",
                "-3 04:05:06.78900",
                "0 00:00:00.00000",
                "-0 00:00:00.00001",
                "99 23:59:59.99999",
            ),
        ),
    ],
)
def test_what_jdbc_binds_as_an_interval_object_we_read(
    column: str,
    setter: str,
    texts: tuple[str, ...],
    jdbc: ConnectJdbc,
    ours: ConnectOurs,
    new_table: NewTable,
) -> None:
    """JDBC sends the binary form, with a qualifier of its choice: YEAR TO MONTH, DAY(2) TO FRACTION(5)."""
    table = new_table(UTF8, FIELDS.format(column))
    case = Interval(column, texts, months=setter == "IntervalYM")
    rows = [[str(n), text, str(sentinel(n))] for n, text in enumerate([*texts, None])]
    jdbc(UTF8).insert(f"INSERT INTO {table} VALUES (?, ?, ?)", ("Int", setter, "Int"), rows)
    assert read_with_ours(ours(UTF8), table) == case.rows


@every_case
def test_what_informix_driver_writes_both_read(
    case: Interval, kept_peer: ConnectPeer, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    import informix_db

    table = kept_table(UTF8, FIELDS.format(case.qualifier))
    other = kept_peer(UTF8)
    rows = [(n, informix_db.IntervalYM(v) if isinstance(v, int) else v, tail) for n, v, tail in case.rows]
    other.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    assert read_with_ours(kept_ours(UTF8), table) == case.rows
    cursor = other.cursor()
    cursor.execute(f"SELECT id, v, tail FROM {table} ORDER BY id")
    assert cursor.fetchall() == rows


@every_case
def test_what_we_write_jdbc_and_we_read(
    case: Interval, kept_jdbc: ConnectJdbc, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    table = kept_table(UTF8, FIELDS.format(case.qualifier))
    values = [
        (n, informix_arrow.YearMonthInterval(v) if isinstance(v, int) else v, tail)
        for n, v, tail in case.rows
    ]
    kept_ours(UTF8).cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", values)
    assert read_with_ours(kept_ours(UTF8), table) == case.rows
    _, rows = kept_jdbc(UTF8).query(f"SELECT id, v, tail FROM {table} ORDER BY id", ("Int", "String", "Int"))
    assert [None if v is None else sixty(v) for _, v, _ in rows] == [*map(sixty, case.texts), None]
    assert [int(tail or "") for _, _, tail in rows] == [tail for _, _, tail in case.rows]


def test_days_beyond_64_bits_of_microseconds_are_an_error_with_us_and_not_a_wrong_value(
    jdbc: ConnectJdbc, ours: ConnectOurs, new_table: NewTable
) -> None:
    table = new_table(UTF8, FIELDS.format("DAY(9) TO SECOND"))
    texts = [["0", "999999999 23:59:59", "7"], ["1", "-999999999 23:59:59", "8"]]
    other = jdbc(UTF8)
    other.insert(f"INSERT INTO {table} VALUES (?, ?, ?)", ("Int", "String", "Int"), texts)
    _, rows = other.query(f"SELECT id, v, tail FROM {table} ORDER BY id", ("Int", "String", "Int"))
    assert rows == texts
    with pytest.raises(informix_arrow.DataError, match="month_day_nano"):
        read_with_ours(ours(UTF8), table)
