"""START WITH .. CONNECT BY: the rows, their order, and their access to the rows above them."""

from __future__ import annotations

import pytest
from tests.unit.server.sql_session import Db

from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.engine_session import open_session

# the table of the manual's chapter on the hierarchical clause
EMPLOYEES = [
    (16, "Goyal", 17), (17, "Urbassek", None), (18, "Scott", 16), (12, "Henry", 16), (14, "Zander", 16),
    (10, "McKeough", 14), (11, "Barnes", 14), (15, "O'Neil", 12), (9, "Smith", 12), (8, "Shoeman", 12),
]  # fmt: skip
UNDER_GOYAL = "start with name = 'Goyal' connect by prior empid = mgrid"
ALL = "start with mgrid is null connect by prior empid = mgrid"


def fill(db: Db) -> None:
    db.run("create table employee (empid integer primary key, name varchar(20), mgrid integer)")
    db.many("insert into employee values (?, ?, ?)", EMPLOYEES)


def names(db: Db, query: str, *params: object) -> list[str]:
    return [row[0] for row in db.rows(query, *params)]


def test_rows_come_parents_first_and_each_with_all_that_is_below_it(db: Db) -> None:
    assert db.rows(f"select name, level from employee {UNDER_GOYAL}") == [
        ("Goyal", 1), ("Scott", 2), ("Henry", 2), ("O'Neil", 3), ("Smith", 3), ("Shoeman", 3),
        ("Zander", 2), ("McKeough", 3), ("Barnes", 3),
    ]  # fmt: skip
    assert names(db, f"select skip 1 first 2 name from employee {UNDER_GOYAL}") == ["Scott", "Henry"]
    assert db.types(f"select level from employee {UNDER_GOYAL}") == [("level", "INTEGER")]


def test_upwards(db: Db) -> None:
    query = "select e.name from employee e start with e.empid = ? connect by prior e.mgrid = e.empid"
    assert names(db, query, 10) == ["McKeough", "Zander", "Goyal", "Urbassek"]


@pytest.mark.parametrize("key", ["name desc", "1 desc", "called desc"])
def test_siblings_in_an_order(db: Db, key: str) -> None:
    query = f"select name called from employee {UNDER_GOYAL} order siblings by {key}"
    assert names(db, query) == [
        "Goyal", "Zander", "McKeough", "Barnes", "Scott", "Henry", "Smith", "Shoeman", "O'Neil",
    ]  # fmt: skip


def test_another_order_takes_the_place_of_the_trees(db: Db) -> None:
    assert names(db, f"select name from employee {UNDER_GOYAL} order by name")[:3] == [
        "Barnes",
        "Goyal",
        "Henry",
    ]
    query = f"select level, count(*) from employee {ALL} group by level order by level desc"
    assert [(a, int(b)) for a, b in db.rows(query)] == [(4, 5), (3, 3), (2, 1), (1, 1)]


def test_where_takes_rows_away_and_the_condition_whole_branches(db: Db) -> None:
    assert names(db, f"select name from employee where name <> 'Henry' {UNDER_GOYAL} order by name") == [
        "Barnes", "Goyal", "McKeough", "O'Neil", "Scott", "Shoeman", "Smith", "Zander",
    ]  # fmt: skip
    assert names(db, f"select name from employee {UNDER_GOYAL} and name <> 'Henry'") == [
        "Goyal", "Scott", "Zander", "McKeough", "Barnes",
    ]  # fmt: skip
    assert names(db, f"select name from employee {ALL} and level <= 2") == ["Urbassek", "Goyal"]


def test_what_a_row_knows_of_those_above_it(db: Db) -> None:
    query = (
        "select name, sys_connect_by_path(name, '/'), connect_by_root name, prior name, connect_by_isleaf "
        f"from employee where name in ('Goyal', 'Henry', 'Smith') {UNDER_GOYAL}"
    )
    assert db.rows(query) == [
        ("Goyal", "/Goyal", "Goyal", None, 0),
        ("Henry", "/Goyal/Henry", "Goyal", "Goyal", 0),
        ("Smith", "/Goyal/Henry/Smith", "Goyal", "Henry", 1),
    ]
    assert db.types(query)[2] == ("(expression)", "VARCHAR(20)")


def test_a_circle_is_an_error_or_left_out(db: Db) -> None:
    db.run("update employee set mgrid = 15 where name = 'Urbassek'")
    start = "from employee start with empid = 17 connect by"
    assert db.fails(f"select name {start} prior empid = mgrid").sqlcode == -26079
    found = dict(db.rows(f"select name, connect_by_iscycle {start} nocycle prior empid = mgrid"))
    assert len(found) == len(EMPLOYEES)
    assert [name for name, closes in found.items() if closes] == ["O'Neil"]
    assert db.fails(f"select connect_by_iscycle {start} prior empid = mgrid").sqlcode == -201


def test_rows_made_by_levels(db: Db) -> None:
    assert db.rows("select level from sysmaster:sysdual connect by level <= 3") == [(1,), (2,), (3,)]


def test_hierarchies_in_other_statements(db: Db) -> None:
    below = f"select empid from employee {UNDER_GOYAL}"
    db.run(f"create view team (number, depth) as select empid, level from employee {UNDER_GOYAL}")
    assert db.rows("select number from team where depth = 2 order by 1") == [(12,), (14,), (18,)]
    assert db.fails("update team set number = 1").sqlcode == -274
    assert db.fails(f"{below} for update").sqlcode == -201
    db.run("create temp table found (empid integer)")
    assert db.run(f"insert into found {below}").rows == 9
    query = "with few as (select empid, mgrid from employee where empid > 9) "
    query += "select empid, level from few start with empid = 12 connect by prior empid = mgrid"
    assert db.rows(query) == [(12, 1), (15, 2)]
    assert db.run(f"delete from employee where empid in ({below})").rows == 9
    assert names(db, "select name from employee") == ["Urbassek"]


def test_a_hierarchy_needs_its_privileges_only(db: Db, engine: Engine) -> None:
    db.run("grant connect to ann")
    db.run("revoke all on employee from public")
    db.run("grant select (empid, mgrid) on employee to ann")
    session = open_session(engine, "ann", {})
    session.open_database("stores_demo")
    ann = Db(session)
    condition = "start with mgrid is null connect by prior empid = mgrid"
    assert len(ann.rows(f"select empid from employee {condition}")) == 10
    assert ann.fails(f"select empid, prior name from employee {condition}").sqlcode == -272
    assert ann.fails(f"select empid from employee {condition} order siblings by name").sqlcode == -272


def test_its_words_are_names_elsewhere(db: Db) -> None:
    db.run("create table odd (prior integer, start integer, level integer)")
    db.run("insert into odd values (1, 2, 3)")
    assert db.rows("select prior, start, start.level from odd start where prior = 1 and start = 2") == [
        (1, 2, 3)
    ]
    assert db.fails("select level from employee").sqlcode == -217


def test_rows_are_gathered_by_what_is_asked_of_their_root(db: Db) -> None:
    sql = f"select connect_by_root name, count(*) from employee {UNDER_GOYAL} group by connect_by_root name"
    assert db.rows(sql) == [("Goyal", 9)]
