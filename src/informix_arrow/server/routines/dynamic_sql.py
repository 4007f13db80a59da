"""PREPARE, DECLARE, OPEN, FETCH, CLOSE and FREE in a routine: the prepared statements and cursors of one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from ...wire.types import ColumnType
from ..errors import SqlError
from ..parse.spl import codes
from ..parse.spl import nodes as n
from ..plan.plans import CallPlan, SelectPlan
from ..session.row_spool import RowSpool
from ..session.session_services import SessionServices
from .conversions import ResultConversions
from .evaluator import RoutineEvaluator, StoredValues
from .registry import Callee
from .sql_compiler import CompiledArguments, GetVariable, SqlCompiler

_PREPARED = frozenset({"SELECT", "WITH", "EXECUTE", "("})

CallRows = Callable[[Callee, list[object]], Iterator[StoredValues]]
"""Returns the rows of a call, given arguments in storage form."""


def first_word(sql: str) -> str:
    """Return the first word of a statement in upper case, or an opening parenthesis. "" for an empty text."""
    text = sql.lstrip()
    return "(" if text.startswith("(") else text.split(None, 1)[0].upper() if text else ""


@dataclass(eq=False)
class RoutineCursor:
    """A declared cursor. `rows` are the remaining rows, with columns of the `types`. They are None while it is not
    open."""

    source: str | n.SqlText
    with_hold: bool
    types: tuple[ColumnType, ...] = ()
    rows: Iterator[StoredValues] | None = None
    row_spool: RowSpool | None = None

    def close(self) -> None:
        """Discard the remaining rows."""
        self.rows, waiting = None, self.row_spool
        if waiting is not None:
            self.row_spool = None
            waiting.close()


@dataclass(eq=False, repr=False)
class DynamicSql:
    """The prepared statements and cursors of one call of a routine. They end with the call."""

    _session: SessionServices
    _conversions: ResultConversions
    _evaluation: RoutineEvaluator
    _rows: CallRows
    _statements: dict[str, str] = field(default_factory=dict, init=False)
    _cursors: dict[str, RoutineCursor] = field(default_factory=dict, init=False)

    def prepare(self, statement: n.Prepare) -> None:
        """Prepare a statement. Raises -675 for anything but a query without INTO and FOR UPDATE, or EXECUTE, and errors
        of its text."""
        (text,) = self._evaluation.evaluate_list(statement.statement, [ColumnType.lvarchar(32739)])
        sql = str(text or "")
        word = first_word(sql)
        if not word:
            raise SqlError(-201, 0, 1)
        if word not in _PREPARED:
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, word.lower())
        plan = self._session.planner.plan(sql)
        wrong = isinstance(plan, SelectPlan) and (plan.into is not None or plan.for_update)
        if wrong or not isinstance(plan, (SelectPlan, CallPlan)):
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, word.lower())
        self._statements[statement.name] = sql

    def declare(self, statement: n.Declare) -> RoutineCursor:
        """Declare a cursor. Raises -410 for a statement that is not prepared."""
        if isinstance(statement.source, str) and statement.source not in self._statements:
            raise SqlError(codes.NOT_PREPARED, 0, 0, statement.source)
        cursor = self._cursors[statement.cursor] = RoutineCursor(statement.source, statement.with_hold)
        return cursor

    def open(self, statement: n.Open) -> None:
        """Execute the cursor's query or call and keep its rows.

        Raises -507 for an unknown cursor, -254 if the number of values differs from that of question marks.
        """
        cursor = self._cursor(statement.cursor)
        cursor.close()
        if isinstance(cursor.source, n.SqlText):
            sql, frame = cursor.source.sql, self._evaluation.frame
            if statement.using is not None:
                raise SqlError(codes.PARAMETERS)
            types: dict[str, ColumnType] = frame.types()
            value: GetVariable = frame.value
        else:
            if cursor.source not in self._statements:
                raise SqlError(codes.NOT_PREPARED, 0, 0, cursor.source)
            sql = self._statements[cursor.source]
            types, value = self._using_variables(statement.using)
        compiler = self._evaluation.compiler(types)
        if first_word(sql) == "EXECUTE":
            callee, arguments = compiler.compile_execute(sql)
            self._call(cursor, callee, arguments, value)
        else:
            self._query(cursor, compiler, sql, value)

    def _using_variables(self, using: n.SqlText | None) -> tuple[dict[str, ColumnType], GetVariable]:
        """Return the values of USING as variables: their types, and a function that returns their values."""
        if using is None:
            return {}, dict[str, object]().__getitem__
        row = self._evaluation.cached_plan(using, lambda compiler: compiler.compile_list(using, None))
        values = {f"?{i}": value for i, value in enumerate(self._evaluation.evaluate(row))}
        return {f"?{i}": t for i, t in enumerate(row.types)}, values.__getitem__

    def _query(self, cursor: RoutineCursor, compiler: SqlCompiler, sql: str, value: GetVariable) -> None:
        parts = self._session

        def run() -> None:
            query = compiler.compile_query(n.SqlText(sql), None)
            cursor.row_spool = query.spool_rows(parts, value)
            cursor.rows, cursor.types = iter(cursor.row_spool), query.types

        parts.transaction.run_nested(run)

    def _call(
        self, cursor: RoutineCursor, callee: Callee, arguments: CompiledArguments, value: GetVariable
    ) -> None:
        def run() -> None:
            argument_values = arguments.evaluate(self._session, value, self._evaluation.invoke)
            cursor.rows = iter(list(self._rows(callee, argument_values)))
            cursor.types = tuple(t for _, t in callee.returns)

        self._session.transaction.run_nested(run)

    def fetch(self, statement: n.Fetch) -> bool:
        """Assign the values of the next row to variables. Return False after the last row, which leaves them unchanged.

        Raises -400 for a cursor that is not open.
        """
        cursor = self._cursor(statement.cursor)
        if cursor.rows is None:
            raise SqlError(codes.NOT_OPEN_FOR_FETCH, 0, 0, statement.cursor)
        row = next(cursor.rows, None)
        if row is None:
            return False
        if len(row) != len(statement.into):
            code = codes.TOO_MANY_VALUES if len(row) > len(statement.into) else codes.TOO_FEW_VALUES
            raise SqlError(code, 0, 0, statement.cursor)
        for name, value, t in zip(statement.into, row, cursor.types, strict=True):
            cell = self._evaluation.frame.cell(name)
            cell.value = self._conversions.convert(value, t, cell.type)
        return True

    def release(self, statement: n.Release) -> None:
        """Execute CLOSE or FREE."""
        name = statement.name
        if statement.verb == "CLOSE":
            cursor = self._cursor(name)
            if cursor.rows is None and self._session.current_database.record.ansi:
                raise SqlError(codes.NOT_OPEN, 0, 0, name)
            cursor.close()
        elif name in self._cursors:
            self._cursors.pop(name).close()
        elif self._statements.pop(name, None) is None:
            raise SqlError(codes.NOT_PREPARED, 0, 0, name)

    def close(self) -> None:
        """Close all cursors at the end of the routine."""
        for cursor in self._cursors.values():
            cursor.close()

    def _cursor(self, name: str) -> RoutineCursor:
        cursor = self._cursors.get(name)
        if cursor is None:
            raise SqlError(codes.NO_CURSOR, 0, 0, name)
        return cursor
