"""Known faults of the reference clients. The matrix leaves them out. When a fault is fixed, its test fails here.

The tests of informix-driver's faults with leading zeros and with -2147483648 are in informix_driver/test_values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from .case import UTF8, Case
from .clients import Clients, Table, can_read, cycled
from .extended import DISTINCT, DOCUMENTS, NESTED
from .jdbc import driver
from .jdbc.driver import Jdbc, JdbcError

pytestmark = [pytest.mark.reference_client, pytest.mark.usefixtures("distinct_types")]

NewTable = Callable[[str, str], str]


def filled(clients: Clients, new_table: NewTable, case: Case) -> Table:
    """Create a table of one column with the case's values, written by our client."""
    table = Table(new_table(UTF8, Table.fields([case])), (case,))
    clients.write("cursor", table, [0], cycled([case]))
    assert clients.read("ours", table, [0]) == table.expected([0], cycled([case]))
    return table


def unreadable(reader: str) -> list[Case]:
    return [case for case in (*DISTINCT, *NESTED, *DOCUMENTS) if not can_read(reader, case)]


@pytest.mark.parametrize("case", unreadable("jdbc"), ids=lambda case: f"{case.sql} {case.setter}")
def test_jdbc_does_not_read_collections_and_distinct_types_of_some(
    case: Case, clients: Clients, new_table: NewTable, jdbc_release: str
) -> None:
    if jdbc_release.startswith("4.10.") and (case.sql, case.setter) == ("distinct_2", "BigDecimal"):
        pytest.skip("4.10 reads it")
    table = filled(clients, new_table, case)
    with pytest.raises(JdbcError) as refused:
        clients.read("jdbc", table, [0])
    assert case.unable["jdbc reads"].startswith(f"{refused.value.code}, ")
    # Not refused by the server: the tuple was received, and the connection is usable.
    assert clients.jdbc.query(f"SELECT s0 FROM {table.name} WHERE id = 0", ("Int",))[1] == [["1000000"]]


@pytest.mark.parametrize("case", unreadable("peer"), ids=lambda case: case.sql)
def test_informix_driver_loses_its_place_in_a_row_with_such_a_type(
    case: Case, clients: Clients, peer: Callable[[str], Any], new_table: NewTable
) -> None:
    table = filled(clients, new_table, case)
    with pytest.raises(Exception, match=r"row decoder under-read|unpack requires a buffer"):
        replace(clients, peer=peer(UTF8)).read("peer", table, [0])


def test_jdbc_breaks_off_in_the_middle_of_a_bind_of_a_long_to_a_distinct_type_of_bigint(
    clients: Clients,
    jdbc: Callable[..., Jdbc],
    new_table: NewTable,
    monkeypatch: pytest.MonkeyPatch,
    jdbc_release: str,
) -> None:
    """JDBC sends ``0034 0004``, then releases the statement. The server can only wait for the rest of the value."""
    if jdbc_release.startswith("4.10."):
        pytest.skip("4.10 binds it whole")
    case = next(case for case in DISTINCT if case.setter == "BigDecimal" and case.getter == "Long")
    table = Table(new_table(UTF8, Table.fields([case])), (case,))
    monkeypatch.setattr(driver, "PATIENCE", 2.0)
    with pytest.raises(AssertionError, match="no answer"):
        clients.jdbc.insert(table.insert([0]), ("Int", "Long", "Int"), [["0", "5", "6"]])
    monkeypatch.undo()
    assert jdbc(UTF8).query(f"SELECT id FROM {table.name}", ("Int",))[1] == []


def test_a_leap_day_without_its_year_is_another_day_with_jdbc_and_an_error_with_informix_driver(
    clients: Clients, peer: Callable[[str], Any], new_table: NewTable
) -> None:
    """Both fill in a year that is not a leap year: JDBC 1700, informix-driver 1."""
    name = new_table(UTF8, "id INTEGER, v DATETIME MONTH TO HOUR, tail INTEGER")
    clients.ours.execute(f"INSERT INTO {name} VALUES (1, DATETIME (02-29 23) MONTH TO HOUR, 7)")
    sql = f"SELECT v, tail FROM {name}"
    assert clients.ours.read_arrow(sql).to_pydict() == {"v": ["02-29 23"], "tail": [7]}
    assert clients.jdbc.query(sql, ("String", "Int"))[1] == [["03-01 23", "7"]]
    cursor = peer(UTF8).cursor()
    with pytest.raises(ValueError, match="out of range"):
        cursor.execute(sql)


def test_jdbc_reads_the_content_of_a_distinct_type_of_byte_as_null(
    clients: Clients, new_table: NewTable
) -> None:
    clients.ours.execute("CREATE DISTINCT TYPE IF NOT EXISTS distinct_byte AS BYTE")
    name = new_table(UTF8, "id INTEGER, v distinct_byte, p BYTE, tail INTEGER")
    clients.ours.cursor().execute(f"INSERT INTO {name} VALUES (?, ?, ?, ?)", (1, b"ab", b"ab", 7))
    sql = f"SELECT v, p, tail FROM {name}"
    assert clients.ours.read_arrow(sql).to_pydict() == {"v": [b"ab"], "p": [b"ab"], "tail": [7]}
    assert clients.jdbc.query(sql, ("String", "Bytes", "Int"))[1] == [[None, "6162", "7"]]


def test_jdbc_sends_the_days_of_an_interval_object_in_one_byte(clients: Clients, new_table: NewTable) -> None:
    """The DAY(2) of the interval has no room for 300, so the server receives 300 modulo 256. Texts, as in the matrix,
    are correct."""
    name = new_table(UTF8, "id INTEGER, v INTERVAL DAY(9) TO FRACTION(5), tail INTEGER")
    for row, setter in enumerate(("IntervalDF", "String")):
        texts = [str(row), "300 01:02:03.00000", "7"]
        clients.jdbc.insert(f"INSERT INTO {name} VALUES (?, ?, ?)", ("Int", setter, "Int"), [texts])
    found = clients.ours.read_arrow(f"SELECT v::LVARCHAR AS v, tail FROM {name} ORDER BY id").to_pydict()
    assert found == {"v": ["44 01:02:03.00000", "300 01:02:03.00000"], "tail": [7, 7]}


def test_years_beyond_32_bits_of_months_are_an_error_for_all_and_not_a_wrong_value(
    clients: Clients, new_table: NewTable
) -> None:
    """A limit of the embedded server, not of a reference client: it stores such a value and cannot send it."""
    import informix_arrow

    name = new_table(UTF8, "id INTEGER, v INTERVAL YEAR(9) TO MONTH, tail INTEGER")
    clients.ours.execute(f"INSERT INTO {name} VALUES (1, INTERVAL(999999999-11) YEAR(9) TO MONTH, 7)")
    rendered = clients.ours.read_arrow(f"SELECT v::LVARCHAR AS v, tail FROM {name}")
    assert rendered.to_pydict() == {"v": ["999999999-11"], "tail": [7]}
    sql = f"SELECT v, tail FROM {name}"
    with pytest.raises(informix_arrow.DataError, match="-1267"):
        clients.ours.read_arrow(sql)
    with pytest.raises(JdbcError) as refused:
        clients.jdbc.query(sql, ("String", "Int"))
    assert refused.value.code == -1267
