"""Stored values equal the given ones to the last digit, or are refused."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.types.parameter_values import modulo


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


@pytest.fixture
def db(engine: Engine) -> Db:
    db = connect(engine)
    db.run(
        "create table t (d decimal(32,16), f datetime year to fraction(5), x text, c varchar(10), tail integer)"
    )
    return db


DECIMALS = [
    "-1234567890123456.1234567890123456",
    "1234567890123456.1234567890123456",
    "-9999999999999999.9999999999999999",
    "-0.0000000000000001",
    "0",
]


@pytest.mark.parametrize("number", DECIMALS)
def test_a_literal_keeps_its_32_digits(db: Db, number: str) -> None:
    db.run(f"insert into t (d, tail) values ({number}, 7)")
    db.run(f"insert into t (d, tail) values (({number}), 7)")
    db.run("insert into t (d, tail) values (1, 7)")
    db.run(f"update t set d = {number} where d = 1")
    assert db.rows("select d, tail from t") == [(Decimal(number), 7)] * 3
    assert db.value(f"select count(*) from t where d = {number}") == 3


FRACTIONS = [
    "9999-12-31 23:59:59.99998",
    "0001-01-01 00:00:00.00001",
    "1969-12-31 23:59:59.99999",
    "1970-01-01 00:00:00.00000",
]


@pytest.mark.parametrize("text", FRACTIONS)
def test_a_fraction_is_kept_however_far_its_year_is(db: Db, text: str) -> None:
    moment = dt.datetime.fromisoformat(f"{text}0")
    db.run(f"insert into t (f, tail) values (datetime({text}) year to fraction(5), 7)")
    db.run("insert into t (f, x, tail) values (?, ?, 7)", moment, "text")
    db.run("insert into t (f, tail) values (?, 7)", text)
    db.many("insert into t (f, tail) values (?, 7)", [(moment,), (moment,)])
    assert db.rows("select f, tail from t") == [(moment, 7)] * 5


def test_the_rest_of_a_division_is_exact_for_every_whole_number() -> None:
    numbers = [0, 1, -1, 9, -9, 10, -10, 2**62 + 7, -(2**62) - 7, 253402300799999989, -62135596799999981]
    assert modulo(pa.array([*numbers, None], pa.int64()), 10).to_pylist() == [
        *(n % 10 for n in numbers),
        None,
    ]
    assert pc.sum(modulo(pa.array([], pa.int64()), 10)).as_py() is None


def test_a_nul_character_is_refused_and_the_rows_beside_it_go_in(db: Db) -> None:
    assert db.fails("insert into t (c, tail) values ('a\0b', 7)").sqlcode == -202
    assert db.fails("insert into t (c, tail) values (?, 7)", "a\0b").sqlcode == -415
    db.run("insert into t (c, tail) values ('', 7)")
    assert db.fails("update t set c = ?", "\0").sqlcode == -415
    done = db.many("insert into t (c, tail) values (?, 7)", [("ok",), ("a\0",), (None,), ("\0" * 50,)])
    assert [d.sqlcode if isinstance(d, SqlError) else d.rows for d in done] == [1, -415, 1, -415]
    batch = pa.record_batch([pa.array(["é", "\0", None])], ["c"])
    outcome = db.session.execute_batch(db.session.prepare("insert into t (c, tail) values (?, 7)"), batch)
    assert {row: error.sqlcode for row, error in outcome.errors.items()} == {1: -415}
    assert sorted(db.rows("select c, tail from t"), key=str) == sorted(
        [("", 7), ("ok", 7), (None, 7), ("é", 7), (None, 7)], key=str
    )
    db.run("insert into t (x, tail) values (?, 8)", "a\0b")  # a TEXT holds any
    assert db.value("select count(*) from t where tail = 8") == 1


@pytest.mark.parametrize(
    "sql",
    [
        "insert into t (tail) values (7) returning tail",
        "insert into t (tail) select 7 from t returning tail",
        "update t set tail = 8 returning tail",
        "delete from t returning *",
    ],
)
def test_returning_is_a_syntax_error(db: Db, sql: str) -> None:
    db.run("insert into t (tail) values (1)")
    assert db.fails(sql).sqlcode == -201
    assert db.rows("select tail from t") == [(1,)]
