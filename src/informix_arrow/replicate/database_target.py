"""Copies into a database: a table for each, its state in ``informix_arrow_copies``, one transaction for each copy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

import pyarrow as pa

from ..wire.errors import DataError, InterfaceError, OperationalError, error_at
from .engine import STAGE, Engine, Session, StateTable
from .rejects import UnrepresentableValue
from .state import CopyRows, State, reconcile

STATES = StateTable("informix_arrow_copies", "state")


class DatabaseTarget:
    """A target whose tables are those of a database."""

    overlapping = False  # tables of a database may refer to each other

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._stored_states: dict[str, str | None] = {}
        self._checked = False  # whether the table of states was made by a copy
        try:
            engine.create_states(STATES)
        except BaseException:
            engine.close()
            raise

    def state(self, table: str) -> State | None:
        name = self._engine.name
        if table.lower() in (STATES.name, STAGE):
            contents = (
                "the states of copies" if table.lower() == STATES.name else "rows that are being copied"
            )
            raise InterfaceError(
                f"A table cannot be called {table} in {name}. The name is used for {contents}."
            )
        with self._engine.session() as session:
            self._check_states(session)
            text = self._stored_states[table] = session.state(STATES, table)
            if text is not None:
                return State.from_json(text, f"{name}: {STATES.name}")
            if session.has(table):
                same = table.lower().replace("'", "''")
                twin = session.first(f"SELECT name FROM {STATES.name} WHERE LOWER(name) = '{same}'")
                if twin:
                    raise OperationalError(
                        f"{name} has a copy of a table {twin[0]}, whose name it cannot tell from {table}. "
                        "Choose another target."
                    )
                raise OperationalError(
                    f"{name} has a table {table} that was not created by a copy. Rename it, or choose "
                    "another target."
                )
        return None

    def replace(
        self, table: str, rows: CopyRows, state: Callable[[], State], key: Sequence[str] = ()
    ) -> State:
        with self._changing(table) as session:
            session.fill(table, rows)
            reconcile(table, rows.checks, rows.checks.of_batches(session.read(table, rows.schema)))
            if key:
                _check_key(session, table, key, session.quoted(table))
            return _store_state(session, table, state)

    def append(self, table: str, rows: CopyRows, state: Callable[[], State]) -> State:
        return self.merge(table, rows, state, ())

    def merge(self, table: str, rows: CopyRows, state: Callable[[], State], key: Sequence[str]) -> State:
        with self._changing(table) as session:
            session.stage(STAGE, rows)
            reconcile(table, rows.checks, rows.checks.of_batches(session.read(STAGE, rows.schema)))
            columns = session.columns(STAGE)
            self._check_table_unchanged(session, table)
            existing = {name.lower() for name, _ in session.columns(table)}
            for name, kind in columns:  # whether new columns are allowed was checked before
                if name.lower() not in existing:
                    session.change(f"ALTER TABLE {session.quoted(table)} ADD {session.quoted(name)} {kind}")
            if key:
                _remove(session, table, key)
            names = ", ".join(session.quoted(name) for name, _ in columns)
            session.change(f"INSERT INTO {session.quoted(table)} ({names}) SELECT {names} FROM {STAGE}")
            session.change(f"DROP TABLE {STAGE}")
            return _store_state(session, table, state)

    def unrepresentable_values(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        return self._engine.unrepresentable_values(batch)

    def cancel(self) -> None:
        self._engine.cancel()

    def close(self) -> None:
        self._engine.close()

    def _check_states(self, session: Session) -> None:
        """Raise ``OperationalError`` if another program made the table that has the name of ours."""
        if not self._checked:
            columns = [column.lower() for column, _ in session.columns(STATES.name)]
            if columns != ["name", "state"]:
                raise OperationalError(
                    f"{self._engine.name} has a table {STATES.name} that was not created by a copy "
                    f"({', '.join(columns)}). Copies keep their states under that name. Rename it, or "
                    "choose another target."
                )
            self._checked = True

    def _check_table_unchanged(self, session: Session, table: str) -> None:
        """Raise ``OperationalError`` if the table of the last copy, or a column, is gone. New rows would hide that."""
        name = self._engine.name
        if not session.has(table):
            raise OperationalError(
                f"{name}: The table {table}, which a copy created, is gone. Copy it in full."
            )
        text = self._stored_states[table]
        existing = {column.lower() for column, _ in session.columns(table)}
        before = State.from_json(text, name).columns if text is not None else ()
        missing = [column for column, _ in before if column.lower() not in existing]
        if missing:
            raise OperationalError(
                f"{name}: {table} no longer has the column {missing[0]}, which a copy created. Copy it in "
                "full."
            )

    @contextmanager
    def _changing(self, table: str) -> Iterator[Session]:
        with self._engine.session() as session:
            if session.claim(STATES, table) != self._stored_states[table]:
                raise OperationalError(
                    f"{self._engine.name}: Another copy has written {table} in the meantime. Copy it again."
                )
            session.lock(table)
            yield session


def _check_key(session: Session, table: str, key: Sequence[str], source: str) -> None:
    """Raise ``DataError`` if a row has no key, or two rows have the same."""
    names = [session.quoted(each) for each in key]
    none = " OR ".join(f"{name} IS NULL" for name in names)
    missing = session.first(f"SELECT COUNT(*) FROM {source} WHERE {none}")
    if missing is not None and missing[0]:
        raise error_at(
            DataError, table, f"A row has NULL in its key ({', '.join(key)}), so rows cannot be merged by it."
        )
    listed = ", ".join(names)
    duplicate = session.first(f"SELECT {listed} FROM {source} GROUP BY {listed} HAVING COUNT(*) > 1")
    if duplicate:
        text = ", ".join(f"{name}={value!r}" for name, value in zip(key, duplicate, strict=True))
        raise error_at(DataError, table, f"Two rows have the key {text}, so {', '.join(key)} is not a key.")


def _remove(session: Session, table: str, key: Sequence[str]) -> None:
    """Delete the rows that the staged ones replace."""
    _check_key(session, table, key, STAGE)
    names = [session.quoted(each) for each in key]
    target = session.quoted(table)
    same = " AND ".join(f"{STAGE}.{name} = {target}.{name}" for name in names)
    session.change(f"DELETE FROM {target} WHERE EXISTS (SELECT {STAGE}.{names[0]} FROM {STAGE} WHERE {same})")


def _store_state(session: Session, table: str, state: Callable[[], State]) -> State:
    counted = session.first(f"SELECT COUNT(*) FROM {session.quoted(table)}")
    assert counted is not None
    stored = replace(state(), rows=int(counted[0]))
    session.store(STATES, table, stored.to_json())
    return stored
