"""Statements about the session: transactions, savepoints, databases, isolation, locks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..wire.capabilities import locale_code
from .engine_types import Outcome
from .errors import SqlError, no_table
from .locks import Mode
from .sql.classify import Control

if TYPE_CHECKING:
    from .engine_session import EngineSession


def run(session: EngineSession, control: Control) -> Outcome:
    """Run one of them; errors are those of the session's own methods."""
    verb, name = control.verb, control.name
    if verb == "begin":
        session.begin()
    elif verb == "commit":
        session.commit()
    elif verb == "rollback":
        session.rollback()
    elif verb == "savepoint":
        session.begin_implicitly()
        session.savepoint(name, "unique" in control.options)
    elif verb == "release":
        session.release_savepoint(name)
    elif verb == "rollback to":
        session.rollback_to_savepoint(name)
    elif verb == "lock mode":
        session.lock_wait = float(name)
    elif verb == "isolation":
        session.isolation.set_level(name, "retain" in control.options)
    elif verb == "transaction":
        session.isolation.set_transaction(name, "read only" in control.options)
    elif verb in ("lock table", "unlock table"):
        _lock_table(session, name, control.options)
    elif verb == "database":
        return Outcome(warnings=session.open_database(name))
    elif verb == "close database":
        session.require_database()
        session.close_database()
    elif verb == "create database":
        return Outcome(warnings=_create_database(session, name, control.options))
    elif verb == "drop database":
        _drop_database(session, name, control.options)
    return Outcome()


def _lock_table(session: EngineSession, name: str, mode: tuple[str, ...]) -> None:
    info = session.find_table(None, name)
    if info is None:
        raise no_table(name)
    if info.kind != "T":
        raise SqlError(-313, 0, 0, name)
    if not mode:
        session.isolation.unlock_table(info)
        return
    session.begin_implicitly()
    session.isolation.lock_table(info, Mode.SHARE if mode == ("share",) else Mode.EXCLUSIVE)


def _create_database(session: EngineSession, name: str, options: tuple[str, ...]) -> int:
    """The new database is the current one then; its warnings."""
    if session.in_transaction:
        raise SqlError(-535)
    if name in session.engine.databases and "if not exists" in options:
        return session.open_database(name)
    locale = locale_code(session.environment.get("DB_LOCALE", "en_US.819"))
    session.engine.create_database(name, options, locale)
    return session.open_database(name)


def _drop_database(session: EngineSession, name: str, options: tuple[str, ...]) -> None:
    if session.in_transaction:
        raise SqlError(-535)
    if name == session.database:
        raise SqlError(-359, 0, 0, name)
    if name not in session.engine.databases and "if exists" in options:
        return
    session.engine.drop_database(name)
