"""Plans of queries."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from ...wire.describe import Column
from ...wire.types import ColumnType
from ..catalog.catalog import TableInfo
from ..errors import not_supported
from ..types.nested_types import is_nested
from .nodes.client_files import misplaced_call
from .plans import SelectPlan
from .queries import finish_types
from .row_identity import has_key_equality, with_row_keys
from .scope import OutputColumn
from .translation import StatementTranslator
from .values.nested import literal_text


def select(work: StatementTranslator, tree: exp.Expression, *, rows_go_out: bool = True) -> SelectPlan:
    """Return the plan of a query whose rows go to the client or into a table."""
    into = _into_table(tree)
    sql, outputs = work.queries.query(tree, top=True)
    needs = work.ctx.bind_requirements()
    plain = _is_plain_scan(work, tree, outputs)
    names = [""] * len(outputs) if plain else work.describe(sql, needs)
    types = finish_types(outputs, names)
    columns = tuple(Column(o.name, t) for o, t in zip(outputs, types, strict=True))
    if work.ctx.files:
        raise not_supported("filetoblob and filetoclob in a query")
    calls = tuple(o.row_call for o in outputs)
    shown = "" if into else _client_sql(work, sql, types)
    for call in calls:
        if call and (into or not rows_go_out):
            raise misplaced_call(call)
    plan = SelectPlan(sql, columns, needs, into, tuple(o.is_packed_decimal for o in outputs), shown, calls)
    plan.tables = tuple(work.ctx.tables.values())
    plan.catalog_only = (
        work.ctx.catalog_only
        and bool(plan.tables)
        and not (work.ctx.session_only or work.ctx.sequences or into)
    )
    plan.with_row_ids, plan.filtered, plan.at_most_one_row = _row_access(tree, sql, outputs, plan.tables)
    plan.for_update = any(lock.args.get("update") for lock in tree.args.get("locks") or ())
    if plan.for_update and (not plan.with_row_ids or any(calls)):
        raise not_supported("FOR UPDATE of rows that are not rows of one table")
    return plan


def _row_access(
    tree: exp.Expression, sql: str, outputs: Sequence[OutputColumn], tables: Sequence[TableInfo]
) -> tuple[str, bool, bool]:
    """Return `with_row_ids`, `filtered` and `at_most_one_row` of a query's plan."""
    source = tree.args.get("from_") or tree.args.get("from")
    if not tables:
        return "", False, isinstance(tree, exp.Select) and not source
    if len(tables) > 1:
        return "", False, False
    text = with_row_keys(tree, sql, outputs, tables[0])
    one = bool(text) and has_key_equality(tree, tables[0], source.this.alias or source.this.name)
    return text, bool(tree.args.get("where")), one


_PLAIN_NODES = (
    exp.Select,
    exp.From,
    exp.Table,
    exp.Column,
    exp.Star,
    exp.Identifier,
    exp.Distinct,
    exp.Order,
    exp.Ordered,
    exp.Alias,
    exp.TableAlias,
)


def _is_plain_scan(work: StatementTranslator, tree: exp.Expression, outputs: Sequence[OutputColumn]) -> bool:
    """Return whether all types of a query are known without asking DuckDB: it selects and orders bare columns of one
    table."""
    tables = list(work.ctx.tables.values())
    if not isinstance(tree, exp.Select) or len(tables) != 1 or tables[0].kind != "T":
        return False
    if any(not isinstance(node, _PLAIN_NODES) for node in tree.walk()):
        return False
    if any(output.type is None or output.row_call for output in outputs):
        return False
    order = tree.args.get("order")
    names = {output.name for output in outputs}
    keys = [ordered.this for ordered in order.expressions] if order is not None else []
    return all(isinstance(key, exp.Column) and not key.table and key.name in names for key in keys)


def _client_sql(work: StatementTranslator, sql: str, types: Sequence[ColumnType]) -> str:
    """Return the query with collections and ROWs as their literal text, "" if there are none."""
    if not any(is_nested(t) for t in types):
        return ""
    items = [
        f"{literal_text(work.queries.expressions.values, f'c{i}', t) if is_nested(t) else f'c{i}'} AS c{i}"
        for i, t in enumerate(types)
    ]
    return f"SELECT {', '.join(items)} FROM ({sql})"


def _into_table(tree: exp.Expression) -> tuple[str, bool] | None:
    node = tree
    while isinstance(node, exp.SetOperation):
        if node.args.get("into") is not None:
            break
        node = node.expression
    into = node.args.get("into")
    if into is None:
        return None
    return into.this.name, bool(into.args.get("temporary"))
