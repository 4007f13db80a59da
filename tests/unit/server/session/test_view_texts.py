"""The text of a view in sysviews creates the same view again, whatever its names are."""

from __future__ import annotations

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.parse.stored_text import with_single_quotes
from informix_arrow.server.session.engine import Engine
from informix_arrow.wire.quoting import quote_if_needed


def fill(db: Db) -> None:
    db.run("create table t (a int, b varchar(20))")
    db.run("insert into t values (1, 'one')")


@pytest.fixture
def delimited(engine: Engine) -> Db:
    """A session with DELIMIDENT and a table whose names need it."""
    db = connect(engine, DELIMIDENT="y")
    db.run('create table "Tab X" ("Col A" int, "select" varchar(20), b int)')
    db.run("""insert into "Tab X" values (1, 'one', 10)""")
    return db


def text_of(db: Db, view: str) -> str:
    pieces = db.rows(
        "select viewtext from sysviews v, systables s where v.tabid = s.tabid and tabname = ? order by seqno",
        view,
    )
    # Each part is CHAR(64), and all but the last are padded. In these texts a character is a byte.
    return "".join(piece.ljust(64) for (piece,) in pieces).rstrip()


def created_again(db: Db, view: str) -> None:
    """Drop a view and create it from its text. It must have the same text, columns and rows as before."""
    query = 'select * from "' + view.replace('"', '""') + '"'
    text, rows, columns = text_of(db, view), db.rows(query), db.types(query)
    assert rows
    db.run("drop view " + query.removeprefix("select * from "))
    db.run(text)
    assert (text_of(db, view), db.rows(query), db.types(query)) == (text, rows, columns)


@pytest.mark.parametrize(
    ("name", "statement", "text"),
    [
        (
            "Big View",
            'create view "Big View" as select "Col A", b from "Tab X"',
            'create view "informix"."Big View" ("Col A", b) as select "Col A", b from "Tab X"',
        ),
        (
            "v",
            'create view v ("A B", "x) as y", "Äb", ä, "c,d") as select "Col A", b, b, b, b from "Tab X"',
            'create view "informix".v ("A B", "x) as y", "Äb", ä, "c,d") as select "Col A", b, b, b, b from "Tab X"',
        ),
        (
            "v",
            'create view v as select "select", user u from "Tab X"',
            'create view "informix".v (select, u) as select "select", user u from "Tab X"',
        ),
        (
            'a"b',
            'create view "a""b" as select b as "q""r" from "Tab X" where b > 0 with check option',
            'create view "informix"."a""b" ("q""r") as select b as "q""r" from "Tab X" where b > 0 with check option',
        ),
        (
            "x (y",
            'create view "x (y" as select b, \') as \' as c from "Tab X"',
            'create view "informix"."x (y" (b, c) as select b, \') as \' as c from "Tab X"',
        ),
    ],
)
def test_delimited_names_keep_their_quotes(delimited: Db, name: str, statement: str, text: str) -> None:
    delimited.run(statement)
    if "Äb" not in text:
        assert text_of(delimited, name) == text
    created_again(delimited, name)


def test_sessions_without_delimident_use_a_view_over_delimited_names(engine: Engine, delimited: Db) -> None:
    delimited.run('create view v as select "Col A" as a, b, user as u from "Tab X" where "Col A" > 0')
    delimited.run("create view w as select a, u from v")
    plain = connect(engine)
    assert plain.rows("select a, b, u from v") == [(1, 10, "informix")]
    assert plain.rows("select a from w") == [(1,)]
    plain.run("update v set b = 11 where a = 1")
    plain.run("rename table w to w2")
    assert plain.rows("select b, u from v") == [(11, "informix")]
    assert plain.rows("select a from w2") == [(1,)]
    created_again(delimited, "v")


def test_strings_in_double_quotes_become_literals_of_every_session(engine: Engine, db: Db) -> None:
    """Without DELIMIDENT "one" is a string. A session with DELIMIDENT would read a column of that name."""
    db.run('create view v as select a, "it\'s ""x""" c, user u from "informix".t where b = "one" {"}')
    text = (
        'create view "informix".v (a, c, u) as '
        """select a, 'it''s "x"' c, user u from "informix".t where b = 'one'"""
    )
    assert text_of(db, "v") == text
    for session in (db, connect(engine, DELIMIDENT="y")):
        assert session.rows("select * from v") == [(1, 'it\'s "x"', "informix")]
        session.run("drop view v")
        session.run(text)


def test_new_names_are_quoted_if_they_need_it(delimited: Db) -> None:
    delimited.run('create view v as select "Col A", b from "Tab X"')
    delimited.run('rename table "Tab X" to tabx')
    delimited.run('rename column tabx.b to "B"')
    assert text_of(delimited, "v") == (
        'create view "informix".v ("Col A", b) as select "Col A", "B" from "tabx"'
    )
    delimited.run('rename table tabx to "TabY"')
    delimited.run('rename table v to "V"')
    assert text_of(delimited, "V") == (
        'create view "informix"."V" ("Col A", b) as select "Col A", "B" from "TabY"'
    )
    created_again(delimited, "V")
    assert delimited.value(
        "select count(*) from sysdepend d, systables b, systables v where b.tabid = d.btabid and v.tabid = d.dtabid "
        "and b.tabname = 'TabY' and v.tabname = 'V'"
    ) == 1  # fmt: skip
    delimited.run('drop table "TabY"')
    assert delimited.value("select count(*) from systables where tabname = 'V'") == 0


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("orders_1$", "orders_1$"),
        ("straße", "straße"),
        ("Orders", '"Orders"'),
        ("1st", '"1st"'),
        ("a b", '"a b"'),
        ('a"b', '"a""b"'),
        ("", '""'),
    ],
)
def test_a_name_is_quoted_only_if_it_is_another_without_quotes(name: str, stored: str) -> None:
    assert quote_if_needed(name) == stored


def test_double_quotes_are_left_to_owners_and_comments() -> None:
    sql = """select "a'b" from "me".t -- "x"\nwhere {"y"} c = '"' and d = "" """
    changed = """select 'a''b' from "me".t -- "x"\nwhere {"y"} c = '"' and d = '' """
    assert with_single_quotes(sql, delimident=False) == changed
    assert with_single_quotes(sql, delimident=True) == sql
