"""Checks of a routine at its creation: syntax of the SQL inside, and names of variables.

Tables and columns are resolved when a statement is executed, as on a real server.
"""

from __future__ import annotations

from sqlglot import exp

from ...errors import SqlError, syntax_error
from ..parse_query import parse
from . import codes
from . import nodes as n

_PARSED = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "SELECT"})


def check_routine(routine: n.Routine, delimident: bool) -> n.Routine:
    """Check a routine and return it.

    Raises -201 with its position for invalid SQL, -667 for an undeclared variable, -669 for one declared twice, -660
    for an assignment to a loop's variable.
    """
    names = frozenset(parameter.name for parameter in routine.parameters)
    _RoutineChecker(routine, delimident).block(routine.body, names, frozenset())
    return routine


class _RoutineChecker:
    def __init__(self, routine: n.Routine, delimident: bool) -> None:
        self._returns = bool(routine.returns)
        self._new = f"{routine.new}." if routine.new else ""
        self._delimident = delimident
        self._labels: list[dict[str, int]] = []  # labels of the enclosing blocks

    def block(self, block: n.StatementBlock, names: frozenset[str], loops: frozenset[str]) -> None:
        defined: set[str] = set()
        for define in block.defines:
            for name in define.names:
                if name in defined:
                    raise SqlError(codes.REDECLARED, 0, 0, name)
                defined.add(name)
        names, loops = names | defined, loops - defined
        for handler in block.handlers:
            self._targets(handler.into, names, loops)
            self.block(handler.body, names, loops)
        self._labels.append(block.labels)
        for statement in block.statements:
            self._statement(statement, names, loops)
        self._labels.pop()

    def _targets(self, targets: tuple[str, ...], names: frozenset[str], loops: frozenset[str]) -> None:
        for target in targets:
            name = target.partition("[")[0]
            if self._new and name.startswith(self._new):
                continue  # a column of a trigger's row
            if name not in names:
                raise SqlError(codes.NOT_DECLARED, 0, 0, name)
            if name in loops:
                raise SqlError(codes.LOOP_VARIABLE, 0, 0, name)

    def _sql(self, text: n.SqlText, head: str = "") -> exp.Expression:
        """Parse a text that follows `head` in a statement. Errors have their position in the routine."""
        try:
            return parse(head + text.sql, self._delimident)
        except SqlError as problem:
            if problem.offset:
                problem.offset = max(1, problem.offset - len(head)) + text.start
            raise

    def _list(self, text: n.SqlText | None) -> None:
        if text is not None and text.sql.strip():
            self._sql(text, "SELECT ")

    def _statement(self, statement: n.SplStatement, names: frozenset[str], loops: frozenset[str]) -> None:
        if isinstance(statement, n.StatementBlock):
            self.block(statement, names, loops)
        elif isinstance(statement, n.Let):
            self._targets(statement.targets, names, loops)
            self._list(statement.values)
        elif isinstance(statement, (n.If, n.Case)):
            if isinstance(statement, n.Case):
                self._list(statement.operand)
            for condition, block in statement.arms:
                self._list(condition)
                self.block(block, names, loops)
            if statement.otherwise is not None:
                self.block(statement.otherwise, names, loops)
        elif isinstance(statement, n.For):
            self._targets((statement.variable,), names, frozenset())
            for part in statement.ranges:
                for text in (part.start, part.stop, part.step):
                    self._list(text)
            self.block(statement.body, names, loops | {statement.variable})
        elif isinstance(statement, n.While):
            self._list(statement.condition)
            self.block(statement.body, names, loops)
        elif isinstance(statement, n.Foreach):
            self._statement(statement.source, names, loops)
            self.block(statement.body, names, loops)
        elif isinstance(statement, n.CallStatement):
            self._list(statement.arguments)
            self._targets(statement.into, names, loops)
        elif isinstance(statement, n.SelectInto):
            self._sql(statement.text)
            self._targets(statement.into, names, loops)
        elif isinstance(statement, n.Return):
            if statement.values is not None and not self._returns:
                raise SqlError(codes.RETURNS_NOTHING)
            self._list(statement.values)
        elif isinstance(statement, n.Raise):
            self._list(statement.values)
        elif isinstance(statement, n.LoopControl):
            self._list(statement.when)
        elif isinstance(statement, n.Goto):
            if not any(statement.label in labels for labels in self._labels):
                raise syntax_error(1, f"No block around GOTO has the label {statement.label}.")
        elif isinstance(statement, n.ExecuteImmediate):
            self._list(statement.statement)
        elif isinstance(statement, (n.Prepare, n.Declare, n.Open, n.Fetch, n.Release)):
            self._dynamic(statement, names, loops)
        elif statement.verb in _PARSED:
            self._sql(statement.text)

    def _dynamic(
        self,
        statement: n.Prepare | n.Declare | n.Open | n.Fetch | n.Release,
        names: frozenset[str],
        loops: frozenset[str],
    ) -> None:
        if isinstance(statement, n.Prepare):
            self._check_not_variable(statement.name, names)
            self._list(statement.statement)
        elif isinstance(statement, n.Declare):
            self._check_not_variable(statement.cursor, names)
            if isinstance(statement.source, n.SqlText) and not statement.source.sql.upper().startswith(
                "EXECUTE"
            ):
                self._sql(statement.source)
        elif isinstance(statement, n.Open):
            self._list(statement.using)
        elif isinstance(statement, n.Fetch):
            self._targets(statement.into, names, loops)

    def _check_not_variable(self, name: str, names: frozenset[str]) -> None:
        if name in names:
            raise SqlError(codes.REDECLARED, 0, 0, name)
