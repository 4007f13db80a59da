"""Clients that use a database name to reach the host's files or other databases, or to obstruct others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.cases import parametrize_in_one_test
from tests.internals import engine_of

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.server.errors import SqlError

CANARY = "the canary sings at noon"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A file that clients must not read."""
    file = tmp_path / "canary.txt"
    file.write_text(CANARY)
    return file


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "kept") as server:
        yield server


def connect(server: Server, database: str = "") -> ifx.Connection:
    return ifx.connect(server.url(database), autocommit=True, env={"DELIMIDENT": "y"})


def reading(file: Path) -> str:
    """Return a name that, written without quotes, would make DuckDB read a file into syssyntable."""
    return f"x' as there from (select 100 as tabid, [(select content from read_text('{file}')), ''] as target)) s --"


NOT_NAMES = [
    "",
    " ",
    "a b",
    "a'b",
    'a""b',
    "a;b",
    "a-b",
    "a.b",
    "a/b",
    "a\\b",
    "../a",
    "a/../../victim/payroll",
    "/tmp/a",
    "1a",
    "$a",
    "a$",
    "a{db}b",
    "a{}",
    "a%sb",
    "a\tb",
    "a\nb",
    "a:b",
    "a*",
    "né\u0301",
    "a" * 129,
    "ä" * 65,
    "@server",
    "a@b c",
    "a@",
    "con.txt",
]


STATEMENTS: list[Callable[[str], str]] = [
    lambda name: f'CREATE DATABASE "{name}" WITH LOG',
    lambda name: f'CREATE DATABASE IF NOT EXISTS "{name}"',
    lambda name: f'DROP DATABASE "{name}"',
    lambda name: f'DROP DATABASE IF EXISTS "{name}"',
    lambda name: f'DATABASE "{name}"',
    lambda name: f'SELECT count(*) FROM "{name}":systables',
    lambda name: f'INSERT INTO "{name}":t VALUES (1)',
]


@parametrize_in_one_test("name", NOT_NAMES)
def test_a_database_is_called_by_letters_digits_and_underscores_in_every_statement(
    server: Server, name: str
) -> None:
    with connect(server, "stores_demo") as connection:
        before = connection.execute("SELECT name FROM sysmaster:sysdatabases").fetchall()
        for statement in STATEMENTS:
            with pytest.raises(ifx.Error) as caught:
                connection.execute(statement(name))
            assert caught.value.sqlcode in (-354, -201, -202), (statement(name), caught.value)
        assert connection.execute("SELECT name FROM sysmaster:sysdatabases").fetchall() == before


@parametrize_in_one_test("name", [name for name in NOT_NAMES if name.strip()])
def test_a_login_and_the_server_s_own_methods_know_no_other_names(server: Server, name: str) -> None:
    for make in (server.create_database, server.drop_database):
        with pytest.raises(SqlError) as refused:
            make(name)
        assert refused.value.sqlcode == -354
    with pytest.raises(ifx.Error) as caught:
        ifx.connect(server.url(name))
    assert caught.value.sqlcode == -354


@pytest.mark.parametrize("name", ["_a1", "a_1", "née", "データ", "x" * 128, "AbC"])
def test_names_of_letters_digits_and_underscores_are_good(server: Server, name: str) -> None:
    """Names are case-insensitive."""
    with connect(server) as connection:
        server.create_database(name)
        try:
            connection.execute(f'DATABASE "{name.upper()}"')
            assert connection.execute("SELECT count(*), 7 FROM syssyntable").fetchone() == (0, 7)
            with pytest.raises(SqlError) as taken:
                server.create_database(name.upper())
            assert taken.value.sqlcode == -330
        finally:
            connection.execute("CLOSE DATABASE")
            server.drop_database(name.upper())


def test_no_file_of_the_host_is_read_through_the_name_of_a_database(server: Server, outside: Path) -> None:
    with connect(server) as connection:
        with pytest.raises(ifx.Error) as caught:
            connection.execute(f'CREATE DATABASE "{reading(outside)}"')
        assert caught.value.sqlcode == -354
        connection.execute("DATABASE stores_demo")
        assert CANARY not in repr(connection.execute("SELECT *, 1 FROM syssyntable").fetchall())


def test_no_file_of_the_host_is_read_whatever_duckdb_is_given(kept: Server, outside: Path) -> None:
    """Below all layers that keep such text away, DuckDB itself has no access to files, and cannot be given any."""
    engine = engine_of(kept)
    assert engine is not None
    con = engine.connect()
    home = outside.parent / "stolen"
    for sql in (
        f"SELECT * FROM read_text('{outside}')",
        f"SELECT * FROM read_csv('{outside}')",
        f"SELECT * FROM '{outside}'",
        f"SELECT * FROM glob('{outside.parent}/*')",
        f"ATTACH '{home}.duckdb' AS stolen",
        f"COPY (SELECT 1) TO '{home}.csv'",
        f"EXPORT DATABASE '{home}'",
        f"SET allowed_directories = ['{outside.parent}']",
        "SET enable_external_access = true",
        "SET lock_configuration = false",
        "SET memory_limit = '1TB'",
        f"SET temp_directory = '{home}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET autoload_known_extensions = true",
        "CREATE PERSISTENT SECRET s (TYPE http)",
    ):
        with pytest.raises(Exception, match="Error") as caught:
            con.execute(sql).fetchall()
        assert CANARY not in str(caught.value)
    assert sorted(p.name for p in outside.parent.iterdir()) == ["canary.txt", "kept"]


def test_the_database_of_another_directory_is_not_attached(tmp_path: Path) -> None:
    with Server(tmp_path / "victim") as victim:
        victim.create_database("payroll")
        with connect(victim, "payroll") as connection:
            connection.execute("CREATE TABLE t (k INTEGER, v VARCHAR(20))")
            connection.execute("INSERT INTO t VALUES (1, 'secret')")
    with Server(tmp_path / "mine") as server, connect(server) as connection:
        for name in ("../victim/payroll", "a/../../victim/payroll", f"{tmp_path}/victim/payroll"):
            with pytest.raises(ifx.Error) as caught:
                connection.execute(f'CREATE DATABASE "{name}"')
            assert caught.value.sqlcode in (-354, -201)
    with Server(tmp_path / "victim") as victim, connect(victim, "payroll") as connection:
        assert connection.execute("SELECT k, v FROM t").fetchall() == [(1, "secret")]


def test_after_a_create_database_that_fails_others_make_theirs(kept: Server, tmp_path: Path) -> None:
    """The statement fails in the engine, or in DuckDB, because a directory exists in place of the database file."""
    (tmp_path / "kept" / "broken.duckdb").mkdir()
    (tmp_path / "kept" / "broken.duckdb" / "x").touch()
    (tmp_path / "kept" / "broken.duckdb.left-over").mkdir()
    (tmp_path / "kept" / "broken.duckdb.left-over" / "x").touch()
    with connect(kept) as connection:
        for name in ("a'b", "broken"):
            with pytest.raises(ifx.Error):
                connection.execute(f'CREATE DATABASE "{name}"')
        connection.execute("CREATE DATABASE after_it WITH LOG")
        connection.execute("CREATE TABLE t (k INTEGER, v VARCHAR(20))")
        assert connection.execute("SELECT count(*), 'x' FROM t").fetchone() == (0, "x")
    with connect(kept, "sysmaster") as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sysdatabases").fetchall()]
    assert "after_it" in names
    assert "broken" not in names


def test_a_database_that_cannot_be_made_leaves_nothing(
    kept: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever step fails, the name stays free, and the connection that runs such statements has no open
    transaction."""
    from informix_arrow.server.catalog import databases

    register = databases.Databases._register

    def not_installed(con: object, *rest: object) -> None:
        con.execute("BEGIN")  # type: ignore[attr-defined]
        raise OSError("made for this test")

    def registered(*rest: object) -> None:
        register(*rest)  # type: ignore[arg-type]
        raise OSError("made for this test")

    steps = ((databases, "install", not_installed), (databases.Databases, "_register", registered))
    for owner, step, failing in steps:
        with monkeypatch.context() as patch:
            patch.setattr(owner, step, failing)
            with pytest.raises(OSError, match="made for this test"):
                kept.create_database("unlucky")
        assert not list((tmp_path / "kept").glob("unlucky*"))
        with connect(kept, "sysmaster") as connection:
            named = "SELECT count(*), 1 FROM systabnames WHERE dbsname = 'unlucky'"
            assert connection.execute(named).fetchone() == (0, 1)
        kept.create_database("unlucky")
        with connect(kept, "unlucky") as connection:
            assert connection.execute("SELECT count(*), 1 FROM syssyntable").fetchone() == (0, 1)
        kept.drop_database("unlucky")


def test_many_make_and_drop_good_and_bad_databases_at_once(server: Server) -> None:
    def work(number: int) -> int:
        with connect(server) as connection:
            for turn in range(5):
                with pytest.raises(ifx.Error):
                    connection.execute(f'CREATE DATABASE "o\'{turn}"')
                connection.execute(f"CREATE DATABASE many_{number}")
                connection.execute("CLOSE DATABASE")
                connection.execute(f"DROP DATABASE many_{number}")
        return number

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, range(4))) == list(range(4))
