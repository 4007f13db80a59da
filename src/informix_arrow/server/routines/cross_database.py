"""Execution of another database's routines. Names without a database in them refer to their own database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..catalog.privileges import CONNECT
from ..errors import not_supported
from ..session.session_services import SessionServices


@contextmanager
def in_database(parts: SessionServices, database: str | None) -> Iterator[None]:
    """Make this database the current one for the block, without any role.

    Nothing changes if `database` is None or already the current one. Raises -329 for an unknown database and -387 if
    the user may not connect to it. A database with another logging mode or code set is rejected.
    """
    current, rights = parts.current_database, parts.privileges
    current_name = current.name
    if not database or database == current_name:
        yield
        return
    target = current.databases.get(database)
    rights.require_level(CONNECT, database)
    if current_name is not None:
        own_record = current.record
        if (target.logged, target.ansi, target.locale) != (
            own_record.logged,
            own_record.ansi,
            own_record.locale,
        ):
            raise not_supported(
                f"a routine of {database}, whose log mode or locale is another than that of {current_name}"
            )
    role, rights.role = rights.role, ""
    current.name = database
    try:
        yield
    finally:
        current.name, rights.role = current_name, role
