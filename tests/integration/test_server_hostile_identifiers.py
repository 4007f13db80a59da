"""Keywords, functions and other names that DuckDB knows and Informix does not, wherever a statement has a name."""

from __future__ import annotations

import contextlib
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest
from tests.cases import parametrize_in_one_test
from tests.stress import LONG_SOAK_ONLY, SECONDS, seeds

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.server.plan.functions.builtin import BUILTIN

CANARY = "the canary sings at noon"

INTERNAL = (-768, -999)
"""Codes of internal errors of the server."""


def functions() -> list[str]:
    """Return the names of DuckDB's functions: those that read tables and files, pragmas, macros, and every eighth
    scalar or aggregate function. The server handles all of these alike. In a soak: all functions."""
    rows = (
        duckdb.connect()
        .execute(
            "SELECT function_name, bool_and(function_type IN ('scalar', 'aggregate')) FROM duckdb_functions() "
            "GROUP BY 1 ORDER BY 1"
        )
        .fetchall()
    )
    return [
        name for number, (name, of_values) in enumerate(rows) if SECONDS or not of_values or not number % 8
    ]


def in_turn(forms: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Return one of the forms of a name, a different one for each name; in a soak all forms."""
    return forms if SECONDS else (forms[number % len(forms)],)


def every_fourth(positions: list[str], number: int) -> list[str]:
    """Return a fourth of the positions, different ones for each name; in a soak all positions."""
    return positions if SECONDS else positions[number % 4 :: 4]


def keywords() -> list[str]:
    rows = duckdb.connect().execute("SELECT keyword_name FROM duckdb_keywords() ORDER BY 1").fetchall()
    return [name for (name,) in rows]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("outside")
    (place / "canary.txt").write_text(CANARY)
    return place


@pytest.fixture(scope="module")
def attacked(place: Path) -> Iterator[Server]:
    """A server next to the canary file. Afterwards there must be no other files around it."""
    with Server(place / "kept", temp_directory=place / "kept" / "tmp") as server:
        with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
            connection.execute("CREATE TABLE t (k INTEGER, v VARCHAR(200))")
            connection.execute("INSERT INTO t VALUES (1, 'one')")
        yield server
        assert (place / "canary.txt").read_text() == CANARY
        assert sorted(entry.name for entry in place.iterdir()) == ["canary.txt", "kept"]


@pytest.fixture
def connection(attacked: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(attacked.url("stores_demo"), autocommit=True, env={"DELIMIDENT": "y"}) as connection:
        yield connection


def attempt(connection: ifx.Connection, sql: str) -> int:
    """Return the code of a statement, 0 if it is valid. It must not read the canary nor cause an internal error."""
    code, said = 0, ""
    try:
        cursor = connection.execute(sql)
        if cursor.description is not None:
            said = repr(cursor.fetchmany(50))
    except ifx.Error as problem:
        said = str(problem)
        code = getattr(problem, "sqlcode", None) or -1
    assert CANARY not in said, sql
    assert code not in INTERNAL, (sql, code)
    return code


INFORMIX_HAS = frozenset(
    [
        *BUILTIN,
        "count",
        "sum",
        "avg",
        "min",
        "max",
        "stdev",
        "variance",
        "range",
        "cast",
        "trim",
        "extend",
        "row",
        "rank",
        "dense_rank",
        "row_number",
        "lag",
        "lead",
        "first_value",
        "last_value",
        "ntile",
        "percent_rank",
        "cume_dist",
        "case",
    ]
)
"""Names that DuckDB has, too; with the arguments below they may be valid calls."""


def test_a_function_that_informix_does_not_have_is_no_routine(
    connection: ifx.Connection, place: Path
) -> None:
    """-674 for every function, with and without quotes, an owner and arguments; -201 for names of operators."""
    canary = place / "canary.txt"
    tried = 0
    for number, name in enumerate(functions()):
        if name.lower() in INFORMIX_HAS:
            continue
        calls = (f"\"{name}\"('{canary}')", f'"owner"."{name}"(\'{canary}\', 1)', f'"{name}"()')
        for call in in_turn(calls, number):
            tried += 1
            code = attempt(connection, f"SELECT {call}, k FROM t")
            assert code == -674, (call, code)
        if name.isidentifier():
            code = attempt(connection, f"SELECT {name}('{canary}'), k FROM t")
            assert code in (-674, -201), (name, code)
    assert tried > 200


def test_a_table_function_is_no_table(connection: ifx.Connection, place: Path) -> None:
    canary = place / "canary.txt"
    for number, name in enumerate(functions()):
        sources = (
            f"\"{name}\"('{canary}')",
            f"TABLE (FUNCTION \"{name}\"('{canary}'))",
            f'"{name}"',
            f"(SELECT \"{name}\"('{canary}') AS x FROM t)",
        )
        for source in in_turn(sources, number):
            code = attempt(connection, f"SELECT * FROM {source} AS a")
            assert code in (-201, -206, -674, -664, -684) or name.lower() in INFORMIX_HAS, (source, code)


def test_a_file_is_no_table(connection: ifx.Connection, place: Path) -> None:
    canary = place / "canary.txt"
    for name in (
        f"'{canary}'",
        f'"{canary}"',
        f'"file://{canary}"',
        f"\"read_text('{canary}')\"",
        f'"{place}/*"',
    ):
        for sql in (
            f"SELECT * FROM {name}",
            f"SELECT * FROM stores_demo:{name}",
            f"SELECT * FROM informix.{name}",
            f"INSERT INTO t SELECT * FROM {name}",
            f"INSERT INTO {name} VALUES (1)",
            f"CREATE VIEW w AS SELECT * FROM {name}",
            f"CREATE SYNONYM s FOR {name}",
            f"MERGE INTO t USING {name} AS s ON t.k = s.k WHEN MATCHED THEN UPDATE SET v = 'x'",
            f"DROP TABLE {name}",
        ):
            assert attempt(connection, sql) in (-201, -206), sql


STATEMENTS = [
    "COPY t TO '{f}'",
    "COPY t FROM '{f}'",
    "COPY (SELECT * FROM t) TO '{f}'",
    "ATTACH '{f}'",
    "ATTACH '{f}' AS x",
    "ATTACH DATABASE '{f}' AS x",
    "DETACH d_sysmaster",
    "INSTALL httpfs",
    "FORCE INSTALL httpfs",
    "LOAD httpfs",
    "LOAD '{f}'",
    "PRAGMA database_list",
    "PRAGMA version",
    "PRAGMA enable_profiling",
    "SET memory_limit = '1TB'",
    "SET threads = 64",
    "SET GLOBAL enable_external_access = true",
    "SET enable_external_access TO true",
    "RESET lock_configuration",
    "SET VARIABLE x = 1",
    "EXPORT DATABASE '{f}'",
    "IMPORT DATABASE '{f}'",
    "CALL pragma_version()",
    "CALL read_text('{f}')",
    "EXECUTE FUNCTION read_text('{f}')",
    "EXECUTE PROCEDURE read_text('{f}')",
    "EXPLAIN SELECT 1",
    "EXPLAIN ANALYZE SELECT * FROM t",
    "DESCRIBE t",
    "SUMMARIZE t",
    "SHOW TABLES",
    "SHOW ALL TABLES",
    "FROM t",
    "FROM read_text('{f}')",
    "VALUES (1)",
    "TABLE t",
    "VACUUM",
    "ANALYZE",
    "CHECKPOINT",
    "FORCE CHECKPOINT",
    "USE memory",
    "PIVOT t ON k",
    "UNPIVOT t ON k",
    "CREATE MACRO m(a) AS a",
    "CREATE FUNCTION m(a) AS a",
    "CREATE SECRET s (TYPE s3)",
    "DROP SECRET s",
    "CREATE TYPE e AS ENUM ('a')",
    "CREATE SCHEMA s",
    "COMMENT ON TABLE t IS 'x'",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "DEALLOCATE p",
    "CREATE TABLE x AS SELECT * FROM read_text('{f}')",
    "CREATE TABLE x AS FROM '{f}'",
    "CREATE OR REPLACE TABLE t (k INTEGER)",
    "CREATE EXTERNAL TABLE x (k INTEGER) USING (DATAFILES ('DISK:{f}'))",
    "LOAD FROM '{f}' INSERT INTO t",
    "UNLOAD TO '{f}' SELECT * FROM t",
    "INFO FOR TABLES",
    "START TRANSACTION",
    "ABORT",
    "END",
    "SELECT 1 FROM t; COPY t TO '{f}'",
    "SELECT * FROM t INTO OUTFILE '{f}'",
    "SELECT * INTO x FROM '{f}'",
    "CREATE SERVER s",
    "SET search_path = 'x'",
    "SET schema = 'x'",
    "SET SESSION x = 1",
    "SET LOCAL x = 1",
    "SET TIME ZONE 'UTC'",
]


@parametrize_in_one_test("statement", STATEMENTS)
def test_a_statement_that_informix_does_not_have_is_none(
    connection: ifx.Connection, place: Path, statement: str
) -> None:
    sql = statement.format(f=place / "stolen.txt")
    for text in (sql, sql.lower(), f"{{x}} {sql}", f"SELECT k, v FROM t WHERE k IN ({sql})"):
        assert attempt(connection, text) != 0, text


def test_every_word_of_duckdb_begins_no_statement_but_informix_s_own(
    connection: ifx.Connection, place: Path
) -> None:
    ours = {"begin", "commit", "rollback", "end"}
    rests = ("", f" '{place}/stolen.txt'", " x", " x = 1", ' TABLE "a\'b"', " DATABASE x", " (1)")
    for number, word in enumerate(keywords()):
        if word.lower() in ours:
            continue
        for rest in {*in_turn(rests, number), *in_turn(rests, number + 3)}:
            attempt(connection, f"{word}{rest}")
    with contextlib.suppress(ifx.Error):
        connection.execute("DATABASE stores_demo")
    assert connection.execute("SELECT k, v FROM t").fetchall() == [(1, "one")]


HOSTILE = [
    "a'b",
    'a""b',
    "a b",
    "a;b",
    "a--b",
    "a/*b",
    "a*/b",
    "a)b",
    "a(b",
    "a.b",
    "a:b",
    "a{b}",
    "a{db}",
    "a%s",
    "a\\b",
    "a$1b",
    "a?b",
    "x' as there from (select 1) --",
    "'); COPY t TO '{f}'; --",
    '""; DROP TABLE t; --',
    "read_text('{f}')",
    "{f}",
    "main",
    "temp",
    "memory",
    "_ifx",
    "_ifx_rows",
    "d_stores_demo",
    "information_schema",
    "duckdb_tables()",
    "rowid",
    "select",
    "TABLE",
    "ü",
    "データ",
    "a\tb",
    "a\nb",
    "x" * 128,
    "x" * 129,
    "x" * 5000,
    "1a",
    "_",
    "null",
    "true",
    "?",
    ":a",
    "@a",
]

POSITIONS = [
    'CREATE TABLE "{n}" (k INTEGER, v VARCHAR(20))',
    "INSERT INTO \"{n}\" VALUES (1, 'x')",
    'SELECT k, v FROM "{n}"',
    "UPDATE \"{n}\" SET k = 2 WHERE v = 'x'",
    'CREATE INDEX "{n}" ON "{n}" (k)',
    'DROP INDEX "{n}"',
    'TRUNCATE TABLE "{n}"',
    'LOCK TABLE "{n}" IN SHARE MODE',
    'UNLOCK TABLE "{n}"',
    'RENAME TABLE "{n}" TO attack_renamed',
    'RENAME TABLE attack_renamed TO "{n}"',
    'RENAME COLUMN "{n}".k TO "{n}"',
    'SELECT "{n}", v FROM "{n}"',
    'DROP TABLE "{n}"',
    'CREATE TABLE attack_1 ("{n}" INTEGER, v VARCHAR(20))',
    'SELECT "{n}", v FROM attack_1 x',
    'SELECT x."{n}" FROM attack_1 x',
    "INSERT INTO attack_1 (\"{n}\", v) VALUES (3, 'y')",
    'UPDATE attack_1 SET "{n}" = 4',
    'DELETE FROM attack_1 WHERE "{n}" = 9',
    'ALTER TABLE attack_1 ADD ("{n}2" INTEGER)',
    'ALTER TABLE attack_1 DROP ("{n}2")',
    "DROP TABLE attack_1",
    'CREATE TABLE attack_2 (k INTEGER, v VARCHAR(20), PRIMARY KEY (k) CONSTRAINT "{n}")',
    'ALTER TABLE attack_2 ADD CONSTRAINT UNIQUE (v) CONSTRAINT "{n}2"',
    'ALTER TABLE attack_2 DROP CONSTRAINT "{n}"',
    "INSERT INTO attack_2 VALUES (1, 'x')",
    "INSERT INTO attack_2 VALUES (1, 'x')",
    "DROP TABLE attack_2",
    'CREATE TABLE attack_3 ("{n}" INTEGER, v VARCHAR(20), CHECK ("{n}" > 0) CONSTRAINT "{n}")',
    "INSERT INTO attack_3 VALUES (0, 'x')",
    "INSERT INTO attack_3 VALUES (1, 'x')",
    "DROP TABLE attack_3",
    'CREATE VIEW "{n}" ("{n}") AS SELECT k FROM t',
    'SELECT * FROM "{n}"',
    'DROP VIEW "{n}"',
    'CREATE SYNONYM "{n}" FOR t',
    'SELECT * FROM "{n}"',
    'DROP SYNONYM "{n}"',
    'CREATE SEQUENCE "{n}"',
    'SELECT "{n}".NEXTVAL, k FROM t',
    'DROP SEQUENCE "{n}"',
    'CREATE ROW TYPE "{n}" ("{n}" INTEGER)',
    'SELECT k::"{n}" FROM t',
    'DROP ROW TYPE "{n}" RESTRICT',
    'CREATE DISTINCT TYPE "{n}" AS INTEGER',
    'SELECT k::"{n}", v FROM t',
    'DROP TYPE "{n}" RESTRICT',
    'SELECT k AS "{n}", v FROM t ORDER BY "{n}"',
    'SELECT "{n}".k FROM t AS "{n}"',
    'SELECT "{n}".* FROM t AS "{n}"',
    'SELECT k FROM "{n}".t',
    'SELECT k FROM "{n}":t',
    'SELECT k FROM stores_demo@"{n}":t',
    'SELECT "{n}"(k) FROM t',
    'SELECT "{n}":f(k) FROM t',
    'SELECT "{n}".f(k) FROM t',
    'SELECT a."{n}" FROM (SELECT k AS "{n}", v FROM t) AS a',
    'WITH "{n}" AS (SELECT k FROM t) SELECT * FROM "{n}"',
    'SELECT k, v FROM t INTO TEMP "{n}"',
    'SELECT * FROM "{n}"',
    'DROP TABLE "{n}"',
    'SAVEPOINT "{n}"',
    'ROLLBACK TO SAVEPOINT "{n}"',
    'RELEASE SAVEPOINT "{n}"',
    'SET ENVIRONMENT "{n}" "{n}"',
    'SET ROLE "{n}"',
    'GRANT SELECT ON t TO "{n}"',
    'GRANT SELECT ON "{n}" TO public',
    'REVOKE ALL ON t FROM "{n}"',
    'CREATE PROCEDURE "{n}"() END PROCEDURE',
    'EXECUTE PROCEDURE "{n}"()',
    'DROP PROCEDURE "{n}"',
    'CREATE FUNCTION attack_4("{n}" INTEGER) RETURNING INTEGER AS "{n}"; RETURN "{n}" + 1; END FUNCTION',
    "EXECUTE FUNCTION attack_4(1)",
    "SELECT attack_4(k), v FROM t",
    "DROP FUNCTION attack_4",
    'UPDATE t SET k = 1 WHERE CURRENT OF "{n}"',
    'CREATE TRIGGER "{n}" INSERT ON t REFERENCING NEW "{n}" FOR EACH ROW (EXECUTE PROCEDURE "{n}"("{n}".k)) DISABLED',
    'SET TRIGGERS "{n}" DISABLED',
    'DROP TRIGGER "{n}"',
    'SET CONSTRAINTS "{n}" IMMEDIATE',
    'DATABASE "{n}"',
    'CREATE DATABASE "{n}@x"',
    'DROP DATABASE "{n}/../x"',
    'RENAME DATABASE "{n}" TO "{n}2"',
    'UPDATE STATISTICS FOR TABLE "{n}"',
]

VALUES = [
    "SELECT k, v FROM t WHERE v LIKE '{n}' ESCAPE '{n}'",
    "SELECT k, v FROM t WHERE v MATCHES '{n}'",
    "SELECT to_char(k, '{n}'), v FROM t",
    "SELECT to_char(current, '{n}'), v FROM t",
    "SELECT to_date(v, '{n}'), v FROM t",
    "SELECT dbinfo('{n}'), v FROM t",
    "SELECT DATETIME ({n}) YEAR TO DAY, v FROM t",
    "SELECT INTERVAL ({n}) DAY TO DAY, v FROM t",
    "SELECT trunc(current, '{n}'), v FROM t",
    "SELECT v[1,2], '{n}' FROM t",
    "SELECT SET {{'{n}'}}, v FROM t",
    "SET ENVIRONMENT x '{n}'",
    "SET LOCK MODE TO WAIT '{n}'",
    "CREATE TEMP TABLE attack_5 (k INTEGER, v VARCHAR(200) DEFAULT '{n}' CHECK (v <> '{n}'))",
    "INSERT INTO attack_5 (k) VALUES (1)",
    "DROP TABLE attack_5",
    "SELECT extend(current, '{n}'), v FROM t",
    "SELECT round(k, '{n}'), v FROM t",
    "SET COLLATION '{n}'",
    "SELECT filetoclob('{n}', 'server'), v FROM t",
    "SELECT lotofile(v, '{n}', 'server'), v FROM t",
    "SELECT trim('{n}' FROM v), v FROM t",
]


def written(position: str, name: str, place: Path) -> str:
    quoted = name.replace("{f}", str(place / "canary.txt"))
    if '"{n}' not in position:
        quoted = quoted.replace('""', '"').replace("'", "''")
    return position.replace("{n}", quoted).replace("{{", "{").replace("}}", "}")


#: One or two of each kind. All others run in `make soak`.
ENOUGH = [
    "a'b", 'a""b', "a;b", "a--b", "a*/b", "a.b", "a{b}", "a%s", "'); COPY t TO '{f}'; --", "read_text('{f}')", "{f}",
    "temp", "_ifx_rows", "rowid", "select", "ü", "a\nb", "x" * 129, "x" * 5000, "?",
]  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[] if name in ENOUGH else LONG_SOAK_ONLY) for name in HOSTILE],
    ids=lambda name: name[:20],
)
def test_a_hostile_name_is_a_name_or_refused_wherever_it_stands(
    attacked: Server, connection: ifx.Connection, place: Path, name: str
) -> None:
    for position in every_fourth(POSITIONS + VALUES, HOSTILE.index(name)):
        attempt(connection, written(position, name, place))
        if "DATABASE" in position:
            connection.execute("DATABASE stores_demo")
    with ifx.connect(attacked.url("stores_demo")) as other:
        assert other.execute("SELECT count(*), 'x' FROM t").fetchone() == (1, "x")


@pytest.mark.soak
def test_random_statements_of_both_dialects_never_get_out_and_never_disturb_others(
    attacked: Server, place: Path
) -> None:
    words = [
        *functions(),
        *keywords(),
        "FIRST",
        "SKIP",
        "MATCHES",
        "UNITS",
        "EXTEND",
        "TODAY",
        "CURRENT",
        "OUTER",
        "INTO TEMP x",
        "SERIAL",
    ]
    signs = [
        "(",
        ")",
        ",",
        "*",
        "'",
        '"',
        ";",
        ".",
        ":",
        "::",
        "=",
        "||",
        "?",
        "[1,2]",
        "{",
        "}",
        "--",
        "/*",
        "*/",
        "1",
        "1e999",
        "'x'",
    ]
    stop, problems = threading.Event(), list[object]()

    def working() -> None:
        with ifx.connect(attacked.url("stores_demo"), autocommit=True) as other:
            other.execute("CREATE TEMP TABLE mine (k INTEGER, v VARCHAR(20))")
            count = 0
            while not stop.is_set():
                count += 1
                other.execute("INSERT INTO mine VALUES (?, 'x')", (count,))
                row = other.execute("SELECT max(k), count(*) FROM mine").fetchone()
                if row is None or int(row[0]) != count or int(row[1]) != count:
                    problems.append(row)
                stop.wait(0.05)

    beside = threading.Thread(target=working)
    beside.start()
    try:
        for seed in seeds(1, 2, 3):
            chance = random.Random(seed)
            with ifx.connect(
                attacked.url("stores_demo"), autocommit=True, env={"DELIMIDENT": "y"}
            ) as connection:
                for _ in range(150):
                    name = chance.choice(HOSTILE)
                    if chance.random() < 0.5:
                        sql = written(chance.choice(POSITIONS + VALUES), name, place)
                    else:
                        sql = chance.choice(
                            [
                                "SELECT ",
                                "SELECT k FROM t WHERE ",
                                "INSERT INTO t ",
                                "CREATE ",
                                "ALTER TABLE t ",
                                "SET ",
                                "",
                            ]
                        )
                        sql += " ".join(
                            chance.choice(words if chance.random() < 0.5 else signs)
                            for _ in range(chance.randrange(1, 12))
                        )
                    if chance.random() < 0.3:
                        at = chance.randrange(len(sql) + 1)
                        sql = sql[:at] + chance.choice([name, *signs]) + sql[at:]
                    attempt(connection, sql)
                with contextlib.suppress(ifx.Error):
                    connection.execute("ROLLBACK")
    finally:
        stop.set()
        beside.join()
    assert not problems
    assert (place / "canary.txt").read_text() == CANARY
    assert sorted(entry.name for entry in place.iterdir()) == ["canary.txt", "kept"]
