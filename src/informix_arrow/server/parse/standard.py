"""Conversion of Informix syntax trees to nodes that every sqlglot dialect knows, so that queries can be translated."""

from __future__ import annotations

from typing import Any

from sqlglot import exp, parser
from sqlglot.errors import UnsupportedError

from ...wire.qualifiers import Qualifier
from ..types.intervals import DAY, SECOND, parse
from . import dialect_nodes as d
from .conjuncts import combine, conjuncts

_TYPE = exp.DataType.Type
_SAME_FUNCTIONS = frozenset(
    {
        "abs", "acos", "asin", "atan", "atan2", "ceil", "coalesce", "concat", "cos", "day", "exp", "floor", "greatest",
        "initcap", "least", "length", "ln", "lower", "lpad", "ltrim", "mod", "month", "nullif", "power", "quarter",
        "replace", "round", "rpad", "rtrim", "sin", "sqrt", "substr", "substring", "tan", "trunc", "upper", "year",
    }
)  # fmt: skip
"""Functions with the same meaning in other dialects."""


def to_standard_nodes(tree: exp.Expression) -> exp.Expression:
    """Return a tree without Informix's own nodes. Raises UnsupportedError if there is no equivalent."""
    tree = tree.transform(_node)
    for select in list(tree.find_all(exp.Select)):
        _limits(select)
        _outer(select)
    into = tree.args.get("into")
    if isinstance(tree, exp.Query) and into is not None:
        tree.set("into", None)
        kind = exp.Properties(expressions=[exp.TemporaryProperty()]) if into.args.get("temporary") else None
        return exp.Create(this=into.this, kind="TABLE", expression=tree, properties=kind)
    return tree


def _cast(this: exp.Expression, kind: Any) -> exp.Expression:
    return exp.Cast(this=this, to=exp.DataType(this=kind, nested=False))


def _extend(moment: exp.Expression, text: str, *, cut: bool) -> exp.Expression:
    """Convert a moment to the fields of a qualifier: a DATE, TIME or TIMESTAMP. `cut` truncates it to the last
    field."""
    qualifier = Qualifier.parse(text)
    first, last = text.split()[0], text.split()[-1].partition("(")[0]
    if first not in ("YEAR", "HOUR"):
        raise UnsupportedError(f"DATETIME {text} has no equivalent in standard SQL.")
    if last == "DAY":
        return _cast(moment, _TYPE.DATE)
    if cut and not qualifier.has_seconds_fraction:
        moment = exp.TimestampTrunc(this=_cast(moment, _TYPE.TIMESTAMP), unit=exp.var(last))
    return _cast(moment, _TYPE.TIME if first == "HOUR" else _TYPE.TIMESTAMP)


def _interval(node: exp.Expression) -> exp.Expression:
    qualifier = Qualifier.parse(str(node.args["qualifier"]), interval=True)
    units = parse(str(node.this), qualifier)
    if qualifier.is_year_month:
        amount, unit = str(units), "MONTH"
    elif units % DAY == 0:
        amount, unit = str(units // DAY), "DAY"
    else:
        seconds, rest = divmod(abs(units), SECOND)
        fraction = f"{rest / SECOND:.5f}".rstrip("0")[1:] if rest else ""
        amount, unit = f"{'-' if units < 0 else ''}{seconds}{fraction}", "SECOND"
    return exp.Interval(this=exp.Literal.string(amount), unit=exp.var(unit))


def _node(node: exp.Expression) -> exp.Expression:
    if isinstance(node, d.Today):
        return exp.CurrentDate()
    if isinstance(node, d.CurrentDatetime):
        return _extend(exp.CurrentTimestamp(), str(node.args["qualifier"]), cut=True)
    if isinstance(node, d.DatetimeLiteral):
        return _extend(exp.Literal.string(str(node.this)), str(node.args["qualifier"]), cut=False)
    if isinstance(node, d.IntervalLiteral):
        return _interval(node)
    if isinstance(node, d.Units):
        return exp.Interval(this=node.this, unit=exp.var(str(node.args["unit"]).partition("(")[0]))
    if isinstance(node, d.Extend):
        return _extend(node.this, str(node.args.get("qualifier") or "YEAR TO FRACTION(3)"), cut=True)
    if isinstance(node, exp.Glob) and isinstance(node.expression, exp.Literal):
        node.set("expression", exp.Literal.string(str(node.expression.this).replace("[^", "[!")))
        return node
    if isinstance(node, exp.Bracket) and all(isinstance(e, exp.Literal) for e in node.expressions):
        first, last = int(str(node.expressions[0].this)), int(str(node.expressions[-1].this))
        start, length = exp.Literal.number(first), exp.Literal.number(last - first + 1)
        return exp.Substring(this=node.this, start=start, length=length)
    if isinstance(node, exp.Anonymous):
        return _function(node)
    if isinstance(node, (d.CollectionLiteral, d.CurrentOf)):
        raise UnsupportedError(f"{type(node).__name__} has no equivalent in standard SQL.")
    return node


def _function(node: exp.Anonymous) -> exp.Expression:
    name, args = node.name.lower(), list(node.expressions)
    count = len(args)
    if name == "nvl" and count == 2:
        return exp.Coalesce(this=args[0], expressions=args[1:])
    if name == "nvl2" and count == 3:
        there = exp.Not(this=exp.Is(this=args[0], expression=exp.Null()))
        return exp.Case(ifs=[exp.If(this=there, true=args[1])], default=args[2])
    if name == "decode" and count > 2:
        arms = [
            exp.If(this=exp.NullSafeEQ(this=args[0].copy(), expression=args[i]), true=args[i + 1])
            for i in range(1, count - 1, 2)
        ]
        return exp.Case(ifs=arms, default=args[-1] if count % 2 == 0 else None)
    if name == "mdy" and count == 3:
        return exp.DateFromParts(year=args[2], month=args[0], day=args[1])
    if name == "weekday" and count == 1:
        return exp.DayOfWeek(this=args[0])
    if name == "add_months" and count == 2:
        return exp.Add(this=args[0], expression=exp.Interval(this=args[1], unit=exp.var("MONTH")))
    if name == "last_day" and count == 1:
        return exp.LastDay(this=args[0])
    if name == "instr" and count == 2:
        return exp.StrPosition(this=args[0], substr=args[1])
    if name in ("to_char", "to_date") and count == 2:
        kind = exp.TimeToStr if name == "to_char" else exp.StrToTime
        return kind(this=args[0], format=args[1])
    if name in ("stdev", "variance") and count == 1:
        return (exp.StddevPop if name == "stdev" else exp.VariancePop)(this=args[0])
    if name in ("pow", "logn", "len"):
        name = {"pow": "power", "logn": "ln", "len": "length"}[name]
    if name in _SAME_FUNCTIONS and name.upper() in parser.Parser.FUNCTIONS:
        call: exp.Expression = exp.func(name, *args)
        return call
    return node


def _limits(select: exp.Select) -> None:
    """Convert SKIP and FIRST to LIMIT and OFFSET."""
    limit = select.args.get("limit")
    if limit is None:
        return
    skip = limit.args.get("offset")
    limit.set("offset", None)
    if skip is not None:
        select.set("offset", exp.Offset(expression=skip))
    if limit.args.get("expression") is None:
        select.set("limit", None)


def _outer(select: exp.Select) -> None:
    """Convert `FROM a, OUTER b WHERE ...` to LEFT JOIN. Columns of b must be qualified by their table."""
    where = select.args.get("where")
    condition = where.this if where is not None else None
    for join in select.args.get("joins") or ():
        group = join.this
        if not isinstance(group, d.OuterTables):
            continue
        if len(group.expressions) > 1 or isinstance(group.expressions[0], d.OuterTables):
            raise UnsupportedError(
                "OUTER of several tables has no equivalent in standard SQL without the catalogue."
            )
        table = group.expressions[0]
        name = table.alias_or_name.lower()
        join_conditions: list[exp.Expression] = []
        rest: list[exp.Expression] = []
        for part in conjuncts(condition):
            named = any(column.table.lower() == name for column in part.find_all(exp.Column))
            (join_conditions if named else rest).append(part.copy())
        condition = combine(rest)
        join.set("this", table)
        join.set("side", "LEFT")
        join.set("kind", None)
        join.set("on", combine(join_conditions) or exp.true())
    if where is not None:
        select.set("where", exp.Where(this=condition) if condition is not None else None)
