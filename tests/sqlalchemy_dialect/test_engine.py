"""Engines: connecting, URLs, and detection of lost connections."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import Engine, create_engine
from sqlalchemy.engine import make_url

import informix_arrow
from informix_arrow.server import Server


@pytest.mark.parametrize("scheme", ["informix", "informix+informix_arrow"])
def test_the_entry_points_give_the_dialect(informix_database: str, scheme: str) -> None:
    engine = create_engine(informix_database.replace("informix", scheme, 1))
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1 FROM sysmaster:sysdual").scalar() == 1
        assert isinstance(connection.connection.driver_connection, informix_arrow.Connection)
    engine.dispose()
    assert (engine.dialect.name, engine.dialect.driver) == ("informix", "informix_arrow")


def test_json_is_written_and_read_by_the_functions_of_the_engine(informix_database: str) -> None:
    def write(value: Any) -> str:
        return json.dumps({"wrapped": value})

    engine = create_engine(
        informix_database, json_serializer=write, json_deserializer=lambda text: ["read", text]
    )
    table = sa.Table("j", sa.MetaData(), sa.Column("doc", sa.JSON), sa.Column("tail", sa.Integer))
    with engine.begin() as connection:
        table.create(connection)
        connection.execute(table.insert(), [{"doc": {"ä": 1}, "tail": 7}, {"doc": None, "tail": 8}])
        (first, none) = connection.execute(sa.select(table).order_by(table.c.tail)).all()
    engine.dispose()
    assert (first.doc[0], json.loads(first.doc[1]), first.tail) == ("read", {"wrapped": {"ä": 1}}, 7)
    assert tuple(none) == (None, 8)


def test_a_release_that_is_too_old_is_refused_with_what_to_install() -> None:
    code = "import sqlalchemy; sqlalchemy.__version__ = '2.0.43'; import informix_arrow.sqlalchemy"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert (
        "ImportError: informix_arrow.sqlalchemy needs SQLAlchemy 2.0.44 or later, but 2.0.43 is"
        in done.stderr
    )


def test_keys_of_the_url_are_keywords_and_upper_case_ones_session_variables() -> None:
    url = "informix://ann:p%40ss@h:1/db?server=s&lock_wait=5&PDQPRIORITY=50&env.dbDate=Y4MD-&DELIMIDENT=n"
    dialect = create_engine(url).dialect
    _, keywords = dialect.create_connect_args(make_url(url))
    assert keywords == {
        "user": "ann",
        "password": "p@ss",
        "host": "h",
        "port": 1,
        "database": "db",
        "server": "s",
        "lock_wait": "5",
        "env": {"PDQPRIORITY": "50", "dbDate": "Y4MD-", "DELIMIDENT": "n"},
    }


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("sever=x", r"Unknown connection parameter 'sever' in the URL. Did you mean 'server'\?"),
        ("delimident=n", "upper-case in the URL: DELIMIDENT, not delimident"),
        ("server=a&server=b", r"The URL gives 'server' twice"),
        ("uid=x", r"The URL gives 'user' twice"),
    ],
)
def test_a_wrong_key_of_the_url_is_one_line_with_the_nearest_name(query: str, message: str) -> None:
    with pytest.raises(sa.exc.ArgumentError, match=message) as caught:
        create_engine(f"informix://ann:secret@h:1/db?{query}").connect()
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


def test_a_wrong_connect_arg_names_the_nearest(informix_database: str) -> None:
    engine = create_engine(informix_database, connect_args={"lockwait": 5})
    with pytest.raises(sa.exc.InterfaceError, match=r"'lockwait'.*Did you mean 'lock_wait'\?"):
        engine.connect()


def test_names_need_delimident_only_where_they_are_not_plain(informix_database: str) -> None:
    engine = create_engine(f"{informix_database}&DELIMIDENT=n")
    plain = sa.Table("plain", sa.MetaData(), sa.Column("id", sa.Integer), sa.Column("tail", sa.Integer))
    mixed = sa.Table("plain2", sa.MetaData(), sa.Column("Mixed Case", sa.Integer))
    with engine.begin() as connection:
        plain.create(connection)
        connection.execute(plain.insert().values(id=1, tail=2))
        assert connection.exec_driver_sql('SELECT "text" FROM plain').scalar() == "text"
        with pytest.raises(sa.exc.CompileError, match=r"'Mixed Case' needs double quotes.*DELIMIDENT=n"):
            mixed.create(connection)
    engine.dispose()


def test_a_lost_connection_is_noticed_and_the_pool_emptied(informix_server: Server, engine: Engine) -> None:
    with engine.connect() as connection:
        informix_server.faults.drop_next(matching="systables")
        with pytest.raises(sa.exc.DBAPIError) as caught:
            connection.exec_driver_sql("SELECT tabid FROM systables").all()
        assert caught.value.connection_invalidated
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1 FROM sysmaster:sysdual").scalar() == 1


def test_an_error_of_a_statement_leaves_the_connection_in_the_pool(engine: Engine) -> None:
    with engine.connect() as connection:
        with pytest.raises(sa.exc.ProgrammingError) as caught:
            connection.exec_driver_sql("SELECT nothing FROM nowhere")
        assert not caught.value.connection_invalidated
        assert connection.exec_driver_sql("SELECT 1 FROM sysmaster:sysdual").scalar() == 1


def test_a_pool_with_pre_ping_gives_no_dead_connection(
    informix_server: Server, informix_database: str
) -> None:
    engine = create_engine(informix_database, pool_pre_ping=True, pool_size=1)
    with engine.connect() as connection:
        driver: Any = connection.connection.driver_connection
    driver._runner.transport.close()  # like a firewall
    with engine.connect() as connection:
        assert connection.connection.driver_connection is not driver
        assert connection.exec_driver_sql("SELECT 1 FROM sysmaster:sysdual").scalar() == 1
    engine.dispose()


def test_each_isolation_level_is_what_it_is_called(engine: Engine) -> None:
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"
        assert connection.default_isolation_level == "READ COMMITTED"
    driver_names = {
        "READ UNCOMMITTED": "dirty",
        "READ COMMITTED": "committed",
        "LAST COMMITTED": "last committed",
        "CURSOR STABILITY": "cursor stability",
        "REPEATABLE READ": "repeatable",
        "SERIALIZABLE": "repeatable",
    }
    for level, name in driver_names.items():
        with engine.connect().execution_options(isolation_level=level) as connection:
            driver: Any = connection.connection.driver_connection
            assert (connection.get_isolation_level(), driver.isolation) == (level, name)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("CREATE TABLE kept (id INT, tail INT)")
        connection.rollback()
        assert connection.get_isolation_level() == "AUTOCOMMIT"
        assert sa.inspect(connection).has_table("kept")
    with engine.connect() as connection:
        assert connection.get_isolation_level() == "READ COMMITTED"
    with pytest.raises(sa.exc.ArgumentError, match="LAST COMMITTED"):
        engine.connect().execution_options(isolation_level="SNAPSHOT")


def test_an_unlogged_database_has_autocommit_only(informix_server: Server) -> None:
    informix_server.create_database("sa_unlogged", mode="unlogged")
    engine = create_engine(informix_server.url("sa_unlogged"))
    try:
        with engine.begin() as connection:
            assert connection.get_isolation_level() == "AUTOCOMMIT"
            connection.exec_driver_sql("CREATE TABLE kept (id INT, tail INT)")
            connection.rollback()
        with engine.connect() as connection:
            assert sa.inspect(connection).has_table("kept")
            connection.rollback()
            with pytest.raises(sa.exc.ArgumentError, match=r"Valid isolation levels.*AUTOCOMMIT"):
                connection.execution_options(isolation_level="SERIALIZABLE")
    finally:
        engine.dispose()
        informix_server.drop_database("sa_unlogged")


def test_an_ansi_database_begins_with_repeatable_read_and_tables_of_the_user(informix_server: Server) -> None:
    informix_server.create_database("sa_ansi", mode="ansi")
    engine = create_engine(informix_server.url("sa_ansi"))
    try:
        table = sa.Table(
            "t", sa.MetaData(), sa.Column("id", sa.Integer, primary_key=True), sa.Column("tail", sa.Integer)
        )
        table.create(engine)
        with engine.begin() as connection:
            assert connection.get_isolation_level() == "REPEATABLE READ"
            assert connection.execute(table.insert().values(tail=3)).inserted_primary_key == (1,)
        assert sa.inspect(engine).get_table_names() == ["t"]
    finally:
        engine.dispose()
        informix_server.drop_database("sa_ansi")


def test_an_ansi_database_has_owners_in_double_quotes(informix_server: Server) -> None:
    informix_server.create_database("sa_owners", mode="ansi")
    engine = create_engine(informix_server.url("sa_owners"))
    metadata = sa.MetaData()
    ann, bob = (
        sa.Table("t", metadata, sa.Column("id", sa.Integer), sa.Column("tail", sa.Integer), schema=owner)
        for owner in ("ann", "bob")
    )
    try:
        metadata.create_all(engine)
        with engine.begin() as connection:
            connection.execute(ann.insert(), [{"id": 1, "tail": 10}])
            connection.execute(bob.insert(), [{"id": 2, "tail": 20}, {"id": 3, "tail": 30}])
            assert connection.execute(sa.select(ann)).all() == [(1, 10)]
            other = bob.alias()
            both = sa.select(ann.c.id, other.c.id).where(other.c.tail == 30)
            assert connection.execute(both).all() == [(1, 3)]
        inspector = sa.inspect(engine)
        assert [inspector.get_table_names(schema=owner) for owner in ("ann", "bob")] == [["t"], ["t"]]
        assert inspector.get_table_names() == []
    finally:
        engine.dispose()
        informix_server.drop_database("sa_owners")


def test_without_sqlalchemy_the_import_says_which_extra_to_install() -> None:
    program = (
        "import sys; sys.modules['sqlalchemy'] = None\n"
        "try:\n    import informix_arrow.sqlalchemy\n"
        "except ModuleNotFoundError as e: print(e)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == (
        "informix_arrow.sqlalchemy needs SQLAlchemy. Run pip install 'informix-arrow[sqlalchemy]'"
    )


def test_nothing_of_sqlalchemy_is_imported_by_the_package_itself() -> None:
    program = "import sys, informix_arrow, informix_arrow.aio; print('sqlalchemy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
