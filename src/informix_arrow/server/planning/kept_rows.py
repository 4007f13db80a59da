"""Queries of the catalogue taken apart: what no parameter changes, whose rows can be kept, and what is chosen of that.

    SELECT t.tabname, c.colname FROM systables t, syscolumns c WHERE t.tabid = c.tabid AND t.tabname LIKE ? ORDER BY 2

has the rows of

    SELECT x.c0, x.c1 FROM (SELECT t.tabname AS c0, c.colname AS c1, t.tabname AS p0 FROM systables t, syscolumns c
        WHERE t.tabid = c.tabid) x WHERE x.p0 LIKE ? ORDER BY 2

and whoever asks for one table after the other has DuckDB plan the join of the inner query once, instead of every time.
Where rows are chosen and nothing else, DuckDB is asked for their places only: to sort and hand out many columns takes
it longer than to find them. Where they are chosen by values and patterns of their columns it is not asked at all: the
rows are kept in the result's order.
"""

from __future__ import annotations

import re
from dataclasses import replace

from sqlglot import exp

from ..grammar import dialect_nodes as d
from ..grammar.conjunctions import combine, conjuncts
from ..schema.system_views import VIEWS
from ..types.names import quote
from .context import Context
from .functions.type_words import TYPE_NAMES
from .plans import KeptRows, Match, Needs, SelectPlan
from .queries import QueryTranslator
from .scope import whole_number
from .translation import Translation

_ALIAS = "_ifx_kept"
_JOIN_IS_WORTH, _TABLE_IS_WORTH = 2, 8
_MATCH = re.compile(r"""\(*"_ifx_kept"\."p(\d+)" (?:= \$(p\d+)|LIKE \$(p\d+) ESCAPE '\\')\)*""")
_CHOSEN = re.compile(r' AS "_ifx_kept"\([^()]*\) WHERE (.*?)(?: ORDER BY (.*))?', re.DOTALL)
_USES = frozenset({TYPE_NAMES})
"""Session values that change with the schema alone."""


def take_apart(work: Translation, tree: exp.Expression, plan: SelectPlan) -> KeptRows | None:
    """The parts of a query that has parameters; None where it is no plain query of catalogue tables whose rows only
    change with the schema, or a parameter stands anywhere but in its conditions."""
    if not (plan.fixed and plan.needs.used and plan.needs.uses <= _USES and plan.sql and not plan.shown):
        return None
    if plan.for_update or any(info.name not in VIEWS for info in plan.tables):
        return None
    joins = sum(1 for _ in tree.find_all(exp.Table)) > 1
    whole = tree.copy()
    wanted = sum(1 for _ in whole.find_all(exp.Placeholder))
    inner: list[exp.Select] = []
    moved = _divide(whole, inner)
    if moved is None or moved != wanted:
        return None
    chooser = whole.copy()
    outer, parts = _texts(work.ctx, whole, inner, len(plan.needs.params))
    sql, ctx, types = outer
    if ctx.needs() != plan.needs or types != [c.type for c in plan.columns]:
        return None
    if work.describe(sql, plan.needs) != work.describe(plan.sql, plan.needs):
        return None
    pieces = []
    for part in parts:
        before, found, sql = sql.partition(f"({part})")
        if not found:
            return None
        pieces.append(before)
    places = _places(work.ctx, chooser, parts, plan.needs)
    if not (joins or places):
        return None  # it is planned as quickly as what would be left of it
    worth = _JOIN_IS_WORTH if joins else _TABLE_IS_WORTH
    return KeptRows((*pieces, sql), tuple(parts), places, worth, *_matches(places))


def _matches(places: tuple[str, ...]) -> tuple[str, tuple[Match, ...]]:
    """The order of a query for places, and its conditions; nothing where one of them is no `Match`. They are read from
    DuckDB's own text: so they mean what DuckDB would make of them."""
    found = _CHOSEN.fullmatch(places[1]) if places else None
    if found is None:
        return "", ()
    matches = []
    for part in found[1].split(" AND "):
        match = _MATCH.fullmatch(part)
        if match is None:
            return "", ()
        matches.append(Match(int(match[1]), match[2] or match[3], match[3] is not None))
    return found[2] or "", tuple(matches)


def _places(ctx: Context, whole: exp.Expression, parts: list[str], needs: Needs) -> tuple[str, ...]:
    """The pieces of the divided query without its columns, which gives the places of its rows instead; none where rows
    of several queries, or equal ones, become one."""
    if not isinstance(whole, exp.Select) or len(parts) != 1 or whole.args.get("distinct") is not None:
        return ()
    order = whole.args.get("order")
    for ordered in order.expressions if order is not None else ():
        position = whole_number(ordered.this)
        if position is None:
            return ()
        ordered.set("this", _of_kept(f"c{position - 1}"))
    whole.set("expressions", [exp.Literal.number(0)])
    own = _fresh(ctx, len(needs.params))
    sql, _ = QueryTranslator(own).query(whole, top=True)
    before, _, after = sql.partition(f"({parts[0]})")
    if before != "SELECT 0 AS c0 FROM " or own.needs() != needs:
        return ()
    return f"SELECT {quote(_ALIAS)}.rowid FROM ", after


def _texts(
    ctx: Context, whole: exp.Expression, inner: list[exp.Select], params: int
) -> tuple[tuple[str, Context, list[object]], list[str]]:
    """The divided query for DuckDB with what was found out about it, and its inner queries."""
    own = _fresh(ctx, params)
    sql, outputs = QueryTranslator(own).query(whole, top=True)
    parts = [QueryTranslator(_fresh(ctx, params)).query(query)[0] for query in inner]
    return (sql, own, [output.type for output in outputs]), parts


def _fresh(ctx: Context, params: int) -> Context:
    """For another translation in the same statement; what its user may read was asked already."""
    return replace(
        ctx,
        params=[None] * params,
        assigned=set(),
        packed=set(),
        seen=set(),
        uses=set(),
        cuts=[],
        rights=None,
    )


def _divide(node: exp.Expression, inner: list[exp.Select]) -> int | None:
    """Divide each SELECT of a query; how many parameters were moved, None where that cannot be."""
    if isinstance(node, exp.Subquery) and node.is_wrapper:
        return _divide(node.this, inner)
    if isinstance(node, exp.SetOperation):
        order = node.args.get("order")
        if any(node.args.get(name) for name in ("with_", "limit", "into")):
            return None
        if order is not None and not all(isinstance(o.this, exp.Literal) for o in order.expressions):
            return None
        left = _divide(node.this, inner)
        right = _divide(node.expression, inner)
        return None if left is None or right is None else left + right
    if not isinstance(node, exp.Select):
        return None
    return _divide_select(node, inner)


def _divide_select(node: exp.Select, inner: list[exp.Select]) -> int | None:
    clause = node.args.get("from_") or node.args.get("from")
    unusual = ("with_", "group", "having", "limit", "into", "locks", "connect", "windows", "qualify")
    if clause is None or any(node.args.get(name) for name in unusual):
        return None
    items = [item.this if isinstance(item, exp.Alias) else item for item in node.expressions]
    order = node.args.get("order")
    looked = [*items, *([order] if order is not None else [])]
    if any(item.find(exp.Star, exp.AggFunc, exp.Window, exp.Query, exp.Placeholder) for item in looked):
        return None
    positions = _positions(node, items)
    where = node.args.get("where")
    if positions is None or where is None:
        return None
    outer = _outer_names(node)
    stays, goes, moved = [], [], 0
    for part in conjuncts(where.this):
        count = sum(1 for _ in part.find_all(exp.Placeholder))
        moved += count
        if not count:
            stays.append(part)
        elif part.find(exp.Query) or any(_may_be(column, outer) for column in part.find_all(exp.Column)):
            return None
        else:
            goes.append(part)
    columns = {column.sql(): column.copy() for part in goes for column in part.find_all(exp.Column)}
    names = {text: f"p{number}" for number, text in enumerate(columns)}
    chosen = [
        part.transform(lambda n: _of_kept(names[n.sql()]) if isinstance(n, exp.Column) else n)
        for part in goes
    ]
    query = exp.Select(
        expressions=[
            *(exp.alias_(item.copy(), f"c{number}", quoted=True) for number, item in enumerate(items)),
            *(exp.alias_(column, names[text], quoted=True) for text, column in columns.items()),
        ],
        **{
            name: node.args[name]
            for name in ("from_", "from", "joins", "laterals")
            if node.args.get(name) is not None
        },
    )
    if stays:
        query.set("where", exp.Where(this=combine(stays)))
    inner.append(query)
    for name in ("from_", "from", "joins", "laterals", "where", "order"):
        node.set(name, None)
    source = exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(_ALIAS, quoted=True)))
    node.set("expressions", [_of_kept(f"c{number}") for number in range(len(items))])
    node.set("from_", exp.From(this=source))
    if chosen:
        node.set("where", exp.Where(this=combine(chosen)))
    if order is not None:
        for ordered, position in zip(order.expressions, positions, strict=True):
            ordered.set("this", exp.Literal.number(position))
        node.set("order", order)
    return moved


def _of_kept(name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=exp.to_identifier(_ALIAS, quoted=True))


def _positions(node: exp.Select, items: list[exp.Expression]) -> list[int] | None:
    """Which result column each item of ORDER BY is; None where one is none of them."""
    order = node.args.get("order")
    found = []
    for ordered in order.expressions if order is not None else ():
        key = ordered.this
        number = whole_number(key)
        if number is not None:
            found.append(number)
            continue
        if not isinstance(key, exp.Column):
            return None
        for position, (whole, item) in enumerate(zip(node.expressions, items, strict=True), 1):
            named = whole.alias if isinstance(whole, exp.Alias) else item.name
            same = isinstance(item, exp.Column) and item.sql() == key.sql()
            if same or (not key.table and isinstance(whole, (exp.Alias, exp.Column)) and named == key.name):
                found.append(position)
                break
        else:
            return None
    return found


def _outer_names(node: exp.Select) -> set[str]:
    """What the tables of OUTER and of outer joins are called: a condition on one is a part of the join, or is not."""
    found = set()
    for group in node.find_all(d.OuterTables):
        found |= {table.alias_or_name for table in group.find_all(exp.Table)}
    for join in node.find_all(exp.Join):
        if join.args.get("side"):
            found |= {table.alias_or_name for table in node.find_all(exp.Table)}
    return found


def _may_be(column: exp.Column, outer: set[str]) -> bool:
    return bool(outer) and (not column.table or column.table in outer)
