"""Every type is written by our driver and read by informix-driver, and vice versa.

informix-driver never requests binary forms (no SQ_RETTYPE), sends BOOLEAN and text as CHAR, addresses every statement
as 0 and fetches until an empty batch. JDBC reads the protocol differently, and the server has to serve both.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time
from typing import TYPE_CHECKING, Any

import pytest

import informix_arrow

from ..clients import Table
from ..values import CASES, UTF8, Case, sentinel

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = pytest.mark.reference_client

every_case = pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
ConnectPeer = Callable[[str], Any]
ConnectOurs = Callable[[str], "Connection"]
NewTable = Callable[[str, str], str]


def columns_of(case: Case) -> str:
    """Return the columns of a case, named as in the other tests, so that they share the table."""
    return Table.fields([case])


def readable(case: Case) -> list[tuple[int, object, int]]:
    """Return the rows whose value informix-driver decodes."""
    return [row for row in case.rows if row[1] is None or case.peer_reads(row[1])]


def read_with_peer(connection: Any, case: Case, table: str) -> list[tuple[int, object, int]]:
    keys = [n for n, _, _ in readable(case)]
    cursor = connection.cursor()
    cursor.execute(f"SELECT id, v0, s0 FROM {table} WHERE id IN ({', '.join(map(str, keys))}) ORDER BY id")
    return [(n, case.from_peer(v), tail) for n, v, tail in cursor.fetchall()]


def read_with_ours(connection: Connection, table: str) -> list[tuple[object, ...]]:
    result = connection.read_arrow(f"SELECT * FROM {table} ORDER BY id")
    return [tuple(row.values()) for row in result.to_pylist()]


@every_case
def test_what_informix_driver_writes_row_by_row_both_sides_read(
    case: Case, kept_peer: ConnectPeer, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    table = kept_table(case.database, columns_of(case))
    other = kept_peer(case.database)
    cursor = other.cursor()
    for n, value, tail in case.rows:
        cursor.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (n, case.to_peer(value), tail))
        assert cursor.rowcount == 1
    assert read_with_ours(kept_ours(case.database), table) == case.rows
    assert read_with_peer(other, case, table) == readable(case)


@every_case
def test_what_our_cursor_writes_informix_driver_reads(
    case: Case, kept_peer: ConnectPeer, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    table = kept_table(case.database, columns_of(case))
    kept_ours(case.database).cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", case.rows)
    assert read_with_peer(kept_peer(case.database), case, table) == readable(case)


@every_case
def test_its_pipelined_executemany_gives_the_same_rows(
    case: Case, kept_peer: ConnectPeer, kept_ours: ConnectOurs, kept_table: NewTable
) -> None:
    """All BIND and EXECUTE are written before the first reply is read. There is one reply for each."""
    table = kept_table(case.database, columns_of(case))
    rows = [(n, case.to_peer(value), tail) for n, value, tail in case.rows]
    kept_peer(case.database).cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    assert read_with_ours(kept_ours(case.database), table) == case.rows


def test_a_time_without_its_leading_zeros_is_read_right_by_us_and_wrong_by_informix_driver(
    peer: ConnectPeer, ours: ConnectOurs, new_table: NewTable
) -> None:
    """This fault is the reason for `readable`. If informix-driver is fixed, this test fails and `readable` can be
    removed."""
    table = new_table(UTF8, "id INTEGER, v DATETIME HOUR TO SECOND, tail INTEGER")
    ours(UTF8).cursor().execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (1, time(0, 20, 0), sentinel(1)))
    assert read_with_ours(ours(UTF8), table) == [(1, time(0, 20, 0), sentinel(1))]
    cursor = peer(UTF8).cursor()
    cursor.execute(f"SELECT id, v, tail FROM {table}")
    assert cursor.fetchall() == [(1, time(20, 0, 0), sentinel(1))]


@pytest.mark.parametrize(
    ("sent", "kept"), [(0, 0), (1, 0), (9, 0), (10, 10), (123456, 123450), (999999, 999990)]
)
def test_the_sixth_digit_of_a_fraction_is_cut_off_without_rounding(
    sent: int, kept: int, peer: ConnectPeer, ours: ConnectOurs, new_table: NewTable
) -> None:
    """The driver binds microseconds as FRACTION(5), whose last pair of digits then contains a sixth one."""
    columns = "id INTEGER, v DATETIME YEAR TO FRACTION(5), s DATETIME YEAR TO SECOND, tail INTEGER"
    table = new_table(UTF8, columns)
    moment = datetime(2026, 8, 31, 12, 30, 15, sent)
    cursor = peer(UTF8).cursor()
    cursor.execute(f"INSERT INTO {table} VALUES (?, ?, ?, ?)", (1, moment, moment, sentinel(1)))
    wanted = [(1, moment.replace(microsecond=kept), moment.replace(microsecond=0), sentinel(1))]
    assert [tuple(r.values()) for r in ours(UTF8).read_arrow(f"SELECT * FROM {table}").to_pylist()] == wanted
    cursor.execute(f"SELECT * FROM {table}")
    assert cursor.fetchall() == wanted


def test_informix_driver_sends_the_smallest_32_bit_number_as_null(
    peer: ConnectPeer, ours: ConnectOurs, new_table: NewTable
) -> None:
    """This fault is why the values of BIGINT and INT8 are sent as DECIMAL: 80000000 as an INT is NULL (TYPES section
    3)."""
    table = new_table(UTF8, "id INTEGER, v BIGINT, tail INTEGER")
    peer(UTF8).cursor().execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (1, -(2**31), sentinel(1)))
    ours(UTF8).cursor().execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (2, -(2**31), sentinel(2)))
    assert read_with_ours(ours(UTF8), table) == [(1, None, sentinel(1)), (2, -(2**31), sentinel(2))]


def test_the_servers_text_of_a_date_follows_the_format_that_the_login_asked_for(
    peer: ConnectPeer, new_table: NewTable
) -> None:
    """informix-driver logs in with DBDATE=Y4MD-."""
    table = new_table(UTF8, "id INTEGER, v DATE, tail INTEGER")
    cursor = peer(UTF8).cursor()
    cursor.execute(f"INSERT INTO {table} VALUES (1, '2026-08-31', 7)")
    cursor.execute(f"SELECT v::LVARCHAR, tail FROM {table}")
    assert cursor.fetchall() == [("2026-08-31", 7)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELEKT 1 FROM systables", -201),
        ("SELECT * FROM no_such_table_xyz", -206),
        ("SELECT no_such_column FROM systables", -217),
    ],
)
def test_informix_driver_receives_the_same_error_as_we(
    sql: str, code: int, peer: ConnectPeer, ours: ConnectOurs
) -> None:
    import informix_db

    other = peer(UTF8)
    cursor = other.cursor()
    with pytest.raises(informix_db.ProgrammingError) as theirs:
        cursor.execute(sql)
    with pytest.raises(informix_arrow.ProgrammingError) as mine:
        ours(UTF8).read_arrow(sql)
    assert mine.value.sqlcode == code
    assert theirs.value.sqlcode == code
    cursor.execute("SELECT tabid FROM systables WHERE tabid = 1")
    assert cursor.fetchall() == [(1,)]


def test_a_duplicate_key_in_the_middle_of_a_batch_leaves_the_connection_usable(
    peer: ConnectPeer, ours: ConnectOurs, new_table: NewTable
) -> None:
    """Rows after the failing one still get their replies. The driver reads one reply for each (SQLI section 9)."""
    import informix_db

    table = new_table(UTF8, "id INTEGER NOT NULL PRIMARY KEY, tail INTEGER")
    other = peer(UTF8)
    cursor = other.cursor()
    rows = [(n if n != 500 else 1, sentinel(n)) for n in range(1000)]
    with pytest.raises(informix_db.IntegrityError):
        cursor.executemany(f"INSERT INTO {table} VALUES (?, ?)", rows)
    cursor.execute(f"SELECT COUNT(*) FROM {table}")
    assert int(cursor.fetchone()[0]) == 999
    wanted = sorted(row for n, row in enumerate(rows) if n != 500)
    read = ours(UTF8).read_arrow(f"SELECT id, tail FROM {table} ORDER BY id")
    assert [tuple(row.values()) for row in read.to_pylist()] == wanted
