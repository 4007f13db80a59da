"""SELECT: the meaning of Informix's syntax, and names and types of the columns."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import VERSION, Copies, Db, connect

from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.engine_session import open_session
from informix_arrow.server.types.result_types import RESULT_OPTIONS
from informix_arrow.wire.plan_ops import arrow_type


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    db = connect(engine)
    db.run(
        "create table item (id serial not null primary key, name char(10), note varchar(20), grp smallint, "
        "price decimal(8,2), weight float, made date, sold datetime year to second, ok boolean)"
    )
    rows = [
        (
            0,
            "alpha",
            "x ",
            1,
            Decimal("1.50"),
            0.5,
            dt.date(2024, 1, 31),
            dt.datetime(2024, 2, 1, 10, 30),
            True,
        ),
        (0, "beta", "", 1, Decimal("2.25"), 1.5, dt.date(2024, 2, 29), dt.datetime(2024, 3, 1), False),
        (0, "gamma", None, 2, None, None, None, None, None),
    ]
    db.many("insert into item values (?,?,?,?,?,?,?,?,?)", rows)
    return db


ONE = "from systables where tabid = 1"
EXPRESSIONS: list[tuple[str, Any, str]] = [
    ("1", 1, "INTEGER"),
    ("'abc'", "abc", "CHAR(3)"),
    ('"abc"', "abc", "CHAR(3)"),
    ("'it''s'", "it's", "CHAR(4)"),
    ("1.50", Decimal("1.50"), "DECIMAL(3,2)"),
    ("1e3", 1000.0, "FLOAT"),
    ("tabid + 2", 3, "INTEGER"),
    ("7 / 2", "3.5", "DECIMAL(32)"),
    ("2 * 1.5", Decimal("3.0"), "DECIMAL(12,1)"),
    ("mod(7, 3)", 1, "INTEGER"),
    ("'a' || 'bc'", "abc", "VARCHAR(3)"),
    ("'abcdef'[2,4]", "bcd", "CHAR(3)"),
    ("substr('abcdef', 2, 3)", "bcd", "VARCHAR(6)"),
    ("upper('abc')", "ABC", "CHAR(3)"),
    ("length('abcd')", 4, "INTEGER"),
    ("trim('  x ')", "x", "VARCHAR(4)"),
    ("nvl(null::integer, 5)", 5, "INTEGER"),
    ("decode(2, 1, 'one', 2, 'two', 'many')", "two", "CHAR(4)"),
    ("case when tabid = 1 then 'yes' else 'no' end", "yes", "CHAR(3)"),
    ("mdy(2, 29, 2024)", dt.date(2024, 2, 29), "DATE"),
    ("mdy(3, 1, 2024) - mdy(2, 29, 2024)", 1, "INTEGER"),
    ("mdy(2, 28, 2024) + 1", dt.date(2024, 2, 29), "DATE"),
    ("mdy(2, 28, 2024) + 2 units day", dt.date(2024, 3, 1), "DATETIME YEAR TO DAY"),
    ("weekday(mdy(2, 29, 2024))", 4, "SMALLINT"),
    ("year(today) - year(current)", 0, "INTEGER"),
    ("add_months(mdy(1, 31, 2024), 1)", dt.date(2024, 2, 29), "DATE"),
    (
        "datetime(2026-05-04 12:34:56) year to second",
        dt.datetime(2026, 5, 4, 12, 34, 56),
        "DATETIME YEAR TO SECOND",
    ),
    ("datetime(2026-05-04) year to day", dt.date(2026, 5, 4), "DATETIME YEAR TO DAY"),
    ("datetime(12:34:56) hour to second", dt.time(12, 34, 56), "DATETIME HOUR TO SECOND"),
    (
        "datetime(2026-01-31 10:00) year to minute + interval(1 02:30) day to minute",
        dt.datetime(2026, 2, 1, 12, 30),
        "DATETIME YEAR TO MINUTE",
    ),
    (
        "extend(datetime(2026-05-04 12:34:56) year to second, year to minute)",
        dt.datetime(2026, 5, 4, 12, 34),
        "DATETIME YEAR TO MINUTE",
    ),
    ("extend(mdy(5, 4, 2026), month to day)", "05-04", "DATETIME MONTH TO DAY"),
    ("datetime(2026-05-04 12:34:56) year to second::char(30)", "2026-05-04 12:34:56", "CHAR(30)"),
    ("mdy(2, 29, 2024)::varchar(10)", "02/29/2024", "VARCHAR(10)"),
    ("'12.5'::decimal(10,2)", Decimal("12.50"), "DECIMAL(10,2)"),
    ("3.99::int", 3, "INTEGER"),
    ("cast('t' as boolean)", True, "BOOLEAN"),
    ("0.1 + 0.2", Decimal("0.3"), "DECIMAL(2,1)"),
    ("dbinfo('version', 'full')", VERSION, "VARCHAR(255)"),
    ("dbinfo('dbname')", "stores_demo", "VARCHAR(128)"),
]


@parametrize_in_one_test(("text", "value", "declared"), EXPRESSIONS, ids=[e[0] for e in EXPRESSIONS])
def test_an_expression_has_the_value_and_type_of_a_real_server(
    db: Db, text: str, value: Any, declared: str
) -> None:
    sql = f"select {text}, 4711 {ONE}"
    assert db.rows(sql) == [(value, 4711)]
    assert db.types(sql)[0][1] == declared
    result = db.session.query(db.session.prepare(sql), ())
    (batch,) = result.batches()
    assert batch.schema.types == [arrow_type(c.type, RESULT_OPTIONS) for c in result.columns]


CONDITIONS = {
    "name = 'alpha'": [1],
    "name = 'alpha     '": [1],
    "note = 'x'": [1],
    "note = ''": [2],
    "note is null": [3],
    "note is not null and not (grp = 2)": [1, 2],
    "name matches 'a*'": [1],
    "name matches '[^a-b]*'": [3],
    "name not matches '*[aeiou]ta'": [1, 3],
    "name like '_eta'": [2],
    "price > 1.5": [2],
    "price between 1 and '2'": [1],
    "id in (1, 3, 9)": [1, 3],
    "name in ('beta ', 'gamma')": [2, 3],
    "ok": [1],
    "ok = 'f'": [2],
    "made = '2024-02-29'": [2],
    "made = mdy(1, 31, 2024)": [1],
    "sold > datetime(2024-02-01 10:00) year to minute": [1, 2],
    "sold - 1 units day < made + 1": [1, 2],
    "exists (select 1 from item j where j.grp = item.grp and j.id <> item.id)": [1, 2],
    "id = (select max(id) from item)": [3],
    "weight * 2 >= 1 or id = 3": [1, 2, 3],
}


@parametrize_in_one_test(("condition", "ids"), CONDITIONS.items(), ids=CONDITIONS)
def test_a_condition_selects_the_rows_it_should(db: Db, condition: str, ids: list[int]) -> None:
    assert db.rows(f"select id, 4711 from item where {condition} order by id") == [(i, 4711) for i in ids]


def test_columns_keep_their_declared_types_through_joins_and_subqueries(db: Db) -> None:
    sql = (
        "select a.id, z.name, z.price, b.made from item a, (select name, price, id i from item) z, item b "
        "where a.id = z.i and b.id = a.id"
    )
    assert db.types(sql) == [
        ("id", "SERIAL"), ("name", "CHAR(10)"), ("price", "DECIMAL(8,2)"), ("made", "DATE"),
    ]  # fmt: skip


def test_aggregates_are_decimals_with_names_in_parentheses(db: Db) -> None:
    sql = "select count(*), count(note), sum(grp), avg(grp), min(price), sum(weight) from item"
    assert db.types(sql) == [
        ("(count(*))", "DECIMAL(15,0)"),
        ("(count)", "DECIMAL(15,0)"),
        ("(sum)", "DECIMAL(32,0)"),
        ("(avg)", "DECIMAL(32)"),
        ("(min)", "DECIMAL(8,2)"),
        ("(sum)", "FLOAT"),
    ]
    assert db.rows(sql) == [(3, 2, 4, "1." + "3" * 31, Decimal("1.50"), 2.0)]


def test_names_of_computed_columns_are_informix_names(db: Db) -> None:
    assert [n for n, _ in db.types("select 1, 'x', id + 1, id, id+1 as Total, upper(name) from item")] == [
        "(constant)", "(constant)", "(expression)", "id", "total", "(expression)",
    ]  # fmt: skip


def test_first_and_skip_cut_the_result(db: Db) -> None:
    assert db.rows("select skip 1 first 1 id from item order by id") == [(2,)]
    assert db.rows("select first 2 unique grp from item order by grp") == [(1,), (2,)]
    assert db.rows("select id from item order by id desc limit 1") == [(3,)]
    assert db.rows("select first ? id from item order by id", 2) == [(1,), (2,)]
    for amount in ("first 1.5", "skip 0.5 first 1", "first 1e1", "limit 2.0"):
        assert db.fails(f"select {amount} id from item order by id").sqlcode == -201, amount
    assert db.fails("select id from item order by id limit 1.5").sqlcode == -201


def test_nulls_sort_as_the_smallest_values(db: Db) -> None:
    assert db.rows("select id from item order by price") == [(3,), (1,), (2,)]
    assert db.rows("select id from item order by price desc") == [(2,), (1,), (3,)]
    assert db.rows("select id from item order by price nulls last") == [(1,), (2,), (3,)]


def test_comma_outer_joins_keep_rows_without_a_partner(db: Db) -> None:
    sql = "select a.id, b.id from item a, outer item b where a.id = b.grp and a.id < 4 and b.id > 1 order by 1, 2"
    assert db.rows(sql) == [(1, 2), (2, 3), (3, None)]


def test_sums_of_floating_decimals_without_a_value_are_null(db: Db) -> None:
    """DuckDB computes all groups of a result together, so other groups with a value must not matter."""
    one = "from systables where tabid = 1"
    values = f"select 1 g, 2 n {one} union all select 2, null::int {one}"
    for word in ("sum", "avg"):
        sql = f"select g, {word}(cast(n as decimal(32))) from ({values}) v group by g order by g"
        assert db.rows(sql) == [(1, "2"), (2, None)]
        sql = f"select g, {word}(cast(n as decimal(32))) over (partition by g) from ({values}) v order by g"
        assert db.rows(sql) == [(1, "2"), (2, None)]


def test_having_has_long_expressions_over_aggregates(db: Db) -> None:
    total = " + ".join(["sum(cast(price as decimal(32)) * cast(price as decimal(32)))"] * 4)
    long = f"cast(({total}) / (count(*) + 1) as float)"
    rows = db.rows(f"select grp, {long} from item group by grp order by grp")
    assert len(rows) > 1
    assert db.rows(f"select grp, {long} from item group by grp having {long} >= 0 order by {long}, grp")
    assert db.rows(f"select grp, {long} from item group by grp having {long} >= 0 order by grp") == [
        row for row in rows if row[1] is not None
    ]


def test_union_group_having_and_order_work_together(db: Db) -> None:
    assert db.rows("select grp, count(*) c from item group by grp having count(*) > 1") == [(1, 2)]
    assert db.rows("select id from item where id = 1 union select id from item order by 1 desc") == [
        (3,),
        (2,),
        (1,),
    ]
    assert db.rows("select id from item where id = 1 union all select 1 from item where id = 1") == [
        (1,),
        (1,),
    ]


def test_comments_of_all_kinds_are_ignored(db: Db) -> None:
    assert db.rows("select {+ hint } id -- one\n from /* two */ item where id = 1 { three }") == [(1,)]


def test_a_select_without_from_works(db: Db) -> None:
    assert db.rows("select 1, 'a'") == [(1, "a")]


def test_current_stands_still_within_a_statement(db: Db) -> None:
    ((a, b),) = db.rows(f"select current year to fraction(3), current year to fraction(3) {ONE}")
    assert a == b
    assert abs(a - dt.datetime.now()) < dt.timedelta(seconds=5)


def test_select_into_temp_makes_a_table_with_the_same_types(db: Db) -> None:
    assert db.run("select id, price, name nm from item where id < 3 into temp chosen with no log").rows == 2
    assert db.types("select * from chosen") == [
        ("id", "INTEGER"),
        ("price", "DECIMAL(8,2)"),
        ("nm", "CHAR(10)"),
    ]
    assert db.value("select count(*) from chosen") == 2
    db.run("drop table chosen")


def test_parameters_are_described_by_what_they_stand_beside(db: Db) -> None:
    sql = (
        "select id from item where price > ? and name = ? and made between ? and ? and ok = ? and ?::int = id"
    )
    prepared = db.session.prepare(sql)
    assert [p.sql for p in prepared.parameters] == [
        "DECIMAL(8,2)", "CHAR(10)", "DATE", "DATE", "BOOLEAN", "INTEGER",
    ]  # fmt: skip
    assert db.rows(sql, Decimal("1"), "alpha   ", "01/01/2024", dt.date(2024, 12, 31), "t", 1) == [(1,)]


def test_update_parameters_take_the_types_of_their_columns(db: Db) -> None:
    prepared = db.session.prepare("update item set price = ?, note = ? where id = ?")
    assert [p.sql for p in prepared.parameters] == ["DECIMAL(8,2)", "VARCHAR(20)", "SERIAL"]
    assert db.session.execute(prepared, ("9.999", "n" * 30, 99)).rows == 0


def test_floating_decimals_are_exact_and_ordered(db: Db) -> None:
    db.run("create temp table fd (a decimal(16), tail integer)")
    numbers = ["0", "1", "-1", "1.5", "-1.51", "1E-20", "-1E+20", "9.99E125", "0.1"]
    db.many("insert into fd values (?, ?)", [(Decimal(n), i) for i, n in enumerate(numbers)])
    got = db.rows("select a, tail from fd order by a")
    assert [tail for _, tail in got] == [6, 4, 2, 0, 5, 8, 1, 3, 7]
    assert all(Decimal(a) == Decimal(numbers[tail]) for a, tail in got)
    assert db.rows("select tail from fd where a = ? or a > 2 order by tail", Decimal("1E-20")) == [(5,), (7,)]
    assert db.rows("select a + 1, tail from fd where a = 0.1") == [("1.1", 8)]
    assert db.run("update fd set a = a * 2 where tail = 3").rows == 1
    assert db.rows("select a, max(tail) from fd where a = 3 group by a") == [("3", 3)]
    db.run("drop table fd")


ERRORS: list[tuple[str, int, str]] = [
    ("selct 1", -201, ""),
    ("select * from", -201, ""),
    ("select ? from item", -201, ""),
    ("select * from nowhere", -206, "nowhere"),
    ("select nothing from item", -217, "nothing"),
    ("select id from item a, item b", -324, "id"),
    ("select grp, count(*) from item", -294, "grp"),
    ("select id from item where id = (select id from item)", -284, ""),
    (f"select 1 / 0 {ONE}", -1202, ""),
    ("select id from item where id = 'abc'", -1213, ""),
    ("select 'notanumber'::int from item", -1213, ""),
    ("select no_such_function(1) from item", -674, "no_such_function"),
    ("select 'open from item", -282, ""),
    ("select { open from item", -283, ""),
    ("select set{''open'} from item", -282, ""),
    ("select id from item where name like 'b!' escape '!'", -201, ""),
    ("select id from item where name like 'b%' escape 'ü'", -201, ""),
    ('select id from item into temp "_ifx_rows"', -201, ""),
    ("select * from nodb:item", -329, "nodb"),
    ("update item set id = 5", -232, "id"),
    ("select id from item union select id, name from item", -317, ""),
    ("delete from item where current of c", -507, "c"),
    ("execute function nothing(1)", -674, "nothing"),
]


@parametrize_in_one_test(("sql", "code", "near"), ERRORS, ids=[e[0] for e in ERRORS])
def test_an_error_has_its_code_and_token(db: Db, sql: str, code: int, near: str) -> None:
    error = db.fails(sql)
    assert (error.sqlcode, error.near) == (code, near)
    assert db.value("select count(*) from item") == 3


def test_a_syntax_error_reports_where(db: Db) -> None:
    assert db.fails("select id from item wher id = 1").offset == 26
    assert db.fails("selct 1").offset == 1
    assert db.fails("select nothing from item").offset == 8


def test_a_database_must_be_open(engine: Engine) -> None:
    db = Db(open_session(engine, "informix", {}))
    assert db.fails("select 1 from systables").sqlcode == -349


def test_dbdate_rules_how_dates_are_read_and_written(engine: Engine) -> None:
    db = connect(engine, DBDATE="Y4MD-")
    assert db.rows(f"select mdy(2, 1, 2024)::char(10), date('2024-03-04') {ONE}") == [
        ("2024-02-01", dt.date(2024, 3, 4))
    ]


def test_delimident_makes_double_quotes_identifiers(engine: Engine, db: Db) -> None:
    delimited = connect(engine, DELIMIDENT="")
    assert delimited.rows('select "id" from "informix"."item" where "name" = \'beta\'') == [(2,)]


def test_a_result_is_a_snapshot(db: Db) -> None:
    db.run("create temp table snap (a integer)")
    db.many("insert into snap values (?)", [(i,) for i in range(10)])
    result = db.session.query(db.session.prepare("select a from snap"), ())
    db.run("delete from snap")
    assert sum(b.num_rows for b in result.batches()) == 10


def test_the_text_of_a_decimal_has_a_zero_before_the_point_whatever_its_scale(db: Db) -> None:
    db.run("create temp table dz (a decimal(5,5), b decimal(8,2), tail integer)")
    db.run("insert into dz values (0.5, 0.01, 1)")
    db.run("insert into dz values (-0.00001, -0.01, 2)")
    texts = db.rows("select a::lvarchar, b::lvarchar, tail from dz order by tail")
    assert texts == [("0.50000", "0.01", 1), ("-0.00001", "-0.01", 2)]


# ---- LATERAL --------------------------------------------------------------------------------------
LATERAL = {
    "select a.n, v.s, a.id from la a, lateral (select sum(x) from lb where aid = a.id) as v(s) order by 1": [
        ("é1", Decimal("4.00"), 1), ("n2", Decimal("-7.00"), 2), ("n3", None, 3),
    ],
    "select a.n, v.x from la a, lateral (select x from lb b where b.aid = a.id and x > 2) v": [("é1", Decimal("2.50"))],
    "select a.n, v.x from la a left join lateral (select first 1 x from lb where aid = a.id order by x desc) v "
    "on v.x > 0 order by 1": [("é1", Decimal("2.50")), ("n2", None), ("n3", None)],
    "select a.id, (select count(*) from lateral (select x from lb where aid = a.id) w) c from la a order by 1": [
        (1, 2), (2, 1), (3, 0),
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def sides(engine: Engine) -> Db:
    db = connect(engine)
    db.run("create table la (id int, n varchar(5))")
    db.run("create table lb (aid int, x decimal(8,2))")
    for number, name in ((1, "é1"), (2, "n2"), (3, "n3")):
        db.run("insert into la values (?, ?)", number, name)
    for number, amount in ((1, "1.5"), (1, "2.5"), (2, "-7"), (None, "9")):
        db.run("insert into lb values (?, ?)", number, Decimal(amount))
    return db


@pytest.mark.parametrize("sql", LATERAL)
def test_a_lateral_table_is_made_for_each_row_of_those_before_it(sides: Db, sql: str) -> None:
    found = sorted(sides.rows(sql), key=lambda row: str(row[0]).replace("é", "a"))
    assert found == LATERAL[sql]


def test_a_lateral_table_does_not_see_those_behind_it_nor_a_derived_one_those_before(sides: Db) -> None:
    assert sides.fails("select a.n from lateral (select x from lb where aid = a.id) v, la a").sqlcode == -522
    assert sides.fails("select a.n from la a, (select x from lb where aid = a.id) v").sqlcode == -522


@parametrize_in_one_test(
    "value",
    ["1", "'abc'", "1.5", "12345678901234", "NULL::INT", "TODAY", "CURRENT YEAR TO DAY", "'t'::BOOLEAN", "2 * 3.25",
     "'x'::CHAR(5)", "INTERVAL(3) DAY TO DAY", "1::FLOAT", "DBINFO('dbname')", "USER", "5::DECIMAL(16)", "'ä✓'"],
)  # fmt: skip
def test_a_query_without_from_is_as_one_of_a_table_of_one_row(db: Db, value: str) -> None:
    """The row is read as Python objects if the result is the same."""
    alone, of_one = f"SELECT {value}, 7", f"SELECT {value}, 7 FROM sysmaster:sysdual"
    assert db.types(alone) == db.types(of_one)
    assert db.rows(alone) == db.rows(of_one)
    assert db.session.prepare("SELECT 1, 'abc'").row_values is not None
