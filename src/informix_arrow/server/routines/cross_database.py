"""Routines of another database: what they name without a database is their own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..catalog.privileges import CONNECT
from ..errors import not_supported
from ..session.session_services import SessionServices


@contextmanager
def in_database(parts: SessionServices, database: str | None) -> Iterator[None]:
    """Within it the session has this database open, and no role; nothing changes where it has, or for None. -329 for an
    unknown one, -387 for one to which the user may not connect, and refused where it is logged or encoded otherwise."""
    current, rights = parts.current_database, parts.privileges
    here = current.name
    if not database or database == here:
        yield
        return
    there = current.databases.get(database)
    rights.require_level(CONNECT, database)
    if here is not None:
        mine = current.record
        if (there.logged, there.ansi, there.locale) != (mine.logged, mine.ansi, mine.locale):
            raise not_supported(
                f"a routine of {database}, whose log mode or locale is another than that of {here}"
            )
    role, rights.role = rights.role, ""
    current.name = database
    try:
        yield
    finally:
        current.name, rights.role = here, role
