"""Collections, ROWs and DISTINCT types in the engine (TYPES section 11)."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.types.nested_values import parse_literal
from informix_arrow.wire.nested import parse_literal as clients_parse
from informix_arrow.wire.plan_ops import TypeOptions

pytestmark = pytest.mark.slow

ONE = "from systables where tabid = 1"
ROW = "row(name varchar(50), age int)"


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


@pytest.fixture
def table(db: Db) -> Db:
    db.run(f"create table t (id int, s set(int not null), r {ROW}, l list(varchar(20) not null), tail int)")
    db.run(
        "insert into t values (1, SET{2,1,2}, ROW('Alice', 30)::ROW(name VARCHAR(50), age INT), LIST{'b','a'}, 77)"
    )
    db.run("insert into t values (2, ?, ?, ?, 77)", "SET{5, 4}", "row('Bo''b', NULL)", "LIST{}")
    db.run("insert into t values (3, NULL, NULL, NULL, 77)")
    return db


def test_columns_are_described_with_their_definition(table: Db) -> None:
    described = [
        (c.name, c.type.word, c.type.extended_name) for c in table.session.prepare("select * from t").columns
    ]
    assert described == [
        ("id", 2, ""),
        ("s", 19, "SET(integer not null)"),
        ("r", 22, "ROW(name varchar(50), age integer)"),
        ("l", 21, "LIST(varchar(20) not null)"),
        ("tail", 2, ""),
    ]
    ids = {c.type.extended_id for c in table.session.prepare("select s, r, l from t").columns}
    assert len(ids) == 3
    assert min(ids) >= 2048
    table.run("create table u (s set (integer NOT NULL), other row(name varchar(51), age int))")
    again, other = (c.type.extended_id for c in table.session.prepare("select s, other from u").columns)
    assert again in ids
    assert other not in ids


def test_values_come_back_as_literals_with_padded_whole_numbers(table: Db) -> None:
    assert table.rows("select * from t order by id") == [
        (1, "SET{1          ,2          }", "ROW('Alice',30         )", "LIST{'b','a'}", 77),
        (2, "SET{4          ,5          }", "ROW('Bo''b',NULL)", "LIST{}", 77),
        (3, None, None, None, 77),
    ]
    assert table.rows("select s::lvarchar, r::char(5), tail from t where id = 1") == [
        ("SET{1          ,2          }", "ROW('", 77)
    ]


def test_fields_of_a_row_are_columns(table: Db) -> None:
    rows = table.rows("select id, r.name, t.r.age, tail from t order by id")
    assert rows == [(1, "Alice", 30, 77), (2, "Bo'b", None, 77), (3, None, None, 77)]
    assert table.types("select r.name, r.age from t") == [("name", "VARCHAR(50)"), ("age", "INTEGER")]
    assert table.rows("select x.id from t x where x.r.age > ? and r.name matches 'A*'", 29) == [(1,)]
    assert table.rows("select r.name, count(*) from t group by r.name order by 1")[1:] == [
        ("Alice", 1),
        ("Bo'b", 1),
    ]
    assert table.fails("select r.nothing from t").near == "nothing"
    assert table.fails("select s.name from t").sqlcode == -217
    assert table.fails("select nothing.name from t").sqlcode == -522


def test_membership_cardinality_and_equality(table: Db) -> None:
    for sql, parameters, wanted in (
        ("2 in s", (), [1]),
        ("? in s", (4,), [2]),
        ("'4' in s", (), [2]),
        ("'b' in l", (), [1]),
        ("not 2 in s", (), [2]),
        ("s = SET{2,1}", (), [1]),
        ("s = 'SET{1,2}'", (), [1]),
        ("s = ?", ("SET{5,4}",), [2]),
        ("s <> ?", ("SET{5,4}",), [1]),
        ("l = LIST{'b','a'}", (), [1]),
        ("l = LIST{'a','b'}", (), []),
        ("r = ROW('Alice', 30)", (), [1]),
        ("ROW('Alice', 30) = r", (), [1]),
        ("r = ?", ("ROW('Alice',31)",), []),
        ("cardinality(s) = 2 and cardinality(l) = 0", (), [2]),
        ("s is null", (), [3]),
    ):
        assert table.rows(f"select id from t where {sql} order by id", *parameters) == [
            (n,) for n in wanted
        ], sql
    assert table.rows("select cardinality(s), cardinality(l), tail from t order by id") == [
        (2, 2, 77), (2, 0, 77), (None, None, 77),
    ]  # fmt: skip
    for sql in ("s > SET{1}", "s = l", "s = 5", "s = LIST{1}", "'x' in tail", "r = ROW('Alice')"):
        assert table.fails(f"select id from t where {sql}").sqlcode in (-9634, -1260), sql


def test_sets_with_the_same_elements_are_one_group(db: Db) -> None:
    db.run("create table g (s set(varchar(5) not null), m multiset(int not null), tail int)")
    for s, m in (
        ("SET{'b','a'}", "MULTISET{1,2,1}"),
        ("SET{'a','b','a'}", "MULTISET{2,1,1}"),
        ("SET{'a'}", "MULTISET{2,1}"),
    ):
        db.run("insert into g values (?, ?, 77)", s, m)
    assert db.rows("select s, count(*) from g group by s order by 2") == [
        ("SET{'a'}", 1),
        ("SET{'a','b'}", 2),
    ]
    assert db.rows("select count(distinct m) from g") == [(2,)]
    assert len(db.rows("select distinct s, m from g")) == 2
    assert len(db.rows("select s from g union select s from g")) == 2
    db.run("update g set s = SET{'z', 'y', 'z'} where cardinality(m) = 2")
    assert db.rows("select s, tail from g where 'y' in s") == [("SET{'y','z'}", 77)]


NULLS = ["SET{1, NULL}", "SET{NULL}", "set{null,2}"]


@pytest.mark.parametrize("text", NULLS)
def test_null_elements_are_refused_where_the_element_is_not_null(db: Db, text: str) -> None:
    db.run("create table n (s set(int not null), tail int)")
    assert db.fails(f"insert into n values ({text}, 77)").sqlcode == -391
    assert db.fails("insert into n values (?, 77)", text).sqlcode == -391
    assert db.fails("insert into n values (SET{1, ?}, 77)", None).sqlcode == -391
    assert db.rows("select * from n") == []


def test_parameters_inside_constructors_have_the_types_of_their_places(db: Db) -> None:
    db.run(f"create table p (s set(smallint not null), r {ROW}, tail int)")
    prepared = db.session.prepare("insert into p values (SET{?, 2}, ROW(?, ?), ?)")
    assert [t.sql for t in prepared.parameters] == ["SMALLINT", "VARCHAR(50)", "INTEGER", "INTEGER"]
    db.session.execute(prepared, (1, "x", None, 77))
    outcomes = db.session.execute_many(prepared, [(7, "y", 3, 77), (40_000, "z", 4, 77), (8, None, 5, 77)])
    assert [getattr(o, "sqlcode", 0) for o in outcomes] == [0, -1214, 0]
    assert db.rows("select * from p order by r.age") == [
        ("SET{1     ,2     }", "ROW('x',NULL)", 77),
        ("SET{2     ,7     }", "ROW('y',3          )", 77),
        ("SET{2     ,8     }", "ROW(NULL,5          )", 77),
    ]


@pytest.mark.parametrize(
    ("declared", "text", "shown"),
    [
        ("set(char(3) not null)", "SET{'a','abc'}", "SET{'a','abc'}"),
        ("list(lvarchar not null)", "LIST{'it''s', \"q\", '', ' b '}", "LIST{'it''s','q','',' b '}"),
        ("list(bigint not null)", "LIST{-5}", "LIST{-5                  }"),
        ("list(float not null)", "LIST{1.5,-2}", "LIST{1.5,-2.0}"),
        ("list(decimal(20) not null)", "LIST{0.1, 1e20}", "LIST{0.1,100000000000000000000}"),
        ("list(decimal(5,2) not null)", "LIST{0.1, -12}", "LIST{0.10,-12.00}"),
        ("list(date not null)", "LIST{'02/29/2024'}", "LIST{'02/29/2024'}"),
        ("list(boolean not null)", "LIST{'t', 'f'}", "LIST{'t','f'}"),
        ("list(datetime year to second not null)", "LIST{'2026-01-02 03:04:05'}", "LIST{'2026-01-02 03:04:05'}"),
        ("list(datetime hour to minute not null)", "LIST{datetime(12:30) hour to minute}", "LIST{'12:30'}"),
        ("list(interval day to second not null)", "LIST{'-1 02:03:04'}", "LIST{'-1 02:03:04'}"),
        ("list(interval year to month not null)", "LIST{interval(1-02) year to month}", "LIST{'1-02'}"),
        ("list(set(int not null) not null)", "LIST{SET{2,1},SET{}}", "LIST{SET{1          ,2          },SET{}}"),
        ("set(row(a int, b varchar(5)) not null)", "SET{ROW(2,'x'),ROW(1,NULL),ROW(2,'x')}",
         "SET{ROW(1          ,NULL),ROW(2          ,'x')}"),
        ("row(a row(b int, c list(int not null)), d char(2))", "ROW(ROW(1,LIST{3,2}),'z')",
         "ROW(ROW(1          ,LIST{3          ,2          }),'z')"),
        ("multiset(nvarchar(9) not null)", "MULTISET{'é','ä','é'}", "MULTISET{'ä','é','é'}"),
    ],
)  # fmt: skip
def test_elements_of_every_type_as_parameter_literal_and_copy(
    db: Db, declared: str, text: str, shown: str
) -> None:
    db.run(f"create table e (id int, v {declared}, tail int)")
    db.run("insert into e values (1, ?, 77)", text)
    db.run(f"insert into e values (2, {text}, 77)")
    db.run("insert into e select 3, v, tail from e where id = 2")
    db.run(f"insert into e values (4, {text}::{declared}, 77)")
    db.run("insert into e select 5, v, 77 from e where id = 1")
    db.run("insert into e values (6, ?, 77)", shown)
    assert db.rows("select * from e order by id") == [(n, shown, 77) for n in range(1, 7)]
    assert db.rows("select count(*) from e a, e b where a.v = b.v") == [(36,)]


def test_the_client_reads_every_literal_that_the_server_writes(engine: Engine) -> None:
    db = connect(engine, DBDATE="Y4MD-")
    declared = (
        "row(a smallint, b bigint, c float, d decimal(8,3), e varchar(9), f date, g datetime year to fraction(3), "
        "h interval day to second, i boolean, j set(int not null), k row(x char(3)))"
    )
    db.run(f"create table c (v {declared})")
    text = (
        "ROW(-5,9007199254740993,0.1,-1.5,'it''s, {a}','2026-02-28','2026-02-28 01:02:03.456','-1 00:00:01','f',"
        "SET{3,1},ROW('é'))"
    )
    db.run("insert into c values (?)", text)
    result = db.session.query(db.session.prepare("select v from c"), ())
    (batch,) = result.batches()
    read: Any = clients_parse(batch.column(0)[0].as_py(), result.columns[0].type, TypeOptions())
    assert (read["a"], read["b"], read["c"], read["d"]) == (-5, 9007199254740993, 0.1, Decimal("-1.500"))
    assert (read["e"], str(read["f"]), str(read["g"])) == (
        "it's, {a}",
        "2026-02-28",
        "2026-02-28 01:02:03.456000",
    )
    assert (str(read["h"]), read["i"], read["j"], read["k"]) == (
        "-2 days, 23:59:59",
        False,
        [1, 3],
        {"x": "é"},
    )


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SET",
        "SET{",
        "SET{1",
        "SET{1,}",
        "SET{1}x",
        "SET{'a}",
        "{1}",
        "LIST{1}",
        "SET{SET{1}}",
        "ROW(1)",
        "5",
        "SET{1 2}",
    ],
)
def test_a_text_that_is_no_literal_of_the_type_is_refused(db: Db, text: str) -> None:
    db.run("create table b (s set(int not null), tail int)")
    assert db.fails("insert into b values (?, 77)", text).sqlcode in (-9634, -1213, -1260)
    assert db.rows("select * from b") == []


def test_long_values_and_deep_ones_are_not_cut(db: Db) -> None:
    db.run("create table big (l list(varchar(200) not null), tail int)")
    text = "LIST{" + ",".join(f"'{n:0200d}'" for n in range(500)) + "}"
    db.run("insert into big values (?, 77)", text)
    assert db.rows("select * from big") == [(text, 77)]
    assert len(parse_literal(text).items) == 500


def test_over_long_elements_are_cut_with_a_warning(db: Db) -> None:
    db.run("create table cut (l list(varchar(3) not null), tail int)")
    assert db.run("insert into cut values (?, 77)", "LIST{'abcd'}").warnings == 1
    assert db.run("insert into cut values (?, 77)", "LIST{'abc'}").warnings == 0
    assert db.rows("select l from cut") == [("LIST{'abc'}",), ("LIST{'abc'}",)]


def test_constructors_alone_have_the_types_of_their_parts(db: Db) -> None:
    assert db.rows(f"select SET{{2,1}}, ROW(1, 'a'), LIST{{1.5, 2}}, 4711 {ONE}") == [
        ("SET{1          ,2          }", "ROW(1          ,'a')", "LIST{1.5,2.0}", 4711)
    ]
    assert db.fails(f"select SET{{}} {ONE}").sqlcode == -9634
    assert db.rows(f"select cardinality(SET{{5,5,6}}), 4711 {ONE}") == [(2, 4711)]


# ---- named types -----------------------------------------------------------------------------------
def test_named_rows_are_types_of_columns_casts_and_other_types(db: Db) -> None:
    db.run("create row type person_t (name varchar(20) not null, born date)")
    db.run("create row type couple_t (one person_t, two person_t)")
    db.run("create table n (id int, p person_t, c couple_t, s set(person_t not null), tail int)")
    described = [
        (c.type.word, c.type.extended_name) for c in db.session.prepare("select p, c, s from n").columns
    ]
    assert described == [(0x1016, "person_t"), (0x1016, "couple_t"), (19, "SET(person_t not null)")]
    db.run(
        "insert into n values (1, ROW('A', '01/02/2026')::person_t, ROW(ROW('B', NULL), NULL)::couple_t, "
        "SET{ROW('C', NULL)}, 77)"
    )
    db.run("insert into n values (2, ?, ?, ?, 77)", "ROW('A','01/02/2026')", None, "SET{}")
    assert db.rows("select * from n order by id") == [
        (1, "ROW('A','01/02/2026')", "ROW(ROW('B',NULL),NULL)", "SET{ROW('C',NULL)}", 77),
        (2, "ROW('A','01/02/2026')", None, "SET{}", 77),
    ]
    assert db.rows("select c.one.name, n.p.born::char(10), tail from n where id = 1") == [
        ("B", "01/02/2026", 77)
    ]
    assert db.rows("select id from n where p = ROW('A', '01/02/2026')::person_t order by id") == [(1,), (2,)]
    assert db.fails("insert into n values (3, ROW(NULL, NULL), NULL, NULL, 77)").sqlcode == -391
    assert db.fails("create row type person_t (a int)").sqlcode == -9991
    assert db.fails("drop row type person_t restrict").sqlcode == -9990
    assert db.fails("drop row type nobody restrict").sqlcode == -9992
    assert db.fails(f"select 5::nobody {ONE}").near == "nobody"
    db.run("drop table n")
    db.run("drop row type couple_t restrict")
    db.run("drop row type person_t restrict")
    assert db.fails("create table n (p person_t)").sqlcode == -9628


def test_distinct_types_hold_the_values_of_their_source(db: Db) -> None:
    sources = {
        "dollar": "decimal(10,2)", "flag": "boolean", "note": "lvarchar(100)", "code": "int",
        "span": "interval day to second", "bag": "set(int not null)", "rich": "dollar",
    }  # fmt: skip
    for name, source in sources.items():
        db.run(f"create distinct type {name} as {source}")
    db.run("create table d (a dollar, b flag, c note, d code, e span, f bag, g rich, tail int)")
    described = [
        (c.type.word, c.type.extended_name, c.type.source_type)
        for c in db.session.prepare("select * from d").columns
    ]
    assert described == [
        (0x0805, "dollar", 0), (0x4829, "flag", 5), (0x2828, "note", 1), (0x0802, "code", 0), (0x080E, "span", 0),
        (0x0813, "bag", 0), (0x0805, "rich", 0), (2, "", 0),
    ]  # fmt: skip
    db.run("insert into d values (1.5, 't', 'hi', 7, '1 02:03:04', SET{1}, 2::dollar::rich, 77)")
    db.run("insert into d values (?, ?, ?, ?, ?, ?, ?, 77)", Decimal(-2), False, "", 8, None, "SET{}", 3)
    assert db.rows("select * from d order by d") == [
        (
            Decimal("1.50"),
            True,
            "hi",
            7,
            pa.MonthDayNano([0, 1, 7384 * 10**9]),
            "SET{1          }",
            Decimal("2.00"),
            77,
        ),
        (Decimal("-2.00"), False, "", 8, None, "SET{}", Decimal("3.00"), 77),
    ]
    assert db.rows(
        "select a + 1, a::decimal(10,2), 5::dollar, tail from d where d = 7 and b and a > ?", 1
    ) == [(Decimal("2.50"), Decimal("1.50"), Decimal("5.00"), 77)]
    assert db.rows("select sum(a), max(d), c || '!' from d group by 3 order by 3") == [
        (Decimal("-2.00"), 8, "!"), (Decimal("1.50"), 7, "hi!"),
    ]  # fmt: skip
    assert db.fails("drop type dollar restrict").sqlcode == -9630
    assert db.fails("create distinct type dollar as int").sqlcode == -9996


def test_types_are_part_of_the_transaction(db: Db, engine: Engine) -> None:
    db.session.begin()
    db.run("create row type temporary_t (a int)")
    db.run("create table tt (v temporary_t, tail int)")
    db.run("insert into tt values ('ROW(1)', 77)")
    assert connect(engine).fails("create table x (v temporary_t)").sqlcode == -9628
    db.session.rollback()
    assert db.fails("create table x (v temporary_t)").sqlcode == -9628
    assert db.rows("select count(*) from sysxtdtypes where extended_id >= 2048") == [(0,)]


def test_the_catalogue_lists_types_and_their_attributes(table: Db) -> None:
    table.run("create row type person_t (name varchar(20) not null, born date)")
    table.run("create distinct type dollar as decimal(10,2)")
    rows = table.rows(
        "select mode, name, type, source from sysxtdtypes where extended_id >= 2048 order by extended_id"
    )
    assert rows == [
        ("C", None, 19, 0), (" ", None, 22, 0), ("C", None, 21, 0), ("R", "person_t", 22, 0), ("D", "dollar", 5, 0),
    ]  # fmt: skip
    sql = (
        "select a.seqno, a.fieldname, a.type, a.length from sysattrtypes a, sysxtdtypes t "
        "where a.extended_id = t.extended_id and t.name = 'person_t' order by a.seqno"
    )
    assert table.rows(sql) == [(1, "name", 13 + 256, 20), (2, "born", 7, 4)]
    builtin = table.rows("select extended_id, name from sysxtdtypes where mode = 'B' order by extended_id")
    assert builtin == [
        (1, "lvarchar"),
        (5, "boolean"),
        (10, "blob"),
        (11, "clob"),
        (25, "json"),
        (26, "bson"),
    ]


def test_types_are_there_after_a_restart(tmp_path: Any) -> None:
    version = "IBM Informix Dynamic Server Version 14.10.FC7W1DE"
    engine = Engine(tmp_path, "informix", version, SplLibrary())
    db = connect(engine)
    db.run("create row type person_t (name varchar(20))")
    db.run("create table n (p person_t, s set(person_t not null), tail int)")
    db.run("insert into n values ('ROW(''x'')', 'SET{}', 77)")
    before = db.session.prepare("select * from n").columns
    engine.close()
    engine = Engine(tmp_path, "informix", version, SplLibrary())
    db = connect(engine)
    assert db.rows("select * from n") == [("ROW('x')", "SET{}", 77)]
    assert db.session.prepare("select * from n").columns == before
    db.run("create row type other_t (a int)")
    ids = [n for (n,) in db.rows("select extended_id from sysxtdtypes where extended_id >= 2048")]
    assert len(ids) == len(set(ids)) == 3
    engine.close()


def test_a_table_of_types_that_no_longer_fit_can_be_altered(table: Db) -> None:
    table.run("alter table t modify (s set(bigint not null))")
    assert table.rows("select s, tail from t where id = 1") == [
        ("SET{1                   ,2                   }", 77)
    ]
    with pytest.raises(SqlError):
        table.run("alter table t modify (r row(name varchar(50)))")
    table.run("alter table t modify (r row(name varchar(2), age smallint))")
    assert table.rows("select r, tail from t where id = 1") == [("ROW('Al',30    )", 77)]
