"""INSERT from the client's side: the number of inserted rows, and the accepted values."""

from __future__ import annotations

import datetime as dt

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server


@pytest.mark.parametrize("rows", [0, 1, 5])
def test_an_insert_of_a_query_with_parameters_reports_its_row_count(server: Server, rows: int) -> None:
    with ifx.connect(server.url("stores_demo")) as conn, conn.cursor() as cursor:
        cursor.execute("create temp table t_counted (id integer, b varchar(10), tail integer)")
        for n in range(rows):
            cursor.execute("insert into t_counted values (?, 'b', 7)", [n])
            assert cursor.rowcount == 1
        cursor.execute("insert into t_counted select id + ?, b, tail from t_counted where id >= ?", [10, 0])
        assert cursor.rowcount == rows
        cursor.execute("select count(*), min(tail) from t_counted")
        assert cursor.fetchone() == (2 * rows, 7 if rows else None)


@pytest.mark.parametrize("content", ["", "abc", "größer " * 1000])
def test_a_large_object_goes_in_beside_a_value_of_the_session(server: Server, content: str) -> None:
    with ifx.connect(server.url("stores_demo")) as conn, conn.cursor() as cursor:
        cursor.execute("create temp table t_objects (d date, c clob, u varchar(32), tail integer)")
        cursor.execute("insert into t_objects values (today, ?, user, 7)", [content])
        cursor.execute("select d, c, u, tail from t_objects")
        assert cursor.fetchone() == (dt.date.today(), content, "informix", 7)
