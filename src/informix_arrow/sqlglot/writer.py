"""Writes Informix SQL from the trees of other dialects.

Only nodes that mean the same in Informix are written, or rewritten to what means the same. All others are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlglot import exp, transforms

from ..server.parse.dialect import InformixGenerator
from .targets import Node, call, number, paren, refuse, string

_SAME = (
    exp.Alias, exp.And, exp.Between, exp.Boolean, exp.CTE, exp.Case, exp.Column, exp.CurrentDate,
    exp.CurrentTimestamp, exp.DPipe, exp.DataType, exp.DataTypeParam, exp.Delete, exp.Distinct, exp.EQ,
    exp.Escape, exp.Except, exp.Exists, exp.From, exp.GT, exp.GTE, exp.Group, exp.Having, exp.Identifier,
    exp.If, exp.In, exp.Insert, exp.Intersect, exp.Is, exp.Join, exp.LT, exp.LTE, exp.LastDay, exp.Like,
    exp.Limit, exp.Literal, exp.Mul, exp.NEQ, exp.Neg, exp.Not, exp.Null, exp.Nullif, exp.Offset, exp.Or,
    exp.Order, exp.Ordered, exp.Paren, exp.Placeholder, exp.Properties, exp.Schema, exp.Select, exp.Star,
    exp.Sub, exp.Subquery, exp.Table, exp.TableAlias, exp.TemporaryProperty, exp.Tuple, exp.Union, exp.Update,
    exp.Values, exp.Var, exp.Where, exp.Window, exp.WindowSpec, exp.With, exp.Add, exp.Upper, exp.Lower,
    exp.Trim, exp.Abs, exp.Ceil, exp.Floor, exp.Sign, exp.Sqrt, exp.Exp, exp.Ln, exp.Count, exp.Sum, exp.Avg,
    exp.Min, exp.Max, exp.StddevPop, exp.VariancePop, exp.RowNumber, exp.Rank, exp.DenseRank, exp.Ntile,
    exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.Create, exp.Command,
)  # fmt: skip
_SPECIAL = (
    exp.Anonymous, exp.Cast, exp.Interval, exp.Coalesce, exp.Substring, exp.Div, exp.Round, exp.Trunc,
    exp.NullSafeEQ, exp.NullSafeNEQ,
)  # fmt: skip
_UNWANTED = {
    exp.Join: ("using", "method", "global_", "match_condition"),
    exp.Select: ("windows", "sample", "sort", "cluster", "distribute", "pivots", "laterals", "prewhere"),
    exp.Table: ("sample", "pivots", "version", "when", "only", "joins"),
    exp.Group: ("cube", "rollup", "grouping_sets", "totals", "all"),
    exp.Insert: ("conflict", "returning", "overwrite", "by_name", "with_"),
    exp.Update: ("returning", "from_", "with_", "order", "limit"),
    exp.Delete: ("returning", "using", "with_", "order", "limit"),
    exp.Window: ("alias",),
    exp.Except: ("by_name",),
    exp.Union: ("by_name",),
}  # fmt: skip
"""Clauses that Informix does not have."""

_FORMATS = frozenset("YmdHMSyjBbAapI")
_INTERVALS = frozenset({"DAY", "HOUR", "MINUTE", "SECOND"})
_PARTS = {"YEAR": "YEAR", "MONTH": "MONTH", "DAY": "DAY", "QUARTER": "QUARTER"}


class InformixWriter(InformixGenerator):
    """Generates Informix SQL."""


def prepared(tree: Node) -> Node:
    """Return a tree of another dialect in Informix's terms. Raises UnsupportedError, which names what it lacks."""
    tree = tree.copy()
    if isinstance(tree, (exp.Command, exp.Set, exp.Use)) or (
        isinstance(tree, exp.Create) and not _is_temporary(tree)
    ):
        refuse(
            f"the statement {tree.key.upper()}",
            "Only queries, data changes and temporary tables of a query are translated.",
        )
    for select in list(tree.find_all(exp.Select)):
        made = _select(select)
        if select is tree:
            tree = made
    for operation in list(tree.find_all(exp.SetOperation)):
        made = _set_operation(operation)
        if operation is tree:
            tree = made
    for node in reversed(list(tree.walk(bfs=False))):  # from the inside out: arguments are rewritten first
        made = _node(node)
        if made is node:
            continue
        if node is tree:
            tree = made
        else:
            node.replace(made)
    for node in tree.walk():
        _check(node)
    return tree


def _is_temporary(tree: Node) -> bool:
    properties = tree.args.get("properties")
    return bool(properties and properties.find(exp.TemporaryProperty)) and isinstance(
        tree.expression, exp.Query
    )


def _check(node: Node) -> None:
    if type(node) not in _SAME and not isinstance(node, _SPECIAL):
        refuse(f"{node.sql_name() if isinstance(node, exp.Func) else type(node).__name__}")
    for name in _UNWANTED.get(type(node), ()):
        if node.args.get(name):
            refuse(f"{name.strip('_').upper()} in {node.key.upper()}")
    if isinstance(node, (exp.Except, exp.Intersect)) and not node.args.get("distinct"):
        refuse(f"{node.key.upper()} ALL")
    if isinstance(node, exp.Star) and (node.args.get("except_") or node.args.get("replace")):
        refuse("* EXCEPT and * REPLACE")
    escaped = (
        isinstance(node, exp.Like)
        and isinstance(node.expression, exp.Literal)
        and "\\" in node.expression.name
    )
    if escaped and not isinstance(node.parent, exp.Escape):
        refuse("LIKE with a backslash, which escapes in Informix")
    if isinstance(node, exp.Trim) and node.args.get("expression") is not None:
        refuse("TRIM of other characters than blanks")
    if isinstance(node, exp.LastDay) and node.args.get("unit") is not None:
        refuse("LAST_DAY of a unit")
    if isinstance(node, exp.Values) and not isinstance(node.parent, exp.Insert):
        refuse("VALUES as a table")
    if isinstance(node, exp.Ceil) and (
        node.args.get("decimals") is not None or node.args.get("to") is not None
    ):
        refuse("CEIL with digits")
    if isinstance(node, exp.Floor) and (
        node.args.get("decimals") is not None or node.args.get("to") is not None
    ):
        refuse("FLOOR with digits")


# ---- queries --------------------------------------------------------------------------------------------------
def _select(select: Node) -> Node:
    """Rewrite QUALIFY, DISTINCT ON, semi- and anti-joins, and a query without FROM."""
    parent = select.parent
    made: Node = select
    distinct = select.args.get("distinct")
    on = distinct is not None and distinct.args.get("on") is not None
    if on or select.args.get("qualify") is not None:
        order = select.args.get("order")
        names = [item.alias_or_name for item in select.expressions]
        if order is not None and any(
            not isinstance(key.this, exp.Column) or key.this.name not in names for key in order.expressions
        ):
            refuse("QUALIFY or DISTINCT ON with ORDER BY of what is not selected")
        outer = None if order is None else order.copy()
        if not on and order is not None:
            order.pop()
        made = transforms.eliminate_distinct_on(select) if on else transforms.eliminate_qualify(select)
        for column in outer.find_all(exp.Column) if outer is not None else ():
            column.set("table", None)
        made.set("order", outer)
    if made is not select and parent is not None:
        select.replace(made)
    for join in list(made.args.get("joins") or ()):
        kind = str(join.args.get("kind") or "").upper()
        if kind in ("SEMI", "ANTI"):
            on = join.args.get("on")
            if on is None or join.args.get("using"):
                refuse(f"a {kind} JOIN without ON")
            inner = exp.Select(
                expressions=[number(1)], from_=exp.From(this=join.this), where=exp.Where(this=on)
            )
            test: Node = exp.Exists(this=inner)
            join.pop()
            made.where(test if kind == "SEMI" else exp.Not(this=test), copy=False)
    with_ = made.args.get("with_")
    if with_ is not None:
        with_.set("recursive", False)
    if made.args.get("from_") is None:
        made.set(
            "from_",
            exp.From(
                this=exp.Table(this=exp.to_identifier("sysdual"), catalog=exp.to_identifier("sysmaster"))
            ),
        )
    for item in made.expressions:
        inner = item.this if isinstance(item, exp.Alias) else item
        if isinstance(inner, (exp.Predicate, exp.Connector, exp.Not)) and not isinstance(
            inner, exp.SubqueryPredicate
        ):
            _as_value(inner)
    return made


def _as_value(condition: Node) -> None:
    """Replace a condition among the columns by a CASE."""
    true = exp.Cast(this=string("t"), to=exp.DataType.build("BOOLEAN"))
    false = exp.Cast(this=string("f"), to=exp.DataType.build("BOOLEAN"))
    negated = exp.Not(this=exp.Paren(this=condition.copy()))
    condition.replace(
        exp.Case(ifs=[exp.If(this=condition.copy(), true=true), exp.If(this=negated, true=false)])
    )


def _set_operation(operation: Node) -> Node:
    """Put a set operation with LIMIT into a derived table, as FIRST belongs to a SELECT."""
    limit, offset = operation.args.get("limit"), operation.args.get("offset")
    if limit is None and offset is None:
        return operation
    if isinstance(limit, exp.Limit) and limit.meta.get("top"):
        return operation
    operation.set("limit", None)
    operation.set("offset", None)
    order = operation.args.get("order")
    operation.set("order", None)
    parent = operation.parent
    inner = operation.copy()
    alias = exp.TableAlias(this=exp.to_identifier("limited"))
    made = exp.Select(
        expressions=[exp.Star()],
        from_=exp.From(this=exp.Subquery(this=inner, alias=alias)),
        order=order,
        limit=limit,
        offset=offset,
    )
    if parent is not None:
        operation.replace(made)
    return made


# ---- expressions ----------------------------------------------------------------------------------------------
def _node(node: Node) -> Node:
    handler = _REWRITTEN.get(type(node))
    return node if handler is None else handler(node)


def _name(name: str) -> Callable[[Any], Node]:
    """Write a function of one argument by another name."""
    return lambda node: call(name, node.this)


def _anonymous(node: Any) -> Node:
    from .functions import FUNCTIONS

    name = node.name.lower()
    if name not in FUNCTIONS and name not in (
        "stdev",
        "variance",
        "range",
        "months_between",
        "next_day",
        "hex",
    ):
        refuse(f"the function {node.name.upper()}")
    return node


def _cast(node: Any) -> Node:
    kind, inner = node.to.this, node.this
    types = exp.DataType.Type
    if isinstance(node, exp.TryCast) and type(node) is exp.TryCast:
        refuse("TRY_CAST")
    while isinstance(inner, exp.Paren):
        inner = inner.this
    if kind in exp.DataType.INTEGER_TYPES:
        whole = isinstance(
            inner, (exp.Count, exp.Round, exp.Trunc, exp.Floor, exp.Ceil, exp.Length, exp.Extract)
        ) or (
            (isinstance(inner, exp.Literal) and (inner.is_string or inner.is_int))
            or (isinstance(inner, exp.Cast) and inner.to.this in exp.DataType.INTEGER_TYPES)
            or (
                isinstance(inner, exp.Anonymous)
                and inner.name.upper() in ("CHAR_LENGTH", "TRUNC", "YEAR", "MONTH", "DAY")
            )
        )
        if not whole:
            refuse(
                "a cast to an integer, which Informix cuts and others round",
                "Use ROUND, FLOOR or TRUNC in it.",
            )
    allowed = (
        *exp.DataType.INTEGER_TYPES, types.FLOAT, types.DOUBLE, types.DECIMAL, types.DATE, types.TIMESTAMP,
        types.TIMESTAMPNTZ, types.DATETIME, types.VARCHAR, types.CHAR, types.TEXT,
        types.BOOLEAN, types.NCHAR, types.NVARCHAR,
    )  # fmt: skip
    if kind not in allowed:
        refuse(f"a cast to {node.to.sql()}")
    if kind == types.DECIMAL and not node.to.expressions:
        refuse("a cast to DECIMAL without digits")
    return exp.Cast(this=node.this, to=node.to)


def _div(node: Any) -> Node:
    """Write a quotient. That of FLOATs is the same; integers are divided in different ways."""
    left, right = node.this, node.expression
    if node.args.get("safe"):
        right = call("NULLIF", right, 0)
    if not node.args.get("typed"):
        return exp.Div(
            this=exp.Cast(this=left, to=exp.DataType.build("DOUBLE")), expression=right, typed=True
        )
    double = (exp.DataType.Type.DOUBLE, exp.DataType.Type.FLOAT)
    if any(isinstance(side, exp.Cast) and side.to.this in double for side in (left, right)):
        return exp.Div(this=left, expression=right, typed=True)
    refuse("a quotient, whose digits depend on the types", "Cast an operand to DOUBLE PRECISION.")


def _int_div(node: Any) -> Node:
    return call("TRUNC", exp.Div(this=node.this, expression=call("NULLIF", node.expression, 0), typed=True))


def _mod(node: Any) -> Node:
    """Write a remainder. MOD of Informix drops the fractions of both numbers first."""
    left, right = paren(node.this), paren(node.expression)
    whole = call("TRUNC", exp.Div(this=left.copy(), expression=right.copy(), typed=True))
    return exp.Paren(this=exp.Sub(this=left, expression=exp.Mul(this=right, expression=whole)))


def _extract(node: Any) -> Node:
    unit = node.name.upper() if isinstance(node.this, str) else node.this.name.upper()
    if unit not in _PARTS:
        refuse(f"EXTRACT of {unit}")
    return call(_PARTS[unit], node.expression)


def _truncated(node: Any) -> Node:
    unit = node.text("unit").upper()
    if unit not in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND") or node.args.get("zone") is not None:
        refuse(f"DATE_TRUNC to {unit}")
    return exp.Cast(
        this=exp.Cast(this=node.this, to=_raw(f"DATETIME YEAR TO {unit}")),
        to=_raw("DATETIME YEAR TO FRACTION(5)"),
    )


def _raw(text: str) -> Any:
    found = exp.DataType(this=exp.DataType.Type.TIMESTAMP)
    found.meta["informix"] = text
    return found


def _interval(node: Any) -> Node:
    unit = node.text("unit").upper().removesuffix("S")
    if unit not in _INTERVALS:
        refuse(
            f"an INTERVAL of {unit}, as months without the day differ"
            if unit in ("MONTH", "YEAR")
            else f"an INTERVAL of {unit}"
        )
    if isinstance(node.this, exp.Literal) and not node.this.name.lstrip("-").isdigit():
        refuse(f"an INTERVAL of {node.this.name!r}")
    return node


def _format(word: str) -> Callable[[Any], Node]:
    def handler(node: Any) -> Node:
        layout = node.args["format"]
        if not isinstance(layout, exp.Literal):
            refuse(f"{word} with a format that is no literal")
        pieces = layout.name.split("%")[1:]
        if not pieces or any(p[:1] not in _FORMATS for p in pieces):
            refuse(f"{word} with the format {layout.name!r}")
        return call(word, node.this, layout.name)

    return handler


def _filter(node: Any) -> Node:
    """Write an aggregate with FILTER as one of a CASE."""
    inner, condition = node.this, node.expression.this
    if type(inner) not in (exp.Count, exp.Sum, exp.Min, exp.Max, exp.Avg) or isinstance(
        inner.this, exp.Distinct
    ):
        refuse("FILTER of this aggregate")
    counted = number(1) if isinstance(inner.this, exp.Star) else inner.this
    return type(inner)(this=exp.Case(ifs=[exp.If(this=condition, true=counted)]))


def _sample(spread: str) -> Callable[[Any], Node]:
    """Write a statistic of a sample by that of a population."""

    def handler(node: Any) -> Node:
        count = exp.Count(this=node.this.copy())
        value: Node = exp.Div(
            this=exp.Mul(this=call("VARIANCE", node.this), expression=count.copy()),
            expression=exp.Paren(this=exp.Sub(this=count.copy(), expression=number(1))),
            typed=True,
        )
        if spread == "STDEV":
            value = call("SQRT", value)
        several = exp.GT(this=count, expression=number(1))
        return exp.Case(ifs=[exp.If(this=several, true=value)])

    return handler


def _concat(node: Any) -> Node:
    """Write CONCAT, which in many databases ignores NULL."""
    parts = [paren(e) for e in node.expressions]
    if node.args.get("coalesce"):
        parts = [p if isinstance(p, exp.Literal) else call("NVL", p, "") for p in parts]
    found = parts[0]
    for part in parts[1:]:
        found = exp.DPipe(this=found, expression=part)
    return exp.Paren(this=found)


def _extreme(name: str) -> Callable[[Any], Node]:
    def handler(node: Any) -> Node:
        items = [node.this, *node.expressions]
        found = call(name, *items)
        if not node.args.get("ignore_nulls"):
            return found
        if len(items) != 2:
            refuse(f"{name} of more than two values, which ignores NULL")
        a, b = items
        return exp.Case(
            ifs=[
                exp.If(this=exp.Is(this=paren(a.copy()), expression=exp.Null()), true=b.copy()),
                exp.If(this=exp.Is(this=paren(b.copy()), expression=exp.Null()), true=a.copy()),
            ],
            default=found,
        )

    return handler


def _if(node: Any) -> Node:
    if isinstance(node.parent, exp.Case):
        return node
    return exp.Case(ifs=[exp.If(this=node.this, true=node.args["true"])], default=node.args.get("false"))


def _boolean(node: Any) -> Node:
    """Write TRUE as a condition, or as a value."""
    if isinstance(node.parent, (exp.Where, exp.And, exp.Or, exp.Not, exp.Having, exp.Join, exp.If)) and not (
        isinstance(node.parent, exp.If) and node.arg_key == "true"
    ):
        return exp.EQ(this=number(1), expression=number(1 if node.this else 0))
    return node


def _substring(node: Any) -> Node:
    start, length = node.args.get("start"), node.args.get("length")
    for part in (start, length):
        if part is not None and not (isinstance(part, exp.Literal) and part.name.isdigit()):
            refuse("SUBSTRING with positions that are no positive numbers")
    if start is None or start.name == "0":
        refuse("SUBSTRING from position 0")
    return node


def _position(node: Any) -> Node:
    if node.args.get("position") is not None or node.args.get("occurrence") is not None:
        refuse("a position to search from")
    return call("INSTR", node.this, node.args["substr"])


def _days(node: Any) -> Node:
    if node.text("unit").upper() not in ("", "DAY"):
        refuse(f"DATEDIFF in {node.text('unit').upper()}")
    return exp.Paren(this=exp.Sub(this=call("DATE", node.this), expression=call("DATE", node.expression)))


def _ilike(node: Any) -> Node:
    return exp.Like(this=call("LOWER", node.this), expression=call("LOWER", node.expression))


def _side(name: str) -> Callable[[Any], Node]:
    return lambda node: call(name, node.this, node.expression)


def _pad(node: Any) -> Node:
    fill = node.args.get("fill_pattern")
    return call(
        "LPAD" if node.args.get("is_left") else "RPAD", node.this, node.expression, *([fill] if fill else [])
    )


def _replace(node: Any) -> Node:
    return call("REPLACE", node.this, node.expression, node.args.get("replacement") or string(""))


def _log(node: Any) -> Node:
    if isinstance(node.this, exp.Literal) and node.this.name == "10" and node.expression is not None:
        return call("LOG10", node.expression)
    refuse("LOG, whose base differs", "Use LN.")


def _day_of_week(node: Any) -> Node:
    refuse("DAYOFWEEK, which counts from 0 or from 1")


def _length(node: Any) -> Node:
    return call("CHAR_LENGTH", node.this)


_REWRITTEN: dict[type[Any], Callable[[Any], Node]] = {
    exp.Anonymous: _anonymous,
    exp.Boolean: _boolean,
    exp.Cast: _cast,
    exp.Concat: _concat,
    exp.DateDiff: _days,
    exp.DateFromParts: lambda n: call("MDY", n.args["month"], n.args["day"], n.args["year"]),
    exp.DateTrunc: _truncated,
    exp.Day: _name("DAY"),
    exp.DayOfWeek: _day_of_week,
    exp.Div: _div,
    exp.Extract: _extract,
    exp.Filter: _filter,
    exp.Greatest: _extreme("GREATEST"),
    exp.ILike: _ilike,
    exp.If: _if,
    exp.IntDiv: _int_div,
    exp.Interval: _interval,
    exp.Least: _extreme("LEAST"),
    exp.Left: _side("LEFT"),
    exp.Length: _length,
    exp.Log: _log,
    exp.Mod: _mod,
    exp.Month: _name("MONTH"),
    exp.Pad: _pad,
    exp.Pow: lambda n: call("POW", n.this, n.expression),
    exp.Quarter: _name("QUARTER"),
    exp.Replace: _replace,
    exp.Right: _side("RIGHT"),
    exp.Stddev: _sample("STDEV"),
    exp.StddevSamp: _sample("STDEV"),
    exp.StrPosition: _position,
    exp.StrToTime: _format("TO_DATE"),
    exp.Substring: _substring,
    exp.TimeToStr: _format("TO_CHAR"),
    exp.TimestampTrunc: _truncated,
    exp.TryCast: _cast,
    exp.TsOrDsToDate: lambda n: call("DATE", n.this),
    exp.Variance: _sample("VARIANCE"),
    exp.Year: _name("YEAR"),
}
