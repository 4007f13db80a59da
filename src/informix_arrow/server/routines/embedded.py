"""The SQL inside routines: planned when it is first run, with the routine's variables as typed parameters.

A plan belongs to one place in one routine and holds as long as the schema does. Calls of user routines in an
expression are made beforehand where they are certain to be made; anywhere else (in the arms of CASE, in
subqueries) they are calls from SQL (sql_calls.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlglot import exp

from ...wire.types import ColumnType
from ..engine.parts import SessionParts
from ..engine.reading import TextReader
from ..engine.running import values_in
from ..engine.waiting_rows import WaitingRows
from ..errors import SqlError, not_supported
from ..grammar.ddl_tokens import Tokens
from ..grammar.spl import codes
from ..grammar.spl.nodes import Call, Text
from ..grammar.spl.parser import read_call
from ..planning.expressions import ExpressionTranslator
from ..planning.keyed import identity
from ..planning.nodes.calls import is_builtin
from ..planning.planner import Planner
from ..planning.plans import InsertPlan, ModifyPlan, Needs, SelectPlan
from ..planning.queries import QueryTranslator
from ..planning.scope import Ex, Scope
from ..planning.variables import Variable, put_variables
from ..schema.catalog import TableInfo
from ..types.conversions import Stored
from ..types.result_types import character, from_duck, plain, variable_type
from .plain import Compute, NotPlain, compile_condition, compile_row
from .registry import Callee, Registry

SQLCODE = "#sqlcode"
"""The variable that SQLCODE stands for."""

_SIMPLE = (exp.Tuple, exp.Literal, exp.Neg, exp.Paren, exp.Null)

Types = Mapping[str, ColumnType]
Value = Callable[[str], object]
"""The value of a variable in its storage form; SqlError -696 when it has none."""
Invoke = Callable[[Callee, Sequence[object]], tuple[object, ...]]
"""Calls a routine that gives one row, with arguments in storage form."""


@dataclass(slots=True)
class Step:
    """A call that an expression begins with; its result is the variable `name`."""

    name: str
    callee: Callee
    arguments: Arguments


@dataclass(slots=True)
class Row:
    """Some values by one DuckDB query without FROM. `types` are those of the values; a row with a `constant` needs no
    query. `read` are the tables of subqueries."""

    sql: str
    needs: Needs
    names: list[str]
    steps: list[Step]
    types: tuple[ColumnType, ...]
    constant: tuple[object, ...] | None = None
    simple: bool = False
    plain: Compute | None = None
    read: tuple[TableInfo, ...] = ()

    def values(
        self, parts: SessionParts, value: Value, invoke: Invoke, params: Sequence[object] = ()
    ) -> tuple[object, ...]:
        """The values in storage form; `params` are those of a client's `?`."""
        if self.constant is not None:
            return self.constant
        if self.plain is not None:
            try:
                return cast("tuple[object, ...]", self.plain(lambda number: value(self.names[number])))
            except NotPlain:
                pass  # a number that is too large: DuckDB says which error that is
        made: dict[str, object] = {}
        for step in self.steps:
            arguments = step.arguments.values(parts, _either(made, value), invoke, params)
            made[step.name] = invoke(step.callee, arguments)[0]
        stored = [Stored(made[name] if name in made else value(name)) for name in self.names]
        bound = parts.runner.bind(self.needs, [*params, *stored])
        if self.read:
            parts.isolation.before_reading(self.read)
        found = _first(parts, self.sql, bound)
        if self.simple:
            self.constant = found
        return found


@dataclass(slots=True)
class Arguments:
    """The arguments of a call, in the order of the routine's parameters; None for one that is left out."""

    callee: Callee
    row: Row | None
    places: tuple[int, ...]

    def values(
        self, parts: SessionParts, value: Value, invoke: Invoke, params: Sequence[object] = ()
    ) -> list[object]:
        found: list[object] = [
            None if p.default is None else parts.values.default(p.declared) for p in self.callee.parameters
        ]
        if self.row is not None:
            for place, item in zip(self.places, self.row.values(parts, value, invoke, params), strict=True):
                found[place] = item
        return found

    def parameters(self) -> dict[int, ColumnType]:
        """Types of the client's `?`, by number."""
        found: dict[int, ColumnType] = {}
        if self.row is not None:
            for step in self.row.steps:
                found |= step.arguments.parameters()
            seen = self.row.needs.used
            found |= {i: t for i, t in enumerate(self.row.needs.params) if i in seen and t is not None}
        return found


@dataclass(slots=True)
class Query:
    """A SELECT whose columns have the `types` of the variables that take them. With `keyed` every row ends with what
    identifies its row of that table."""

    plan: SelectPlan
    sql: str
    names: list[str]
    types: tuple[ColumnType, ...]
    keyed: TableInfo | None = None

    def rows(self, parts: SessionParts, value: Value, limit: int) -> list[tuple[Any, ...]]:
        """The first `limit` rows in storage form."""
        with self.waiting(parts, value, limit) as rows:
            return list(rows)

    def waiting(self, parts: SessionParts, value: Value, limit: int = 0) -> WaitingRows:
        """All rows in storage form, or the first `limit`: made to the last, whatever becomes of their tables then."""
        bound = parts.runner.bind(self.plan.needs, [Stored(value(name)) for name in self.names])
        parts.isolation.before_query(self.plan, bound)
        sql = f"SELECT * FROM ({self.sql}) LIMIT {limit}" if limit else self.sql

        def made() -> WaitingRows:
            con = parts.transaction.con
            con.execute(sql, values_in(sql, bound) or {})
            return WaitingRows(con.fetchmany, parts.runner.temporary)

        return parts.transaction.read(lambda: parts.runner.last_made(sql, made, bound))


@dataclass(slots=True)
class Change:
    """INSERT, UPDATE, DELETE, MERGE, or SELECT INTO TEMP."""

    plan: SelectPlan | InsertPlan | ModifyPlan
    names: list[str]

    def run(self, parts: SessionParts, value: Value) -> int:
        """Rows changed."""
        return parts.run(self.plan, [Stored(value(name)) for name in self.names]).rows


def _either(made: Mapping[str, object], value: Value) -> Value:
    return lambda name: made[name] if name in made else value(name)


def _first(parts: SessionParts, sql: str, bound: dict[str, object]) -> tuple[Any, ...]:
    return parts.transaction.read(lambda: parts.runner.first(sql, values_in(sql, bound)))


def parse_list(reader: TextReader, sql: str) -> list[exp.Expression]:
    """The expressions of a list."""
    if not sql.strip():
        return []
    tree = reader.parse(f"SELECT {sql}")
    used = {name for name, value in tree.args.items() if value}
    if not isinstance(tree, exp.Select) or used - {"expressions", "kind"}:
        raise SqlError(-201, 0, 1, "", f"no list of expressions: {sql}")
    return list(tree.expressions)


class Reader:
    """Makes plans of texts for one place: the types of the variables that are visible there."""

    def __init__(self, parts: SessionParts, registry: Registry, types: Types, placeholders: int = 0) -> None:
        self._parts = parts
        self._registry = registry
        self.types: dict[str, ColumnType] = dict(types)
        self._placeholders = placeholders  # of the client, numbered in the tree

    # ---- values -------------------------------------------------------------------------------
    def row(self, items: Sequence[exp.Expression], targets: Sequence[ColumnType | None]) -> Row:
        """Expressions as values of the types `targets`; None leaves an expression the type that it has."""
        steps: list[Step] = []
        holder = exp.Tuple(expressions=list(items))
        for item in list(holder.expressions):
            self._lift(item, steps)
        simple = all(type(node) in _SIMPLE for node in holder.walk())
        translator, names = self._translator(holder)
        ctx = translator.ctx
        sqls: list[str] = []
        types: list[ColumnType] = []
        for item, target in zip(holder.expressions, targets, strict=True):
            ex = translator.values.settle(translator.expr(item, Scope()))
            wanted = target or self._own_type(ex)
            sqls.append(translator.values.assign(ex, wanted))
            types.append(wanted)
        ctx.require_read()
        plain = None if steps or self._placeholders else compile_row(holder.expressions, targets)
        text = f"SELECT {', '.join(sqls)}"
        read = tuple(ctx.tables.values())
        return Row(text, ctx.needs(), names, steps, tuple(types), None, simple, plain, read)

    def _translator(self, tree: exp.Expression) -> tuple[ExpressionTranslator, list[str]]:
        """A translator for a tree whose variables it has put in."""
        self._put_sqlcode(tree)
        names = put_variables(tree, self.types, self._placeholders)
        ctx = self._parts.planner.context()
        ctx.params = [None] * (self._placeholders + len(names))
        return QueryTranslator(ctx).expressions, names

    def _put_sqlcode(self, tree: exp.Expression) -> None:
        """SQLCODE outside of queries and of what names columns is what became of the last statement."""
        if SQLCODE not in self.types or "sqlcode" in self.types:
            return
        for column in list(tree.find_all(exp.Column)):
            if (
                column.name.lower() == "sqlcode"
                and len(column.parts) == 1
                and column.find_ancestor(exp.Select, exp.Update, exp.Delete, exp.Merge) is None
            ):
                column.replace(exp.Column(this=exp.Identifier(this=SQLCODE, quoted=False)))

    def _own_type(self, ex: Ex) -> ColumnType:
        if ex.type is not None:
            return plain(ex.type)
        names = self._parts.planner.describe(f"SELECT {ex.sql}", Needs()) if "$" not in ex.sql else []
        return (from_duck(names[0]) if names else None) or character(255)

    def values(self, text: Text, targets: Sequence[ColumnType | None] | None) -> Row:
        """A list of expressions; -684 when it has not as many as there are targets. None leaves all of them the types
        that they have."""
        items = parse_list(self._parts.reader, text.sql)
        if targets is None:
            targets = [None] * len(items)
        if len(items) != len(targets):
            raise SqlError(codes.TOO_MANY_VALUES)
        return self.row(items, targets)

    def condition(self, text: Text) -> Row:
        """A condition as TRUE, FALSE or NULL."""
        items = parse_list(self._parts.reader, text.sql)
        if len(items) != 1:
            raise SqlError(-201, 0, 1)
        steps: list[Step] = []
        holder = exp.Tuple(expressions=items)
        self._lift(holder.expressions[0], steps)
        translator, names = self._translator(holder)
        sql = translator.condition(holder.expressions[0], Scope())
        translator.ctx.require_read()
        plain = None if steps else compile_condition(holder.expressions[0])
        ctx = translator.ctx
        needs, read = ctx.needs(), tuple(ctx.tables.values())
        return Row(f"SELECT {sql}", needs, names, steps, (ColumnType.boolean(),), None, False, plain, read)

    # ---- calls --------------------------------------------------------------------------------
    def call_of(self, node: exp.Expression) -> exp.Anonymous | None:
        """The call of a user routine that an expression is as a whole."""
        while isinstance(node, exp.Paren):
            node = node.this
        if isinstance(node, exp.Dot):
            node = node.expression
        if isinstance(node, exp.Anonymous) and self._is_routine(node):
            return node
        return None

    def _is_routine(self, node: exp.Anonymous) -> bool:
        name = node.name.lower()
        return not is_builtin(name) and bool(self._registry.named(name))

    def _lift(self, node: exp.Expression, steps: list[Step]) -> None:
        """Take the calls that are certain to be made out of an expression, inner ones first."""
        if isinstance(node, (exp.Query, exp.Subquery, exp.Case)):
            return
        children = list(node.iter_expressions())
        if isinstance(node, exp.Connector) or (
            isinstance(node, exp.Anonymous) and node.name.lower() in ("nvl", "decode", "nullif")
        ):
            children = children[:1]
        for child in children:
            self._lift(child, steps)
        if isinstance(node, exp.Anonymous) and self._is_routine(node):
            callee, arguments = self.arguments(node.name.lower(), list(node.expressions))
            if len(callee.returns) != 1:
                return
            name = f"#{len(self.types)}"
            self.types[name] = callee.returns[0][1]
            steps.append(Step(name, callee, arguments))
            outer = node.parent if isinstance(node.parent, exp.Dot) else node
            outer.replace(exp.Column(this=exp.Identifier(this=name, quoted=False)))

    def call(self, statement: Call) -> tuple[Callee, Arguments]:
        """CALL or EXECUTE in a routine."""
        items = parse_list(self._parts.reader, statement.arguments.sql)
        return self.arguments(statement.name, items, statement.database)

    def arguments(
        self, name: str, items: list[exp.Expression], database: str | None = None
    ) -> tuple[Callee, Arguments]:
        """The routine that a call means, and its arguments brought to its parameters' types; `database` is None for the
        open one."""
        callees = self._registry.named(name, database)
        known = {p.name for callee in callees for p in callee.parameters}
        given: list[str] = []
        values: list[exp.Expression] = []
        for item in items:
            if (
                isinstance(item, exp.EQ)
                and isinstance(item.this, exp.Column)
                and item.this.name.lower() in known
            ):
                given.append(item.this.name.lower())
                values.append(item.expression)
            elif given:
                raise SqlError(-201, 0, 1, "", "an argument without a name behind one with a name")
            else:
                values.append(item)
        if len(set(given)) < len(given):
            raise SqlError(codes.TWICE_NAMED, 0, 0, name)
        types = [self._type(item) for item in values] if len(callees) > 1 else [None] * len(values)
        callee = self._registry.choose(name, types, given, database)
        numbers = {p.name: i for i, p in enumerate(callee.parameters)}
        places = (*range(len(values) - len(given)), *(numbers[x] for x in given))
        values = [
            exp.Null() if callee.parameters[i].mode == "OUT" else item
            for i, item in zip(places, values, strict=True)
        ]
        row = self.row(values, [callee.parameters[i].type for i in places]) if values else None
        return callee, Arguments(callee, row, places)

    def _type(self, item: exp.Expression) -> ColumnType | None:
        """The type of an argument, to choose a routine by; None when it cannot be told."""
        call = self.call_of(item)
        if call is not None:
            callee, _ = self.arguments(call.name.lower(), [a.copy() for a in call.expressions])
            return callee.returns[0][1] if len(callee.returns) == 1 else None
        holder = exp.Tuple(expressions=[item.copy()])
        translator, _ = self._translator(holder)
        return translator.expr(holder.expressions[0], Scope()).type

    # ---- dynamic SQL --------------------------------------------------------------------------
    def execution(self, sql: str) -> tuple[Callee, Arguments]:
        """EXECUTE FUNCTION or PROCEDURE that was prepared."""
        tokens = Tokens(sql, self._parts.environment.delimident)
        tokens.expect("EXECUTE")
        if not (tokens.accept("FUNCTION") or tokens.accept("PROCEDURE")):
            raise tokens.fail()
        call = read_call(tokens)
        holder = exp.Tuple(expressions=parse_list(self._parts.reader, call.arguments))
        self._place(holder)
        return self.arguments(call.name, list(holder.expressions), call.database)

    def _place(self, tree: exp.Expression) -> None:
        """Put the values of USING, which are variables ?0, ?1 .., in place of the question marks. -254 for another
        number of them."""
        found = [node for node in tree.find_all(exp.Placeholder) if not isinstance(node, Variable)]
        if len(found) != sum(name.startswith("?") for name in self.types):
            raise SqlError(codes.PARAMETERS)
        for node in found:
            name = f"?{node.meta['index']}"
            node.replace(exp.Column(this=exp.Identifier(this=name, quoted=False)))

    # ---- statements ---------------------------------------------------------------------------
    def query(self, text: Text, targets: Sequence[ColumnType] | None, *, positioned: bool = False) -> Query:
        """A SELECT into variables of the types `targets`; -684 when it has not as many columns, None leaves them the
        types that they have. With `positioned` its rows can be changed by WHERE CURRENT OF."""
        tree = self._parts.reader.parse(text.sql)
        self._place(tree)
        names = put_variables(tree, self.types)
        ctx = self._parts.planner.context()
        _, plan = Planner(ctx, self._parts.planner.describe).plan(tree)
        assert isinstance(plan, SelectPlan)
        if targets is None:
            targets = [variable_type(column.type) for column in plan.columns]
        if len(plan.columns) != len(targets):
            raise SqlError(codes.TOO_MANY_VALUES)
        translator = QueryTranslator(ctx).expressions
        items = [
            translator.values.assign(Ex(f"c{i}", column.type, packed=packed, source=column.type), target)
            for i, (column, packed, target) in enumerate(zip(plan.columns, plan.packed, targets, strict=True))
        ]
        source, keyed = plan.sql, None
        if positioned:
            if not plan.keyed:
                raise not_supported("WHERE CURRENT OF on rows that are not rows of one table")
            source, keyed = plan.keyed, plan.tables[0]
            items += [f"k{i}" for i in range(len(identity(keyed)))]
        plan.needs.uses.update(ctx.uses)  # a DATETIME without a date takes today's
        return Query(plan, f"SELECT {', '.join(items)} FROM ({source})", names, tuple(targets), keyed)

    def change(self, text: Text) -> Change:
        """A statement that changes rows."""
        tree = self._parts.reader.parse(text.sql)
        self._put_sqlcode(tree)
        names = put_variables(tree, self.types)
        _, plan = Planner(self._parts.planner.context(), self._parts.planner.describe).plan(tree)
        return Change(plan, names)
