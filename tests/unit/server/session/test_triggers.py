"""Triggers: when they fire, what their actions see, and the effect of a failing action on the statement."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.routine_protocols import python_routine

pytestmark = pytest.mark.slow

DATABASE = "stores_demo"


def fill(db: Db) -> None:
    db.run("create table t (id integer primary key, b varchar(10), c decimal(10,2), tail integer)")
    db.run("create table log (n serial, what varchar(30), old varchar(30), new varchar(30), tail integer)")
    db.run("insert into t values (1, 'one', 1.5, 71)")
    db.run("insert into t values (2, null, null, 72)")


@pytest.fixture
def other(engine: Engine, db: Db) -> Db:
    return connect(engine, DATABASE)


def log(db: Db) -> list[tuple[object, ...]]:
    """Return the logged rows in their order, without the serials."""
    return [row[1:] for row in db.rows("select * from log order by n")]


def logged(db: Db) -> list[object]:
    return [row[0] for row in log(db)]


def note(what: str) -> str:
    return f"(insert into log (what) values ('{what}'))"


def audit(db: Db) -> None:
    """Create triggers that log each row that is inserted into t, updated or deleted."""
    db.run(
        "create trigger ti insert on t referencing new as n for each row "
        "(insert into log (what, new, tail) values ('insert', n.b, n.id))"
    )
    db.run(
        "create trigger tu update on t referencing old as o new as n for each row "
        "(insert into log (what, old, new, tail) values ('update', o.b, n.b, n.id))"
    )
    db.run(
        "create trigger td delete on t referencing old as o for each row "
        "(insert into log (what, old, tail) values ('delete', o.b, o.id))"
    )


# ---- when they fire -------------------------------------------------------------------------------
def test_each_changed_row_is_seen_with_its_values_before_and_after(db: Db) -> None:
    audit(db)
    assert db.run("insert into t values (3, 'é', 2.5, 73)").rows == 1
    assert db.run("update t set b = b || '!' where id in (1, 3)").rows == 2
    assert db.run("update t set b = 'x' where b is null").rows == 1
    assert db.run("delete from t where id < 3").rows == 2
    assert log(db) == [
        ("insert", None, "é", 3),
        ("update", "one", "one!", 1),
        ("update", "é", "é!", 3),
        ("update", None, "x", 2),
        ("delete", "one!", None, 1),
        ("delete", "x", None, 2),
    ]
    assert db.rows("select * from t") == [(3, "é!", Decimal("2.50"), 73)]


@pytest.mark.parametrize(
    ("event", "statement", "rows"),
    [
        ("insert", "insert into t select id + 10, b, c, tail from t", 2),
        ("insert", "insert into t select id, b, c, tail from t where id < 0", 0),
        ("insert", "insert into t values (7, 'x', 0, 0)", 1),
        ("update", "update t set tail = tail + 1", 2),
        ("update", "update t set tail = 0 where id = 99", 0),
        ("update", "update t set id = id + 1", 2),
        ("delete", "delete from t", 2),
        ("delete", "delete from t where id = 99", 0),
    ],
)
def test_before_and_after_run_once_and_each_row_has_its_own(
    db: Db, event: str, statement: str, rows: int
) -> None:
    db.run(f"create trigger tr {event} on t before {note('b')} for each row {note('r')} after {note('a')}")
    assert db.run(statement).rows == rows
    assert logged(db) == ["b", *["r"] * rows, "a"]


def test_several_triggers_run_section_by_section_in_the_order_of_their_columns(db: Db) -> None:
    for name, columns in (("x", "tail"), ("y", "c, b"), ("z", "c")):
        db.run(
            f"create trigger {name} update of {columns} on t "
            f"before {note('b' + name)} for each row {note('r' + name)} after {note('a' + name)}"
        )
    db.run("update t set tail = 0, c = 1 where id = 1")
    assert logged(db) == ["by", "bz", "bx", "ry", "rz", "rx", "ay", "az", "ax"]


def test_update_of_columns_fires_for_those_that_are_set_whether_their_values_change_or_not(db: Db) -> None:
    db.run(f"create trigger tu update of b, c on t for each row {note('fired')}")
    db.run("update t set tail = 5, id = id + 10")
    assert logged(db) == []
    db.run("update t set tail = 6, c = c where id = 11")
    assert logged(db) == ["fired"]


def test_a_condition_is_asked_for_its_own_actions_and_null_is_no(db: Db) -> None:
    db.run(
        "create trigger tu update on t referencing new as n old as o for each row "
        f"when (n.tail > 100) {note('large')}, {note('always')}, when (o.b = 'one') "
        f"(insert into log (what) values ('one'), insert into log (what, tail) values ('also', n.tail))"
    )
    db.run("update t set tail = 99 + id")
    assert [(what, tail) for what, _, _, tail in log(db)] == [
        ("always", None),
        ("one", None),
        ("also", 100),
        ("large", None),
        ("always", None),
    ]


def test_actions_have_commas_of_their_own(db: Db) -> None:
    db.run("create table u (a integer, b integer, tail integer)")
    db.run("insert into u values (0, 0, 7)")
    db.run(
        "create trigger ti insert on t referencing new n for each row "
        "(update u set a = a + 1, b = n.id, tail = 8, delete from log where n = 0, "
        "insert into log (what, tail) values ('x', n.id)) disabled"
    )
    db.run("insert into t values (3, 'x', 0, 0)")
    assert (db.rows("select * from u"), log(db)) == ([(0, 0, 7)], [])
    db.run("set triggers ti enabled")
    db.run("insert into t values (4, 'x', 0, 0)")
    assert (db.rows("select * from u"), log(db)) == ([(1, 4, 8)], [("x", None, None, 4)])


def test_merge_fires_what_it_does(db: Db) -> None:
    audit(db)
    db.run("create table s (id integer, b varchar(10), tail integer)")
    db.run("insert into s values (2, 'two', 1)")
    db.run("insert into s values (3, 'three', 1)")
    db.run(
        "merge into t using s on t.id = s.id when matched then update set t.b = s.b "
        "when not matched then insert (id, b, tail) values (s.id, s.b, s.tail)"
    )
    assert log(db) == [("update", None, "two", 2), ("insert", None, "three", 3)]
    db.run("merge into t using s on t.id = s.id when matched then delete")
    assert log(db)[2:] == [("delete", "two", None, 2), ("delete", "three", None, 3)]
    assert db.rows("select id, tail from t") == [(1, 71)]


def test_rows_that_are_loaded_together_fire_one_by_one(db: Db) -> None:
    audit(db)
    prepared = db.session.prepare("insert into t values (?, ?, ?, ?)")
    done = db.session.execute_many(prepared, [(5, "a", None, 1), (1, "double", None, 2), (6, None, None, 3)])
    assert [o.sqlcode if isinstance(o, SqlError) else o.rows for o in done] == [1, -268, 1]
    batch = pa.record_batch(
        [
            pa.array([7, 8], pa.int32()),
            pa.array(["c", None]),
            pa.array([None, None], pa.decimal128(10, 2)),
            pa.array([4, 5], pa.int32()),
        ],
        ["id", "b", "c", "tail"],
    )
    assert db.session.execute_batch(prepared, batch).inserted == 2
    assert log(db) == [
        ("insert", None, "a", 5),
        ("insert", None, None, 6),
        ("insert", None, "c", 7),
        ("insert", None, None, 8),
    ]


def test_truncate_fires_nothing(db: Db) -> None:
    audit(db)
    db.run("truncate table t")
    assert (db.rows("select * from t"), log(db)) == ([], [])


def test_a_routines_statements_fire_and_so_do_changes_at_a_cursor(db: Db) -> None:
    audit(db)
    db.run(
        "create procedure p() define x int; foreach c for select id into x from t "
        "update t set b = 'at' where current of c; delete from t where current of c; end foreach "
        "insert into t values (9, 'new', 0, 0); end procedure"
    )
    db.run("execute procedure p()")
    assert log(db) == [
        ("update", "one", "at", 1),
        ("delete", "at", None, 1),
        ("update", None, "at", 2),
        ("delete", "at", None, 2),
        ("insert", None, "new", 9),
    ]


def test_changes_through_a_view_fire_the_triggers_of_its_table(db: Db) -> None:
    audit(db)
    db.run("create view v (number, name, tail) as select id, b, tail from t where id < 100")
    db.run("insert into v values (5, 'five', 1)")
    db.run("update v set name = 'fünf' where number = 5")
    db.run("delete from v where number = 5")
    assert log(db) == [
        ("insert", None, "five", 5),
        ("update", "five", "fünf", 5),
        ("delete", "fünf", None, 5),
    ]


# ---- what actions see -------------------------------------------------------------------------------
TYPES = [
    ("smallint", "-32767"),
    ("integer", "2147483647"),
    ("bigint", "-9223372036854775807"),
    ("int8", "9223372036854775807"),
    ("decimal(32,16)", "-1234567890123456.1234567890123456"),
    ("decimal(16)", "1.5e20"),
    ("money(16,2)", "0.01"),
    ("float", "-2.5e300"),
    ("smallfloat", "0.5"),
    ("char(10)", "'é  '"),
    ("nchar(5)", "''"),
    ("varchar(255)", "'a''b\"'"),
    ("nvarchar(20)", "'ÿ'"),
    ("lvarchar(3000)", "'long'"),
    ("boolean", "'f'"),
    ("date", "mdy(12, 31, 9999)"),
    ("datetime year to fraction(5)", "'9999-12-31 23:59:59.99998'"),
    ("datetime hour to second", "'23:59:59'"),
    ("interval day(9) to fraction(5)", "'999999999 23:59:59.99999'"),
    ("interval year to month", "'-12-11'"),
    ("set(integer not null)", "set{1, 2}"),
    ("list(varchar(5) not null)", "list{'a', 'b', 'a'}"),
    ("row(x integer, y varchar(5))", "row(1, 'y')::row(x integer, y varchar(5))"),
]


@pytest.mark.parametrize(("declared", "literal"), TYPES)
def test_values_of_every_type_reach_an_action_as_they_are(db: Db, declared: str, literal: str) -> None:
    db.run(f"create table v (id integer, x {declared}, tail integer)")
    db.run(f"create table w (id integer, o {declared}, n {declared}, tail integer)")
    db.run(
        "create trigger vi insert on v referencing new as n for each row "
        "(insert into w (id, n, tail) values (n.id, n.x, n.tail))"
    )
    db.run(
        "create trigger vu update of x on v referencing old as o new as n for each row "
        "(insert into w values (n.id, o.x, n.x, 9))"
    )
    db.run(f"insert into v values (1, {literal}, 7)")
    db.run("insert into v values (2, null, 8)")
    db.run("update v set x = (select x from w as one where one.id = 9) where id = 1")
    value = db.value("select x from v where id = 2")
    assert value is None
    first = db.rows("select n, tail from w where id = 1 and tail = 7")
    db.run(f"update v set x = {literal} where id = 1")
    assert first == [(*db.rows("select x from v where id = 1")[0], 7)]
    assert first[0][0] is not None
    changes = db.rows("select o, n from w where tail = 9")
    assert changes[0] == (first[0][0], None)
    assert changes[1] == (None, first[0][0])


def test_byte_and_text_are_null_in_actions_and_stay_what_they_are(db: Db) -> None:
    db.run("create table v (id integer, x text, tail integer)")
    db.run(
        "create trigger vi insert on v referencing new as n for each row when (n.x is null) "
        "(insert into log (what, tail) values ('null', n.tail))"
    )
    db.run("insert into v values (1, ?, 7)", "contents")
    assert log(db) == [("null", None, None, 7)]
    assert db.rows("select * from v") == [(1, b"contents", 7)]


def test_a_name_with_the_correlation_is_the_rows_value_any_other_is_the_tables(db: Db) -> None:
    db.run("create table u (id integer, b varchar(10), tail integer)")
    for number in (1, 2):
        db.run("insert into u values (?, 'u', 0)", number)
    db.run(
        "create trigger tu update of b on t referencing old as pre new as post for each row "
        "(update u set b = post.b, tail = (select count(*) from t where t.id <= pre.id) where id = post.id)"
    )
    db.run("update t set b = 'set'")
    assert db.rows("select * from u order by id") == [(1, "set", 1), (2, "set", 2)]


def test_an_action_finds_the_rows_done_so_far_in_the_table(db: Db) -> None:
    db.run(
        "create trigger ti insert on t referencing new as n for each row "
        "(insert into log (what, tail) select 'rows', count(*) from t)"
    )
    db.run("insert into t select id + 10, b, c, tail from t")
    assert [tail for _, _, _, tail in log(db)] == [3, 4]


def test_values_that_an_action_of_an_earlier_row_has_changed_are_seen(db: Db) -> None:
    db.run(
        "create trigger tu update of b on t referencing old as o for each row "
        "(update t set tail = tail + 1000, insert into log (what, tail) values ('tail', o.tail))"
    )
    db.run("update t set b = 'x'")
    assert [tail for _, _, _, tail in log(db)] == [71, 1072]
    assert db.rows("select id, b, tail from t order by id") == [(1, "x", 2071), (2, "x", 2072)]


def test_old_and_new_are_unknown_before_and_after(db: Db) -> None:
    db.run(
        "create trigger ti insert on t referencing new as n before (insert into log (tail) values (n.id)) "
        f"for each row {note('r')}"
    )
    assert db.fails("insert into t values (9, 'x', 0, 0)").sqlcode in (-217, -206, -522)
    assert db.rows("select count(*) from t") == [(2,)]


def test_dbinfo_reports_the_statement_and_not_its_triggers(db: Db) -> None:
    db.run("create table s (id serial, tail integer)")
    db.run(
        "create trigger si insert on s referencing new as n for each row "
        "(insert into log (what) values ('a'), insert into log (what) values ('b'))"
    )
    done = db.run("insert into s (tail) values (7)")
    assert (done.serial, db.value("select dbinfo('sqlca.sqlerrd1') from sysmaster:sysdual")) == (1, 1)
    db.run("insert into s (tail) values (8)")
    assert db.rows("select * from s order by id") == [(1, 7), (2, 8)]


# ---- what actions give --------------------------------------------------------------------------------
@pytest.mark.parametrize("key", ["primary key", "unique", ""])
def test_into_gives_columns_of_the_row_other_values(db: Db, key: str) -> None:
    db.run(f"create table v (id integer {key}, b varchar(10), tail integer)")
    db.run(
        "create function f(x int, y varchar(10)) returning int, varchar(10); return x * 10, upper(y); "
        "end function"
    )
    db.run(
        "create trigger vi insert on v referencing new as n for each row "
        "(execute function f(n.id, n.b) into id, b, insert into log (what, tail) values (n.b, n.id))"
    )
    db.run(
        "create trigger vu update on v referencing new as n for each row "
        "(execute function f(n.tail, n.b || 'x') into tail, b)"
    )
    db.run("insert into v values (1, 'é', 7)")
    db.run("insert into v values (2, null, 8)")
    assert db.rows("select * from v order by tail") == [(10, "É", 7), (20, None, 8)]
    assert log(db) == [("É", None, None, 10), (None, None, None, 20)]
    db.run("update v set tail = tail + 1")
    assert db.rows("select * from v order by tail") == [(10, "ÉX", 80), (20, None, 90)]
    db.run("update v set id = id + 10")
    assert db.rows("select * from v order by tail") == [(20, "ÉXX", 800), (30, None, 900)]


def test_values_given_by_actions_are_held_against_the_tables_rules(db: Db) -> None:
    db.run("create table parent (id integer primary key, tail integer)")
    db.run("insert into parent values (1, 7)")
    db.run(
        "create table v (id integer primary key, n integer not null, p integer references parent(id), "
        "c integer check (c < 100), tail integer)"
    )
    db.run("create function f(x int) returning int; return x; end function")
    db.run("insert into v values (1, 1, 1, 1, 70)")
    for column, value, code in (
        ("id", "1", -268), ("n", "null", -391), ("p", "2", -691), ("c", "100", -530),
    ):  # fmt: skip
        db.run(f"create trigger vi insert on v for each row (execute function f({value}) into {column})")
        assert db.fails("insert into v values (2, 2, 1, 2, 71)").sqlcode == code, column
        db.run("drop trigger vi")
    assert db.rows("select * from v") == [(1, 1, 1, 1, 70)]


def test_a_procedure_in_python_is_an_action_too(db: Db, engine: Engine) -> None:
    seen: list[object] = []
    engine.python_routines["remember"] = (
        python_routine("remember", lambda a, b: seen.append((a, b)), ["INTEGER", "VARCHAR(10)"], []),
    )
    engine.schema_version.increment()
    db.run(
        "create trigger td delete on t referencing old as o for each row (execute procedure remember(o.id, o.b))"
    )
    db.run("delete from t")
    assert seen == [(1, "one"), (2, None)]


# ---- trigger routines -----------------------------------------------------------------------------------
def test_a_trigger_routine_knows_the_row_and_the_event(db: Db) -> None:
    db.run(
        "create procedure tp(extra int) referencing old as o new as n for t; "
        "define word varchar(10); let word = 'none'; "
        "if inserting then let word = 'ins'; let n.b = n.b || '+'; let n.tail = extra; end if "
        "if (updating) then let word = 'upd'; let n.c, n.tail = o.tail, n.tail + extra; end if "
        "if deleting and not inserting then insert into log (what, old, tail) values ('del', o.b, o.id); "
        "else insert into log (what, new, tail) values (word, n.b, n.tail); end if "
        "end procedure"
    )
    db.run("create trigger ti insert on t for each row (execute procedure tp(5) with trigger references)")
    db.run(
        "create trigger tu update of b on t for each row (execute procedure tp(6) with trigger references)"
    )
    db.run("create trigger td delete on t for each row (execute procedure tp(7) with trigger references)")
    db.run("insert into t values (3, 'x', 0, 0)")
    db.run("update t set b = 'y' where id = 1")
    db.run("delete from t where id = 2")
    assert log(db) == [("ins", None, "x+", 5), ("upd", None, "y", 77), ("del", None, None, 2)]
    assert db.rows("select * from t order by id") == [
        (1, "y", Decimal("71.00"), 77),
        (3, "x+", Decimal("0.00"), 5),
    ]


def test_a_trigger_routine_is_for_its_tables_triggers_and_nothing_else(db: Db) -> None:
    db.run("create table u (id integer, tail integer)")
    db.run("create procedure tp() referencing new as n for u; let n.id = 5; end procedure")
    db.run("create procedure plain() define x int; let x = 1; end procedure")
    assert db.fails("execute procedure tp()").sqlcode == -201
    for procedure, with_references in (("tp", True), ("tp", False), ("plain", True)):
        clause = "with trigger references" if with_references else ""
        db.run(f"create trigger ti insert on t for each row (execute procedure {procedure}() {clause})")
        assert db.fails("insert into t values (9, 'x', 0, 0)").sqlcode == -201
        db.run("drop trigger ti")
    db.run("create trigger ui insert on u for each row (execute procedure tp() with trigger references)")
    db.run("insert into u values (1, 7)")
    assert db.rows("select * from u") == [(5, 7)]


# ---- views ---------------------------------------------------------------------------------------------
@pytest.fixture
def joined(db: Db) -> Db:
    """A session with a view `v` of two tables, whose rows can be changed through INSTEAD OF triggers."""
    db.run("create table dept (no integer, name varchar(10), tail integer)")
    db.run("create table emp (id integer, dept integer, pay decimal(10,2), tail integer)")
    db.run(
        "create view v (id, dept, pay, tail) as "
        "select e.id, d.name, e.pay, e.tail from emp e, dept d where d.no = e.dept"
    )
    db.run(
        "create procedure hire(i int, d varchar(10), p decimal(10,2)) "
        "if (select count(*) from dept where name = d) = 0 then "
        "insert into dept values ((select count(*) + 1 from dept), d, 70); end if "
        "insert into emp values (i, (select no from dept where name = d), p, 71); end procedure"
    )
    db.run(
        "create trigger vi instead of insert on v referencing new as n for each row "
        "(execute procedure hire(n.id, n.dept, n.pay))"
    )
    db.run(
        "create trigger vu instead of update on v referencing old as o new as n for each row "
        "(update emp set pay = n.pay, tail = n.tail where id = o.id, "
        "insert into log (what, old, new, tail) values ('raise', o.pay, n.pay, n.id))"
    )
    db.run(
        "create trigger vd instead of delete on v referencing old as o for each row (delete from emp where id = o.id)"
    )
    return db


def test_changes_of_a_view_go_to_its_instead_of_triggers(joined: Db) -> None:
    assert joined.run("insert into v (id, dept, pay) values (?, 'toys', 10)", 1).rows == 1
    assert joined.run("insert into v values (2, 'food', null, 0)").rows == 1
    assert joined.run("insert into v (pay, dept, id) select 5.5, 'tøys', id + 2 from t").rows == 2
    wanted = [(1, "toys", Decimal("10.00"), 71), (2, "food", None, 71), (3, "tøys", Decimal("5.50"), 71)]
    assert joined.rows("select * from v where id < 4 order by id") == wanted
    assert joined.run("update v set pay = pay * 2, tail = id where dept matches 't*'").rows == 3
    assert joined.rows("select id, pay, tail from v order by id") == [
        (1, Decimal("20.00"), 1),
        (2, None, 71),
        (3, Decimal("11.00"), 3),
        (4, Decimal("11.00"), 4),
    ]
    assert log(joined)[0] == ("raise", "10.00", "20.00", 1)
    assert joined.run("delete from v where pay is null or id = 4").rows == 2
    assert joined.rows("select id from v order by id") == [(1,), (3,)]
    assert joined.run("delete from v where id = 99").rows == 0


def test_rows_of_a_view_that_are_loaded_together_go_one_by_one(joined: Db) -> None:
    done = joined.many(
        "insert into v (id, dept, pay) values (?, ?, ?)", [(1, "a", 1), (2, "b", "x"), (3, "a", 2)]
    )
    assert [o.sqlcode if isinstance(o, SqlError) else o.rows for o in done] == [1, -1213, 1]
    assert joined.rows("select id, dept from v order by id") == [(1, "a"), (3, "a")]


def test_a_view_whose_triggers_are_off_is_as_any_other(joined: Db) -> None:
    joined.run("set triggers for v disabled")
    assert joined.fails("insert into v (id) values (1)").sqlcode == -274
    joined.run("create view plain as select id, b from t where id < 100")
    joined.run(f"create trigger pi instead of insert on plain for each row {note('instead')}")
    joined.run("insert into plain values (5, 'x')")
    assert (logged(joined), joined.value("select count(*) from t")) == (["instead"], 2)
    joined.run("update plain set b = 'y' where id = 1")  # there is no INSTEAD OF UPDATE
    joined.run("set triggers pi disabled")
    joined.run("insert into plain values (5, 'x')")
    assert joined.rows("select id, b from t order by id") == [(1, "y"), (2, None), (5, "x")]


def test_a_view_over_a_view_uses_the_triggers_of_that(joined: Db) -> None:
    joined.run("create view w (number, department) as select id, dept from v where id > 0")
    joined.run("insert into w values (7, 'toys')")
    joined.run("create view x as select number from w where number > 5")
    joined.run("delete from x where number = 7")
    assert joined.rows("select * from w") == []
    assert joined.rows("select name from dept") == [("toys",)]


def test_an_instead_of_action_that_fails_undoes_the_statement(joined: Db) -> None:
    joined.run(
        "create procedure refuse(i int) if i = 2 then raise exception -746, 0, 'two'; end if end procedure"
    )
    joined.run(
        "create trigger vj instead of insert on v referencing new n for each row (execute procedure refuse(n.id))"
    )
    assert joined.fails("insert into v (id, dept) select id, 'toys' from t").sqlcode == -746
    assert (joined.rows("select * from emp"), joined.rows("select * from dept")) == ([], [])
    joined.run("insert into v (id, dept) select id, 'toys' from t where id = 1")
    assert joined.rows("select id from v") == [(1,)]


def test_instead_of_actions_do_not_come_back_to_their_view(joined: Db) -> None:
    joined.run("create trigger vj instead of insert on v for each row (insert into v (id) values (1))")
    assert joined.fails("insert into v (id, dept) values (1, 'a')").sqlcode == -747


def test_dropping_a_view_takes_its_triggers_along(joined: Db) -> None:
    joined.run("create view w as select id from v")
    joined.run(f"create trigger wd instead of delete on w for each row {note('w')}")
    assert joined.rows("select trigname, event from systriggers order by 1") == [
        ("vd", "d"), ("vi", "i"), ("vu", "u"), ("wd", "d"),
    ]  # fmt: skip
    joined.run("drop table dept")
    assert joined.rows("select trigname from systriggers") == []


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("create trigger x instead of insert on t for each row (delete from log)", -322),
        ("create trigger x instead of insert on c for each row (delete from log)", -322),
        ("create trigger x instead of insert on v after (delete from log)", -201),
        ("create trigger x instead of insert on v for each row when (1 = 1) (delete from log)", -201),
        ("create trigger x instead of update of id on v for each row (delete from log)", -201),
        ("create trigger x instead of select on v for each row (delete from log)", -201),
        ("update v set nothing = 1", -217),
        ("insert into v (nothing) values (1)", -217),
        ("insert into v values (1)", -236),
    ],
)
def test_what_instead_of_triggers_cannot_be(joined: Db, sql: str, code: int) -> None:
    joined.run("create view c as select id from t where id > 0 with check option")
    assert joined.fails(sql).sqlcode == code


# ---- failures -----------------------------------------------------------------------------------------
@pytest.fixture
def picky(db: Db) -> Db:
    """A session in which an INSERT into t of an id above 100 fails in its trigger, after other actions."""
    db.run(
        "create procedure p(x int) insert into log (what, tail) values ('p', x); "
        "if x > 100 then raise exception -746, 0, 'too large'; end if end procedure"
    )
    db.run(
        f"create trigger ti insert on t referencing new as n before {note('b')} "
        f"for each row (execute procedure p(n.id)) after {note('a')}"
    )
    return db


@pytest.mark.parametrize("inside", [False, True])
def test_a_statement_whose_action_fails_leaves_nothing_and_the_transaction_goes_on(
    picky: Db, inside: bool
) -> None:
    if inside:
        picky.session.begin()
        picky.run("insert into t values (3, 'kept', 0, 0)")
    kept = logged(picky)
    error = picky.fails("insert into t select id + 99, b, c, tail from t")
    assert (error.sqlcode, error.near) == (-746, "too large")
    assert picky.fails("insert into t values (101, 'x', 0, 0)").sqlcode == -746
    assert logged(picky) == kept
    picky.run("insert into t values (4, 'after', 0, 0)")
    if inside:
        picky.session.commit()
    assert logged(picky) == [*kept, "b", "p", "a"]
    wanted = [1, 2, 3, 4] if inside else [1, 2, 4]
    assert [row[0] for row in picky.rows("select id from t order by id")] == wanted


def test_of_rows_loaded_together_only_those_whose_actions_fail_are_missing(picky: Db) -> None:
    for inside in (False, True):
        if inside:
            picky.session.begin()
        first = 10 if inside else 20
        done = picky.many("insert into t (id, tail) values (?, 0)", [(first,), (first + 100,), (first + 1,)])
        assert [o.sqlcode if isinstance(o, SqlError) else o.rows for o in done] == [1, -746, 1]
        if inside:
            picky.session.commit()
    assert [row[0] for row in picky.rows("select id from t order by id")] == [1, 2, 10, 11, 20, 21]
    assert logged(picky) == ["b", "p", "a"] * 4


def test_handlers_of_routines_have_no_effect_in_triggers(db: Db) -> None:
    db.run(
        "create procedure p() on exception end exception with resume insert into log (n) values (0/0); "
        "end procedure"
    )
    db.run("create trigger ti insert on t for each row (execute procedure p())")
    assert db.fails("insert into t values (9, 'x', 0, 0)").sqlcode == -1202
    db.run("execute procedure p()")
    assert (db.value("select count(*) from t"), log(db)) == (2, [])


def test_a_handler_around_the_statement_takes_what_its_triggers_did_back(picky: Db) -> None:
    picky.run(
        "create procedure q() on exception in (-746) insert into log (what) values ('trapped'); end exception "
        "with resume insert into t values (5, 'ok', 0, 0); insert into t values (500, 'bad', 0, 0); end procedure"
    )
    picky.run("execute procedure q()")
    assert logged(picky) == ["b", "p", "a", "trapped"]
    assert picky.value("select count(*) from t") == 3


def test_savepoints_and_rollback_take_back_what_triggers_did(db: Db) -> None:
    audit(db)
    db.session.begin()
    db.run("insert into t values (3, 'x', 0, 0)")
    db.session.transaction.savepoint("s")
    db.run("update t set b = 'y'")
    db.run("delete from t where id = 3")
    db.session.transaction.rollback_to_savepoint("s")
    assert logged(db) == ["insert"]
    db.run("delete from t where id = 1")
    assert db.fails("insert into t values (2, 'double', 0, 0)").sqlcode == -268  # the transaction is replayed
    assert [row[0] for row in log(db)] == ["insert", "delete"]
    assert db.rows("select id, b from t order by id") == [(2, None), (3, "x")]
    db.session.rollback()
    assert (log(db), db.value("select count(*) from t")) == ([], 2)


def test_given_values_survive_a_replay_in_a_table_without_keys(db: Db) -> None:
    db.run("create table v (a integer, b integer, tail integer)")
    db.run("create function twice(x int) returning int; return x * 2; end function")
    db.run(
        "create trigger vi insert on v referencing new as n for each row (execute function twice(n.a) into b)"
    )
    db.session.begin()
    for number in (1, 2, 3):
        db.run("insert into v (a, tail) values (?, 7)", number)
    db.run("delete from v where a = 2")
    assert db.fails("insert into t values (1, 'double', 0, 0)").sqlcode == -268
    db.run("insert into v (a, tail) values (4, 8)")
    db.session.commit()
    assert db.rows("select * from v order by a") == [(1, 2, 7), (3, 6, 7), (4, 8, 8)]


def test_a_statement_that_is_run_again_on_a_fresh_snapshot_fires_once(db: Db, other: Db) -> None:
    db.run("create table counts (n integer, tail integer)")
    db.run("insert into counts values (0, 7)")
    db.run("create trigger ti insert on t for each row (update counts set n = n + 1)")
    db.session.begin()
    assert db.value("select n from counts") == 0
    other.run("update counts set n = 100")
    db.run("insert into t values (3, 'x', 0, 0)")
    db.session.commit()
    assert other.rows("select * from counts") == [(101, 7)]
    assert other.value("select count(*) from t") == 3


# ---- triggers that fire each other ------------------------------------------------------------------------
def test_triggers_fire_triggers(db: Db) -> None:
    db.run("create table items (t integer, name varchar(10), tail integer)")
    db.run("insert into items values (1, 'a', 5)")
    db.run("insert into items values (1, 'b', 6)")
    db.run("insert into items values (2, 'c', 7)")
    db.run(
        "create trigger td delete on t referencing old as o for each row (delete from items where t = o.id)"
    )
    db.run(
        "create trigger di delete on items referencing old as o for each row "
        "(insert into log (what, tail) values (o.name, o.tail))"
    )
    db.run("delete from t where id = 1")
    assert [(what, tail) for what, _, _, tail in log(db)] == [("a", 5), ("b", 6)]
    assert db.rows("select * from items") == [(2, "c", 7)]


@pytest.mark.slow
def test_at_most_sixty_one_triggers_fire_each_other(db: Db) -> None:
    def make(number: int) -> None:
        db.run(f"create table c{number + 1} (n integer, tail integer)")
        db.run(
            f"create trigger x{number} insert on c{number} referencing new as n for each row "
            f"(insert into c{number + 1} values (n.n + 1, 7))"
        )

    db.run("create table c0 (n integer, tail integer)")
    for number in range(61):
        make(number)
    db.run("insert into c0 values (0, 7)")
    assert db.rows("select * from c61") == [(61, 7)]
    make(61)
    assert db.fails("insert into c0 values (0, 7)").sqlcode == -748
    assert db.value("select count(*) from c0") == 1
    assert db.value("select count(*) from c62") == 0


@pytest.mark.parametrize(
    ("trigger", "statement", "code"),
    [
        ("insert on t for each row (insert into t (id) values (50))", "insert into t (id) values (7)", -747),
        ("insert on t for each row (update t set tail = 1)", "insert into t (id) values (7)", -747),
        ("insert on t after (delete from t)", "insert into t (id) values (7)", -747),
        ("delete on t before (delete from t where id = 2)", "delete from t where id = 1", -747),
        ("update of b on t for each row (delete from t)", "update t set b = 'x'", -747),
        ("update of b on t for each row (insert into t (id) values (8))", "update t set b = 'x'", -747),
        ("update of b on t for each row (update t set tail = 1, b = 'z')", "update t set b = 'x'", -747),
        ("update of b on t for each row (update t set c = 1)", "update t set c = 0, b = 'x'", -747),
        ("update of b on t for each row (update t set c = 1)", "update t set b = 'x'", 0),
    ],
)
def test_an_action_may_not_change_what_its_statement_changes(
    db: Db, trigger: str, statement: str, code: int
) -> None:
    before = db.rows("select * from t order by id")
    db.run(f"create trigger tr {trigger}")
    if not code:
        db.run(statement)
        assert db.rows("select b, c, tail from t order by id") == [("x", 1, 71), ("x", 1, 72)]
        return
    error = db.fails(statement)
    assert (error.sqlcode, error.near) == (code, "t")
    assert db.rows("select * from t order by id") == before


def test_triggers_further_down_may_not_change_it_either(db: Db) -> None:
    db.run("create table u (e integer, tail integer)")
    db.run("insert into u values (1, 7)")
    db.run("create trigger tu update of c on t after (update u set e = e + 1)")
    db.run("create trigger uu update of e on u after (update t set b = 'x')")
    db.run("update t set c = 5")
    assert db.rows("select b, c from t order by id") == [("x", 5), ("x", 5)]
    assert db.fails("update t set c = 6, b = 'y'").sqlcode == -747
    assert db.rows("select e, tail from u") == [(2, 7)]


# ---- foreign keys --------------------------------------------------------------------------------------
def test_an_action_may_add_children_to_the_row_and_follow_its_key(db: Db) -> None:
    db.run("create table child (p integer references t(id), tail integer)")
    db.run(
        "create trigger ti insert on t referencing new as n for each row (insert into child values (n.id, 7))"
    )
    db.run(
        "create trigger tu update of id on t referencing old as o new as n for each row "
        "(update child set p = n.id where p = o.id)"
    )
    db.run(
        "create trigger td delete on t referencing old as o for each row (delete from child where p = o.id)"
    )
    db.run("insert into t values (3, 'x', 0, 0)")
    db.run("update t set id = id + 1")
    assert db.rows("select * from child") == [(4, 7)]
    db.run("delete from t where id = 4")
    assert db.rows("select * from child") == []


def test_a_trigger_for_delete_and_a_cascade_exclude_each_other(db: Db) -> None:
    db.run("create table child (p integer references t(id) on delete cascade, tail integer)")
    assert db.fails(f"create trigger cd delete on child after {note('x')}").sqlcode == -742
    db.run("create table plain (p integer, tail integer)")
    db.run(f"create trigger pd delete on plain after {note('x')}")
    sql = "alter table plain add constraint foreign key (p) references t(id) on delete cascade"
    assert db.fails(sql).sqlcode == -742
    db.run(f"create trigger td delete on t for each row {note('parent')}")
    db.run("insert into child values (1, 7)")
    db.run("delete from t where id = 1")
    assert (logged(db), db.rows("select * from child")) == (["parent"], [])


# ---- definitions --------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("create trigger x insert on t", -729),
        ("create trigger x insert on t referencing new as n after (delete from log)", -730),
        ("create trigger x insert on t referencing old as o for each row (delete from log)", -732),
        ("create trigger x delete on t referencing new as n for each row (delete from log)", -732),
        ("create trigger x update on t referencing old as n new as n for each row (delete from log)", -732),
        ("create trigger x update of b, b on t after (delete from log)", -542),
        ("create trigger x update of nothing on t after (delete from log)", -217),
        ("create trigger x insert on nothing after (delete from log)", -206),
        ("create trigger x insert on t for each row (execute function f() into nothing)", -217),
        ("create trigger x insert on t after (commit work)", -744),
        ("create trigger x insert on t after (set lock mode to wait)", -744),
        ("create trigger x insert on t after (select * from t)", -201),
        ("create trigger x insert on t after (delete from log where)", -201),
        ("create trigger x insert on t after (delete from log where n = ?)", -201),
        ("create trigger x insert on t after (execute function f() into b)", -201),
        ("create trigger x insert on t after (execute procedure p() with trigger references)", -201),
        ("create trigger x insert on t after ()", -201),
        ("create trigger x insert on t after (delete from log) sometimes", -201),
        ("create trigger x select on t after (delete from log)", -201),
        ("create trigger x insert on systables after (delete from log)", -511),
        ("create trigger x insert on tmp after (delete from log)", -548),
        ("create trigger x insert on v after (delete from log)", -322),
        ("create trigger taken delete on t after (delete from log)", -743),
        ("drop trigger nothing", -634),
        ("set triggers nothing disabled", -634),
        ("set triggers for nothing disabled", -206),
        ("set triggers taken", -201),
        ("set triggers taken filtering", -201),
    ],
)
def test_what_is_wrong_with_a_definition_is_reported(db: Db, sql: str, code: int) -> None:
    db.run("create view v as select id from t")
    db.run("create temp table tmp (a int)")
    db.run(f"create trigger taken insert on t after {note('x')}")
    assert db.fails(sql).sqlcode == code


def test_the_catalogue_shows_triggers_and_what_they_are_made_of(db: Db) -> None:
    head, body = (
        "CREATE TRIGGER Tu UPDATE OF b, c ON t REFERENCING OLD AS o NEW AS n ",
        "FOR EACH ROW WHEN (o.b <> n.b) (INSERT INTO log (what) VALUES ('" + "é" * 300 + "'))",
    )
    db.run(head + body)
    db.run(f"create trigger td delete on t after {note('x')} disabled")
    tabid = db.value("select tabid from systables where tabname = 't'")
    assert db.rows("select trigname, owner, tabid, event, old, new from systriggers order by trigname") == [
        ("td", "informix", tabid, "D", None, None),
        ("tu", "informix", tabid, "U", "o", "n"),
    ]
    pieces = db.rows(
        "select b.datakey, b.seqno, b.data from systrigbody b, systriggers g "
        "where b.trigid = g.trigid and g.trigname = 'tu' order by 1 desc, 2"
    )
    assert [data for key, _, data in pieces if key == "D"] == [head]
    assert "".join(data for key, _, data in pieces if key == "A") == body
    assert [(key, number) for key, number, _ in pieces] == [("D", 0), ("A", 0), ("A", 1), ("A", 2)]
    states = "select name, state from sysobjstate where objtype = 'T' order by name"
    assert db.rows(states) == [("td", "D"), ("tu", "E")]
    db.run("set constraints, indexes, triggers for t enabled")
    assert db.rows(states) == [("td", "E"), ("tu", "E")]
    db.run("set triggers tu, td disabled")
    assert db.rows(states) == [("td", "D"), ("tu", "D")]


def test_create_and_drop_belong_to_the_transaction_and_to_every_session(db: Db, other: Db) -> None:
    insert = "insert into t (id, tail) values (?, 7)"
    prepared = other.session.prepare(insert)
    other.session.execute(prepared, (10,))
    db.session.begin()
    db.run(f"create trigger if not exists ti insert on t after {note('x')}")
    db.run(f"create trigger if not exists ti insert on t after {note('y')}")
    db.session.rollback()
    other.session.execute(prepared, (11,))
    assert logged(db) == []
    db.run(f"create trigger ti insert on t after {note('x')}")
    other.session.execute(prepared, (12,))
    assert logged(db) == ["x"]
    other.run("set triggers for t disabled")
    db.run(insert, 13)
    other.run("set triggers for t enabled")
    other.run("drop trigger ti")
    db.run("drop trigger if exists ti")
    other.session.execute(prepared, (14,))
    assert logged(db) == ["x"]


def test_triggers_follow_their_table_and_its_columns(db: Db) -> None:
    db.run(f"create trigger tb update of b on t for each row {note('b')}")
    db.run(f"create trigger tbc update of b, c on t for each row {note('bc')}")
    db.run("rename table t to renamed")
    db.run("rename column renamed.b to bb")
    db.run("update renamed set bb = 'x' where id = 1")
    assert logged(db) == ["b", "bc"]
    db.run("alter table renamed drop bb")
    db.run("update renamed set c = 1 where id = 1")
    assert logged(db) == ["b", "bc", "bc"]
    assert db.rows("select trigname from systriggers") == [("tbc",)]
    db.run("alter table renamed add (b varchar(10))")
    db.run("update renamed set b = 'x' where id = 1")
    assert logged(db) == ["b", "bc", "bc"]
    db.run("drop table renamed")
    assert db.rows("select trigname from systriggers") == []
    assert db.rows("select data from systrigbody") == []


def test_a_trigger_whose_tables_are_gone_fails_when_it_fires(db: Db) -> None:
    db.run("create trigger ti insert on t for each row (delete from gone)")
    error = db.fails("insert into t values (9, 'x', 0, 0)")
    assert (error.sqlcode, error.near) == (-206, "gone")
    assert db.value("select count(*) from t") == 2


def test_names_under_delimident_are_kept_for_the_actions(engine: Engine, db: Db) -> None:
    quoted = connect(engine, DATABASE, DELIMIDENT="Y")
    quoted.run('create table "My Table" ("The Id" integer, "select" integer, tail integer)')
    quoted.run(
        'create trigger "Tr 1" update of "select" on "My Table" referencing new as "New Row" for each row '
        '(insert into log (what, tail) values (\'quoted\', "New Row"."The Id"))'
    )
    quoted.run('insert into "My Table" values (5, 6, 7)')
    quoted.run('update "My Table" set "select" = 0')
    assert log(db) == [("quoted", None, None, 5)]
    quoted.run('drop trigger "Tr 1"')
    quoted.run('drop table "My Table"')


def test_current_is_the_time_of_the_statement_in_its_actions(db: Db) -> None:
    db.run(
        "create table moments (a datetime year to fraction(5), b datetime year to fraction(5), tail integer)"
    )
    db.run(
        "create trigger mi insert on moments referencing new as n for each row "
        "(update log set what = 'same' where n.a = current year to fraction(5))"
    )
    db.run("insert into log (what) values ('?')")
    db.run("insert into moments values (current year to fraction(5), current year to fraction(5), 7)")
    ((a, b, _),) = db.rows("select * from moments")
    assert isinstance(a, dt.datetime)
    assert (a == b, logged(db)) == (True, ["same"])
