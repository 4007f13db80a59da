"""Rejection of clauses that sqlglot parses for other products and Informix does not have.

sqlglot's parser knows the clauses of thirty products and stores each as an argument of a node. A translator that
ignored an argument would execute another statement than the one written. So every argument that is set must be in the
lists here, which name what the translator reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from sqlglot import exp

from ..errors import syntax_error
from .dialect_nodes import ConnectByRoot

_OPERANDS = frozenset({"this", "expression", "expressions"})
"""Arguments of nodes that have no entry below: an operator, a call, a list."""

_QUERY = frozenset({"with_", "order", "limit", "into"})

ALLOWED_CLAUSES: dict[type[exp.Expression], frozenset[str]] = {
    exp.Select: _QUERY
    | {"expressions", "distinct", "from_", "joins", "where", "connect", "group", "having", "locks"},
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _QUERY | {"this", "expression", "distinct"}),
    exp.Subquery: frozenset({"this", "alias", "joins"}),
    exp.Lateral: frozenset({"this", "alias"}),
    exp.Table: frozenset({"this", "alias", "db", "catalog", "joins"}),
    exp.TableAlias: frozenset({"this", "columns"}),
    exp.Join: frozenset({"this", "on", "side", "kind"}),
    exp.With: frozenset({"expressions", "recursive"}),
    exp.CTE: frozenset({"this", "alias"}),
    exp.Distinct: frozenset({"expressions"}),
    exp.Limit: frozenset({"expression", "offset"}),
    exp.Connect: frozenset({"start", "connect", "nocycle"}),
    exp.Order: frozenset({"expressions", "siblings"}),
    exp.Ordered: frozenset({"this", "desc", "nulls_first"}),
    exp.Group: frozenset({"expressions"}),
    exp.Lock: frozenset({"update", "expressions"}),
    exp.Into: frozenset({"this", "temporary"}),
    exp.Insert: frozenset({"this", "expression"}),
    exp.Update: frozenset({"this", "expressions", "where"}),
    exp.Delete: frozenset({"this", "where"}),
    exp.Merge: frozenset({"this", "using", "on", "whens"}),
    exp.When: frozenset({"matched", "then"}),
    exp.Values: frozenset({"expressions"}),
    exp.Identifier: frozenset({"this", "quoted"}),
    exp.Column: frozenset({"this", "table", "db", "catalog"}),
    exp.Alias: frozenset({"this", "alias"}),
    exp.Literal: frozenset({"this", "is_string"}),
    exp.Between: frozenset({"this", "low", "high"}),
    exp.In: frozenset({"this", "expressions", "query", "field"}),
    exp.Case: frozenset({"this", "ifs", "default"}),
    exp.If: frozenset({"this", "true"}),
    exp.Cast: frozenset({"this", "to"}),
    exp.Trim: frozenset({"this", "expression", "position"}),
    exp.Substring: frozenset({"this", "start", "length"}),
    exp.Window: frozenset({"this", "partition_by", "order", "spec", "over"}),
    exp.WindowSpec: frozenset({"kind", "start", "start_side", "end", "end_side"}),
    exp.Count: frozenset({"this", "big_int"}),
    exp.Max: frozenset({"this"}),
    exp.Min: frozenset({"this"}),
    exp.DPipe: frozenset({"this", "expression", "safe"}),
    exp.DataType: frozenset({"this", "expressions"}),
}
"""Arguments that the translator reads, for sqlglot's nodes with more than operands. All arguments of our own nodes are
read."""

_WORDS = {
    "by_name": "BY NAME or CORRESPONDING", "sample": "TABLESAMPLE or USING SAMPLE", "version": "a version of the past",
    "when": "a version of the past", "system_time": "a version of the past", "on": "DISTINCT ON", "pivots": "PIVOT",
    "method": "NATURAL, ASOF or POSITIONAL", "limit_options": "PERCENT or WITH TIES", "windows": "WINDOW",
    "conflict": "ON CONFLICT", "with_": "WITH", "from_": "FROM", "wait": "WAIT or SKIP LOCKED", "key": "KEY",
    "by_source": "BY SOURCE", "kind": "AS STRUCT", "cube": "CUBE", "rollup": "ROLLUP",
}  # fmt: skip


def reject_foreign_clauses(tree: exp.Expression, check_interrupt: Callable[[], None] = lambda: None) -> None:
    """Raise -201 at the first clause that Informix does not have. The detail names its word."""
    for node in tree.walk():
        check_interrupt()
        clause = next(_foreign_clauses(node), "") or next(_only_outermost(node, tree), "")
        if clause:
            raise syntax_error(_source_position(node), f"{clause} is not Informix SQL.")


def _foreign_clauses(node: exp.Expression) -> Iterator[str]:
    kind = type(node)
    if kind.__module__.startswith("sqlglot."):
        read = ALLOWED_CLAUSES.get(kind, _OPERANDS)
        for name, value in node.args.items():
            if name not in read and _is_set(kind, name, value):
                yield f"{_WORDS.get(name, name.strip('_').replace('_', ' ').upper())} in {node.key.upper()}"
    check = _CHECKS.get(kind)
    if check is not None:
        yield from check(node)


def _only_outermost(node: exp.Expression, tree: exp.Expression) -> Iterator[str]:
    """Yield clauses that are valid only once, after a whole query."""
    if not isinstance(node, exp.Query) or node is tree:
        return
    if node.args.get("locks"):
        yield "FOR UPDATE in a part of a query"
    if node.args.get("into") is not None:
        around = node.parent
        while around is not tree and isinstance(around, exp.SetOperation) and around.expression is node:
            node, around = around, around.parent
        if not (around is tree and isinstance(around, exp.SetOperation) and around.expression is node):
            yield "INTO in a part of a query"


_MEANINGFUL_FALSE = frozenset({(exp.CTE, "materialized"), (exp.Lock, "wait"), (exp.Table, "indexed")})
"""Arguments where sqlglot has False for words that were written: NOT MATERIALIZED, SKIP LOCKED, NOT INDEXED."""


def _is_set(kind: type[exp.Expression], name: str, value: object) -> bool:
    if value is False:
        return (kind, name) in _MEANINGFUL_FALSE
    return value is not None and value != [] and value != ""


def _source_position(node: exp.Expression) -> int:
    """Return the 1-based position of the first character of a node and its children."""
    starts = [int(n.meta["start"]) for n in node.walk() if "start" in n.meta]
    return min(starts, default=0) + 1


# ---- checks beyond the lists ----------------------------------------------------------------------
def _join(node: exp.Expression) -> Iterator[str]:
    side, kind = str(node.args.get("side") or ""), str(node.args.get("kind") or "")
    conditional = node.args.get("on") is not None
    if side not in ("", "LEFT", "RIGHT", "FULL"):
        yield f"{side} JOIN"
    if kind not in ("", "INNER", "CROSS") and not (kind == "OUTER" and side):
        yield f"{kind} JOIN"
    if kind == "CROSS" and (conditional or side):
        yield "CROSS JOIN with a condition"
    if (side or kind == "INNER") and not conditional:
        yield "a join without ON"


def _limit(node: exp.Expression) -> Iterator[str]:
    if not node.meta.get("top") and node.args.get("offset") is not None:
        yield "LIMIT with two numbers"


def _query(node: exp.Expression) -> Iterator[str]:
    if isinstance(node.args.get("limit"), exp.Fetch):
        yield "FETCH"


def _select(node: exp.Expression) -> Iterator[str]:
    yield from _query(node)
    order = node.args.get("order")
    if order is not None and order.args.get("siblings") and node.args.get("connect") is None:
        yield "ORDER SIBLINGS BY without CONNECT BY"


def _prior(node: exp.Expression) -> Iterator[str]:
    around = node.find_ancestor(exp.Query)
    if around is None or around.args.get("connect") is None:
        yield "PRIOR and CONNECT_BY_ROOT without CONNECT BY"


def _set_operation(node: exp.Expression) -> Iterator[str]:
    yield from _query(node)
    if not isinstance(node, exp.Union) and not node.args.get("distinct"):
        yield f"{node.key.upper()} ALL"


def _lock(node: exp.Expression) -> Iterator[str]:
    if not node.args.get("update"):
        yield "FOR SHARE"


def _one_distinct(node: exp.Expression) -> Iterator[str]:
    if len(node.expressions) > 1:
        yield "DISTINCT of several values"


def _when(node: exp.Expression) -> Iterator[str]:
    then = node.args.get("then")
    inserts = isinstance(then, exp.Insert)
    deletes = isinstance(then, exp.Var) and then.name.upper() == "DELETE"
    if not (inserts or deletes or isinstance(then, exp.Update)):
        yield "this action in MERGE"
    elif bool(node.args.get("matched")) == inserts:
        yield "INSERT of what matches, or a change of what does not"
    elif not deletes and then.find(exp.Star):
        yield "* in MERGE"
    elif inserts and not isinstance(then.this, (exp.Tuple, exp.Schema, type(None))):
        yield "INSERT ROW"
    elif isinstance(then, exp.Update) and then.args.get("where") is not None:
        yield "WHERE in MERGE"


def _window(node: exp.Expression) -> Iterator[str]:
    if str(node.args.get("over") or "OVER").upper() != "OVER":
        yield str(node.args["over"]).upper()


def _frame(node: exp.Expression) -> Iterator[str]:
    if str(node.args.get("kind")).upper() not in ("ROWS", "RANGE"):
        yield f"a frame of {node.args.get('kind')}"


def _joined(node: exp.Expression) -> Iterator[str]:
    """Yield joins outside of FROM and parentheses, where they are not read."""
    if node.args.get("joins") and not isinstance(node.parent, (exp.From, exp.Subquery, exp.Paren)):
        yield "a join here"


_CHECKS = {
    exp.Join: _join,
    exp.Limit: _limit,
    exp.Select: _select,
    exp.Prior: _prior,
    ConnectByRoot: _prior,
    **dict.fromkeys((exp.Union, exp.Except, exp.Intersect), _set_operation),
    exp.Lock: _lock,
    exp.Distinct: _one_distinct,
    exp.When: _when,
    exp.Window: _window,
    exp.WindowSpec: _frame,
    exp.Table: _joined,
    exp.Subquery: _joined,
}
