"""What a session knows: its settings, its tables, how statements become plans (transactions.py is below it)."""

from __future__ import annotations

import datetime as dt
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import duckdb
from sqlglot import exp

from ..wire.capabilities import codec_of_locale
from ..wire.types import ColumnType
from .catalog import (
    FIRST_USER_TABID,
    ColumnInfo,
    SequenceInfo,
    TableInfo,
    attached,
    first_row,
    load_sequence,
    load_table,
)
from .conversions import Converter
from .errors import SqlError, not_supported
from .lobs import ClientFiles, LargeObjects
from .spl.nodes import ExecuteRoutine
from .sql import views
from .sql.assignments import assign
from .sql.classify import classify
from .sql.context import Context, Ex, Output, Scope, no_routine_rows
from .sql.planner import Planner, parse
from .sql.plans import Needs, Plan, StatementPlan
from .sql.queries import QueryTranslator, finish_types
from .sql.result_types import is_floating_decimal, storage_type
from .sql.sequences import CURRENT, DRAWN
from .transactions import Transactions
from .user_types import UserTypes

if TYPE_CHECKING:
    from .databases import DatabaseRecord
    from .engine import Engine
    from .spl.space import Routines
    from .sql.expressions import ExpressionTranslator


class SessionState(Transactions):
    """Everything below the statements of one session; used by one thread at a time, `interrupt` excepted."""

    routines: Routines  # made by EngineSession

    def __init__(self, engine: Engine, user: str, environment: dict[str, str], session_id: int) -> None:
        self.engine = engine
        self.user = user
        self.environment = environment
        self.session_id = session_id
        self.since = time.time()  # when it began
        self.con = engine.connect()
        super().__init__()
        self.database: str | None = None
        self.locale = environment.get("DB_LOCALE", "en_US.819")
        self.temp_tables: dict[str, TableInfo] = {}
        self.sqlerrd1 = self.sqlerrd2 = self.serial8 = self.bigserial = 0
        self.closed = False
        self.interrupted = threading.Event()
        self.now = dt.datetime(1970, 1, 1)
        self.cut = False  # a parameter bound since was cut to its column
        self.made: dict[str, object] = {}  # session values that are made for one run
        self.types = UserTypes(self)
        self.lobs = LargeObjects(self)
        self.client_files: ClientFiles | None = None  # set by the conversation
        self.open_lob: Callable[[bytes, int], int] | None = None  # set by it, too: ifx_lo_open(locator, mode)
        self._tables: dict[tuple[str, str], TableInfo | None] = {}
        self._tables_version = -1
        self.stamp = 0  # grows whenever prepared plans may be out of date
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

    def find_sequence(self, database: str | None, name: str) -> SequenceInfo | None:
        """A sequence by its name."""
        database = database or self.require_database()
        if database not in self.engine.databases:
            raise SqlError(-329, -111, 0, database)
        try:
            return load_sequence(self.con, database, name)
        except duckdb.Error as e:
            raise self._failed(e) from e

    def view_target(self, info: TableInfo) -> views.Target:
        """The table that changes of a view go to; -274 for a view that is not of one table's rows."""
        return views.target(self.parse(views.query_text(info)), info, self.find_table)

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
        tree = parse(sql, self.delimident)
        if ":" in sql:
            for node in tree.find_all(exp.Dot):  # db:f(...)
                self.routines.require_here(node.meta.get("database"))
        return tree

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
        ctx = Context(
            self.find_table,
            self.codec,
            self.dbdate,
            constants,
            find_type=self.types.find,
            find_sequence=self.find_sequence,
            view_target=self.view_target,
            server_name=self.engine.server_name,
            user=self.user,
        )

        def find_table(database: str | None, name: str) -> TableInfo | None:
            info = self.find_table(database, name)
            if info is not None:
                ctx.tables.update((table.duck, table) for table in self._tables_of(info))
            return info

        def call_routine(
            tr: ExpressionTranslator, name: str, nodes: list[exp.Expression], scope: Scope
        ) -> Ex | None:
            call = self.routines.calls.translate(tr, name, nodes, scope)
            ctx.own = ctx.own or call is not None
            return call

        def routine_rows(
            tr: ExpressionTranslator, name: str, nodes: list[exp.Expression], scope: Scope
        ) -> tuple[str, tuple[Output, ...]]:
            ctx.own = True
            return self.routines.calls.table(tr, name, nodes, scope)

        ctx.find_table = find_table
        ctx.call_routine = call_routine
        ctx.routine_rows = routine_rows
        return ctx

    def _tables_of(self, info: TableInfo) -> list[TableInfo]:
        """A table, or those that a view reads."""
        if info.kind != "V":
            return [info]
        query = self.parse(views.query_text(info))
        found = []
        for node in query.find_all(exp.Table):
            inner = self.find_table(node.catalog or info.database, node.name)
            if inner is not None and inner.name != info.name:
                found += self._tables_of(inner)
        return found

    def _no_routine(self, tr: object, name: str, nodes: object, scope: object) -> None:
        """A user routine where the text is kept for other sessions."""
        if self.routines.named(name):
            raise not_supported(f"the user routine {name} in a view or constraint")

    def translator(self, parameters: int) -> QueryTranslator:
        ctx = self.context()
        ctx.call_routine = self._no_routine
        ctx.routine_rows = no_routine_rows
        ctx.params = [None] * parameters
        return QueryTranslator(ctx)

    def plan(self, sql: str, parameters: int) -> Plan:
        """Read and describe a statement (planner.py, classify.py)."""
        return self.plan_typed(sql)[1]

    def plan_typed(self, sql: str) -> tuple[int, Plan, bool]:
        """The statement's type, its plan, and whether that means something in this session only."""
        kind, statement = classify(sql, self.delimident)
        if isinstance(statement, ExecuteRoutine):
            self.require_database()
            return *self.routines.plan_call(statement), True
        if statement is not None:
            return kind, StatementPlan(statement), True
        self.require_database()
        ctx = self.context()
        return *Planner(ctx, self.describe).plan(self.parse(sql)), ctx.own

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
        if name == "row" or name.startswith(("file", DRAWN, CURRENT)):
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
        sources: dict[str, object] = {
            "L": text, "N": None, "T": self.now.date(), "C": self.now, "U": self.user, "S": self.engine.server_name,
        }  # fmt: skip
        source = sources[kind]
        return self.converter(column.type).one(source)

    def convert_sql(self, sql: str, old: ColumnType, new: ColumnType) -> str:
        """SQL of a column's value after MODIFY."""
        return assign(
            self.translator(0).expressions, Ex(sql, old, packed=is_floating_decimal(old), source=old), new
        )

    # ---- running ------------------------------------------------------------------------------
    def start_statement(self) -> None:
        self.now = dt.datetime.now()
        self.interrupted.clear()
