"""Runs routines. Every statement is a generator: RETURN WITH RESUME gives a row and goes on when the next is wanted.

A statement tells by what its generator returns how it ended: None, or why what follows it is not run. What handlers
do with errors is what IBM's manual says of ON EXCEPTION: the innermost one that traps the code runs; then the block
that declared it is over, or with WITH RESUME the next statement follows. A BEGIN ... END is one statement for a
handler outside of it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...wire.types import ColumnType
from ..catalog import ColumnInfo
from ..errors import SqlError, can_be_sent, not_supported
from ..sql.classify import Control
from ..sql.plans import StatementPlan
from . import codes
from . import nodes as n
from .embedded import Arguments, Change, Query, Reader, Row, parse_list
from .frames import Cell, Frame
from .loops import Loops
from .python_calls import run_python
from .registry import Callee
from .runner import RETURNED, Leave, Over, Returned, Run, Values

if TYPE_CHECKING:
    from ..engine_session import EngineSession

MAX_DEPTH = 200
"""Calls inside calls; -722 beyond. A real server's limit is the size of its stack."""

_CALLS_PER_STACK = 20

_CHANGES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_HARMLESS = frozenset({"SELECT", "SET", "LOCK", "UNLOCK", "GRANT", "REVOKE"})


End = Leave | Over | Returned | None


class _Untrapped(Exception):
    """An error that no handler of its unit takes; statements around it are not asked again."""

    def __init__(self, problem: SqlError) -> None:
        super().__init__(problem)
        self.problem = problem


class Interpreter(Loops):
    """One call of a routine."""

    def __init__(self, session: EngineSession, callee: Callee, from_query: bool) -> None:
        super().__init__(session, callee, from_query)
        self._traps: list[
            tuple[n.Block, n.Handler, dict[str, Cell]]
        ] = []  # of the unit that runs, inner ones last

    # ---- calling ------------------------------------------------------------------------------
    def rows(self, arguments: Sequence[object]) -> Run:
        """The rows that a call gives; arguments in storage form."""
        routine = self.callee.routine
        assert routine is not None
        for parameter, value in zip(self.callee.parameters, arguments, strict=True):
            self.frame.cells[parameter.name] = Cell(parameter.type, value)
        return self._whole(routine.body)

    def _whole(self, body: n.Block) -> Run:
        try:
            yield from self._block(body)
        except _Untrapped as problem:
            raise problem.problem from problem.problem.__cause__

    def _rows_of(self, callee: Callee, arguments: Sequence[object]) -> Run:
        return call(self.session, callee, arguments, self.frame.from_query)

    # ---- blocks -------------------------------------------------------------------------------
    def _block(self, block: n.Block) -> Any:
        """Run a block's statements; how it ended."""
        outer, traps = self.frame.cells, len(self._traps)
        if block.defines:
            self.frame.cells = dict(outer)
            for define in block.defines:
                self._define(define)
        # one that names the code is asked before one for all codes
        handlers = sorted(block.handlers, key=lambda handler: bool(handler.codes))
        self._traps += [(block, handler, self.frame.cells) for handler in handlers]
        try:
            for statement in block.statements:
                end = yield from self._statement(statement)
                if end is not None:
                    return None if isinstance(end, Over) and end.block is block else end
            return None
        finally:
            del self._traps[traps:]
            self.frame.cells = outer

    def _define(self, define: n.Define) -> None:
        t = self.session.routines.type_of(define.type)
        for name in define.names:
            if define.is_global:
                value = self.session.default_value(ColumnInfo(name, t, define.default))
                self.frame.cells[name] = self.session.routines.globals.define(name, t, value)
            else:
                self.frame.cells[name] = Cell(t)

    def _unit(self, block: n.Block) -> Any:
        """BEGIN ... END: its errors that it does not trap are those of one statement."""
        traps, self._traps = self._traps, []
        try:
            return (yield from self._block(block))
        except _Untrapped as problem:
            raise problem.problem from problem.problem.__cause__
        finally:
            self._traps = traps

    def _statement(self, statement: n.Statement) -> Any:
        """Run one statement; its error goes to the handlers."""
        self.session.routines.check_interrupt()
        try:
            return (yield from _RUNNERS[type(statement)](self, statement))
        except SqlError as problem:
            if problem.sqlcode == codes.INTERRUPTED:
                raise
            return (yield from self._trapped(problem))

    def _trapped(self, problem: SqlError) -> Any:
        for index in range(len(self._traps) - 1, -1, -1):
            block, handler, cells = self._traps[index]
            if handler.codes and problem.sqlcode not in handler.codes:
                continue
            first = next(i for i, trap in enumerate(self._traps) if trap[0] is block)
            traps, self._traps = self._traps, self._traps[:first]
            inner, self.frame.cells = self.frame.cells, cells
            try:
                self._tell(handler, problem)
                end = yield from self._block(handler.body)
            except SqlError as again:
                raise _Untrapped(again) from again
            finally:
                self._traps, self.frame.cells = traps, inner
            if end is not None:
                return end
            return None if handler.resume else Over(block)
        raise _Untrapped(problem)

    def _tell(self, handler: n.Handler, problem: SqlError) -> None:
        told = (problem.sqlcode, problem.isamcode, problem.near)
        for name, value in zip(handler.into, told, strict=False):
            self._assign(name, value)

    # ---- statements ---------------------------------------------------------------------------
    def _let(self, statement: n.Let) -> Run:
        types = [self.frame.cell(name).type for name in statement.targets]
        found = self._planned(statement, lambda reader: self._plan_let(reader, statement, types))
        if isinstance(found, Row):
            self._take(statement.targets, self._row(found))
        elif isinstance(found, Query):
            rows = self._fetch(found, 2)
            if len(rows) > 1:
                raise SqlError(codes.MANY_ROWS)
            self._take(statement.targets, rows[0] if rows else (None,) * len(types))
        else:
            values = self._call_values(found)
            self._receive(found.callee, statement.targets, values)
        return
        yield

    def _plan_let(self, reader: Reader, statement: n.Let, types: list[ColumnType]) -> Row | Query | Arguments:
        items = parse_list(self.session, statement.values.sql)
        if len(items) == 1:
            called = reader.call_of(items[0])
            if called is not None:
                return reader.arguments(called.name.lower(), list(called.expressions))[1]
            if len(types) > 1:
                text = statement.values.sql.strip()
                if text.startswith("(") and text.endswith(")"):
                    return reader.query(n.Text(text[1:-1], statement.values.start + 1), types)
        return reader.values(statement.values, types)

    def _if(self, statement: n.If) -> Any:
        for condition, block in statement.arms:
            if self._true(condition):
                return (yield from self._block(block))
        if statement.otherwise is not None:
            return (yield from self._block(statement.otherwise))
        return None

    def _case(self, statement: n.Case) -> Any:
        for value, block in statement.arms:
            test = value
            if statement.operand is not None:
                test = self._equality(statement.operand, value)
            if self._true(test):
                return (yield from self._block(block))
        if statement.otherwise is not None:
            return (yield from self._block(statement.otherwise))
        return None

    def _equality(self, operand: n.Text, value: n.Text) -> n.Text:
        key = (operand, value)
        if key not in self._plans:
            self._plans[key] = n.Text(f"({operand.sql}) = ({value.sql})", value.start)
        found: n.Text = self._plans[key]
        return found

    def _select(self, statement: n.Query) -> Run:
        query = self._planned(statement, lambda reader: self._plan_query(reader, statement))
        rows = self._fetch(query, 2)
        if len(rows) > 1:
            raise SqlError(codes.MANY_ROWS)
        self.session.sqlerrd2 = len(rows)
        self._take(statement.into, rows[0] if rows else (None,) * len(statement.into))
        return
        yield

    def _return(self, statement: n.Return) -> Any:
        returns = self.callee.returns
        if statement.values is not None:
            if not returns:
                raise SqlError(codes.RETURNS_NOTHING)
            yield self._returned(statement, [t for _, t in returns])
        elif returns and statement.resume:
            raise SqlError(codes.WRONG_RETURN)
        return None if statement.resume else RETURNED

    def _returned(self, statement: n.Return, types: list[ColumnType]) -> Values:
        text = statement.values
        assert text is not None

        def plan(reader: Reader) -> Row | Arguments:
            items = parse_list(self.session, text.sql)
            called = reader.call_of(items[0]) if len(items) == 1 else None
            if called is not None:
                return reader.arguments(called.name.lower(), list(called.expressions))[1]
            if len(items) != len(types):
                raise SqlError(codes.WRONG_RETURN)
            return reader.row(items, types)

        found = self._planned(text, plan)
        if isinstance(found, Row):
            return self._row(found)
        values = self._call_values(found)
        sources = [t for _, t in found.callee.returns]
        if len(sources) != len(types):
            raise SqlError(codes.WRONG_RETURN)
        return tuple(map(self.session.routines.converted, values, sources, types))

    def _raise(self, statement: n.Raise) -> Run:
        integer, text = ColumnType.integer(), ColumnType.lvarchar(2048)
        targets = (integer, integer, text)
        count = len(parse_list(self.session, statement.values.sql))
        if not 1 <= count <= len(targets):
            raise SqlError(-201, 0, 1)
        code, isam, near = (*self._values(statement.values, targets[:count]), None, None)[:3]
        raise SqlError(int(str(code or 0)), int(str(isam or 0)), 0, str(near or "").rstrip(" "))
        yield

    def _call(self, statement: n.Call) -> Run:
        arguments = self._planned(statement, lambda reader: reader.call(statement)[1])
        callee = arguments.callee
        given = self._given(arguments)
        if statement.into:
            self._receive(callee, statement.into, self.session.nested(lambda: self._invoke(callee, given)))
        else:
            self.session.nested(lambda: self._run_through(statement, arguments, given))
        return
        yield

    def _run_through(self, statement: n.Call, arguments: Arguments, given: Sequence[object]) -> None:
        """Run a call whose rows are not wanted."""
        over = self._outs(statement, arguments)
        for _ in call(self.session, arguments.callee, given, self.frame.from_query, over):
            pass

    def _outs(self, statement: n.Call, arguments: Arguments) -> Callable[[Frame], None] | None:
        """Gives the variables of OUT and INOUT arguments their values, when the call is over."""
        callee = arguments.callee
        if not any(p.mode for p in callee.parameters):
            return None
        names = [item.name.lower() for item in parse_list(self.session, statement.arguments.sql)]

        def take(frame: Frame) -> None:
            for name, place in zip(names, arguments.places, strict=True):
                parameter = callee.parameters[place]
                if parameter.mode:
                    cell = self.frame.cell(name)
                    value = frame.value(parameter.name)
                    cell.value = self.session.routines.converted(value, parameter.type, cell.type)

        return take

    def _immediate(self, statement: n.ExecuteImmediate) -> Run:
        (text,) = self._values(statement.statement, [ColumnType.lvarchar(32739)])
        sql = str(text or "")
        word = sql.split(None, 1)[0].upper() if sql.split() else ""
        if word in ("SELECT", "EXECUTE", "CALL"):
            raise not_supported(f"EXECUTE IMMEDIATE of {word}")
        self._run_sql(word, n.Text(sql), keep=False)
        return
        yield

    def _sql(self, statement: n.Sql) -> Run:
        self._run_sql(statement.verb, statement.text)
        return
        yield

    def _run_sql(self, verb: str, text: n.Text, *, keep: bool = True) -> None:
        session = self.session
        if self.frame.from_query and verb not in _HARMLESS:
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, verb.lower())
        if verb in _CHANGES or verb == "SELECT":
            types = self.frame.types() if keep else {}

            def change() -> Change:
                if keep:
                    return self._planned(text, lambda reader: reader.change(text))
                return Reader(session, types).change(text)

            session.nested(lambda: change().run(session, self.frame.value))
            return
        plan = session.plan(text.sql, 0)
        if not isinstance(plan, StatementPlan):
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, verb.lower())
        found = plan.statement
        if isinstance(found, Control) and found.verb in ("begin", "commit", "rollback"):
            session.control(found.verb)
        elif isinstance(found, Control) and found.verb not in (
            "accept",
            "lock mode",
            "lock table",
            "unlock table",
        ):
            raise SqlError(codes.ILLEGAL_STATEMENT, 0, 0, verb.lower())
        else:
            session.nested(lambda: session.run(plan, ()))


_RUNNERS: dict[type[Any], Callable[[Interpreter, Any], Any]] = {
    n.Block: Interpreter._unit,
    n.Let: Interpreter._let,
    n.If: Interpreter._if,
    n.Case: Interpreter._case,
    n.For: Interpreter._for,
    n.While: Interpreter._while,
    n.Foreach: Interpreter._foreach,
    n.Leave: Interpreter._leave,
    n.Return: Interpreter._return,
    n.Raise: Interpreter._raise,
    n.Call: Interpreter._call,
    n.Query: Interpreter._select,
    n.ExecuteImmediate: Interpreter._immediate,
    n.Sql: Interpreter._sql,
}


def call(
    session: EngineSession,
    callee: Callee,
    arguments: Sequence[object],
    from_query: bool,
    over: Callable[[Frame], None] | None = None,
) -> Iterator[Values]:
    """The rows of a call, in the storage form of what the routine returns; `over` sees its variables at its end."""
    routines = session.routines
    if routines.depth >= MAX_DEPTH:
        raise SqlError(codes.OUT_OF_STACK, 0, 0, callee.name)
    if callee.routine is None:
        yield from run_python(session, callee, arguments)
        return
    interpreter = Interpreter(session, callee, from_query)
    rows = interpreter.rows(arguments)
    while True:
        routines.depth += 1  # while it runs, not while its caller does
        try:
            row = _next(rows, on_new_stack=routines.depth % _CALLS_PER_STACK == 0)
        except RecursionError as problem:
            raise SqlError(codes.OUT_OF_STACK, 0, 0, callee.name) from problem
        except SqlError as problem:
            if routines.depth > 1 or can_be_sent(problem):
                raise
            near = f"{problem.sqlcode}, {problem.isamcode}: {problem.near}"
            raise SqlError(codes.RAISED, 0, 0, near) from problem
        finally:
            routines.depth -= 1
        if row is None:
            break
        yield row
    if over is not None:
        over(interpreter.frame)


def _next(rows: Run, *, on_new_stack: bool) -> Values | None:
    """The next row of a call, found on a thread of its own where Python's stack would not hold the calls inside."""
    if not on_new_stack:
        return next(rows, None)
    found: list[Values | None] = []
    problems: list[BaseException] = []

    def run() -> None:
        try:
            found.append(next(rows, None))
        except BaseException as problem:  # noqa: BLE001 - raised again by who waits
            problems.append(problem)

    thread = threading.Thread(target=run, name="routine", daemon=True)
    thread.start()
    thread.join()
    for problem in problems:
        raise problem
    return found[0]
