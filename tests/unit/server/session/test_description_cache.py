"""The cache of a session's table descriptions: read from the catalogue only when necessary, and never out of date."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import pytest
from tests.unit.server.sql_session import Db

from informix_arrow.server.catalog import catalog
from informix_arrow.server.session import session_tables

DECLARATIONS = {
    "plain": "(a INTEGER, b VARCHAR(20,3), c DATE)",
    "serial": "(a SERIAL(7) PRIMARY KEY, b BIGSERIAL, z CHAR)",
    "defaults": "(a INT DEFAULT 3, b DATE DEFAULT TODAY, c CHAR(8) DEFAULT USER, d DATE DEFAULT '12/31/2020', z INT)",
    "numbers": "(a DECIMAL, b DECIMAL(5,2), c MONEY, d FLOAT, e SMALLFLOAT, f INT8, g BIGINT, h BOOLEAN)",
    "times": "(a DATETIME YEAR TO FRACTION(5), b INTERVAL DAY(4) TO SECOND, c DATETIME HOUR TO MINUTE, z INT)",
    "large": "(a TEXT, b BYTE, c BLOB, d CLOB, e JSON, f BSON, g LVARCHAR(300), z INT)",
    "nested": "(a ROW(x INT, y CHAR(3)), b SET(INT NOT NULL), c LIST(VARCHAR(9) NOT NULL) NOT NULL, z INT)",
    "keys": "(a INT, b NCHAR(5) NOT NULL, c NVARCHAR(9), UNIQUE (a, b) CONSTRAINT k, CHECK (a > 2) CONSTRAINT p)",
    "fragments": "(a INT, b INT) FRAGMENT BY ROUND ROBIN IN rootdbs, datadbs LOCK MODE ROW",
}


def fill(db: Db) -> None:
    db.run("CREATE TABLE parent (a INT PRIMARY KEY, b INT)")
    db.run("CREATE TABLE t (a INT, b INT)")


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of tables whose descriptions were read from the catalogue."""
    names: list[str] = []

    def load(con: catalog.SqlConnection, database: str, name: str) -> catalog.TableInfo | None:
        names.append(name)
        return catalog.load_table(con, database, name)

    monkeypatch.setattr(session_tables, "load_table", load)
    return names


@pytest.mark.parametrize("name", DECLARATIONS)
def test_a_new_table_is_described_as_the_catalogue_describes_it(db: Db, other: Db, name: str) -> None:
    db.run(f"CREATE TABLE {name} {DECLARATIONS[name]}")
    mine, read = (each.session.tables.find("stores_demo", name) for each in (db, other))
    assert mine is not None
    assert read is not None
    for field in fields(mine):
        assert repr(getattr(mine, field.name)) == repr(getattr(read, field.name)), field.name


def test_a_table_is_not_read_by_the_session_that_created_it(db: Db, reads: list[str]) -> None:
    db.run("CREATE TABLE n (a INT, b INT)")
    db.run("INSERT INTO n VALUES (1, 2)")
    assert db.rows("SELECT a, b FROM n") == [(1, 2)]
    assert reads == []
    db.run("DROP TABLE n")
    assert db.fails("SELECT * FROM n").sqlcode == -206


def test_other_tables_are_not_read_again_after_a_change(db: Db, other: Db, reads: list[str]) -> None:
    assert db.rows("SELECT a FROM t") == other.rows("SELECT b FROM t") == []
    assert reads == ["t", "t"]
    db.run("CREATE TABLE n (a INT, b INT)")
    db.run("CREATE INDEX i ON n (b)")
    assert db.rows("SELECT b FROM t") == other.rows("SELECT a, b FROM t") == []
    assert reads == ["t", "t"]
    db.run("ALTER TABLE t ADD (c INT)")
    assert db.rows("SELECT c FROM t") == other.rows("SELECT a, c FROM t") == []
    assert reads.count("t") == 4


@pytest.mark.parametrize("where", ["stores_demo", "elsewhere"])
def test_a_synonym_follows_its_table(db: Db, other: Db, where: str) -> None:
    if where == "elsewhere":
        db.session.engine.create_database("elsewhere", ("log",), "en_us.utf8")
        other.session.open_database("elsewhere")
        other.run("CREATE TABLE t (a INT, b INT)")
    db.run(f"CREATE SYNONYM s FOR {where}:t")
    assert db.rows("SELECT * FROM s") == []
    other.run("ALTER TABLE t ADD (c INT)")
    other.run("INSERT INTO t VALUES (1, 2, 3)")
    assert db.rows("SELECT * FROM s") == [(1, 2, 3)]
    other.run("DROP TABLE t")
    assert db.fails("SELECT * FROM s").sqlcode == -206


def test_a_new_foreign_key_is_known_to_its_parent(db: Db, other: Db) -> None:
    for each in (db, other):
        each.run("DELETE FROM parent WHERE a = 5")  # the description is cached from here on
    db.run("INSERT INTO parent VALUES (1, 2)")
    db.run("CREATE TABLE child (a INT REFERENCES parent, b INT)")
    db.run("INSERT INTO child VALUES (1, 3)")
    for each in (db, other):
        assert each.fails("DELETE FROM parent WHERE a = 1").sqlcode == -692
    other.run("DROP TABLE child")
    db.run("DELETE FROM parent WHERE a = 1")


def test_what_is_rolled_back_is_forgotten(db: Db) -> None:
    db.run("BEGIN WORK")
    db.run("CREATE TABLE n (a INT, b INT)")
    db.run("ALTER TABLE t ADD (c INT)")
    assert db.rows("SELECT b FROM n") == db.rows("SELECT c FROM t") == []
    db.run("ROLLBACK WORK")
    for query in ("SELECT b FROM n", "SELECT c FROM t"):
        assert db.fails(query).sqlcode in (-206, -217)
    db.run("CREATE TABLE n (a INT, z INT)")
    assert db.rows("SELECT z FROM n") == []


def test_a_table_whose_creation_fails_within_a_transaction_does_not_exist(db: Db) -> None:
    db.run("INSERT INTO t VALUES (0, 1)")
    db.run("BEGIN WORK")
    db.run("CREATE TABLE n (a INT, b INT)")
    assert db.fails("CREATE TABLE m AS SELECT 1 / a AS x, b FROM t").sqlcode == -1202
    assert db.fails("SELECT * FROM m").sqlcode == -206
    assert db.rows("SELECT b FROM n") == []
    db.run("COMMIT WORK")
    assert db.rows("SELECT b FROM n") == []


def test_more_changes_than_are_remembered_are_noticed(db: Db, other: Db) -> None:
    assert other.rows("SELECT b FROM t") == []
    db.run("ALTER TABLE t ADD (c INT)")
    for number in range(70):
        db.run(f"CREATE TABLE n{number} (a INT)")
    assert other.rows("SELECT c FROM t") == []
