"""GRANT and REVOKE: the stored privileges, their rows in the catalogue, and statements refused without them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from tests.unit.server.sql_session import Db

from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.engine_session import open_session

pytestmark = pytest.mark.slow

Login = Callable[..., Db]


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


@pytest.fixture
def login(engine: Engine) -> Iterator[Login]:
    sessions = []

    def opened(user: str, database: str = "shop", **environment: str) -> Db:
        session = open_session(engine, user, environment)
        sessions.append(session)
        if database:
            session.open_database(database)
        return Db(session)

    yield opened
    for session in sessions:
        session.close()


@pytest.fixture
def ann(login: Login) -> Db:
    """A session of the creator of the database shop. bob may connect to it; only ann may use her table t."""
    db = login("ann", "")
    db.run("CREATE DATABASE shop WITH LOG")
    db.run("GRANT CONNECT TO bob")
    db.run("CREATE TABLE t (a INT, b VARCHAR(10), c INT)")
    db.run("INSERT INTO t VALUES (1, 'é', 3)")
    db.run("REVOKE ALL ON t FROM PUBLIC")
    return db


def code(db: Db, sql: str, *params: object) -> tuple[int, str]:
    error = db.fails(sql, *params)
    return error.sqlcode, error.near


# ---- databases ------------------------------------------------------------------------------------
def test_a_routine_of_another_database_needs_its_connect_and_execute_there(ann: Db, login: Login) -> None:
    ann.run(
        "CREATE FUNCTION sum_of(n INT) RETURNING INT; DEFINE r INT; SELECT max(a) INTO r FROM t; RETURN r + n; "
        "END FUNCTION"
    )
    ann.run("REVOKE EXECUTE ON sum_of FROM PUBLIC")
    ann.run("CREATE ROLE clerk")
    ann.run("GRANT EXECUTE ON sum_of TO clerk")
    ann.run("GRANT clerk TO bob")
    other = login("informix", "")
    other.run("CREATE DATABASE office WITH LOG")
    other.run("GRANT CONNECT TO PUBLIC")
    carl, bob = login("carl", "office"), login("bob")
    call = "EXECUTE FUNCTION shop:ann.sum_of(4)"
    assert code(carl, call) == (-387, "shop")
    ann.run("GRANT CONNECT TO carl")
    assert code(carl, call) == (-706, "sum_of")
    ann.run("GRANT EXECUTE ON sum_of TO carl")
    assert carl.value(call) == 5  # with the privileges of its owner
    assert code(carl, "SELECT a FROM shop:t")[0] == -272
    bob.run("SET ROLE clerk")
    assert bob.value(call) == 5
    bob.run("DATABASE office")
    other.run("CREATE ROLE clerk")
    other.run("GRANT clerk TO bob")
    bob.run("SET ROLE clerk")  # another role of that name, whose privileges apply only in this database
    assert code(bob, call) == (-706, "sum_of")


def test_a_database_is_closed_to_all_but_its_creator_and_administrators(ann: Db, login: Login) -> None:
    carl = login("carl", "stores_demo")
    assert code(carl, "DATABASE shop") == (-387, "shop")
    assert carl.session.database == "stores_demo"
    assert login("informix").value("SELECT a FROM t") == 1
    ann.run("GRANT CONNECT TO PUBLIC")
    carl.run("DATABASE shop")
    ann.run("REVOKE CONNECT FROM PUBLIC")
    assert code(login("dora", "stores_demo"), "DATABASE shop") == (-387, "shop")


def test_a_table_of_a_database_that_is_closed_to_the_user_is_not_read_from_another_one(
    ann: Db, login: Login
) -> None:
    ann.run("GRANT SELECT ON t TO PUBLIC")
    assert code(login("carl", "stores_demo"), "SELECT a FROM shop:t") == (-387, "shop")
    assert login("bob", "stores_demo").value("SELECT a FROM shop:t") == 1


def test_tables_routines_sequences_and_types_are_made_with_resource_only(ann: Db, login: Login) -> None:
    bob = login("bob")
    statements = (
        "CREATE TABLE u (a INT)",
        "CREATE SEQUENCE s",
        "CREATE PROCEDURE p() END PROCEDURE",
        "CREATE ROW TYPE r (a INT)",
    )
    for sql in statements:
        assert code(bob, sql)[0] == -388
    bob.run("CREATE TEMP TABLE u (a INT)")
    bob.run("INSERT INTO u VALUES (1)")
    bob.run("DROP TABLE u")
    ann.run("GRANT RESOURCE TO bob")
    for sql in statements:
        bob.run(sql)
    assert code(bob, "CREATE DBA PROCEDURE q() END PROCEDURE")[0] == -389
    assert code(bob, "GRANT CONNECT TO carl")[0] == -389


def test_levels_of_a_database_hold_those_beneath_them(ann: Db, login: Login) -> None:
    def users() -> dict[str, str]:
        return {n.strip(): t for n, t in ann.rows("SELECT username, usertype FROM sysusers")}

    assert users() == {"ann": "D", "bob": "C"}
    ann.run("GRANT DBA TO bob")
    ann.run("GRANT CONNECT TO bob")
    assert users()["bob"] == "D"
    ann.run("REVOKE CONNECT FROM bob")
    assert users()["bob"] == "D"
    ann.run("REVOKE DBA FROM bob")
    assert users()["bob"] == "C"
    assert code(ann, "REVOKE RESOURCE FROM bob") == (-580, "bob")
    ann.run("REVOKE CONNECT FROM bob")
    assert users() == {"ann": "D"}
    assert code(login("bob", "stores_demo"), "DATABASE shop") == (-387, "shop")


def test_a_database_is_dropped_by_a_dba_of_it(ann: Db, login: Login) -> None:
    ann.run("CLOSE DATABASE")
    assert code(login("bob", "stores_demo"), "DROP DATABASE shop") == (-389, "shop")
    ann.run("DROP DATABASE shop")


# ---- tables ---------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("sql", "without", "privilege"),
    [
        ("SELECT a, c FROM t", -272, "SELECT"),
        ("SELECT COUNT(*) FROM t", -272, "SELECT"),
        ("SELECT x.c FROM t x, t y WHERE x.a = y.a", -272, "SELECT"),
        ("SELECT dummy FROM sysmaster:sysdual WHERE EXISTS (SELECT 1 FROM t)", -272, "SELECT"),
        ("INSERT INTO t VALUES (2, 'b', 4)", -275, "INSERT"),
        ("UPDATE t SET c = 5", -273, "UPDATE"),
        ("DELETE FROM t", -274, "DELETE"),
        ("CREATE VIEW v AS SELECT a FROM t", -272, "SELECT"),
        ("SELECT a FROM t INTO TEMP u", -272, "SELECT"),
        ("LOCK TABLE t IN SHARE MODE", -272, "SELECT"),
        ("LOCK TABLE t IN EXCLUSIVE MODE", -272, "SELECT"),
    ],
)
def test_each_statement_takes_the_privilege_of_its_name(
    ann: Db, login: Login, sql: str, without: int, privilege: str
) -> None:
    bob = login("bob")
    if sql.startswith("LOCK"):
        bob.run("BEGIN WORK")
    assert code(bob, sql) == (without, "t")
    others = {"SELECT", "INSERT", "UPDATE", "DELETE"} - {privilege}
    ann.run(f"GRANT {', '.join(sorted(others))} ON t TO bob")
    assert code(bob, sql) == (without, "t")
    ann.run(f"GRANT {privilege} ON t TO bob")
    assert bob.attempt(sql, ()) is None


@pytest.mark.parametrize(
    ("then", "without", "privilege"),
    [
        ("WHEN MATCHED THEN UPDATE SET t.b = 'x', t.c = 5", -273, "UPDATE (b, c)"),
        ("WHEN MATCHED THEN DELETE", -274, "DELETE"),
        ("WHEN NOT MATCHED THEN INSERT VALUES (u.a, 'x', 4)", -275, "INSERT"),
    ],
)
def test_merge_takes_the_privileges_of_all_that_it_does(
    ann: Db, login: Login, then: str, without: int, privilege: str
) -> None:
    ann.run("CREATE TABLE u (a INT, tail INT)")
    ann.run("INSERT INTO u VALUES (1, 1)")
    ann.run("INSERT INTO u VALUES (2, 2)")
    ann.run("GRANT SELECT ON t TO bob")
    ann.run("GRANT UPDATE (b) ON t TO bob")
    bob = login("bob")
    merge = f"MERGE INTO t USING u ON t.a = u.a {then}"
    assert code(bob, merge) == (without, "t")
    ann.run(f"GRANT {privilege} ON t TO bob")
    bob.run(merge)
    assert ann.rows("SELECT a, c FROM t") != [(1, 3)]


def test_a_plan_that_was_kept_does_not_outlive_its_privilege(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("GRANT SELECT, INSERT ON t TO bob")
    query, insert = (
        bob.session.prepare("SELECT c FROM t"),
        bob.session.prepare("INSERT INTO t (a) VALUES (?)"),
    )
    assert bob.session.query(query, ()).rows == 1
    bob.session.execute(insert, (2,))
    ann.run("REVOKE SELECT, INSERT ON t FROM bob")
    with pytest.raises(Exception, match="sqlcode -272"):
        bob.session.query(query, ())
    with pytest.raises(Exception, match="sqlcode -275"):
        bob.session.execute(insert, (3,))
    with pytest.raises(Exception, match="sqlcode -275"):
        bob.session.execute_many(insert, [(3,), (4,)])
    assert ann.value("SELECT COUNT(*) FROM t") == 2


def test_another_users_plan_is_not_taken_for_ones_own(ann: Db, login: Login) -> None:
    assert ann.value("SELECT c FROM t") == 3
    assert code(login("bob"), "SELECT c FROM t") == (-272, "t")


def test_privileges_on_columns_let_through_what_names_no_other(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("GRANT SELECT (a, b), UPDATE (b), REFERENCES (a) ON t TO bob")
    assert bob.rows("SELECT a, b FROM t") == [(1, "é")]
    assert bob.value("SELECT COUNT(*) FROM t") == 1
    for sql in (
        "SELECT * FROM t",
        "SELECT c FROM t",
        "SELECT a FROM t WHERE c = 3",
        "SELECT a FROM t ORDER BY c",
    ):
        assert code(bob, sql) == (-272, "t")
    bob.run("UPDATE t SET b = 'x' WHERE a = 1")
    assert code(bob, "UPDATE t SET b = 'y' WHERE c = 3") == (-272, "t")
    assert code(bob, "UPDATE t SET c = 3") == (-273, "t")
    assert ann.rows("SELECT grantee, colno, colauth FROM syscolauth ORDER BY colno") == [
        ("bob", 1, "s-r"),
        ("bob", 2, "su-"),
    ]
    assert ann.value("SELECT tabauth FROM systabauth WHERE grantee = 'bob'") == "--*------"
    ann.run("RENAME COLUMN t.a TO aa")
    ann.run("ALTER TABLE t DROP b")
    assert bob.value("SELECT aa FROM t") == 1
    assert ann.value("SELECT COUNT(*) FROM syscolauth") == 1


def test_a_new_table_is_for_public_unless_nodefdac_or_the_database_says_no(ann: Db, login: Login) -> None:
    def of_public(db: Db) -> list[tuple[str]]:
        return db.rows("SELECT tabauth FROM informix.systabauth WHERE grantee = 'public' AND tabid >= 100")

    assert of_public(ann) == []
    ann.run("CREATE TABLE u (a INT)")
    assert of_public(ann) == [("su-idx---",)]
    login("ann", NODEFDAC="yes").run("CREATE TABLE w (a INT)")
    assert of_public(ann) == [("su-idx---",)]
    ansi = login("ann", "")
    ansi.run("CREATE DATABASE strict WITH LOG MODE ANSI")
    ansi.run("CREATE TABLE u (a INT)")
    assert of_public(ansi) == []


def test_a_privilege_is_granted_on_with_its_option_only_and_is_lost_with_it(ann: Db, login: Login) -> None:
    ann.run("GRANT CONNECT TO carl")
    bob, carl = login("bob"), login("carl")
    ann.run("GRANT SELECT ON t TO bob")
    assert code(bob, "GRANT SELECT ON t TO carl") == (-302, "t")
    ann.run("GRANT SELECT ON t TO bob WITH GRANT OPTION")
    assert code(bob, "GRANT UPDATE ON t TO carl") == (-302, "t")
    bob.run("GRANT SELECT ON t TO carl")
    assert carl.value("SELECT a FROM t") == 1
    assert ann.rows(
        "SELECT grantor, grantee, tabauth FROM systabauth WHERE tabid >= 100 ORDER BY grantee"
    ) == [
        ("ann", "bob", "S--------"),
        ("bob", "carl", "s--------"),
    ]
    assert code(ann, "REVOKE SELECT ON t FROM bob RESTRICT") == (-887, "carl")
    assert carl.value("SELECT a FROM t") == 1
    ann.run("REVOKE SELECT ON t FROM bob")
    assert code(carl, "SELECT a FROM t") == (-272, "t")
    assert code(ann, "REVOKE SELECT ON t FROM bob") == (-580, "bob")


def test_as_names_another_grantor_and_is_for_dbas(ann: Db, login: Login) -> None:
    bob = login("bob")
    assert code(bob, "GRANT SELECT ON t TO carl AS ann")[0] == -389
    ann.run("GRANT SELECT ON t TO bob WITH GRANT OPTION")
    ann.run("GRANT SELECT ON t TO 'carl' AS 'bob'")
    rows = "SELECT grantor FROM systabauth WHERE grantee = 'carl'"
    assert ann.value(rows).strip() == "bob"
    ann.run("REVOKE SELECT ON t FROM carl AS bob")
    assert ann.rows(rows) == []
    assert code(ann, "GRANT UPDATE ON t TO carl AS bob") == (-302, "t")


def test_grant_belongs_to_its_transaction(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("BEGIN WORK")
    ann.run("GRANT SELECT ON t TO bob")
    assert code(bob, "SELECT a FROM t") == (-272, "t")
    ann.run("ROLLBACK WORK")
    assert code(bob, "SELECT a FROM t") == (-272, "t")
    ann.run("GRANT SELECT ON t TO bob")
    assert bob.value("SELECT a FROM t") == 1


@pytest.mark.parametrize(
    ("sql", "without", "privilege"),
    [
        ("ALTER TABLE t ADD d INT", -541, "ALTER"),
        ("RENAME TABLE t TO u", -541, "ALTER"),
        ("RENAME COLUMN t.a TO z", -541, "ALTER"),
        ("CREATE INDEX i ON t (a)", -313, "INDEX"),
        ("CREATE TABLE k (a INT REFERENCES t2 (a), b INT)", -512, "REFERENCES"),
    ],
)
def test_another_users_table_is_changed_with_a_privilege_and_resource(
    ann: Db, login: Login, sql: str, without: int, privilege: str
) -> None:
    ann.run("CREATE TABLE t2 (a INT PRIMARY KEY)")
    ann.run("GRANT RESOURCE TO bob")
    bob = login("bob")
    assert code(bob, sql)[0] == without
    ann.run(f"GRANT {privilege} ON t TO bob")
    ann.run(f"GRANT {privilege} ON t2 TO bob")
    ann.run("REVOKE RESOURCE FROM bob")
    assert code(bob, sql)[0] == -388
    ann.run("GRANT RESOURCE TO bob")
    bob.run(sql)
    owners = dict(ann.rows("SELECT tabname, owner FROM systables WHERE tabid >= 100"))
    assert owners.get("t", owners.get("u")).strip() == "ann"  # ann is still the owner


def test_what_another_user_owns_is_not_dropped(ann: Db, login: Login) -> None:
    ann.run("GRANT RESOURCE TO bob")
    ann.run("GRANT ALL ON t TO bob")
    for sql in (
        "CREATE INDEX i ON t (a)",
        "CREATE VIEW v AS SELECT a FROM t",
        "CREATE SYNONYM y FOR t",
        "CREATE SEQUENCE s",
        "CREATE PROCEDURE p() END PROCEDURE",
    ):
        ann.run(sql)
    bob = login("bob")
    for sql, expected in (
        ("DROP TABLE t", -313),
        ("DROP VIEW v", -313),
        ("DROP INDEX i", -320),
        ("DROP SYNONYM y", -579),
        ("DROP SEQUENCE s", -635),
        ("DROP PROCEDURE p", -635),
    ):
        assert code(bob, sql)[0] == expected
    ann.run("GRANT DBA TO bob")
    for sql in (
        "DROP INDEX i",
        "DROP SYNONYM y",
        "DROP SEQUENCE s",
        "DROP PROCEDURE p",
        "DROP TABLE t",
    ):
        bob.run(sql)
    assert ann.value("SELECT COUNT(*) FROM systabauth WHERE tabid >= 100") == 0


# ---- views ----------------------------------------------------------------------------------------
def test_a_view_asks_for_privileges_on_itself_and_not_on_its_table(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("CREATE VIEW v (x, y) AS SELECT a, c FROM t WHERE a IN (SELECT a FROM t)")
    assert code(bob, "SELECT x FROM v") == (-272, "v")
    for sql, expected in (
        ("INSERT INTO v VALUES (5, 6)", -275),
        ("UPDATE v SET y = 8 WHERE x = 1", -273),
        ("DELETE FROM v", -274),
    ):
        assert code(bob, sql) == (expected, "v")
    ann.run("GRANT INSERT, UPDATE (y), DELETE ON v TO bob")
    assert code(bob, "UPDATE v SET y = 8 WHERE x = 1") == (-272, "v")
    ann.run("GRANT SELECT ON v TO bob")
    assert bob.rows("SELECT x, y FROM v") == [(1, 3)]
    bob.run("INSERT INTO v VALUES (5, 6)")
    bob.run("UPDATE v SET y = 8 WHERE x = 1")
    assert code(bob, "UPDATE v SET x = 8") == (-273, "v")
    assert code(bob, "SELECT a FROM t") == (-272, "t")
    bob.run("DELETE FROM v WHERE x = 1")
    assert ann.rows("SELECT a, c FROM t") == [(5, 6)]


def test_who_makes_a_view_may_change_no_more_through_it_than_its_table(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("GRANT SELECT, INSERT ON t TO bob")
    bob.run("CREATE VIEW v AS SELECT a, c FROM t")
    assert bob.rows("SELECT a, c FROM v") == [(1, 3)]
    bob.run("INSERT INTO v VALUES (2, 4)")
    assert code(bob, "DELETE FROM v") == (-274, "v")
    assert code(bob, "GRANT INSERT ON v TO carl") == (-302, "v")
    assert code(bob, "GRANT SELECT ON v TO carl") == (-302, "v")
    ann.run("GRANT SELECT, INSERT ON t TO bob WITH GRANT OPTION")
    bob.run("CREATE VIEW w AS SELECT a, c FROM t")
    bob.run("GRANT SELECT, INSERT ON w TO carl")
    assert code(bob, "GRANT UPDATE ON w TO carl") == (-302, "w")


# ---- routines and roles ---------------------------------------------------------------------------
def test_a_routine_is_for_public_until_that_is_revoked(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("CREATE FUNCTION f(x INT) RETURNING INT; RETURN x + 1; END FUNCTION")
    assert bob.value("EXECUTE FUNCTION f(1)") == 2
    prepared = bob.session.prepare("EXECUTE FUNCTION f(1)")
    ann.run("REVOKE EXECUTE ON FUNCTION f FROM PUBLIC")
    assert code(bob, "EXECUTE FUNCTION f(1)") == (-706, "f")
    assert code(bob, "SELECT f(1) FROM sysmaster:sysdual") == (-706, "f")
    with pytest.raises(Exception, match="sqlcode -706"):
        bob.session.query(prepared, ())
    ann.run("GRANT EXECUTE ON f(INT) TO bob")
    assert bob.value("SELECT f(2) FROM sysmaster:sysdual") == 3
    assert ann.rows("SELECT grantor, grantee, procauth FROM sysprocauth") == [("ann", "bob", "e")]
    assert code(bob, "GRANT EXECUTE ON f TO carl") == (-302, "f")
    assert code(ann, "GRANT EXECUTE ON nothing TO bob") == (-674, "nothing")


def test_a_routine_does_what_its_owner_may_do(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("CREATE FUNCTION f() RETURNING INT; DEFINE n INT; SELECT c INTO n FROM t; RETURN n; END FUNCTION")
    assert bob.value("EXECUTE FUNCTION f()") == 3
    assert code(bob, "SELECT c FROM t") == (-272, "t")
    ann.run("GRANT RESOURCE TO bob")
    bob.run("CREATE FUNCTION g() RETURNING INT; DEFINE n INT; SELECT c INTO n FROM t; RETURN n; END FUNCTION")
    assert code(bob, "EXECUTE FUNCTION g()") == (-272, "t")
    assert ann.value("EXECUTE FUNCTION g()") == 3


def test_a_role_gives_what_it_has_while_it_is_set(ann: Db, login: Login) -> None:
    bob = login("bob")
    ann.run("CREATE ROLE clerk")
    ann.run("GRANT SELECT ON t TO clerk")
    assert code(bob, "SET ROLE clerk") == (-19805, "clerk")
    ann.run("GRANT clerk TO bob")
    assert code(bob, "SELECT c FROM t") == (-272, "t")
    bob.run("SET ROLE clerk")
    assert bob.value("SELECT c FROM t") == 3
    assert code(login("bob"), "SELECT c FROM t") == (-272, "t")
    bob.run("SET ROLE NONE")
    assert code(bob, "SELECT c FROM t") == (-272, "t")
    ann.run("GRANT DEFAULT ROLE clerk TO bob")
    assert login("bob").value("SELECT c FROM t") == 3
    assert ann.rows("SELECT rolename, grantee FROM sysroleauth") == [("clerk", "bob")]
    assert code(ann, "GRANT CONNECT TO clerk")[0] == -302
    ann.run("DROP ROLE clerk")
    assert code(login("bob"), "SELECT c FROM t") == (-272, "t")
    assert ann.rows("SELECT rolename FROM sysroleauth") == []


@pytest.mark.parametrize(
    "sql",
    [
        "GRANT",
        "GRANT SELECT",
        "GRANT SELECT ON t",
        "GRANT SELECT ON t TO",
        "GRANT INSERT (a) ON t TO bob",
        "GRANT SELECT ON t FROM bob",
        "REVOKE SELECT ON t TO bob",
        "GRANT SELECT ON t TO bob nonsense",
        "REVOKE SELECT ON t FROM bob WITH GRANT OPTION",
        "GRANT SETSESSIONAUTH ON PUBLIC TO bob",
    ],
)
def test_what_is_no_grant_is_a_syntax_error(ann: Db, sql: str) -> None:
    assert ann.fails(sql).sqlcode == -201


def test_what_does_not_exist_cannot_be_granted(ann: Db) -> None:
    assert code(ann, "GRANT SELECT ON nothing TO bob") == (-206, "nothing")
    assert code(ann, "GRANT SELECT (z) ON t TO bob") == (-217, "z")
    ann.run("CREATE TEMP TABLE u (a INT)")
    assert code(ann, "GRANT SELECT ON u TO bob") == (-323, "u")
    assert code(ann, "GRANT clerk TO bob") == (-19805, "clerk")


# ---- triggers ---------------------------------------------------------------------------------------
def test_triggers_are_their_owners_and_do_what_that_one_may(ann: Db, login: Login) -> None:
    ann.run("GRANT RESOURCE TO bob")
    ann.run("CREATE TABLE log (a INT, tail INT)")
    ann.run("REVOKE ALL ON log FROM PUBLIC")
    ann.run("GRANT INSERT ON t TO bob")
    trigger = (
        "CREATE TRIGGER ti INSERT ON t REFERENCING NEW AS n FOR EACH ROW (INSERT INTO log VALUES (n.a, 7))"
    )
    bob = login("bob")
    assert code(bob, trigger) == (-313, "t")
    ann.run(trigger)
    bob.run("INSERT INTO t VALUES (5, 'x', 6)")
    assert ann.rows("SELECT * FROM log") == [(5, 7)]
    assert code(bob, "INSERT INTO log VALUES (1, 1)") == (-275, "log")
    assert code(bob, "DROP TRIGGER ti") == (-635, "ti")
    assert code(bob, "SET TRIGGERS ti DISABLED") == (-635, "ti")
    assert code(bob, "SET TRIGGERS FOR t DISABLED") == (-313, "t")
    ann.run("DROP TRIGGER ti")


def test_who_makes_an_instead_of_trigger_may_change_his_view_and_let_others(ann: Db, login: Login) -> None:
    ann.run("GRANT RESOURCE TO bob")
    ann.run("GRANT CONNECT TO carl")
    bob, carl = login("bob"), login("carl")
    bob.run("CREATE TABLE x (a INT, tail INT)")
    bob.run("CREATE TABLE y (a INT, tail INT)")
    bob.run("CREATE VIEW v (a, b) AS SELECT x.a, y.tail FROM x, y WHERE x.a = y.a")
    bob.run(
        "CREATE TRIGGER vi INSTEAD OF INSERT ON v REFERENCING NEW AS n FOR EACH ROW "
        "(INSERT INTO x VALUES (n.a, 1), INSERT INTO y VALUES (n.a, n.b))"
    )
    bob.run("REVOKE ALL ON x FROM PUBLIC")
    bob.run("INSERT INTO v VALUES (1, 2)")
    assert code(carl, "INSERT INTO v VALUES (3, 4)") == (-275, "v")
    bob.run("GRANT INSERT ON v TO carl")
    carl.run("INSERT INTO v VALUES (3, 4)")
    assert bob.rows("SELECT * FROM v ORDER BY a") == [(1, 2), (3, 4)]


def test_a_dba_makes_tables_and_views_of_other_owners_and_nobody_else_does(ann: Db, login: Login) -> None:
    ann.run("GRANT RESOURCE TO bob")
    ann.run("GRANT CONNECT TO carl")
    ann.run("CREATE TABLE carl.his (a INT, tail INT)")
    ann.run("CREATE VIEW carl.seen AS SELECT a FROM t")
    owners = ann.rows("SELECT tabname, owner FROM systables WHERE tabname IN ('his', 'seen', 't')")
    assert sorted((name, owner.rstrip()) for name, owner in owners) == [
        ("his", "carl"),
        ("seen", "carl"),
        ("t", "ann"),
    ]
    bob, carl = login("bob"), login("carl")
    assert code(bob, "CREATE TABLE carl.more (a INT)")[0] == -389
    assert code(bob, "CREATE VIEW carl.more AS SELECT a FROM carl.his")[0] == -389
    bob.run("CREATE TABLE bob.own (a INT)")
    carl.run("INSERT INTO his VALUES (1, 2)")
    carl.run("DROP TABLE his")
