"""Catalogue queries with parameters: the rows equal those of the same query with the values in its text."""

from __future__ import annotations

import threading

import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.session.engine import Engine

pytestmark = pytest.mark.slow

COLUMNS = (
    "SELECT trim(t.owner), t.tabname, c.colname, informix.schema_coltypename(c.coltype, c.extended_id), c.colno, "
    "CASE d.type WHEN 'L' THEN d.default ELSE NULL::VARCHAR(1) END, NULL::smallint "
    "FROM systables t, OUTER sysdefaults d, syscolumns c WHERE t.tabid = c.tabid AND d.tabid = t.tabid "
    "AND c.colno = d.colno AND t.tabname LIKE ? AND c.colname LIKE ? "
    "UNION SELECT trim(st.owner), st.tabname, c.colname, informix.schema_coltypename(c.coltype, c.extended_id), "
    "c.colno, NULL::VARCHAR(1), NULL::smallint FROM systables st, syssyntable s, systables t, syscolumns c "
    "WHERE st.tabid = s.tabid AND s.btabid = t.tabid AND t.tabid = c.tabid AND st.tabname LIKE ? "
    "AND c.colname LIKE ? ORDER BY 1, 2, 5"
)
INDEXES = (
    "SELECT DISTINCT i.idxname, i.idxtype, abs(i.part1) AS first, t.tabname FROM systables t, sysindexes i "
    "WHERE t.tabid = i.tabid AND (t.tabname = ? OR t.tabname LIKE ?) ORDER BY idxname, first"
)
KEYS = (
    "SELECT f.tabname, fk.constrname, pk.constrname, p.tabname FROM systables p, systables f, sysconstraints pk, "
    "sysconstraints fk, sysreferences r WHERE p.tabid = pk.tabid AND pk.constrid = r.primary "
    "AND r.constrid = fk.constrid AND fk.tabid = f.tabid AND f.tabname MATCHES ? ORDER BY f.tabname, fk.constrname"
)
RIGHTS = (
    "SELECT t.tabname, a.grantor, a.grantee, a.tabauth FROM systables t JOIN systabauth a ON a.tabid = t.tabid "
    "WHERE t.tabname LIKE ? ORDER BY 1, 2, 3, 4"
)
TRIGGERS = (
    "SELECT t.tabname, g.trigname, g.event FROM systriggers g, systables t WHERE g.tabid = t.tabid "
    "AND t.tabname LIKE ? ORDER BY 1, 2"
)
TABLES = "SELECT tabid, tabname, tabtype FROM systables WHERE (tabname LIKE ? AND owner LIKE '%') ORDER BY tabname DESC"
SORTED = (
    "SELECT c.colno AS place, c.colname, t.tabname FROM systables t, syscolumns c WHERE t.tabid = c.tabid "
    "AND c.tabid > ? AND t.tabname LIKE ? ORDER BY t.tabname DESC, place"
)
QUERIES = (
    (TABLES, ("c%",)),
    (SORTED, (99, "c%")),
    (COLUMNS, ("cust%", "%", "cust%", "%")),
    (COLUMNS, ("%", "k%", "synonym%", "%")),
    (INDEXES, ("customer", "child%")),
    (KEYS, ("c*",)),
    (RIGHTS, ("c%",)),
    (TRIGGERS, ("%",)),
)

CHANGES = (
    "CREATE TABLE customer (k SERIAL PRIMARY KEY, name VARCHAR(20) DEFAULT 'nobody', tail INT)",
    "CREATE TABLE child (k INT, c INT REFERENCES customer, tail INT)",
    "CREATE INDEX child_i ON child (c DESC, tail)",
    "RENAME INDEX child_i TO child_j",
    "ALTER TABLE customer ADD (late DATETIME YEAR TO DAY)",
    "ALTER TABLE child ADD CONSTRAINT UNIQUE (k) CONSTRAINT child_u",
    "RENAME COLUMN customer.late TO later",
    "CREATE SYNONYM synonym_c FOR customer",
    "CREATE VIEW customers AS SELECT name FROM customer",
    "GRANT SELECT ON customer TO ann",
    "REVOKE SELECT ON customer FROM ann",
    "CREATE ROW TYPE kept_row (a INT)",
    "CREATE TABLE child_typed (k kept_row, tail INT)",
    "CREATE TRIGGER child_t INSERT ON child REFERENCING NEW AS n FOR EACH ROW (DELETE FROM child WHERE k = n.k - 1)",
    "SET TRIGGERS child_t DISABLED",
    "DROP TRIGGER child_t",
    "RENAME TABLE child TO children",
    "DROP INDEX child_j",
    "ALTER TABLE children DROP CONSTRAINT child_u",
    "DROP SYNONYM synonym_c",
    "DROP VIEW customers",
    "DROP TABLE child_typed",
    "DROP ROW TYPE kept_row RESTRICT",
    "DROP TABLE children",
    "DROP TABLE customer",
)


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


def written(sql: str, params: tuple[object, ...]) -> str:
    for value in params:
        sql = sql.replace("?", f"'{value}'", 1)
    return sql


def often(db: Db, sql: str, *params: object) -> list[tuple[object, ...]]:
    """Return the rows of a query, which must be the same when it is planned and when it is executed again."""
    first = db.rows(sql, *params)
    assert db.rows(sql, *params) == first
    return first


def test_each_change_of_the_schema_is_seen(db: Db) -> None:
    """Another session makes the change."""
    seen = set()
    with_all = connect(db.session.engine)
    for change in CHANGES:
        with_all.run(change)
        for sql, params in QUERIES:
            rows = db.rows(sql, *params)  # as it was planned before the change
            assert rows == db.rows(written(sql, params)), (change, sql)
            seen.add((sql, tuple(rows)))
    assert len(seen) > 30  # the queries return rows
    with_all.session.close()


def test_what_a_transaction_has_changed_itself_is_seen_by_it_and_by_nobody_else(db: Db) -> None:
    other = connect(db.session.engine)
    query = RIGHTS.replace("LIKE", "=")
    for who in (db, other):
        assert often(who, query, "fresh") == []
    db.run("BEGIN WORK")
    db.run("CREATE TABLE fresh (k INT, tail INT)")
    assert [row[0] for row in often(db, query, "fresh")] == ["fresh"]
    db.run("ROLLBACK WORK")
    for who in (db, other):
        assert often(who, query, "fresh") == []
    db.run("BEGIN WORK")
    db.run("CREATE TABLE fresh (k INT, tail INT)")
    db.run("COMMIT WORK")
    for who in (db, other):
        assert [row[0] for row in often(who, query, "fresh")] == ["fresh"]
    other.session.close()


def test_each_database_has_its_own(db: Db) -> None:
    db.session.close_database()
    db.run("CREATE DATABASE kept_other")
    db.run("CREATE TABLE only_here (k INT, tail INT)")
    query = (
        "SELECT t.tabname, c.colname FROM systables t, syscolumns c WHERE t.tabid = c.tabid AND t.tabname = ?"
    )
    assert len(often(db, query, "only_here")) == 2
    db.session.open_database("stores_demo")
    assert often(db, query, "only_here") == []
    away = query.replace("systables", "kept_other:systables").replace("syscolumns", "kept_other:syscolumns")
    assert len(often(db, away, "only_here")) == 2
    db.session.close_database()
    db.run("DROP DATABASE kept_other")
    db.run("CREATE DATABASE kept_other")
    assert often(db, query, "only_here") == []
    db.session.close_database()
    db.run("DROP DATABASE kept_other")


BY_NAME = SORTED.replace("c.tabid > ? AND ", "")
PATTERNS = (
    "customer", "c_stomer", "c%", "%", "%%", "_", "", "%er", "%us%", "no such", "c_st%", "cust%er%", "CUSTOMER",
    "c.stomer", "k\u00f6rper", "k_rper", "k__rper", "\u4e16_", "__", "customer ", "%customer",
    "%c%u%s%t%", "c\\%", "c\\_stomer",
)  # fmt: skip


def test_values_and_patterns_are_what_they_are_in_the_text(db: Db) -> None:
    """Each returns the rows of the same query without parameters, in the same order."""
    for name in ("customer", "custom", "k\u00f6rper", "\u4e16\u754c"):
        db.run(f"CREATE TABLE {name} (k INT, name VARCHAR(20), tail INT)")
    pairs = BY_NAME.replace("ORDER", "AND c.colname LIKE ? ORDER")
    numbers = TABLES.replace("tabname LIKE ?", "tabid = ?")
    found = []
    for pattern in PATTERNS:
        found += [
            (TABLES, (pattern,)),
            (BY_NAME, (pattern,)),
            (pairs, (pattern, "na%")),
            (pairs, ("c%", pattern)),
        ]
    found += [(numbers, (number,)) for number in (1, 2, 100, -1, 99999)]
    rows = [db.rows(sql, *params) for sql, params in found]
    for (sql, params), each in zip(found, rows, strict=True):
        assert each == db.rows(written(sql, params)), (sql, params)
    assert db.rows(TABLES, None) == []
    assert sum(map(bool, rows)) > 40


def test_a_row_that_a_parameter_keeps_out_may_have_a_wrong_value(db: Db) -> None:
    query = (
        "SELECT t.tabname, trunc(10 / (t.tabid - 1))::INT FROM systables t, syscolumns c "
        "WHERE t.tabid = c.tabid AND c.colno = 1 AND t.tabname = ?"
    )
    assert often(db, query, "sysindices") == [("sysindices", 5)]
    assert db.fails(query, "systables").sqlcode == -1202


@pytest.mark.parametrize(
    ("sql", "params"),
    [
        ("SELECT t.tabname, ?::INT FROM systables t, syscolumns c WHERE t.tabid = c.tabid AND c.colno = 1", (5,)),
        ("SELECT COUNT(*), 7 FROM systables t, syscolumns c WHERE t.tabid = c.tabid AND t.tabname = ?", ("sysviews",)),
        ("SELECT FIRST 2 t.tabname, c.colno FROM systables t, syscolumns c WHERE t.tabid = c.tabid AND t.tabid > ? "
         "ORDER BY 1, 2", (3,)),
        ("SELECT t.tabname, c.colname FROM systables t LEFT JOIN syscolumns c ON t.tabid = c.tabid AND c.colno = ? "
         "ORDER BY 1", (2,)),
        ("SELECT t.tabname, c.colname FROM systables t LEFT JOIN syscolumns c ON t.tabid = c.tabid "
         "WHERE c.colname LIKE ? ORDER BY 1, 2", ("tab%",)),
        ("SELECT t.tabname, c.colname FROM systables t, OUTER syscolumns c WHERE t.tabid = c.tabid "
         "AND c.colname LIKE ? ORDER BY 1, 2", ("tab%",)),
        ("SELECT tabname, colname FROM systables t, syscolumns c WHERE t.tabid = c.tabid "
         "AND EXISTS (SELECT 1 FROM sysindices i WHERE i.idxname <> ? AND i.tabid = t.tabid)", ("x",)),
        ("SELECT * FROM systables t, syscolumns c WHERE t.tabid = c.tabid AND t.tabname = ?", ("sysviews",)),
        ("SELECT s.sid, t.tabid FROM sysmaster:syssessions s, systables t WHERE t.tabid = ?", (1,)),
    ],
)  # fmt: skip
def test_parameters_may_stand_anywhere(db: Db, sql: str, params: tuple[object, ...]) -> None:
    rows = often(db, sql, *params)
    assert rows == db.rows(sql.replace("?", repr(params[0])))


def test_they_can_be_run_while_others_change_the_schema(engine: Engine) -> None:
    """A query while tables are created and dropped always returns the rows of the tables that stay."""
    ended, found, wrong = threading.Event(), [0], []
    one = connect(engine)
    one.run("CREATE TABLE stays (k INT PRIMARY KEY, tail INT)")

    def ask() -> None:
        db = connect(engine)
        try:
            while not ended.is_set() or not found[0]:
                rows = db.rows(INDEXES, "stays", "stays")
                found[0] += 1
                if [row[3] for row in rows] != ["stays"]:
                    wrong.append(rows)
        finally:
            db.session.close()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        for number in range(15):
            one.run(f"CREATE TABLE goes{number} (k INT PRIMARY KEY, tail INT)")
            one.run(f"DROP TABLE goes{number}")
    finally:
        ended.set()
        for thread in threads:
            thread.join()
    assert wrong == []
    one.session.close()
