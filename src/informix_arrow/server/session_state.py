"""A session's DuckDB connection, its transaction, and what it knows about tables."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import duckdb
from sqlglot import exp

from ..wire.capabilities import codec_of_locale
from ..wire.types import ColumnType
from .catalog import FIRST_USER_TABID, ColumnInfo, TableInfo, attached, first_row, load_table
from .conversions import Converter
from .errors import SqlError, from_duckdb, is_conflict
from .journal import Journal, Recorder, Savepoint
from .lobs import ClientFiles, LargeObjects
from .sql.assignments import assign
from .sql.classify import classify
from .sql.context import Context, Ex, Output
from .sql.planner import Planner, parse
from .sql.plans import Needs, Plan, StatementPlan
from .sql.queries import QueryTranslator, finish_types
from .sql.result_types import is_floating_decimal, storage_type
from .user_types import UserTypes

if TYPE_CHECKING:
    from .databases import DatabaseRecord
    from .engine import Engine

T = TypeVar("T")


class SessionState:
    """Everything below the statements of one session; used by one thread at a time, `interrupt` excepted."""

    def __init__(self, engine: Engine, user: str, environment: dict[str, str], session_id: int) -> None:
        self.engine = engine
        self.user = user
        self.environment = environment
        self.session_id = session_id
        self.con = engine.connect()
        self.writer = Recorder(self.con)
        self.database: str | None = None
        self.locale = environment.get("DB_LOCALE", "en_US.819")
        self.in_transaction = False
        self.temp_tables: dict[str, TableInfo] = {}
        self.sqlerrd1 = self.sqlerrd2 = self.serial8 = self.bigserial = 0
        self.lock_wait = 0.0  # seconds; negative = for ever
        self.closed = False
        self.interrupted = threading.Event()
        self.now = dt.datetime(1970, 1, 1)
        self.cut = False  # a parameter bound since was cut to its column
        self.made: dict[str, object] = {}  # session values that are made for one run
        self.types = UserTypes(self)
        self.lobs = LargeObjects(self)
        self.client_files: ClientFiles | None = None  # set by the conversation
        self.open_lob: Callable[[bytes, int], int] | None = None  # set by it, too: ifx_lo_open(locator, mode)
        self._open = False  # a DuckDB transaction is open
        self._writing = False  # `write` is on the stack
        self._journal = Journal()
        self._begin_tables: dict[str, TableInfo] = {}
        self._ddl = False  # this transaction (or statement) has changed the schema
        self._tables: dict[tuple[str, str], TableInfo | None] = {}
        self._tables_version = -1
        self.stamp = 0  # changes whenever prepared plans may be out of date
        self._converters: dict[ColumnType, Converter] = {}

    # ---- settings -----------------------------------------------------------------------------
    @property
    def codec(self) -> str:
        return codec_of_locale(self.locale)

    @property
    def dbdate(self) -> str:
        return self.environment.get("DBDATE", "")

    @property
    def delimident(self) -> bool:
        return "DELIMIDENT" in self.environment

    @property
    def record(self) -> DatabaseRecord:
        return self.engine.databases.get(self.require_database())

    def require_database(self) -> str:
        """The open database's name; -349 when there is none."""
        if self.database is None:
            raise SqlError(-349)
        return self.database

    def converter(self, t: ColumnType) -> Converter:
        found = self._converters.get(t)
        if found is None:
            found = self._converters[t] = Converter(t, self.codec, self.dbdate)
        return found

    # ---- tables -------------------------------------------------------------------------------
    def find_table(self, database: str | None, name: str) -> TableInfo | None:
        """A table or view; temporary ones come first. -329 for an unknown database."""
        if database is None:
            temporary = self.temp_tables.get(name)
            if temporary is not None:
                return temporary
            database = self.require_database()
        elif database not in self.engine.databases:
            raise SqlError(-329, -111, 0, database)
        self._check_version()
        key = (database, name)
        if key not in self._tables:
            try:
                self._tables[key] = load_table(self.con, database, name)
            except duckdb.Error as e:
                raise self._failed(e) from e
        return self._tables[key]

    def _check_version(self) -> None:
        version = self.engine.schema_version
        if version != self._tables_version:
            self._tables_version = version
            self._forget_tables()

    def _forget_tables(self) -> None:
        self._tables.clear()
        self.stamp += 1

    def schema_changed(self) -> None:
        """This statement has changed the schema: nothing cached holds, here now and elsewhere after the
        commit."""
        self._ddl = True
        self._forget_tables()

    def index_owner(self, index: str) -> TableInfo | None:
        """The table that has an index of this name."""
        for info in self.temp_tables.values():
            if any(i.name == index for i in info.indexes):
                return info
        row = first_row(
            self.con,
            f"SELECT t.tabname FROM {attached(self.require_database())}._ifx.indexes i "
            f"JOIN {attached(self.require_database())}._ifx.tables t ON t.tabid = i.tabid WHERE "
            f"i.idxname = ? "
            f"AND t.tabid >= {FIRST_USER_TABID}",
            [index],
        )
        return self.find_table(None, row[0]) if row else None

    def new_tabid(self) -> int:
        return self.engine.new_tabid(self.require_database())

    # ---- planning -----------------------------------------------------------------------------
    def parse(self, sql: str) -> exp.Expression:
        return parse(sql, self.delimident)

    def context(self) -> Context:
        constants = {
            "dbname": self.database or "",
            "version,full": self.engine.version,
            "dbhostname": "localhost",
            "version,server-type": "IBM Informix Dynamic Server",
        }
        number = self.engine.version.partition("Version ")[2]
        major, _, rest = number.partition(".")
        constants["version,major"] = major
        constants["version,minor"] = rest.partition(".")[0]
        return Context(self.find_table, self.codec, self.dbdate, constants, find_type=self.types.find)

    def translator(self, parameters: int) -> QueryTranslator:
        ctx = self.context()
        ctx.params = [None] * parameters
        return QueryTranslator(ctx)

    def plan(self, sql: str, parameters: int) -> Plan:
        """Read and describe a statement (planner.py, classify.py)."""
        return self.plan_typed(sql)[1]

    def plan_typed(self, sql: str) -> tuple[int, Plan]:
        kind, statement = classify(sql, self.delimident)
        if statement is not None:
            return kind, StatementPlan(statement)
        self.require_database()
        return Planner(self.context(), self.describe).plan(self.parse(sql))

    def describe(self, sql: str, needs: Needs) -> list[str]:
        """DuckDB's types of a query's columns; binds it, which finds what our own rules do not."""
        values: dict[str, Any] = {f"p{i}": None for i in needs.used}
        values.update({f"s_{name}": self.session_value(name) for name in needs.uses})
        try:
            rows = self.con.execute(f"DESCRIBE {sql}", values or None).fetchall()
        except duckdb.Error as e:
            raise self._failed(e) from e
        return [str(row[1]) for row in rows]

    def output_types(self, sql: str, outputs: tuple[Output, ...]) -> list[ColumnType]:
        return finish_types(outputs, self.describe(sql, Needs()))

    def session_value(self, name: str) -> object:
        """Values that translations leave open: CURRENT, DBINFO."""
        if name == "now":
            return self.now
        if name == "utc":
            return int(self.now.timestamp())
        if name == "sessionid":
            return self.session_id
        if name in self.made:
            return self.made[name]
        if name == "row" or name.startswith("file"):
            return None  # while a statement is described
        return getattr(self, name)

    def default_sql(self, column: ColumnInfo) -> str:
        """SQL of a column's default for rows that exist already."""
        value = self.default_value(column)
        if value is None:
            return f"CAST(NULL AS {storage_type(column.type)})"
        text = str(value).replace("'", "''")
        return f"CAST('{text}' AS {storage_type(column.type)})"

    def default_value(self, column: ColumnInfo) -> object:
        """A column's default in storage form, None without one."""
        if column.default is None:
            return None
        kind, text = column.default
        source: object = {"L": text, "N": None, "T": self.now.date(), "C": self.now, "U": self.user}[kind]
        return self.converter(column.type).one(source)

    def convert_sql(self, sql: str, old: ColumnType, new: ColumnType) -> str:
        """SQL of a column's value after MODIFY."""
        return assign(
            self.translator(0).expressions, Ex(sql, old, packed=is_floating_decimal(old), source=old), new
        )

    # ---- transactions -------------------------------------------------------------------------
    def begin(self) -> None:
        """BEGIN WORK: -535 in a transaction, -256 in a database without logging."""
        if not self.record.logged:
            raise SqlError(-256)
        if self.in_transaction:
            raise SqlError(-535)
        self.in_transaction = True
        self._journal = Journal()
        self._begin_tables = dict(self.temp_tables)
        self._ddl = False

    def commit(self) -> None:
        """COMMIT WORK: -255 without a transaction."""
        if not self.in_transaction:
            raise SqlError(-255)
        self.in_transaction = False
        if self._open:
            try:
                self.con.execute("COMMIT")
            except duckdb.Error as e:
                self._duck_rollback()
                self.temp_tables = self._begin_tables
                self._forget_tables()
                raise from_duckdb(e) from e
            self._open = False
        self._publish()
        self._journal = Journal()

    def rollback(self) -> None:
        """ROLLBACK WORK: -255 without a transaction."""
        if not self.in_transaction:
            raise SqlError(-255)
        self.in_transaction = False
        self._duck_rollback()
        if self._ddl:
            self.temp_tables = self._begin_tables
            self._forget_tables()
        self._ddl = False
        self._journal = Journal()

    def savepoint(self, name: str, unique: bool = False) -> None:
        """SAVEPOINT: -255 outside a transaction; a name may be used again unless it is unique (-16399
        then)."""
        if not self.in_transaction:
            raise SqlError(-255)
        points = self._journal.savepoints
        for point in points:
            if point.name == name and (point.unique or unique):
                raise SqlError(-16399, 0, 0, name)
        points.append(Savepoint(name, len(self._journal.writes), unique, dict(self.temp_tables)))

    def _find_savepoint(self, name: str) -> int:
        if not self.in_transaction:
            raise SqlError(-255)
        points = self._journal.savepoints
        for index in range(len(points) - 1, -1, -1):
            if not name or points[index].name == name:
                return index
        raise SqlError(-16398, 0, 0, name)

    def release_savepoint(self, name: str) -> None:
        del self._journal.savepoints[self._find_savepoint(name) :]

    def rollback_to_savepoint(self, name: str = "") -> None:
        """Undo what came after the savepoint; the savepoint stays."""
        index = self._find_savepoint(name)
        point = self._journal.savepoints[index]
        del self._journal.savepoints[index + 1 :]
        if point.position < len(self._journal.writes):
            del self._journal.writes[point.position :]
            self._restart()
        if self._ddl:
            self.temp_tables = dict(point.temp_tables)
            self._forget_tables()

    def _publish(self) -> None:
        if self._ddl:
            self._ddl = False
            self.engine.bump_schema()

    def _duck_rollback(self) -> None:
        if self._open:
            self._open = False
            try:
                self.con.execute("ROLLBACK")
            except duckdb.Error:
                # the connection may have rolled back by itself
                return

    def _restart(self) -> None:
        """A new DuckDB transaction with everything that the journal holds; the transaction is lost if that
        fails."""
        self._duck_rollback()
        if not self._journal.writes:
            return
        try:
            self.con.execute("BEGIN TRANSACTION")
            self._open = True
            self._journal.replay(self.con)
        except duckdb.Error as e:
            self._duck_rollback()
            self.in_transaction = False
            self.temp_tables = self._begin_tables
            self._journal = Journal()
            self._forget_tables()
            raise SqlError(-458, -107, 0, "", f"the transaction could not be kept after an error: {e}") from e

    def _failed(self, error: duckdb.Error) -> SqlError:
        """The SqlError for a DuckDB error outside `write`; mends the transaction that DuckDB has aborted."""
        if self._open and not self.writer.log:
            self._restart()
        return from_duckdb(error)

    # ---- running ------------------------------------------------------------------------------
    def start_statement(self) -> None:
        self.now = dt.datetime.now()
        self.interrupted.clear()

    def read(self, body: Callable[[], T]) -> T:
        """Run something that only reads."""
        try:
            return body()
        except duckdb.Error as e:
            raise self._failed(e) from e

    def write(self, body: Callable[[], T]) -> T:
        """Run something that writes, as one atomic statement: in the open transaction, or in one of its own.

        A conflict with another session's committed work is tried again on a fresh snapshot; one with
        uncommitted work until the lock mode's time is over. Inside another `write` it is a part of that.
        """
        if self._writing:
            return body()
        deadline = time.monotonic() + self.lock_wait if self.lock_wait >= 0 else None
        attempt = 0
        while True:
            try:
                return self._write_once(body)
            except SqlError as e:
                if not is_conflict(e) or self.interrupted.is_set():
                    raise
                attempt += 1
                if deadline is not None and time.monotonic() >= deadline and attempt > 2:
                    if self.lock_wait > 0:
                        raise SqlError(e.sqlcode, -154, 0, e.near, e.detail) from e
                    raise
                if attempt > 2 and self.interrupted.wait(0.02):
                    raise SqlError(-213, -157) from e

    def _write_once(self, body: Callable[[], T]) -> T:
        tables, ddl = dict(self.temp_tables), self._ddl
        self.writer.log = []
        self._writing = True
        if not self.in_transaction:
            self._ddl = ddl = False
        try:
            if not self._open:
                self.con.execute("BEGIN TRANSACTION")
                self._open = True
            result = body()
            if self.in_transaction:
                self._journal.writes += self.writer.log
            else:
                self.con.execute("COMMIT")
                self._open = False
                self._publish()
            return result
        except (SqlError, duckdb.Error) as e:
            untouched = (
                isinstance(e, SqlError) and not self.writer.log and not isinstance(e.__cause__, duckdb.Error)
            )
            self.temp_tables = tables
            if self._ddl != ddl:
                self._ddl = ddl
                self._forget_tables()
            if not self.in_transaction:
                self._duck_rollback()
            elif not untouched:
                self.writer.log = []
                self._restart()
            if isinstance(e, SqlError):
                raise
            raise from_duckdb(e) from e
        finally:
            self._writing = False
            self.writer.log = []
