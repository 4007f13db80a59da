"""Errors that a team that leaves Informix would compare: undefined numbers, values out of range, codes of invalid
statements."""

from __future__ import annotations

import datetime as dt
import time
from decimal import Decimal

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.parse.lexical import MAX_WORDS
from informix_arrow.server.session.engine import Engine

pytestmark = pytest.mark.slow


def fill(db: Db) -> None:
    db.run(
        "create table n (i integer, s smallint, b int8, g bigint, d decimal(8,2), fd decimal(16), f float, c char(5), "
        "made date, t integer)"
    )
    db.run("insert into n values (1, 1, 1, 1, 10.5, 1.5, 2.5, 'abc', '2024-01-31', 9)")
    db.run("create table o (oid integer, nid integer, t integer)")
    db.run("insert into o values (10, 1, 9)")
    db.run("create table p (pid integer, oid integer, t integer)")
    db.run("insert into p values (100, 10, 9)")


SELECTS = [
    # results that would be infinity or NaN
    ("sqrt(-1)", -1223), ("sqrt(-f * f)", -1223), ("ln(0)", -1223), ("logn(-f)", -1223), ("log10(0)", -1223),
    ("acos(2)", -1223), ("asin(-2)", -1223), ("acosh(0)", -1223), ("atanh(1)", -1223), ("exp(1000)", -1223),
    ("pow(0, -1)", -1223), ("pow(-8, 0.5)", -1223), ("power(10, 400)", -1223), ("root(-8, 2)", -1223),
    ("1e40::smallfloat", -1222), ("1e400", -204), ("1e", -204), ("1.5E||t", -204), ("1e x", -204),
    # texts too short for a number
    ("123456::char(3)", -1207), ("(-1.5)::char(1)", -1207), ("1e20::char(4)", -1207),
    # days before the year 1 and after 9999
    ("mdy(12,31,9999) + 1", -1267), ("mdy(1,1,1) - 1", -1267), ("made + 3000000", -1267), ("date(2147483647)", -1218),
    ("3000000::date", -1218), ("(i * 3000000)::date", -1218), ("add_months(mdy(12,31,9999), 1)", -1267),
    ("next_day(mdy(12,31,9999), 'MON')", -1267), ("round(mdy(12,31,9999), 'YEAR')", -1267),
    ("round(datetime(9999-12-31 23:59) year to minute, 'MONTH')", -1267),
    # names and subscripts
    ("z.t", -522), ("z.*", -522), ("n.z", -217), ("c[0,1]", -307), ("c[3,2]", -307), ("t[1,2]", -305),
    ("sum(sum(t))", -544),
]  # fmt: skip


@pytest.mark.parametrize(("what", "code"), SELECTS, ids=[what for what, _ in SELECTS])
def test_what_has_no_value_is_refused(db: Db, what: str, code: int) -> None:
    assert db.fails(f"select {what}, t from n").sqlcode == code


STATEMENTS = [
    ("select t from n where sum(t) > 1", -595),
    ("select t from n where t = 1e and i = 1", -204),
    ("insert into n (t, i) values (7, 1e)", -204),
    ("create table exponents (c char(1e), tail int)", -204),
    ("set lock mode to wait 1e", -204),
    ("select t from n order by 2", -251),
    ("select t, count(*) from n group by 3", -251),
    ("select t from n union select t, i from n", -317),
    ("select 1 from n a, o a", -223),
    ("select distinct t from n order by i", -309),
    ("select distinct t from n order by t + 1", -309),
    ("select n.i from n, outer o", -395),
    ("select n.i from n, outer o where o.oid = 10", -395),
    ("select n.i from n, outer o, outer p where n.i = o.nid and o.oid = p.oid", -393),
    ("select n.i from n, outer (o, outer p) where n.i = o.nid and p.pid = n.i", -396),
    ("update n set fd = c", -1213),
    ("update n set i = -2147483648", -1215),
    ("update n set i = i - 2147483647 - 2", -1215),
    ("update n set s = -32768", -1214),
    ("update n set s = s - 32767 - 2", -1214),
    ("update n set b = -9223372036854775807 - 1", -1284),
    ("update n set g = -9223372036854775808", -1284),
    ("insert into n (i) select -2147483647 - i from n", -1215),
    ("merge into n using o on n.i = 99 when not matched then insert (i) values (-2147483638 - o.oid)", -1215),
    ("merge into n using o on n.i = o.nid when matched then update set i = -2147483638 - o.oid", -1215),
    ("create table two (a serial, b integer, c serial)", -362),
    ("alter table n add (a serial)", -287),
    ("alter table n modify (c char(5)), add (e serial8)", -287),
    ("update statistics for table nowhere", -206),
    ("update statistics high for table n (c, z)", -217),
    ("update statistics for table n where t = 9", -201),
    ("update statistics for everything", -201),
    ("update statistics high resolution 10 .95", -201),
    ("update statistics for procedure nowhere", -674),
]


@pytest.mark.parametrize(("sql", "code"), STATEMENTS, ids=[sql for sql, _ in STATEMENTS])
def test_a_statement_is_refused_with_its_code_and_changes_nothing(db: Db, sql: str, code: int) -> None:
    assert db.fails(sql).sqlcode == code
    assert db.rows("select i, s, b, g, fd, t from n") == [(1, 1, 1, 1, "1.5", 9)]


def test_the_largest_and_the_least_whole_numbers_are_stored(db: Db) -> None:
    db.run(
        "update n set i = i - 2147483648, s = -s - 32766, b = -9223372036854775806 - b, g = -9223372036854775807"
    )
    least = (-2147483647, -32767, -9223372036854775807, -9223372036854775807)
    assert db.rows("select i, s, b, g, t from n") == [(*least, 9)]
    db.run("insert into n (i, s, b, g, t) select i + 0, s, b + 0, g + 0, 8 from n")
    assert db.rows("select i, s, b, g from n where t = 8") == [least]


def test_functions_of_floats_have_their_values_where_they_are_numbers(db: Db) -> None:
    sql = "select exp(i - 1), pow(t, 2), root(8, 3), cosh(0), degrees(0), exp(null), sqrt(t) from n"
    assert db.rows(sql) == [(1.0, 81.0, 2.0, 1.0, 0.0, None, 3.0)]


def test_a_number_beside_a_text_is_whole(db: Db) -> None:
    sql = (
        "select nvl(d, 'x'), nvl(made, 'x'), case when t = 9 then t else 'z' end, decode(t, 8, 'x', f) from n"
    )
    assert db.rows(sql) == [("10.50", "01/31/2024", "9", "2.5")]
    assert db.rows("select 12.56::char(5), 12.56::char(4), 123::char(3) from n") == [("12.56", "12.5", "123")]


def test_dates_and_their_numbers_are_cast_into_each_other(db: Db) -> None:
    sql = "select made::integer, (made::integer)::date, 45292.7::date, made::decimal(8,1) from n"
    assert db.rows(sql) == [(45321, dt.date(2024, 1, 31), dt.date(2024, 1, 2), Decimal("45321.0"))]
    assert db.fails("select made::smallint from n").sqlcode == -1214


def test_a_word_of_initcap_begins_behind_whatever_is_no_letter(db: Db) -> None:
    words = "hello wORLD foo-bar o''neil a1b straße ßx"
    assert db.value(f"select initcap('{words}') from n") == "Hello World Foo-Bar O'Neil A1B Straße ßx"


def test_a_text_is_not_padded_with_nothing(db: Db) -> None:
    sql = "select lpad('ab', 5, ''), rpad(c, 2, ''), lpad(c, 5, trim('  ')), lpad(c, 5, 'xy') from n"
    assert db.rows(sql) == [("ab", "ab", "abc", "xyabc")]


def test_functions_stand_in_checks(db: Db) -> None:
    db.run("create table k (a char(5) check (initcap(a) = a), e float check (exp(e) < 100), t integer)")
    db.run("insert into k values ('Abc', 1, 9)")
    assert db.fails("insert into k values ('abc', 1, 9)").sqlcode == -530
    assert db.fails("insert into k values ('Abc', 10, 9)").sqlcode == -530
    assert db.fails("insert into k values ('Abc', 1000, 9)").sqlcode == -1223


def test_nested_outer_joins_keep_rows_without_a_partner(db: Db) -> None:
    db.run("insert into o values (11, 1, 9)")
    sql = "select n.i, o.oid, p.pid from n, outer (o, outer p) where n.i = o.nid and o.oid = p.oid order by 2"
    assert db.rows(sql) == [(1, 10, 100), (1, 11, None)]
    assert db.rows("select n.i, p.pid from n, outer (o, p) where n.t = o.nid and o.oid = p.oid") == [
        (1, None)
    ]


def test_alter_table_puts_a_serial_further_and_never_back(db: Db) -> None:
    db.run("create table q (k serial(7), v bigserial, t integer)")
    db.run("insert into q (t) values (1)")
    db.run("alter table q modify (k serial(500)), modify (v bigserial(40))")
    db.run("insert into q (t) values (2)")
    db.run("alter table q modify (k serial(3))")
    db.run("insert into q (t) values (3)")
    assert db.rows("select * from q order by t") == [(7, 1, 1), (500, 40, 2), (501, 41, 3)]


def test_averages_over_windows_are_exact(db: Db) -> None:
    db.run("insert into n (i, d, fd, t) values (2, 20.25, 2.5, 9)")
    db.run("insert into n (i, t) values (3, 8)")
    sql = (
        "select i, avg(d) over (), avg(i) over (partition by t), sum(fd) over (order by i), avg(fd) over (), "
        "range(d) over (partition by t) from n order by i"
    )
    assert db.rows(sql) == [
        (1, "15.375", "1.5", "1.5", "2", Decimal("9.75")),
        (2, "15.375", "1.5", "4", "2", Decimal("9.75")),
        (3, "15.375", "3", "4", "2", None),
    ]
    assert db.rows("select t, avg(sum(d)) over () from n group by t order by t") == [
        (8, "30.75"),
        (9, "30.75"),
    ]


def test_a_check_that_rows_break_is_named_when_it_is_added(db: Db) -> None:
    error = db.fails("alter table n add constraint check (i > 10) constraint many")
    assert (error.sqlcode, error.near) == (-530, "informix.many")
    assert (
        db.fails("alter table n add constraint check (i > 10), add constraint check (t > 10)").sqlcode == -530
    )


def test_a_common_table_has_as_many_names_as_columns(db: Db) -> None:
    assert db.fails("with w(a) as (select i, t from n) select * from w").sqlcode == -236
    assert db.rows("with w(a, b) as (select i, t from n) select b, a from w") == [(9, 1)]


def test_products_and_sums_of_decimals_have_all_their_digits(db: Db) -> None:
    db.run(
        "create table m (a decimal(10,2), b decimal(16,2), c decimal(18,2), d decimal(18,0), s smallint, t integer)"
    )
    db.run(
        "insert into m values (99999999.99, 99999999999999.99, 9999999999999999.99, -999999999999999999, 3, 9)"
    )
    sql = "select a * a, a * 99999999.99, b * b, a * b, c + c, -c - c, c + 0.001, d - 1 - 1, d * t, s * d, t from m"
    digits = [
        "9999999998000000.0001", "9999999998000000.0001", "9999999999999998000000000000.0001",
        str(Decimal("99999999.99") * Decimal("99999999999999.99")), "19999999999999999.98", "-19999999999999999.98",
        "9999999999999999.991",
        "-1000000000000000001", "-8999999999999999991", "-2999999999999999997",
    ]  # fmt: skip
    assert db.rows(sql) == [(*map(Decimal, digits), 9)]
    db.run("update m set c = a * 99999999.9 where t = 9")
    assert db.rows("select c, t from m where a * a > 9999999997000000") == [
        (Decimal("9999999989000000.00"), 9)
    ]


def test_all_columns_are_set_at_once(db: Db) -> None:
    db.run("update o set * = (1, 2, t + 1)")
    assert db.rows("select * from o") == [(1, 2, 10)]
    assert db.fails("update o set * = (1, 2)").sqlcode == -236


def test_varying_characters_are_a_type_in_two_words(db: Db) -> None:
    db.run("create table w (a character varying(5), b char  varying (7,2), t integer)")
    db.run("insert into w values ('abcde', 'defg', 9)")
    assert db.types("select *, a::character varying(3) x, cast(b as char varying(2)) y from w") == [
        ("a", "VARCHAR(5)"), ("b", "VARCHAR(7,2)"), ("t", "INTEGER"), ("x", "VARCHAR(3)"), ("y", "VARCHAR(2)"),
    ]  # fmt: skip
    assert db.rows("select a::character varying(3), cast(b as char varying(2)), t from w") == [
        ("abc", "de", 9)
    ]


def test_a_subquery_of_several_columns_stands_where_several_fit(db: Db) -> None:
    for sql in (
        "select (select i, t from n) from n",
        "select t from n where i in (select i, t from n)",
        "select t from n where i = (select i, t from n)",
        "select t from n where i >= all (select i, t from n)",
        "update n set i = (select i, t from n)",
    ):
        assert db.fails(sql).sqlcode in (-574, -360), sql
    assert db.rows("select t from n where exists (select i, t from n)") == [(9,)]
    assert db.rows("select t from n where (i, t) in (select i, t from n)") == [(9,)]


@pytest.mark.parametrize("word", ["count", "sum", "max", "avg"])
def test_an_aggregate_of_nothing_is_no_expression(db: Db, word: str) -> None:
    assert db.fails(f"select {word}() from n").sqlcode == -201


def test_the_least_and_the_capital_of_a_char_have_its_blanks(db: Db) -> None:
    db.run("insert into n (c, t) values ('x', 9)")
    sql = "select min(c) || max(c) || '|', min(upper(c)) || '|', max(lower(c) || '|') from n"
    assert db.rows(sql) == [("abc  x    |", "ABC  |", "x    |")]
    assert db.rows("select initcap(c) || '|', t from n where upper(c) = 'X  '") == [("X    |", 9)]
    assert db.rows("select min(c), t from n group by t having min(c) = 'abc '") == [("abc", 9)]


def test_what_is_no_number_is_none_beside_one(db: Db) -> None:
    db.run("create table m (b boolean, d date, i integer, n decimal(5,2))")
    db.run("insert into m values ('t', today, 1, 1.5)")
    for left, right in (("i", "b"), ("b", "i"), ("n", "b"), ("d", "b")):
        assert db.fails(f"select {left} from m union select {right} from m").sqlcode == -308
    assert db.rows("select b from m union select b from m") == [(True,)]
    for mixed in ("nvl(i, b)", "case when i = 1 then b else n end", "decode(i, 1, n, b)"):
        assert db.fails(f"select {mixed} from m").sqlcode == -9634


GROWING = {
    "sums": "made" + " + 1 units day" * 30,
    "months": "add_months(" * 12 + "made" + ", 1)" * 12,
    "casts": "(" * 12 + "i" + "::char(5)::int)" * 12,
    "rounds": "round(" * 12 + "current" + ", 'MONTH')" * 12,
}


@pytest.mark.parametrize("what", GROWING)
def test_a_nested_expression_is_evaluated_once_at_each_level(db: Db, what: str) -> None:
    simple = {
        "sums": "made + 30 units day",
        "months": "add_months(made, 12)",
        "casts": "i",
        "rounds": "round(current, 'MONTH')",
    }
    assert db.rows(f"select {GROWING[what]}, t from n") == db.rows(f"select {simple[what]}, t from n")


@pytest.mark.parametrize("what", ["months", "casts"])
def test_an_expression_that_grows_in_translation_is_refused_before_it_takes_all_memory(
    db: Db, what: str
) -> None:
    """DuckDB does not reuse the results of subqueries."""
    column, after = {"months": ("made", ", 1"), "casts": ("i", "::char")}[what]
    over = GROWING[what].replace(f"{column}{after}", f"(select max({column}) from n){after}", 1)
    assert db.fails(f"select {over}, t from n").sqlcode == -208


def test_sums_of_days_do_not_grow(db: Db) -> None:
    assert db.value(f"select made {'+ 1 ' * 60} from n") == dt.date(2024, 3, 31)


@pytest.mark.parametrize("inside", [False, True], ids=["autocommit", "transaction"])
@pytest.mark.parametrize(
    ("text", "code", "key"),
    [
        ("update keyed set a = 7", -268, "informix.key_a"),
        ("update keyed set b = 7 where a > 1", -268, "informix.key_b"),
        ("update keyed set c = 7, d = 'x'", -268, "informix.key_cd"),
        ("update keyed set d = 'x'", -239, "informix.index_d"),
        ("update keyed set b = 1 where a = 2", -268, "informix.key_b"),
        ("update keyed set a = null", -391, "a"),
        ("merge into keyed using (select 7 n from systables where tabid = 1) s on a > 1"
         " when matched then update set b = s.n", -268, "informix.key_b"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["", "temp"])
def test_an_update_that_repeats_a_key_says_which(
    db: Db, kind: str, text: str, code: int, key: str, inside: bool
) -> None:
    """DuckDB does not name the key if the rows of one statement repeat it."""
    db.run(
        f"create {kind} table keyed (a int primary key constraint key_a, b int, c int, d char(1),"
        " unique (b) constraint key_b, unique (c, d) constraint key_cd)"
    )
    try:
        db.run("create unique index index_d on keyed (d)")
        db.many("insert into keyed values (?, ?, ?, ?)", [(1, 1, 1, "a"), (2, 2, 2, "b"), (3, 3, 3, "c")])
        if inside:
            db.run("begin work")
        found = db.fails(text)
        if inside:
            db.run("rollback work")
        assert (found.sqlcode, found.near) == (code, key)
        assert db.rows("select a, b, c, d from keyed order by a")[2] == (3, 3, 3, "c")
    finally:
        db.run("drop table keyed")


@pytest.mark.parametrize(
    ("text", "params", "column"),
    [
        ("insert into s values (2, 'abcd', 'x')", (), "c"),
        ("insert into s values (2, ?, 'x')", ("abcd",), "c"),
        ("insert into s values (2, 'x', ? || 'bcd')", ("a",), "v"),
        ("insert into s select id + 1, 'abcd', 'x' from s", (), "c"),
        ("insert into s select id + 1, c, 'abc' || v from s", (), "v"),
        ("update s set c = 'abcd'", (), "c"),
        ("update s set v = 'abcd' where id = 1", (), "v"),
        ("update s set v = ? where id = 1", ("abcd",), "v"),
        ("update s set v = v || 'bcd'", (), "v"),
        ("update s set c = 'ab', v = ?", ("abcd",), "v"),
        ("update s set c = v, v = c || 'd'", (), "v"),
        ("update s set (v, c) = ('x', ?)", ("abcd",), "c"),
        ("merge into s using (select 1 n, 'abcd' t from systables where tabid = 1) q on s.id = q.n"
         " when matched then update set c = 'x', v = q.t || ''", (), "v"),
        ("merge into s using (select 1 n from systables where tabid = 1) q on s.id = q.n"
         " when matched then update set v = 'abcd'", (), "v"),
        ("merge into s using (select 2 n from systables where tabid = 1) q on s.id = q.n"
         " when not matched then insert values (q.n, 'abcd', 'x')", (), "c"),
        ("merge into s using (select 2 n, c || 'd' t from s) q on s.id = q.n"
         " when not matched then insert values (q.n, q.t, 'x')", (), "c"),
        ("merge into s using (select 2 n from systables where tabid = 1) q on s.id = q.n"
         " when not matched then insert values (q.n, ?, 'x')", ("abcd",), "c"),
    ],
)  # fmt: skip
def test_an_ansi_database_refuses_a_text_that_others_cut(
    engine: Engine, text: str, params: tuple[object, ...], column: str
) -> None:
    """The SQL Syntax guide, "Truncated CHAR Values"."""
    db = connect(engine)
    db.run("create database strict with log mode ansi")
    try:
        db.run("create table s (id int primary key, c char(3), v varchar(3))")
        db.run("insert into s values (1, 'abc', 'abc')")
        problem = db.fails(text, *params)
        assert (problem.sqlcode, problem.near) == (-1279, column)
        assert db.rows("select * from s") == [(1, "abc", "abc")]
        assert db.run("update s set c = 'abcd' where id = 7").rows == 0
        outcomes = db.many("insert into s values (?, 'x', ?)", [(3, "abc"), (4, "abcd"), (5, "a")])
        assert [getattr(each, "sqlcode", 0) for each in outcomes] == [0, -1279, 0]
        db.run("commit work")
        assert db.rows("select id from s order by id") == [(1,), (3,), (5,)]
    finally:
        db.run("rollback work")
        db.run("close database")
        db.run("drop database strict")


def test_a_merge_cuts_texts_with_a_warning_and_no_numbers(engine: Engine) -> None:
    db = connect(engine)
    db.run("create temp table s (id int primary key, c char(3), v varchar(3))")
    source = (
        "merge into s using (select 1 n, 'abcd' t, 12345 k from systables where tabid = 1) q on s.id = q.n"
    )
    assert db.fails(f"{source} when not matched then insert values (q.n, q.t, q.k)").sqlcode == -1207
    assert db.fails(f"{source} when not matched then insert values (q.n, q.t, 12345)").sqlcode == -1207
    outcome = db.run(f"{source} when not matched then insert values (q.n, q.t, q.t || 'x')")
    assert (outcome.rows, outcome.warnings) == (1, 1)
    assert db.rows("select * from s") == [(1, "abc", "abc")]


CALLS = {
    "substring(name)": -664,
    "substring(name from 1) over ()": -674,
    "trim(name) over ()": -674,
    "cast(name as integer) over ()": -674,
    "nvl(name, 'x') over ()": -674,
    "to_char(today, '')": -1268,
    "to_char(current, '')": -1268,
    "to_date('', '')": -1268,
}


@pytest.mark.parametrize(("call", "code"), CALLS.items(), ids=CALLS)
def test_a_call_that_means_nothing_is_refused_by_its_name(db: Db, call: str, code: int) -> None:
    db.run("create table called (name varchar(20))")
    assert db.fails(f"select {call} from called").sqlcode == code


ENDLESS = {
    "word::date": -1218,
    "date(word)": -1218,
    "word::datetime year to second": -1262,
    "to_date(word)": -1262,
    "to_date(word, '%Y-%m-%d')": -1277,
    "extend(word, year to day)": -1262,
    "word::float": -1213,
    "word::smallfloat": -1213,
    "word::integer": -1213,
    "word::decimal(10,2)": -1213,
    "word + 1": -1213,
    "sum(word)": -1213,
}


@pytest.mark.parametrize(("expression", "code"), ENDLESS.items(), ids=ENDLESS)
def test_duckdbs_words_for_what_has_no_end_are_words(db: Db, expression: str, code: int) -> None:
    db.run("create table words (word varchar(20))")
    db.run("insert into words values ('infinity')")
    assert db.fails(f"select {expression} from words").sqlcode == code


@pytest.mark.parametrize(
    "word", ["epoch", "2024-02-03T10:11:12Z", "2024-02-03 10:11:12+05", "2024-02-03 10:11:12 -05"]
)
def test_no_moment_is_made_of_words_and_time_zones(db: Db, word: str) -> None:
    db.run("create table words (word varchar(40))")
    db.run("insert into words values (?)", word)
    assert db.fails("select extend(word, year to second) from words").sqlcode == -1262
    assert db.fails("select to_date(word) from words").sqlcode == -1262
    assert db.fails("select to_date(word, '%Y-%m-%d') from words").sqlcode == -1277


@pytest.mark.parametrize("word", ["2024-02-03", " 2024-02-03 ", "2024-02-03 00:00", "2024-2-3 00:00:00.000"])
def test_moments_of_texts_have_a_day_at_least(db: Db, word: str) -> None:
    db.run("create table words (word varchar(40))")
    db.run("insert into words values (?)", word)
    day = dt.datetime(2024, 2, 3)
    assert db.rows("select extend(word, year to second), to_date(word) from words") == [(day, day)]


@pytest.mark.parametrize("written", ["1_000", "1_0.5", "0x10", "0b11"])
def test_duckdbs_ways_to_write_a_number_are_no_numbers(db: Db, written: str) -> None:
    db.run("create table words (word varchar(20), i integer, d decimal(10,2), m decimal(16))")
    db.run("insert into words (word, i) values (?, 7)", written)
    expressions = [f"word::{t}" for t in ("smallint", "integer", "bigint", "int8", "float", "decimal(10,2)")]
    expressions += ["word + 1", "abs(word)", "rpad('abc', word)", "substr('abc', word)", "left('abc', word)"]
    for expression in expressions:
        assert db.fails(f"select {expression} from words").sqlcode == -1213, expression
    assert db.fails("select i from words where i < word").sqlcode == -1213
    for column in ("i", "d", "m"):
        assert db.fails(f"update words set {column} = word").sqlcode == -1213
    assert db.rows("select i, d, m from words") == [(7, None, None)]


def test_no_day_without_an_end_gets_into_a_table(db: Db) -> None:
    db.run("create table days (word varchar(20), day date, at datetime year to second, number float)")
    db.run("insert into days (word) values ('-infinity')")
    for column, code in (("day", -1218), ("at", -1262), ("number", -1213)):
        assert db.fails(f"update days set {column} = word").sqlcode == code
        assert db.fails(f"insert into days ({column}) select word from days").sqlcode == code
    assert db.rows("select day, at, number from days") == [(None, None, None)]


def test_texts_of_columns_are_read_as_those_in_statements(db: Db) -> None:
    db.run("create table texts (word varchar(30), day date, at datetime year to month)")
    for word, t in (
        ("12/31/2025", "date"),
        ("2025-12-31", "date"),
        ("2025-12", "datetime year to month"),
        ("2025-12-31 10:11", "datetime year to minute"),
        ("10:11:12.25", "datetime hour to fraction(2)"),
        (" 2025-12-31 10:11:12.12345 ", "datetime year to fraction(5)"),
    ):
        db.run("delete from texts where 1 = 1")
        db.run("insert into texts (word) values (?)", word)
        assert db.value(f"select word::{t} from texts") == db.value(f"select '{word}'::{t} from texts")
    for word, t in (("2025-12-31 10:11:12", "datetime year to day"), ("31.12.2025", "date")):
        db.run("update texts set word = ?", word)
        code = db.fails(f"select '{word}'::{t} from texts").sqlcode
        assert db.fails(f"select word::{t} from texts").sqlcode == code


def test_texts_of_columns_follow_dbdate(engine: Engine) -> None:
    db = connect(engine, DBDATE="DMY4.")
    db.run("create table dotted (word varchar(30), day date)")
    db.run("insert into dotted (word) values ('31.12.2025')")
    db.run("update dotted set day = word")
    assert db.value("select day from dotted where day = word") == dt.date(2025, 12, 31)


def test_many_expressions_that_grow_are_refused_together(db: Db) -> None:
    one = "add_months(" * 4 + "made" + ", 1)" * 4
    assert db.rows(f"select {one}, t from n") == [(dt.date(2024, 5, 31), 9)]
    one = one.replace("made", "(select max(made) from n)")
    assert db.fails(f"select {', '.join([one] * 40)} from n").sqlcode == -208
    assert db.fails(f"update n set t = 1 where {' or '.join([f'made = {one}'] * 40)}").sqlcode == -208


@pytest.mark.parametrize("sql", ["select made + 1 units day {} from n", "delete from n where {} t = 1"])
def test_a_statement_that_becomes_too_long_for_duckdb_is_refused(
    db: Db, sql: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = sql.format(", made + 1 units day" * 3 if "{} from" in sql else "t = 1 and " * 3)
    db.session.prepare(few)
    monkeypatch.setattr("informix_arrow.server.session.statement_planner._MAX_TEXT", 100)
    assert db.fails(f"{few} ").sqlcode == -208


def test_a_statement_of_too_many_words_is_refused_before_it_is_read(db: Db) -> None:
    began = time.thread_time()
    for sql in (
        f"select {'(' * MAX_WORDS}t from n",
        f"select {'t,' * (MAX_WORDS // 2)}t from n",
        f"select t from n where i in ({'1,' * (MAX_WORDS // 2)}1)",
        ";" * (MAX_WORDS + 1),
        f"create table wide ({'c int, ' * (MAX_WORDS // 3)}t int)",
        f"execute procedure p({'1,' * (MAX_WORDS // 2)}1)",
        f"create procedure p() {'let i = 1; ' * (MAX_WORDS // 5)} end procedure",
        f"grant select ({'c, ' * (MAX_WORDS // 2)}t) on n to public",
    ):
        assert db.fails(sql).sqlcode == -208, sql[:40]
    assert time.thread_time() - began < 8  # planning a single one takes seconds; all are refused in 1.6
    assert db.value(f"select t /*{' ( ' * MAX_WORDS}*/ from n where c <> '{' , ' * MAX_WORDS}'") == 9


@pytest.mark.parametrize("code", [10, 14])
@pytest.mark.parametrize("length", [1, 65535])
def test_numbers_that_describe_no_datetime_have_no_size(db: Db, code: int, length: int) -> None:
    sizes = f"schema_bufflen({code}, {length}), schema_numscale({code}, {length})"
    assert db.rows(f"select {sizes}, t from n") == [(None, None, 9)]


@pytest.mark.parametrize("what", ["trim(w)", "nvl(trim(w), i)"])
def test_long_chains_are_no_expressions_that_grow(db: Db, what: str) -> None:
    db.run("create temp table words (w varchar(20), i int)")
    db.run("insert into words values ('ab', 1)")
    assert db.value(f"select {' || '.join([what] * 110)} from words") == "ab" * 110
