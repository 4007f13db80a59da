"""Planning of a statement's text with a session's tables, types, routines and values."""

from __future__ import annotations

from typing import Any

import duckdb
from sqlglot import exp

from ...wire.types import ColumnType
from ..errors import SqlError
from ..parse.classify import classify
from ..parse.spl.nodes import ExecuteRoutine
from ..plan.context import NoRoutines, TranslationContext, UserRoutines
from ..plan.planner import Planner
from ..plan.plans import BindRequirements, CursorModify, Plan, RowwiseModify, SetModify, UtilityPlan
from ..plan.queries import QueryTranslator, finish_types
from ..plan.scope import OutputColumn, stored_value
from .current_database import CurrentDatabase
from .environment import SessionEnvironment
from .routine_protocols import SessionRoutines
from .session_privileges import SessionPrivileges
from .session_tables import SessionTables
from .session_values import SessionValues
from .sql_reader import SqlReader
from .transaction import SessionTransaction
from .user_types import UserTypes

_MAX_TEXT = 1 << 23
"""Largest number of characters of a statement for DuckDB. Planning needs some 200 bytes for each, which its
memory_limit does not count.
"""


def _reject_14_10_syntax(tree: exp.Expression) -> None:
    """Raise -201 for syntax of 14.10: WITH in front of a query, and a query without FROM."""
    if any(tree.find_all(exp.With)):
        raise SqlError(
            -201, 0, 1, "", "Common table expressions need version 14.10. This server reports version 12.10."
        )
    if isinstance(tree, exp.Select) and not (tree.args.get("from_") or tree.args.get("from")):
        raise SqlError(
            -201, 0, 1, "", "SELECT without FROM needs version 14.10. This server reports version 12.10."
        )


def _check_length(sql: str) -> None:
    if len(sql) > _MAX_TEXT:
        raise SqlError(-208, detail="The statement is too large after translation.")


class StatementPlanner:
    """Plans the statements of one session. It runs nothing except DuckDB's DESCRIBE."""

    def __init__(
        self,
        environment: SessionEnvironment,
        database: CurrentDatabase,
        reader: SqlReader,
        tables: SessionTables,
        types: UserTypes,
        values: SessionValues,
        transaction: SessionTransaction,
        routines: SessionRoutines,
        privileges: SessionPrivileges,
    ) -> None:
        self._environment = environment
        self._database = database
        self._sql_reader = reader
        self._tables = tables
        self._types = types
        self._values = values
        self._transaction = transaction
        self._routines = routines
        self._privileges = None if privileges.is_administrator else privileges
        self._roles = privileges.roles
        number = environment.version.partition("Version ")[2]
        major, _, rest = number.partition(".")
        minor, _, level = rest.partition(".")
        system = level[:1] if level[:1].isalpha() else ""
        self._rejects_14_10_syntax = int(major) < 14
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
    def context(self, routines: UserRoutines | None = None) -> TranslationContext:
        """Return the initial translation context of a statement; `routines` defaults to the session's own."""
        environment = self._environment
        return TranslationContext(
            self._tables,
            self._types,
            environment.codec,
            environment.dbdate,
            {"dbname": self._database.name or "", **self._constants},
            routines=self._routines.in_sql if routines is None else routines,
            server_name=environment.server_name,
            user=environment.user,
            privileges=self._privileges,
            roles=self._roles,
            check_interrupt=self._sql_reader.check_interrupt,
        )

    def query_translator(self) -> QueryTranslator:
        """Return a translator for text that is shared with other sessions: user routines are refused."""
        return QueryTranslator(self.context(NoRoutines(self._routines.in_sql.has_routine)))

    # ---- plans --------------------------------------------------------------------------------
    def plan(self, sql: str) -> Plan:
        """Parse and plan a statement (planner.py, classify.py)."""
        return self.plan_typed(sql)[1]

    def plan_typed(self, sql: str) -> tuple[int, Plan, bool]:
        """Return the statement's type, its plan, and whether the plan is valid in this session only."""
        delimident = self._environment.delimident
        kind, statement = classify(sql, delimident, self._database.require_current_for_ddl)
        if isinstance(statement, ExecuteRoutine):
            self._database.require()
            return *self._routines.client_calls.plan(statement), True
        if statement is not None:
            return kind, UtilityPlan(statement), True
        self._database.require()
        ctx = self.context()
        ctx.remaining_sql_chars += 4 * len(sql)
        tree = self._sql_reader.parse(sql)
        if self._rejects_14_10_syntax:
            _reject_14_10_syntax(tree)
        kind, plan = Planner(ctx, self.describe).plan(tree)
        if isinstance(plan, (SetModify, CursorModify, RowwiseModify)):
            _check_length(plan.sql)  # such a plan is not described
        return kind, plan, ctx.session_only

    def describe(self, sql: str, needs: BindRequirements) -> list[str]:
        """Return DuckDB's types of a query's columns. Binding it finds errors that our own rules do not."""
        values: dict[str, Any] = {f"p{i}": None for i in needs.used_params}
        values.update({f"s_{name}": self._values.value(name) for name in needs.session_values})
        _check_length(sql)
        con = self._transaction.con
        self._sql_reader.check_interrupt()  # DuckDB ignores interrupts from before it starts
        try:
            rows = con.execute(f"DESCRIBE {sql}", values or None).fetchall()
        except duckdb.Error as e:
            raise self._transaction.recover_from_error(e) from e
        return [str(row[1]) for row in rows]

    def output_types(
        self, sql: str, outputs: tuple[OutputColumn, ...], needs: BindRequirements
    ) -> list[ColumnType]:
        """Return the types of a translated query's columns."""
        return finish_types(outputs, self.describe(sql, needs))

    def modify_column_sql(self, sql: str, old: ColumnType, new: ColumnType) -> str:
        """Return SQL for a column's value after MODIFY."""
        return self.query_translator().expressions.values.assign(stored_value(sql, old), new)
