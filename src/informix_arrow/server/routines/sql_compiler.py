"""Planning of the SQL inside routines at its first execution, with the routine's variables as typed parameters.

A plan belongs to one place in one routine and stays valid until the schema changes. Calls of user routines in an
expression run before it if they are certain to run. Anywhere else (in the arms of CASE, in subqueries) they are calls
from SQL (sql_calls.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlglot import exp

from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo
from ..errors import SqlError, not_supported
from ..parse.ddl_tokens import TokenStream
from ..parse.query_names import routine_name
from ..parse.spl import codes
from ..parse.spl.nodes import CallStatement, SqlText
from ..parse.spl.parser import parse_call
from ..plan.expressions import ExpressionTranslator
from ..plan.nodes.calls import is_builtin
from ..plan.planner import Planner
from ..plan.plans import BindRequirements, InsertPlan, ModifyPlan, SelectPlan
from ..plan.queries import QueryTranslator
from ..plan.row_identity import identity_names
from ..plan.scope import Scope, TypedExpression
from ..plan.variables import RoutineVariable, substitute_variables
from ..session.duck_executor import select_values
from ..session.row_spool import RowSpool
from ..session.session_services import SessionServices
from ..session.sql_reader import SqlReader
from ..types.conversions import StoredValue
from ..types.result_types import character, from_duck_type, variable_type, without_serial
from .python_expressions import Compute, NotCompilable, compile_condition, compile_row
from .registry import Callee, RoutineRegistry

SQLCODE = "#sqlcode"
"""The variable behind the name SQLCODE."""

_SIMPLE = (exp.Tuple, exp.Literal, exp.Neg, exp.Paren, exp.Null)

VariableTypes = Mapping[str, ColumnType]
GetVariable = Callable[[str], object]
"""Returns the value of a variable in storage form. Raises SqlError -696 if it has none."""
InvokeRoutine = Callable[[Callee, Sequence[object]], tuple[object, ...]]
"""Calls a routine that returns one row, with arguments in storage form."""


@dataclass(slots=True)
class ExtractedCall:
    """A call that runs before its expression. Its result is the variable `name`."""

    name: str
    callee: Callee
    arguments: CompiledArguments


@dataclass(slots=True)
class CompiledExpressions:
    """Some values computed by one DuckDB query without FROM.

    `types` are the types of the values. A row with a `constant` needs no query. `read_tables` are the tables of
    subqueries.
    """

    sql: str
    needs: BindRequirements
    names: list[str]
    extracted_calls: list[ExtractedCall]
    types: tuple[ColumnType, ...]
    constant: tuple[object, ...] | None = None
    is_constant: bool = False
    python_function: Compute | None = None
    read_tables: tuple[TableInfo, ...] = ()

    def evaluate(
        self, parts: SessionServices, value: GetVariable, invoke: InvokeRoutine, params: Sequence[object] = ()
    ) -> tuple[object, ...]:
        """Return the values in storage form. `params` are the values of a client's `?`."""
        if self.constant is not None:
            return self.constant
        if self.python_function is not None:
            try:
                return cast(
                    "tuple[object, ...]", self.python_function(lambda number: value(self.names[number]))
                )
            except NotCompilable:
                pass  # e.g. a number that is too large: DuckDB raises the correct error
        call_results: dict[str, object] = {}
        for step in self.extracted_calls:
            arguments = step.arguments.evaluate(parts, _overlay(call_results, value), invoke, params)
            call_results[step.name] = invoke(step.callee, arguments)[0]
        stored = [
            StoredValue(call_results[name] if name in call_results else value(name)) for name in self.names
        ]
        bound = parts.executor.bind(self.needs, [*params, *stored])
        if self.read_tables:
            parts.isolation.before_reading(self.read_tables)
        values = select_values(self.sql, bound)
        found = parts.transaction.read(lambda: parts.executor.query_first(self.sql, values))
        if self.is_constant:
            self.constant = found
        return found


@dataclass(slots=True)
class CompiledArguments:
    """The arguments of a call, in the order of the routine's parameters. `row` is None if there are none."""

    callee: Callee
    row: CompiledExpressions | None
    parameter_positions: tuple[int, ...]

    def evaluate(
        self, parts: SessionServices, value: GetVariable, invoke: InvokeRoutine, params: Sequence[object] = ()
    ) -> list[object]:
        argument_values: list[object] = [
            None if p.default is None else parts.values.default(p.as_column) for p in self.callee.parameters
        ]
        if self.row is not None:
            for position, item in zip(
                self.parameter_positions, self.row.evaluate(parts, value, invoke, params), strict=True
            ):
                argument_values[position] = item
        return argument_values

    def parameters(self) -> dict[int, ColumnType]:
        """The types of the client's `?`, by number."""
        parameter_types: dict[int, ColumnType] = {}
        if self.row is not None:
            for step in self.row.extracted_calls:
                parameter_types |= step.arguments.parameters()
            seen = self.row.needs.used_params
            parameter_types |= {
                i: t for i, t in enumerate(self.row.needs.params) if i in seen and t is not None
            }
        return parameter_types


@dataclass(slots=True)
class CompiledQuery:
    """A SELECT whose columns are converted to the `types` of the variables that receive them.

    With a `positioned_table` every row ends with the identity of its row in that table.
    """

    plan: SelectPlan
    sql: str
    names: list[str]
    types: tuple[ColumnType, ...]
    positioned_table: TableInfo | None = None

    def fetch(self, parts: SessionServices, value: GetVariable, limit: int) -> list[tuple[Any, ...]]:
        """Return the first `limit` rows in storage form."""
        with self.spool_rows(parts, value, limit) as rows:
            return list(rows)

    def spool_rows(self, parts: SessionServices, value: GetVariable, limit: int = 0) -> RowSpool:
        """Return all rows in storage form, or the first `limit`. They are independent of later changes of their
        tables."""
        bound = parts.executor.bind(self.plan.needs, [StoredValue(value(name)) for name in self.names])
        parts.isolation.before_query(self.plan, bound)
        sql = f"SELECT * FROM ({self.sql}) LIMIT {limit}" if limit else self.sql

        def execute() -> RowSpool:
            con = parts.transaction.con
            con.execute(sql, select_values(sql, bound) or {})
            return RowSpool(con.fetchmany, parts.executor.temporary)

        return parts.transaction.read(lambda: parts.executor.build_with_results(sql, execute, bound))


@dataclass(slots=True)
class CompiledChange:
    """INSERT, UPDATE, DELETE, MERGE, or SELECT INTO TEMP."""

    plan: SelectPlan | InsertPlan | ModifyPlan
    names: list[str]

    def run(self, parts: SessionServices, value: GetVariable) -> int:
        """Execute the statement and return the number of changed rows."""
        return parts.run_plan(self.plan, [StoredValue(value(name)) for name in self.names]).rows


def _overlay(call_results: Mapping[str, object], value: GetVariable) -> GetVariable:
    return lambda name: call_results[name] if name in call_results else value(name)


def parse_list(reader: SqlReader, sql: str) -> list[exp.Expression]:
    """Parse a list of expressions."""
    if not sql.strip():
        return []
    tree = reader.parse(f"SELECT {sql}")
    used = {name for name, value in tree.args.items() if value}
    if not isinstance(tree, exp.Select) or used - {"expressions", "kind"}:
        raise SqlError(-201, 0, 1, "", f"A list of expressions was expected: {sql}")
    return list(tree.expressions)


class SqlCompiler:
    """Compiles texts for one place, given the types of the variables that are visible there."""

    def __init__(
        self, parts: SessionServices, registry: RoutineRegistry, types: VariableTypes, placeholders: int = 0
    ) -> None:
        self._session = parts
        self._registry = registry
        self.types: dict[str, ColumnType] = dict(types)
        self._placeholders = placeholders  # placeholders of the client, numbered in the tree

    # ---- values -------------------------------------------------------------------------------
    def compile_expressions(
        self, items: Sequence[exp.Expression], targets: Sequence[ColumnType | None]
    ) -> CompiledExpressions:
        """Compile expressions to values of the types `targets`. None keeps the type of an expression."""
        calls: list[ExtractedCall] = []
        holder = exp.Tuple(expressions=list(items))
        for item in list(holder.expressions):
            self._extract_calls(item, calls)
        simple = all(type(node) in _SIMPLE for node in holder.walk())
        translator, names = self._translator(holder)
        ctx = translator.ctx
        sqls: list[str] = []
        types: list[ColumnType] = []
        for item, target in zip(holder.expressions, targets, strict=True):
            ex = translator.values.with_inferred_type(translator.expr(item, Scope()))
            wanted = target or self._expression_type(ex)
            sqls.append(translator.values.assign(ex, wanted))
            types.append(wanted)
        ctx.require_read()
        plain = None if calls or self._placeholders else compile_row(holder.expressions, targets)
        text = f"SELECT {', '.join(sqls)}"
        read = tuple(ctx.tables.values())
        return CompiledExpressions(
            text, ctx.bind_requirements(), names, calls, tuple(types), None, simple, plain, read
        )

    def _translator(self, tree: exp.Expression) -> tuple[ExpressionTranslator, list[str]]:
        """Substitute the variables in a tree. Return a translator for it, and the names of the variables."""
        self._substitute_sqlcode(tree)
        names = substitute_variables(tree, self.types, self._placeholders)
        ctx = self._session.planner.context()
        ctx.params = [None] * (self._placeholders + len(names))
        return QueryTranslator(ctx).expressions, names

    def _substitute_sqlcode(self, tree: exp.Expression) -> None:
        """Replace SQLCODE, outside of queries and column names, by the result of the last statement."""
        if SQLCODE not in self.types or "sqlcode" in self.types:
            return
        for column in list(tree.find_all(exp.Column)):
            if (
                column.name.lower() == "sqlcode"
                and len(column.parts) == 1
                and column.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Merge) is None
            ):
                column.replace(exp.Column(this=exp.Identifier(this=SQLCODE, quoted=False)))

    def _expression_type(self, ex: TypedExpression) -> ColumnType:
        if ex.type is not None:
            return without_serial(ex.type)
        names = (
            self._session.planner.describe(f"SELECT {ex.sql}", BindRequirements())
            if "$" not in ex.sql
            else []
        )
        return (from_duck_type(names[0]) if names else None) or character(255)

    def compile_list(self, text: SqlText, targets: Sequence[ColumnType | None] | None) -> CompiledExpressions:
        """Compile a list of expressions. Without `targets` all keep their types. Raises -684 if the numbers differ."""
        items = parse_list(self._session.sql_reader, text.sql)
        if targets is None:
            targets = [None] * len(items)
        if len(items) != len(targets):
            raise SqlError(codes.TOO_MANY_VALUES)
        return self.compile_expressions(items, targets)

    def compile_condition(self, text: SqlText) -> CompiledExpressions:
        """Compile a condition to TRUE, FALSE or NULL."""
        items = parse_list(self._session.sql_reader, text.sql)
        if len(items) != 1:
            raise SqlError(-201, 0, 1)
        calls: list[ExtractedCall] = []
        holder = exp.Tuple(expressions=items)
        self._extract_calls(holder.expressions[0], calls)
        translator, names = self._translator(holder)
        sql = translator.condition(holder.expressions[0], Scope())
        translator.ctx.require_read()
        plain = None if calls else compile_condition(holder.expressions[0])
        ctx = translator.ctx
        needs, read = ctx.bind_requirements(), tuple(ctx.tables.values())
        return CompiledExpressions(
            f"SELECT {sql}", needs, names, calls, (ColumnType.boolean(),), None, False, plain, read
        )

    # ---- calls --------------------------------------------------------------------------------
    def routine_call(self, node: exp.Expression) -> exp.Anonymous | None:
        """Return the call if an expression consists only of a call of a user routine."""
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Dot):
            node = node.expression
        if isinstance(node, exp.Anonymous) and self._is_routine(node):
            return node
        return None

    def _is_routine(self, node: exp.Anonymous) -> bool:
        name = routine_name(node)
        return not is_builtin(name) and bool(self._registry.find_by_name(name))

    def _extract_calls(self, node: exp.Expression, calls: list[ExtractedCall]) -> None:
        """Remove the calls that are certain to run from an expression, inner ones first."""
        if isinstance(node, (exp.Query, exp.Subquery, exp.Case)):
            return
        children = list(node.iter_expressions())
        if isinstance(node, exp.Connector) or (
            isinstance(node, exp.Anonymous) and node.name.lower() in ("nvl", "decode", "nullif")
        ):
            children = children[:1]
        for child in children:
            self._extract_calls(child, calls)
        if isinstance(node, exp.Anonymous) and self._is_routine(node):
            callee, arguments = self.compile_arguments(routine_name(node), list(node.expressions))
            if len(callee.returns) != 1:
                return
            name = f"#{len(self.types)}"
            self.types[name] = callee.returns[0][1]
            calls.append(ExtractedCall(name, callee, arguments))
            outer = node.parent if isinstance(node.parent, exp.Dot) else node
            outer.replace(exp.Column(this=exp.Identifier(this=name, quoted=False)))

    def compile_call(self, statement: CallStatement) -> tuple[Callee, CompiledArguments]:
        """Compile CALL or EXECUTE in a routine."""
        items = parse_list(self._session.sql_reader, statement.arguments.sql)
        return self.compile_arguments(statement.name, items, statement.database)

    def compile_arguments(
        self, name: str, items: list[exp.Expression], database: str | None = None
    ) -> tuple[Callee, CompiledArguments]:
        """Return the routine that a call resolves to, and its arguments converted to the parameters' types.

        `database` is None for the current one.
        """
        callees = self._registry.find_by_name(name, database)
        known = {p.name for callee in callees for p in callee.parameters}
        argument_names: list[str] = []
        values: list[exp.Expression] = []
        for item in items:
            if (
                isinstance(item, exp.EQ)
                and isinstance(item.this, exp.Column)
                and item.this.name.lower() in known
            ):
                argument_names.append(item.this.name.lower())
                values.append(item.expression)
            elif argument_names:
                raise SqlError(-201, 0, 1, "", "An argument without a name cannot follow one with a name.")
            else:
                values.append(item)
        if len(set(argument_names)) < len(argument_names):
            raise SqlError(codes.TWICE_NAMED, 0, 0, name)
        types = [self._argument_type(item) for item in values] if len(callees) > 1 else [None] * len(values)
        callee = self._registry.resolve_overload(name, types, argument_names, database)
        numbers = {p.name: i for i, p in enumerate(callee.parameters)}
        positions = (*range(len(values) - len(argument_names)), *(numbers[x] for x in argument_names))
        values = [
            exp.Null() if callee.parameters[i].mode == "OUT" else item
            for i, item in zip(positions, values, strict=True)
        ]
        row = (
            self.compile_expressions(values, [callee.parameters[i].type for i in positions])
            if values
            else None
        )
        return callee, CompiledArguments(callee, row, positions)

    def _argument_type(self, item: exp.Expression) -> ColumnType | None:
        """Return the type of an argument for overload resolution, None if it is unknown."""
        call = self.routine_call(item)
        if call is not None:
            callee, _ = self.compile_arguments(routine_name(call), [a.copy() for a in call.expressions])
            return callee.returns[0][1] if len(callee.returns) == 1 else None
        holder = exp.Tuple(expressions=[item.copy()])
        translator, _ = self._translator(holder)
        return translator.expr(holder.expressions[0], Scope()).type

    # ---- dynamic SQL --------------------------------------------------------------------------
    def compile_execute(self, sql: str) -> tuple[Callee, CompiledArguments]:
        """Compile a prepared EXECUTE FUNCTION or EXECUTE PROCEDURE."""
        tokens = TokenStream(sql, self._session.environment.delimident)
        tokens.expect("EXECUTE")
        if not (tokens.accept("FUNCTION") or tokens.accept("PROCEDURE")):
            raise tokens.syntax_error()
        call = parse_call(tokens)
        holder = exp.Tuple(expressions=parse_list(self._session.sql_reader, call.arguments))
        self._substitute_using(holder)
        return self.compile_arguments(call.name, list(holder.expressions), call.database)

    def _substitute_using(self, tree: exp.Expression) -> None:
        """Replace the question marks by the values of USING, which are the variables ?0, ?1, ... Raises -254 if the
        numbers differ."""
        found = [node for node in tree.find_all(exp.Placeholder) if not isinstance(node, RoutineVariable)]
        if len(found) != sum(name.startswith("?") for name in self.types):
            raise SqlError(codes.PARAMETERS)
        for node in found:
            name = f"?{node.meta['index']}"
            node.replace(exp.Column(this=exp.Identifier(this=name, quoted=False)))

    # ---- statements ---------------------------------------------------------------------------
    def compile_query(
        self, text: SqlText, targets: Sequence[ColumnType] | None, *, positioned: bool = False
    ) -> CompiledQuery:
        """Compile a SELECT into variables of the types `targets`. None keeps the types of the columns.

        With `positioned` its rows can be changed by WHERE CURRENT OF. Raises -684 if the numbers of columns and targets
        differ.
        """
        tree = self._session.sql_reader.parse(text.sql)
        self._substitute_using(tree)
        names = substitute_variables(tree, self.types)
        ctx = self._session.planner.context()
        _, plan = Planner(ctx, self._session.planner.describe).plan(tree)
        assert isinstance(plan, SelectPlan)
        if targets is None:
            targets = [variable_type(column.type) for column in plan.columns]
        if len(plan.columns) != len(targets):
            raise SqlError(codes.TOO_MANY_VALUES)
        translator = QueryTranslator(ctx).expressions
        items = [
            translator.values.assign(
                TypedExpression(f"c{i}", column.type, is_packed_decimal=packed, source=column.type), target
            )
            for i, (column, packed, target) in enumerate(
                zip(plan.columns, plan.packed_decimals, targets, strict=True)
            )
        ]
        source, keyed = plan.sql, None
        if positioned:
            if not plan.with_row_ids:
                raise not_supported("WHERE CURRENT OF on rows that are not rows of one table")
            source, keyed = plan.with_row_ids, plan.tables[0]
            items += [f"k{i}" for i in range(len(identity_names(keyed)))]
        plan.needs.session_values.update(ctx.session_values)  # a DATETIME without a date gets today's date
        return CompiledQuery(plan, f"SELECT {', '.join(items)} FROM ({source})", names, tuple(targets), keyed)

    def compile_change(self, text: SqlText) -> CompiledChange:
        """Compile a statement that changes rows."""
        tree = self._session.sql_reader.parse(text.sql)
        self._substitute_sqlcode(tree)
        names = substitute_variables(tree, self.types)
        _, plan = Planner(self._session.planner.context(), self._session.planner.describe).plan(tree)
        return CompiledChange(plan, names)
