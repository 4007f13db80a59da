"""Which database is current after statements that change it, as client and server see it."""

from __future__ import annotations

from tests.internals import session_of

import informix_arrow as ifx
from informix_arrow.server import Server


def test_a_new_database_is_the_current_one_for_both_ends(server: Server) -> None:
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        connection.execute("CREATE DATABASE made_current WITH LOG")
        connection.execute("CREATE TABLE here (id INT)")
        assert "/made_current open" in repr(connection)
        assert (session_of(connection).logged, session_of(connection).ansi) == (True, False)
        connection.execute("DATABASE stores_demo")
        names = connection.execute("SELECT tabname FROM systables WHERE tabname = 'here'").fetchall()
        assert names == []
        assert connection.execute("SELECT COUNT(*)::INT FROM made_current:here").fetchone() == (0,)
        connection.execute("CREATE DATABASE IF NOT EXISTS made_current WITH LOG")
        assert connection.execute("SELECT COUNT(*)::INT FROM here").fetchone() == (0,)
        connection.execute("CREATE DATABASE made_unlogged")
        assert session_of(connection).logged is False
        for name in ("made_current", "made_unlogged"):
            connection.execute("DATABASE stores_demo")
            connection.execute(f"DROP DATABASE {name}")
