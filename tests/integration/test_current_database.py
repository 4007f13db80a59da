"""The current database after statements that change it, in the client and in the server."""

from __future__ import annotations

from tests.internals import session_of
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.server import Server


def test_a_new_database_is_the_current_one_for_both_ends(server: Server) -> None:
    current, unlogged = (database_name(server, name) for name in ("made_current", "made_unlogged"))
    demo = database_name(server, "stores_demo")
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {current} WITH LOG")
        connection.execute("CREATE TABLE here (id INT)")
        assert f"/{current} open" in repr(connection)
        assert (session_of(connection).logged, session_of(connection).ansi) == (True, False)
        connection.execute(f"DATABASE {demo}")
        names = connection.execute("SELECT tabname FROM systables WHERE tabname = 'here'").fetchall()
        assert names == []
        assert connection.execute(f"SELECT COUNT(*)::INT FROM {current}:here").fetchone() == (0,)
        connection.execute(f"CREATE DATABASE IF NOT EXISTS {current} WITH LOG")
        assert connection.execute("SELECT COUNT(*)::INT FROM here").fetchone() == (0,)
        connection.execute(f"CREATE DATABASE {unlogged}")
        assert session_of(connection).logged is False
        for name in (current, unlogged):
            connection.execute(f"DATABASE {demo}")
            connection.execute(f"DROP DATABASE {name}")
