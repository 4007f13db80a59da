"""Translation of expressions: a table of handlers by kind of node. What is not in the table is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any

from sqlglot import exp

from ..server.errors import SqlError
from ..server.parse import dialect_nodes as d
from ..server.types.intervals import DAY, SECOND
from ..server.types.intervals import parse as parse_interval
from ..server.types.result_types import DECIMALS, FLOATS, INTEGERS, arithmetic_type
from ..wire.qualifiers import Field, Qualifier
from ..wire.types import ColumnType, TypeCode
from .names import identifier
from .targets import Node, Target, binary, call, is_number, number, paren, refuse, string
from .values import Conversions, Value, constant, is_moment, is_text, kind_of, needs_type, number_type

Columns = dict[str, ColumnType]
Rows = Callable[["Expressions", Node, "Scope"], "tuple[Node, list[Output]]"]
Call = Callable[["Expressions", Node, "Scope"], Value]


@dataclass(frozen=True)
class Output:
    """A column of a query: its name ("" if it has none), and its value, whose type may not be known."""

    name: str
    value: Value


@dataclass
class Source:
    """A table of FROM: its name or alias, and its columns, None if they are not known."""

    name: str
    columns: dict[str, Value] | None


@dataclass
class Scope:
    """The tables that an expression can name; those of queries around it in `outer`."""

    sources: list[Source] = field(default_factory=list)
    outer: Scope | None = None
    groups: dict[str, Node] = field(default_factory=dict)
    """Keys of GROUP BY that are grouped by another expression, by their SQL: what stands for them elsewhere."""

    def find(self, table: str, column: str) -> Value | None:
        """Return the column as its table has it. None if its type is not known. Refuses unknown columns."""
        scope: Scope | None = self
        while scope is not None:
            named = [s for s in scope.sources if not table or s.name == table]
            known = [s.columns[column] for s in named if s.columns is not None and column in s.columns]
            if len(known) == 1 and all(s.columns is not None for s in named):
                return known[0]
            if known or any(s.columns is None for s in named):
                return None
            scope = scope.outer
        where = f"{table}.{column}" if table else column
        return refuse(f"the column {where}, which no table of the statement has") if self.complete() else None

    def complete(self) -> bool:
        scope: Scope | None = self
        while scope is not None:
            if any(s.columns is None for s in scope.sources):
                return False
            scope = scope.outer
        return True


_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_ORDERED = (exp.GT, exp.GTE, exp.LT, exp.LTE)
_UNITS = {"YEAR": 0, "MONTH": 2, "DAY": 4, "HOUR": 6, "MINUTE": 8, "SECOND": 10}


class Expressions:
    """Translates the expressions of one statement."""

    def __init__(self, target: Target, rows: Rows, call: Call) -> None:
        self.target = target
        self.values = Conversions(target)
        self.rows = rows
        self.call = call

    # ---- entry ----------------------------------------------------------------------------------------------
    def value(self, node: Node, scope: Scope) -> Value:
        """Translate an expression. Raises UnsupportedError, which names what has no equivalent."""
        group = scope.groups.get(_group_key(node)) if scope.groups else None
        found = self._value(node, scope)
        if group is not None:
            return replace(found, node=group.copy())
        return found

    def _value(self, node: Node, scope: Scope) -> Value:
        handler = _NODES.get(type(node))
        if handler is None:
            refuse(f"{type(node).__name__} in an expression")
        return handler(self, node, scope)

    def plain(self, node: Node, scope: Scope) -> Value:
        """Translate an expression that becomes a column: a quoted string is a text."""
        found = self.value(node, scope)
        if found.literal is not None:
            width = max(1, len(found.literal))
            return Value(string(found.literal), ColumnType.char(min(width, 32767)), literal=found.literal)
        if found.interval is not None:
            refuse("an INTERVAL as a column")
        return found

    def condition(self, node: Node, scope: Scope) -> Node:
        """Translate a condition."""
        if isinstance(node, exp.Paren):
            return exp.Paren(this=self.condition(node.this, scope))
        if isinstance(node, (exp.And, exp.Or)):
            return type(node)(
                this=self.condition(node.this, scope), expression=self.condition(node.expression, scope)
            )
        if isinstance(node, exp.Not):
            return exp.Not(this=exp.Paren(this=self.condition(node.this, scope)))
        found = self.value(node, scope)
        if isinstance(node, exp.Column) and not (found.type is not None and found.type.is_boolean):
            refuse("a condition that is a column of unknown type")
        return found.node

    # ---- comparison -----------------------------------------------------------------------------------------
    def compare(self, kind: type[Any], a: Value, b: Value) -> Node:
        """Translate `a op b`."""
        if a.unknown and b.unknown:
            return self._compare_unknown(kind, a, b)
        left, right = self.values.meet(a, b)
        ordered = issubclass(kind, _ORDERED)
        if ordered and (
            is_text(a.type)
            or is_text(b.type)
            or (a.literal is not None and b.unknown)
            or (b.literal is not None and a.unknown)
        ):
            left = self.target.collated(left)
        return binary(kind, left, right)

    def _compare_unknown(self, kind: type[Any], a: Value, b: Value) -> Node:
        """Compare two columns of unknown type. They may be texts, whose trailing blanks do not count."""
        plain = binary(kind, a.node, b.node)
        same = binary(exp.EQ, self.values.key(a), self.values.key(b))
        if kind in (exp.EQ, exp.LTE, exp.GTE):
            return exp.Paren(this=exp.Or(this=plain, expression=same))
        return exp.Paren(this=exp.And(this=plain, expression=exp.Not(this=exp.Paren(this=same))))

    def column(self, value: Value) -> Value:
        """Return a value of a query's own column."""
        return value

    # ---- times ----------------------------------------------------------------------------------------------
    def add_interval(self, moment: Value, span: Value, sign: int) -> Value:
        """Translate a DATE or DATETIME plus or minus an INTERVAL."""
        assert span.interval is not None
        assert span.type is not None
        needs_type(moment, "a sum with an INTERVAL")
        t = moment.type
        assert t is not None
        qualifier = span.type.qualifier
        assert qualifier is not None
        if t.code == TypeCode.DATE:
            if qualifier.has_seconds_fraction:
                refuse("a DATE plus fractions of a second")
            end = max(qualifier.end, int(Field.DAY))
            found = ColumnType(TypeCode.DATETIME.value, Qualifier.datetime(Field.YEAR, end).encoded)
        else:
            assert t.qualifier is not None
            if kind_of(t) == "TIME":
                refuse("a DATETIME without a date plus an INTERVAL")
            if qualifier.end > t.qualifier.end:
                refuse("a DATETIME plus an INTERVAL with finer fields (Informix fails with -1266)")
            found = t
        kind = kind_of(found)
        node = self.values.moment_as(moment, kind)
        for count, unit in span.interval:
            counted = count if sign > 0 else _negative(count)
            shifted = self.target.shifted(node, counted, unit, kind)
            if unit in ("MONTH", "YEAR"):
                other = exp.NEQ(
                    this=self.target.part("DAY", shifted), expression=self.target.part("DAY", node.copy())
                )
                shifted = self.target.failing(
                    other, "Informix error -1267:", node.copy(), shifted.copy(), kind
                )
            node = shifted
        return Value(node, found)


def _negative(count: Node) -> Node:
    if isinstance(count, exp.Neg) and isinstance(count.this, exp.Literal):
        return count.this.copy()
    return exp.Neg(this=paren(count))


def _group_key(node: Node) -> str:
    return str(node.sql()).lower()


# ---- leaves ---------------------------------------------------------------------------------------------------
def _literal(tr: Expressions, node: Node, scope: Scope) -> Value:
    if node.is_string:
        text = str(node.this)
        if "\\" in text and tr.target.name in ("spark", "bigquery", "snowflake"):
            refuse(f"a backslash in a string for {tr.target.name}")
        return Value(string(text), literal=text)
    text = str(node.this)
    kind = number_type(text)
    if kind.code in FLOATS:
        return Value(tr.target.cast(number(text), "DOUBLE"), kind)
    return constant(tr.target, Decimal(text))


def _null(tr: Expressions, node: Node, scope: Scope) -> Value:
    return Value(exp.Null(), null=True)


_SESSION_WORDS = frozenset(
    {"rowid", "user", "current_user", "dbservername", "sitename", "level", "current_role", "default_role"}
)


def _column(tr: Expressions, node: Node, scope: Scope) -> Value:
    name, table = node.name.lower(), node.table.lower()
    if name in ("nextval", "currval") and table and not any(s.name == table for s in scope.sources):
        return Value(tr.target.next_value(table, name), ColumnType.bigint())
    if name in _SESSION_WORDS and not _has_column(scope, table, name):
        refuse(name.upper())
    if node.args.get("catalog") is not None:
        refuse("a column with its database")
    found = scope.find(table, name)
    column = exp.Column(
        this=identifier(tr.target, name), table=identifier(tr.target, table) if table else None
    )
    if found is None:
        return Value(column, name=name)
    return Value(column, found.type, width=found.width, name=name)


def _has_column(scope: Scope, table: str, name: str) -> bool:
    around: Scope | None = scope
    while around is not None:
        if any(name in (s.columns or {}) for s in around.sources if not table or s.name == table):
            return True
        around = around.outer
    return False


def _paren(tr: Expressions, node: Node, scope: Scope) -> Value:
    inner = tr.value(node.this, scope)
    return (
        inner
        if inner.literal is not None or inner.interval is not None
        else replace(inner, node=paren(inner.node))
    )


# ---- operators ------------------------------------------------------------------------------------------------
def _comparison(tr: Expressions, node: Node, scope: Scope) -> Value:
    if isinstance(node.expression, (exp.Any, exp.All)):
        return _quantified(tr, node, scope)
    if isinstance(node.this, exp.Tuple) or isinstance(node.expression, exp.Tuple):
        return Value(_tuples(tr, type(node), node.this, node.expression, scope), ColumnType.boolean())
    a, b = tr.value(node.this, scope), tr.value(node.expression, scope)
    return Value(tr.compare(type(node), a, b), ColumnType.boolean())


def _tuples(tr: Expressions, kind: type[Any], left: Node, right: Node, scope: Scope) -> Node:
    if kind not in (exp.EQ, exp.NEQ) or not (isinstance(left, exp.Tuple) and isinstance(right, exp.Tuple)):
        refuse("an ordered comparison of several values")
    terms = [
        tr.compare(exp.EQ, tr.value(a, scope), tr.value(b, scope))
        for a, b in zip(left.expressions, right.expressions, strict=True)
    ]
    found = exp.Paren(this=exp.and_(*terms, copy=False))
    return found if kind is exp.EQ else exp.Not(this=found)


def _one_column(tr: Expressions, query: Node, scope: Scope) -> tuple[Node, Value]:
    inner = query.this if isinstance(query, exp.Subquery) else query
    rows, outputs = tr.rows(tr, inner, scope)
    if len(outputs) != 1:
        refuse("a subquery of several columns")
    return rows, outputs[0].value


def _operands_and_rows(
    tr: Expressions, this: Value, query: Node, scope: Scope, *, ordered: bool = False
) -> tuple[Node, Node]:
    """Translate the operands of IN, ANY and ALL: a value and a subquery of comparable values."""
    rows, output = _one_column(tr, query, scope)
    needs_type(this, "IN or ANY with a subquery")
    needs_type(output, "the column of a subquery")
    column = exp.column("v", table="q")
    wanted = Value(column, output.type, width=output.width)
    left, right = tr.values.meet(this, wanted)
    if ordered and is_text(this.type):
        left = tr.target.collated(left)
    if right == column:
        return left, rows
    if tr.target.name == "bigquery":
        refuse("a subquery whose values need a conversion")
    alias = exp.TableAlias(this=exp.to_identifier("q"), columns=[exp.to_identifier("v")])
    return left, exp.Select(expressions=[right], from_=exp.From(this=exp.Subquery(this=rows, alias=alias)))


def _quantified(tr: Expressions, node: Node, scope: Scope) -> Value:
    if tr.target.name in ("spark", "bigquery", "snowflake"):
        refuse("ANY and ALL with a subquery")
    ordered = isinstance(node, _ORDERED)
    left, rows = _operands_and_rows(
        tr, tr.value(node.this, scope), node.expression.this, scope, ordered=ordered
    )
    found = type(node)(this=left, expression=type(node.expression)(this=exp.Subquery(this=rows)))
    return Value(found, ColumnType.boolean())


def _arithmetic(tr: Expressions, node: Node, scope: Scope) -> Value:
    return arithmetic(tr, type(node), tr.value(node.this, scope), tr.value(node.expression, scope))


def arithmetic(tr: Expressions, kind: type[Any], a: Value, b: Value) -> Value:
    """Translate `a op b`."""
    target = tr.target
    if a.interval is not None or b.interval is not None:
        return _with_interval(tr, kind, a, b)
    if a.null or b.null:
        refuse("arithmetic with NULL")
    a, b = _number_literal(tr, a, b), _number_literal(tr, b, a)
    if a.unknown or b.unknown:
        other = b if a.unknown else a
        if kind is exp.Div:
            needs_type(a if a.unknown else b, "a quotient")
        if is_text(other.type) or (
            kind is exp.Sub
            and (target.name not in ("postgres", "duckdb") or is_moment(other.type))
            and not is_number(b.type)
        ):
            needs_type(a if a.unknown else b, "arithmetic")
        if is_moment(other.type):
            needs_type(a if a.unknown else b, "arithmetic with a date")
        if kind is not exp.Mul and other.type is not None and other.type.code not in INTEGERS:
            needs_type(a if a.unknown else b, "arithmetic")
        return Value(binary(kind, a.node, b.node))
    ta, tb = a.type, b.type
    assert ta is not None
    assert tb is not None
    if is_moment(ta) or is_moment(tb):
        return _dates(tr, kind, a, b)
    if not (is_number(ta) and is_number(tb)):
        refuse(f"arithmetic of {ta.sql} and {tb.sql}")
    return numbers(tr, kind, a, b)


def numbers(tr: Expressions, kind: type[Any], a: Value, b: Value) -> Value:
    """Translate arithmetic of numbers."""
    target, ta, tb = tr.target, a.type, b.type
    assert ta is not None
    assert tb is not None
    op = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}[kind]
    result = arithmetic_type(op, ta, tb)
    if result.code in FLOATS:
        left, right = (
            n if t.code in FLOATS and t.code != TypeCode.SMALLFLOAT else target.cast(n, "DOUBLE")
            for n, t in ((a.node, ta), (b.node, tb))
        )
        if kind is exp.Div:
            return Value(target.float_quotient(left, right), result)
        return Value(binary(kind, left, right), result)
    if kind is exp.Div:
        return Value(target.quotient(a.node, b.node), ColumnType.decimal(32))
    floating = any(t.code in DECIMALS and t.scale is None for t in (ta, tb)) or (
        result.code in DECIMALS and result.scale is None
    )
    if floating and not target.has_floating_decimal:
        refuse("arithmetic with a DECIMAL without a scale")
    left, right = a.node, b.node
    if result.code in INTEGERS:
        wide = target.type_name(result)
        left, right = (
            n if v.constant is not None or t.code == result.code else target.cast(n, wide)
            for n, v, t in ((left, a, ta), (right, b, tb))
        )
    elif target.name == "duckdb":
        left = _wide(tr, left, ta, tb)
    elif target.name == "spark" and (result.precision or 0) > 38 - 6 and (result.scale or 0) > 6:
        refuse("arithmetic of decimals with more than 38 digits")
    return Value(binary(kind, left, right), result)


def _wide(tr: Expressions, node: Node, t: ColumnType, other: ColumnType) -> Node:
    """Widen an operand, as DuckDB computes decimals of up to 18 digits with 18 digits."""
    digits, scale = (t.precision or 18, t.scale or 0) if t.code in DECIMALS else (18, 0)
    return tr.target.cast(node, f"DECIMAL({max(19, min(digits, 38))},{scale})")


def _number_literal(tr: Expressions, value: Value, other: Value) -> Value:
    if value.literal is None:
        return value
    if is_moment(other.type):
        refuse("arithmetic of a date and a text")
    try:
        return tr.values.literal_as(value.literal, ColumnType.decimal(32))
    except SqlError:
        refuse("arithmetic with a text")


def _dates(tr: Expressions, kind: type[Any], a: Value, b: Value) -> Value:
    """Translate DATE + n, DATE - n and DATE - DATE."""
    ta, tb = a.type, b.type
    assert ta is not None
    assert tb is not None
    if kind is exp.Sub and ta.code == tb.code == TypeCode.DATE:
        return Value(tr.target.days_between(a.node, b.node), ColumnType.integer())
    if kind is exp.Add and is_moment(tb) and not is_moment(ta):
        a, b, ta, tb = b, a, tb, ta
    if kind in (exp.Add, exp.Sub) and ta.code == TypeCode.DATE and is_number(tb):
        count = (
            tr.values.number_as(b, ColumnType.integer())
            if tb.code not in INTEGERS or tb.code != TypeCode.INTEGER
            else b.node
        )
        if kind is exp.Sub:
            if tr.target.name in ("postgres", "duckdb"):
                return Value(binary(exp.Sub, a.node, count), ColumnType.date())
            count = _negative(count)
        return Value(tr.target.add_days(a.node, count), ColumnType.date())
    if is_moment(ta) and is_moment(tb):
        refuse(f"the difference of {ta.sql} and {tb.sql}, which is an INTERVAL")
    refuse(f"arithmetic of {ta.sql} and {tb.sql}")


def _with_interval(tr: Expressions, kind: type[Any], a: Value, b: Value) -> Value:
    if kind is exp.Add and a.interval is not None and b.interval is None:
        a, b = b, a
    if kind in (exp.Add, exp.Sub) and b.interval is not None and a.interval is None:
        if a.literal is not None or a.null:
            refuse("a text plus an INTERVAL")
        return tr.add_interval(a, b, 1 if kind is exp.Add else -1)
    refuse("arithmetic of INTERVALs")


def _neg(tr: Expressions, node: Node, scope: Scope) -> Value:
    inner = tr.value(node.this, scope)
    if inner.interval is not None:
        return Value(inner.node, inner.type, interval=tuple((_negative(n), u) for n, u in inner.interval))
    if inner.constant is not None:
        return constant(tr.target, -inner.constant)
    if (inner.type is not None and not is_number(inner.type)) or inner.literal is not None:
        refuse("a minus before what is no number")
    return Value(exp.Neg(this=paren(inner.node)), inner.type)


def _is_null(tr: Expressions, node: Node, scope: Scope) -> Value:
    if not isinstance(node.expression, exp.Null):
        refuse("IS with anything but NULL")
    inner = tr.value(node.this, scope)
    return Value(exp.Is(this=paren(inner.node), expression=exp.Null()), ColumnType.boolean())


def _boolean_node(tr: Expressions, node: Node, scope: Scope) -> Value:
    return Value(tr.condition(node, scope), ColumnType.boolean())


def _concat(tr: Expressions, node: Node, scope: Scope) -> Value:
    return joined(tr, [tr.value(node.this, scope), tr.value(node.expression, scope)])


def joined(tr: Expressions, sides: list[Value]) -> Value:
    """Translate `a || b`. A CHAR column has its trailing blanks."""
    nodes: list[Node] = []
    width = 0
    for side in sides:
        needs_type(side, "||")
        value = tr.values.text(side, "||")
        nodes.append(tr.values.whole_text(value))
        width += (
            len(value.literal) if value.literal is not None else value.type.content_width if value.type else 0
        )
    found = nodes[0]
    for node in nodes[1:]:
        found = exp.DPipe(
            this=paren(found) if not isinstance(found, exp.DPipe) else found,
            expression=paren(node),
            safe=False,
        )
    kind = ColumnType.varchar(max(1, width)) if width <= 255 else ColumnType.lvarchar(min(width, 32739))
    return Value(exp.Paren(this=found), kind)


# ---- predicates -----------------------------------------------------------------------------------------------
def _between(tr: Expressions, node: Node, scope: Scope) -> Value:
    this = tr.value(node.this, scope)
    low, high = tr.value(node.args["low"], scope), tr.value(node.args["high"], scope)
    left = tr.compare(exp.GTE, this, low)
    return Value(
        exp.Paren(this=exp.And(this=left, expression=tr.compare(exp.LTE, this, high))), ColumnType.boolean()
    )


def _in(tr: Expressions, node: Node, scope: Scope) -> Value:
    query = node.args.get("query")
    if node.args.get("field") is not None:
        refuse("IN of a collection")
    if isinstance(node.this, exp.Tuple):
        if query is not None:
            refuse("IN of several values with a subquery")
        terms = [_tuples(tr, exp.EQ, node.this, item, scope) for item in node.expressions]
        return Value(exp.Paren(this=exp.or_(*terms, copy=False)), ColumnType.boolean())
    this = tr.value(node.this, scope)
    if query is not None:
        left, rows = _operands_and_rows(tr, this, query, scope)
        return Value(exp.In(this=paren(left), query=exp.Subquery(this=rows)), ColumnType.boolean())
    items = [tr.value(item, scope) for item in node.expressions]
    if this.unknown and any(item.unknown for item in items):
        terms = [tr.compare(exp.EQ, this, item) for item in items]
        return Value(exp.Paren(this=exp.or_(*terms, copy=False)), ColumnType.boolean())
    pairs = [tr.values.meet(this, item) for item in items]
    if len({left.sql() for left, _ in pairs}) == 1:
        return Value(
            exp.In(this=paren(pairs[0][0]), expressions=[right for _, right in pairs]), ColumnType.boolean()
        )
    terms = [exp.EQ(this=paren(left), expression=paren(right)) for left, right in pairs]
    return Value(exp.Paren(this=exp.or_(*terms, copy=False)), ColumnType.boolean())


def _pattern_operands(tr: Expressions, node: Node, scope: Scope, word: str) -> tuple[Node, Value]:
    this = tr.value(node.this, scope)
    text = tr.values.text(this, word)
    return text.node, tr.value(node.expression, scope)


def _like(tr: Expressions, node: Node, scope: Scope, escape: str = "\\") -> Value:
    text, pattern = _pattern_operands(tr, node, scope, "LIKE")
    if pattern.literal is None:
        needs_type(pattern, "LIKE with a pattern")
        if not is_text(pattern.type) or escape != "\\":
            refuse("LIKE with this pattern")
        return Value(tr.target.like(text, pattern.node), ColumnType.boolean())
    out, escaped = "", False
    for c in pattern.literal:
        if escaped:
            if c not in ("%", "_", escape):
                refuse(f"LIKE with {escape}{c} in its pattern")
            out += f"\\{c}"
            escaped = False
        elif c == escape:
            escaped = True
        else:
            out += "\\\\" if c == "\\" else c
    if escaped:
        refuse("LIKE with a pattern that ends in its escape character")
    return Value(tr.target.like(text, string(out)), ColumnType.boolean())


_SPECIAL = frozenset("\\.^$*+?()[]{}|")


def _matches(tr: Expressions, node: Node, scope: Scope, escape: str = "\\") -> Value:
    """Translate MATCHES to LIKE if it has no classes of characters, else to a regular expression."""
    text, pattern = _pattern_operands(tr, node, scope, "MATCHES")
    if pattern.literal is None:
        refuse("MATCHES with a pattern that is no literal")
    like, regex, classes = "", "", False
    rest = pattern.literal
    while rest:
        c, rest = rest[0], rest[1:]
        if c == "*":
            like, regex = like + "%", regex + ".*"
        elif c == "?":
            like, regex = like + "_", regex + "."
        elif c == "[":
            found, rest = _character_class(rest)
            classes, regex = True, regex + found
        else:
            if c == escape:
                if not rest:
                    refuse("MATCHES with a pattern that ends in its escape character")
                c, rest = rest[0], rest[1:]
            like += f"\\{c}" if c in "%_\\" else c
            regex += f"\\{c}" if c in _SPECIAL else c
    if not classes:
        return Value(tr.target.like(text, string(like)), ColumnType.boolean())
    return Value(tr.target.matches(text, regex), ColumnType.boolean())


def _character_class(rest: str) -> tuple[str, str]:
    """Return the class of a regular expression for one of MATCHES after its bracket, and the rest of the pattern."""
    inside, end, after = rest.partition("]")
    negated = inside.startswith("^")
    members = inside.removeprefix("^")
    if not end or not members or not all(c.isalnum() or c in " _-.,:;/@#" for c in members):
        refuse(f"MATCHES with the class [{inside}]")
    return f"[{'^' if negated else ''}{members}]", after


def _escape(tr: Expressions, node: Node, scope: Scope) -> Value:
    character = str(node.expression.this) if isinstance(node.expression, exp.Literal) else ""
    if len(character) != 1:
        refuse("ESCAPE without one character")
    if isinstance(node.this, exp.Like):
        return _like(tr, node.this, scope, character)
    if isinstance(node.this, exp.Glob):
        return _matches(tr, node.this, scope, character)
    refuse("ESCAPE here")


def _exists(tr: Expressions, node: Node, scope: Scope) -> Value:
    inner = node.this.this if isinstance(node.this, exp.Subquery) else node.this
    return Value(exp.Exists(this=tr.rows(tr, inner, scope)[0]), ColumnType.boolean())


def _subquery(tr: Expressions, node: Node, scope: Scope) -> Value:
    rows, output = _one_column(tr, node, scope)
    return Value(exp.Subquery(this=rows), output.type, width=output.width)


# ---- CASE, CAST and the like ----------------------------------------------------------------------------------
def _case(tr: Expressions, node: Node, scope: Scope) -> Value:
    operand = tr.value(node.this, scope) if node.args.get("this") is not None else None
    tests: list[Node] = []
    results: list[Value] = []
    for branch in node.args.get("ifs") or ():
        if operand is None:
            tests.append(tr.condition(branch.this, scope))
        else:
            tests.append(tr.compare(exp.EQ, operand, tr.value(branch.this, scope)))
        results.append(tr.value(branch.args["true"], scope))
    default = node.args.get("default")
    return choose(tr, tests, results, tr.value(default, scope) if default is not None else None)


def choose(tr: Expressions, tests: list[Node], results: list[Value], default: Value | None) -> Value:
    """Translate a CASE from translated conditions and values."""
    nodes, t = tr.values.common([*results, default] if default is not None else results)
    ifs = [exp.If(this=test, true=node) for test, node in zip(tests, nodes, strict=False)]
    return Value(exp.Case(ifs=ifs, default=nodes[-1] if default is not None else None), t)


def _cast(tr: Expressions, node: Node, scope: Scope) -> Value:
    return tr.values.cast(tr.value(node.this, scope), declared_type(node.args["to"]))


def declared_type(node: Node) -> ColumnType:
    declared = str(node.meta.get("informix") or "")
    try:
        return ColumnType.parse_sql(declared)
    except ValueError:
        refuse(f"the type {declared or node.sql()}")


def _bracket(tr: Expressions, node: Node, scope: Scope) -> Value:
    """Translate `a[2,3]`. It counts bytes, which are characters in a single-byte code set."""
    inner = tr.values.text(tr.value(node.this, scope), "a substring")
    if not all(isinstance(e, exp.Literal) and not e.is_string for e in node.expressions):
        refuse("a substring whose positions are no numbers")
    first, last = int(str(node.expressions[0].this)), int(str(node.expressions[-1].this))
    if first < 1 or last < first or len(node.expressions) > 2:
        refuse(f"the substring [{first},{last}]")
    size = last - first + 1
    piece = tr.target.substring(inner.node, number(first), number(size))
    if inner.width:
        return Value(tr.target.trimmed(piece), ColumnType.char(size), width=size)
    return Value(piece, ColumnType.varchar(size) if size <= 255 else ColumnType.lvarchar(size))


def _trim(tr: Expressions, node: Node, scope: Scope) -> Value:
    inner = tr.values.text(tr.value(node.this, scope), "TRIM")
    if node.args.get("expression") is not None:
        what = tr.value(node.args["expression"], scope)
        if what.literal != " ":
            refuse("TRIM of other characters than blanks")
    found = tr.target.trim(inner.node, str(node.args.get("position") or "").upper())
    return Value(found, _varying(inner))


def _varying(value: Value) -> ColumnType | None:
    if value.literal is not None:
        return ColumnType.varchar(max(1, min(255, len(value.literal))))
    if value.type is None or not is_text(value.type):
        return ColumnType.lvarchar(2048)
    width = value.type.content_width
    return ColumnType.varchar(width) if width <= 255 else ColumnType.lvarchar(width)


def _substring(tr: Expressions, node: Node, scope: Scope) -> Value:
    inner = tr.values.text(tr.value(node.this, scope), "SUBSTRING")
    start, length = node.args.get("start"), node.args.get("length")
    if not _positive(start) or (length is not None and not _positive(length)):
        refuse("SUBSTRING with positions that are no positive numbers")
    assert start is not None
    size = None if length is None else number(str(length.this))
    return Value(tr.target.substring(inner.node, number(str(start.this)), size), _varying(inner))


def _positive(node: Node | None) -> bool:
    return (
        isinstance(node, exp.Literal)
        and not node.is_string
        and str(node.this).isdigit()
        and int(str(node.this)) > 0
    )


# ---- times ----------------------------------------------------------------------------------------------------
def _today(tr: Expressions, node: Node, scope: Scope) -> Value:
    return Value(tr.target.today(), ColumnType.date())


def _qualified(text: str) -> ColumnType:
    try:
        return ColumnType.datetime(text)
    except ValueError as error:
        refuse(str(error))


def _current(tr: Expressions, node: Node, scope: Scope) -> Value:
    now = Value(tr.target.now(), ColumnType.datetime("YEAR TO FRACTION(5)"))
    return tr.values.extended(now, _qualified(str(node.args["qualifier"])))


def _datetime_literal(tr: Expressions, node: Node, scope: Scope) -> Value:
    return tr.values.literal_as(str(node.this), _qualified(str(node.args["qualifier"])))


def _interval_literal(tr: Expressions, node: Node, scope: Scope) -> Value:
    try:
        t = ColumnType.interval(str(node.args["qualifier"]))
        assert t.qualifier is not None
        units = parse_interval(str(node.this), t.qualifier)
    except (ValueError, SqlError) as error:
        refuse(f"INTERVAL ({node.this}) {node.args['qualifier']} ({error})")
    if t.qualifier.is_year_month:
        return Value(exp.Null(), t, interval=((number(units), "MONTH"),))
    if units % DAY == 0:
        return Value(exp.Null(), t, interval=((number(units // DAY), "DAY"),))
    if units % SECOND:
        if tr.target.name not in ("postgres", "duckdb", "spark", "snowflake", "bigquery"):
            refuse("fractions of a second")
        return Value(exp.Null(), t, interval=((number(units * 10), "MICROSECOND"),))
    return Value(exp.Null(), t, interval=((number(units // SECOND), "SECOND"),))


def _units(tr: Expressions, node: Node, scope: Scope) -> Value:
    unit = str(node.args["unit"]).partition("(")[0]
    if unit == "FRACTION":
        refuse("UNITS FRACTION")
    count = tr.value(node.this, scope)
    if count.literal is not None or (count.type is not None and not is_number(count.type)):
        refuse("UNITS of what is no number")
    needs_type(count, "UNITS")
    assert count.type is not None
    whole = count.node if count.type.code in INTEGERS else tr.values.number_as(count, ColumnType.bigint())
    return Value(exp.Null(), ColumnType.interval(f"{unit}(9) TO {unit}"), interval=((whole, unit),))


def _extend(tr: Expressions, node: Node, scope: Scope) -> Value:
    inner = tr.value(node.this, scope)
    t = _qualified(str(node.args.get("qualifier") or "YEAR TO FRACTION(3)"))
    if inner.literal is not None:
        inner = tr.values.literal_as(inner.literal, ColumnType.date())
    needs_type(inner, "EXTEND")
    if not is_moment(inner.type):
        refuse("EXTEND of what is no date")
    return tr.values.extended(inner, t)


# ---- aggregates -----------------------------------------------------------------------------------------------
Over = Callable[[Node], Node]


def _aggregate(tr: Expressions, node: Node, scope: Scope) -> Value:
    return aggregate(tr, node, _without_groups(scope), lambda found: found)


def _without_groups(scope: Scope) -> Scope:
    return Scope(scope.sources, scope.outer) if scope.groups else scope


def aggregate(tr: Expressions, node: Node, scope: Scope, over: Over) -> Value:
    """Translate COUNT, SUM, AVG, MIN and MAX. `over` adds the window."""
    this, distinct = node.this, False
    if isinstance(this, exp.Distinct):
        distinct, this = True, this.expressions[0]
        if isinstance(this, exp.Star):
            refuse("COUNT(DISTINCT *)")
    kind = type(node)
    if isinstance(this, exp.Star):
        return Value(over(exp.Count(this=exp.Star())), ColumnType.decimal(15, 0))
    inner = tr.plain(this, scope)

    def made(name: Any, what: Node) -> Node:
        return over(name(this=exp.Distinct(expressions=[what]) if distinct else what))

    if kind is exp.Count:
        counted = tr.values.key(inner) if distinct else inner.node
        return Value(made(exp.Count, counted), ColumnType.decimal(15, 0))
    if kind in (exp.Min, exp.Max):
        what = tr.target.collated(inner.node) if is_text(inner.type) else inner.node
        if inner.type is not None and inner.type.is_boolean:
            refuse("MIN and MAX of BOOLEAN")
        return Value(over(kind(this=what)), inner.type, width=inner.width)
    if inner.unknown:
        if kind is exp.Avg:
            needs_type(inner, "AVG")
        return Value(made(exp.Sum, inner.node))
    t = inner.type
    if t is None or not is_number(t):
        refuse(f"{kind.__name__.upper()} of {t.sql if t else 'NULL'}")
    if t.code in FLOATS:
        summed = tr.target.cast(inner.node, "DOUBLE") if t.code == TypeCode.SMALLFLOAT else inner.node
        return Value(made(kind, summed), ColumnType.float_())
    if t.scale is None and t.code in DECIMALS and not tr.target.has_floating_decimal:
        refuse(f"{kind.__name__.upper()} of a DECIMAL without a scale")
    total = made(exp.Sum, inner.node)
    if kind is exp.Avg:
        return Value(tr.target.quotient(total, made(exp.Count, inner.node.copy())), ColumnType.decimal(32))
    scale = t.scale if t.code in DECIMALS else 0
    return Value(total, ColumnType.decimal(32) if scale is None else ColumnType.decimal(32, scale))


_NUMBERING = {
    "row_number": "ROW_NUMBER", "rownumber": "ROW_NUMBER", "rank": "RANK", "dense_rank": "DENSE_RANK",
    "denserank": "DENSE_RANK", "ntile": "NTILE", "percent_rank": "PERCENT_RANK", "cume_dist": "CUME_DIST",
}  # fmt: skip


def _window(tr: Expressions, node: Node, scope: Scope) -> Value:
    if node.args.get("alias") or (node.args.get("first") is not None and not node.args["first"]):
        refuse("a named window")
    this = node.this
    if isinstance(this, (exp.IgnoreNulls, exp.RespectNulls)):
        if isinstance(this, exp.IgnoreNulls):
            refuse("IGNORE NULLS")
        this = this.this
    window = _window_clause(tr, node, scope)

    def over(found: Node) -> Node:
        made: Node = exp.Window(this=found, **{name: _copied(part) for name, part in window.items()})
        return made

    if type(this) in (exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max):
        return aggregate(tr, this, scope, over)
    if not isinstance(this, exp.Anonymous):
        refuse(f"{type(this).__name__} with OVER")
    name, items = this.name.lower(), list(this.expressions)
    if name in _NUMBERING:
        if any(not _positive(item) for item in items):
            refuse("NTILE of what is no number")
        t = ColumnType.float_() if name in ("percent_rank", "cume_dist") else ColumnType.bigint()
        return Value(over(call(_NUMBERING[name], *(number(str(i.this)) for i in items))), t)
    if name in ("lag", "lead", "first_value", "last_value") and items:
        if isinstance(items[0], (exp.IgnoreNulls, exp.RespectNulls)):
            refuse("IGNORE NULLS and RESPECT NULLS in the parentheses of a function")
        value = tr.plain(items[0], scope)
        args = [value.node]
        if len(items) > 1:
            if not _positive(items[1]):
                refuse(f"{name.upper()} with an offset that is no number")
            args.append(number(str(items[1].this)))
        if len(items) > 2:
            nodes, _ = tr.values.common([value, tr.value(items[2], scope)])
            args = [nodes[0], args[1], nodes[1]]
        return Value(over(call(name.upper(), *args)), value.type, width=value.width)
    refuse(f"{name.upper()} with OVER")


def _copied(part: Any) -> Any:
    return [p.copy() for p in part] if isinstance(part, list) else part.copy()


def _window_clause(tr: Expressions, node: Node, scope: Scope) -> dict[str, Any]:
    window: dict[str, Any] = {}
    partition = node.args.get("partition_by")
    if partition:
        window["partition_by"] = [tr.values.key(tr.value(item, scope)) for item in partition]
    order = node.args.get("order")
    if order is not None:
        window["order"] = exp.Order(
            expressions=[ordered(tr, item, tr.value(item.this, scope)) for item in order.expressions]
        )
    spec = node.args.get("spec")
    if spec is not None:
        if str(spec.args["kind"]).upper() != "ROWS":
            refuse("a frame of RANGE")
        window["spec"] = spec.copy()
    return window


def ordered(tr: Expressions, item: Node, value: Value) -> Node:
    """Return a key of ORDER BY. NULL is the smallest value, texts are ordered by their code points."""
    descending = bool(item.args.get("desc"))
    key = tr.values.key(value) if not value.unknown else value.node
    if is_text(value.type) or value.literal is not None:
        key = tr.target.collated(key)
    explicit = item.args.get("nulls_first")
    first = not descending if explicit is None else bool(explicit)
    return exp.Ordered(this=key, desc=descending, nulls_first=first)


# ---- calls ----------------------------------------------------------------------------------------------------
def _call(tr: Expressions, node: Node, scope: Scope) -> Value:
    return tr.call(tr, node, scope)


Handler = Callable[[Expressions, Any, Scope], Value]
_NODES: dict[type[Any], Handler] = {
    exp.Literal: _literal,
    exp.Null: _null,
    exp.Column: _column,
    exp.Paren: _paren,
    **dict.fromkeys(_COMPARISONS, _comparison),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.Div), _arithmetic),
    exp.Neg: _neg,
    exp.Is: _is_null,
    exp.Not: _boolean_node,
    exp.And: _boolean_node,
    exp.Or: _boolean_node,
    exp.DPipe: _concat,
    exp.Between: _between,
    exp.In: _in,
    exp.Like: _like,
    exp.Glob: _matches,
    exp.Escape: _escape,
    exp.Exists: _exists,
    exp.Subquery: _subquery,
    exp.Select: _subquery,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.Bracket: _bracket,
    exp.Trim: _trim,
    exp.Substring: _substring,
    exp.Anonymous: _call,
    exp.Window: _window,
    **dict.fromkeys((exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max), _aggregate),
    d.Today: _today,
    d.CurrentDatetime: _current,
    d.DatetimeLiteral: _datetime_literal,
    d.IntervalLiteral: _interval_literal,
    d.Units: _units,
    d.Extend: _extend,
}
