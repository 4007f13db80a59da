"""The public informix-driver as an independent client. The full set of tests is in tests/interop."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any

import pytest
from tests.interop.reference_clients import reference_client_module

from informix_arrow.server import Server

informix_db = reference_client_module("informix_db")


def connect(server: Server, database: str, **options: Any) -> Any:
    host, port = server.address
    return informix_db.connect(
        host,
        port,
        user="informix",
        password=options.pop("password", "in4mix"),
        database=database,
        server="informix",
        connect_timeout=20,
        read_timeout=60,
        **options,
    )


@pytest.mark.parametrize("database", ["sysmaster", "stores_demo"])
@pytest.mark.parametrize("autocommit", [True, False])
def test_it_creates_fills_and_reads_a_temporary_table(
    server: Server, database: str, autocommit: bool
) -> None:
    rows = [
        (1, "one", 1.5, Decimal("12.34"), datetime.date(2026, 1, 15), 2**40, 7),
        (2, None, None, None, None, None, 8),
        (-2147483647, "", -0.5, Decimal("-0.01"), datetime.date(1899, 12, 31), -(2**62), 9),
    ]
    with connect(server, database, autocommit=autocommit) as connection:
        cursor = connection.cursor()
        cursor.execute(
            "CREATE TEMP TABLE t_peer "
            "(a INT, b VARCHAR(20), c FLOAT, d DECIMAL(8,2), e DATE, f BIGINT, g INT)"
        )
        cursor.executemany("INSERT INTO t_peer VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
        cursor.execute("SELECT * FROM t_peer ORDER BY g")
        assert [tuple(row) for row in cursor.fetchall()] == rows
        assert [column[0] for column in cursor.description] == list("abcdefg")
        assert cursor.rowcount == 3
        cursor.execute("SELECT COUNT(*) FROM t_peer WHERE a > ?", (0,))
        assert cursor.fetchone()[0] == 2


def test_its_pipelined_batch_reports_the_failing_row(server: Server) -> None:
    with connect(server, "stores_demo", autocommit=True) as connection:
        cursor = connection.cursor()
        cursor.execute("CREATE TEMP TABLE t_peer_dup (a INT PRIMARY KEY, b VARCHAR(20))")
        rows = [(number % 900, "x") for number in range(1000)]
        with pytest.raises(informix_db.IntegrityError):
            cursor.executemany("INSERT INTO t_peer_dup VALUES (?, ?)", rows)
        cursor.execute("SELECT COUNT(*) FROM t_peer_dup")
        assert cursor.fetchone()[0] == 900


def test_its_scroll_cursor_moves_on_the_server(server: Server) -> None:
    with connect(server, "sysmaster", autocommit=True) as connection:
        cursor = connection.cursor(scrollable=True)
        cursor.execute("SELECT tabid FROM systables WHERE tabid <= 10 ORDER BY tabid")
        assert cursor.fetch_last()[0] == 10
        assert cursor.fetch_first()[0] == 1
        assert cursor.fetch_absolute(4)[0] == 5
        cursor.close()


def test_its_errors_carry_code_and_token(server: Server) -> None:
    with connect(server, "sysmaster") as connection:
        cursor = connection.cursor()
        with pytest.raises(informix_db.ProgrammingError) as caught:
            cursor.execute("SELECT * FROM no_such_table_xyz")
        assert (caught.value.sqlcode, caught.value.near) == (-206, "no_such_table_xyz")
        cursor.execute("SELECT FIRST 1 tabname FROM systables ORDER BY tabid")
        assert cursor.fetchone()[0] == "systables"


def test_a_wrong_password_is_an_operational_error(server: Server) -> None:
    with pytest.raises(informix_db.OperationalError):
        connect(server, "sysmaster", password="wrong")


@pytest.mark.parametrize("value", [2.5, Decimal("2.5"), "2.5"])
def test_a_parameter_beside_a_column_keeps_its_digits_with_each_client(server: Server, value: object) -> None:
    import informix_arrow

    host, port = server.address
    ours = informix_arrow.connect(
        host=host, port=port, user="informix", password="in4mix", database="stores_demo", server="informix"
    )
    with connect(server, "stores_demo", autocommit=True) as theirs, ours:
        for cursor in (theirs.cursor(), ours.cursor()):
            cursor.execute("CREATE TEMP TABLE t_beside (i INT, d DECIMAL(8,2), z INT)")
            cursor.execute("INSERT INTO t_beside VALUES (3, 3.25, 7)")
            cursor.execute("SELECT i * ?, NVL(d, ?), d + ?, z FROM t_beside WHERE i + ? > 5.4", (value,) * 4)
            assert tuple(cursor.fetchone()) == (Decimal("7.5"), Decimal("3.25"), Decimal("5.75"), 7)
            cursor.execute("UPDATE t_beside SET i = i * ?, d = d * ? WHERE i < ?", (value, value, 3.5))
            cursor.execute("SELECT i, d, z FROM t_beside")
            assert tuple(cursor.fetchone()) == (7, Decimal("8.13"), 7)
