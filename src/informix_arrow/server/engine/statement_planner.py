"""From a statement's text to its plan, with what a session knows: its tables, types, routines and values."""

from __future__ import annotations

from typing import Any

import duckdb
from sqlglot import exp

from ...wire.types import ColumnType
from ..errors import SqlError
from ..grammar.classify import classify
from ..grammar.spl.nodes import ExecuteRoutine
from ..planning.context import Context, NoRoutines, UserRoutines
from ..planning.planner import Planner
from ..planning.plans import CursorModify, Needs, Plan, RowwiseModify, SetModify, StatementPlan
from ..planning.queries import QueryTranslator, finish_types
from ..planning.scope import Ex, Output
from ..types.result_types import is_floating_decimal
from .calling import RoutineCalls
from .current_database import CurrentDatabase
from .environment import Environment
from .reading import TextReader
from .rights import Rights
from .session_tables import SessionTables
from .session_values import SessionValues
from .transaction import Transaction
from .user_types import UserTypes

_MOST_TEXT = 1 << 23
"""Characters of a statement for DuckDB, which takes some 200 bytes for each while it plans, beside its memory_limit."""


def _refuse_newer(tree: exp.Expression) -> None:
    """-201 for what came with 14.10: WITH in front of a query, and a query without FROM."""
    if any(tree.find_all(exp.With)):
        raise SqlError(
            -201, 0, 1, "", "common table expressions came with 14.10; this server passes for 12.10"
        )
    if isinstance(tree, exp.Select) and not (tree.args.get("from_") or tree.args.get("from")):
        raise SqlError(-201, 0, 1, "", "SELECT without FROM came with 14.10; this server passes for 12.10")


def _bound(sql: str) -> None:
    if len(sql) > _MOST_TEXT:
        raise SqlError(-208, detail="a statement that grows beyond all bounds in translation")


class StatementPlanner:
    """Plans the statements of one session; nothing is run by that, but DuckDB's DESCRIBE."""

    def __init__(
        self,
        environment: Environment,
        database: CurrentDatabase,
        reader: TextReader,
        tables: SessionTables,
        types: UserTypes,
        values: SessionValues,
        transaction: Transaction,
        routines: RoutineCalls,
        rights: Rights,
    ) -> None:
        self._environment = environment
        self._database = database
        self._reader = reader
        self._tables = tables
        self._types = types
        self._values = values
        self._transaction = transaction
        self._routines = routines
        self._rights = None if rights.unlimited else rights
        self._roles = rights.roles
        number = environment.version.partition("Version ")[2]
        major, _, rest = number.partition(".")
        minor, _, level = rest.partition(".")
        system = level[:1] if level[:1].isalpha() else ""
        self._before_14 = int(major) < 14
        self._constants = {
            "version,full": environment.version,
            "dbhostname": "localhost",
            "version,server-type": environment.version.partition(" Version ")[0],
            "version,major": major,
            "version,minor": minor,
            "version,os": system,
            "version,level": level.removeprefix(system),
        }

    # ---- contexts -----------------------------------------------------------------------------
    def context(self, routines: UserRoutines | None = None, parameters: int = 0) -> Context:
        """What the translation of one statement begins with; the session's own `routines` where none are given."""
        environment = self._environment
        return Context(
            self._tables,
            self._types,
            environment.codec,
            environment.dbdate,
            {"dbname": self._database.name or "", **self._constants},
            [None] * parameters,
            routines=self._routines if routines is None else routines,
            server_name=environment.server_name,
            user=environment.user,
            rights=self._rights,
            roles=self._roles,
            check_interrupt=self._reader.check_interrupt,
        )

    def translator(self, parameters: int) -> QueryTranslator:
        """For text that is kept for other sessions: user routines are refused."""
        return QueryTranslator(self.context(NoRoutines(self._routines.is_known), parameters))

    # ---- plans --------------------------------------------------------------------------------
    def plan(self, sql: str) -> Plan:
        """Read and describe a statement (planner.py, classify.py)."""
        return self.plan_typed(sql)[1]

    def plan_typed(self, sql: str) -> tuple[int, Plan, bool]:
        """The statement's type, its plan, and whether that means something in this session only."""
        delimident = self._environment.delimident
        kind, statement = classify(sql, delimident, self._database.require_own)
        if isinstance(statement, ExecuteRoutine):
            self._database.require()
            return *self._routines.plan_call(statement), True
        if statement is not None:
            return kind, StatementPlan(statement), True
        self._database.require()
        ctx = self.context()
        ctx.room += 4 * len(sql)
        tree = self._reader.parse(sql)
        if self._before_14:
            _refuse_newer(tree)
        kind, plan = Planner(ctx, self.describe).plan(tree)
        if isinstance(plan, (SetModify, CursorModify, RowwiseModify)):
            _bound(plan.sql)  # it is not described
        return kind, plan, ctx.own

    def describe(self, sql: str, needs: Needs) -> list[str]:
        """DuckDB's types of a query's columns; binds it, which finds what our own rules do not."""
        values: dict[str, Any] = {f"p{i}": None for i in needs.used}
        values.update({f"s_{name}": self._values.value(name) for name in needs.uses})
        _bound(sql)
        con = self._transaction.con
        self._reader.check_interrupt()  # what was said before DuckDB is at it, it does not know
        try:
            rows = con.execute(f"DESCRIBE {sql}", values or None).fetchall()
        except duckdb.Error as e:
            raise self._transaction.failed(e) from e
        return [str(row[1]) for row in rows]

    def output_types(self, sql: str, outputs: tuple[Output, ...]) -> list[ColumnType]:
        """Types of a translated query's columns."""
        return finish_types(outputs, self.describe(sql, Needs()))

    def convert_sql(self, sql: str, old: ColumnType, new: ColumnType) -> str:
        """SQL of a column's value after MODIFY."""
        source = Ex(sql, old, packed=is_floating_decimal(old), source=old)
        return self.translator(0).expressions.values.assign(source, new)
