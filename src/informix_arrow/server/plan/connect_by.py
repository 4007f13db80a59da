"""Translation of START WITH .. CONNECT BY to a recursive query.

The rows of the table in FROM are numbered, in their own order or in that of ORDER SIBLINGS BY. The path of a row in the
tree is the list of the numbers of all rows from its root to itself. Sorting by path gives a depth-first walk through
the tree. A row that occurs on its own path closes a cycle.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ...wire.quoting import double_quoted
from ...wire.types import ColumnType
from ..errors import SqlError, not_supported
from ..parse import dialect_nodes as d
from ..types.result_types import storage_type
from .scope import EXPRESSION, FromSource, Scope, TypedExpression, source_offset
from .translator import Translator

_CYCLE_ERROR = "error('IFX-26079')"

_ROWS, _TREE, _PRIOR, _CHILD = '"_ifx_rows"', '"_ifx_tree"', '"_ifx_prior"', '"_ifx_below"'
_ROW, _PATH, _LEVEL = '"_ifx_row"', '"_ifx_path"', '"_ifx_level"'
_LEAF, _IS_CYCLE = "connect_by_isleaf", "connect_by_iscycle"
_NUMBER = ColumnType.integer()


def recursive_query(
    tr: Translator, node: exp.Select, rows_sql: str, siblings: str, inner: Scope, scope: Scope
) -> tuple[str, str, str]:
    """Translate the tree of a hierarchical query.

    Parameters
    ----------
    node
        The query. Its references to the tree are replaced by column names.
    rows_sql, siblings
        DuckDB SQL of its FROM, and of ORDER SIBLINGS BY ("" for none).
    inner, scope
        The scope of the table, and the outer scope, which gets the columns of the tree.

    Returns
    -------
    tuple
        DuckDB SQL of the common table expressions, of the FROM that reads them, and of a row's path.
    """
    if len(inner.sources) != 1:
        raise not_supported("CONNECT BY of several tables")
    table = inner.sources[0]
    clause = node.args["connect"]
    condition, start = clause.args["connect"], clause.args.get("start")
    prior = FromSource(_PRIOR.strip('"'), table.outputs, None, table.read_columns)
    at_start = _scope(table, scope, "1")
    at_step = _scope(table, Scope([prior], parent=scope), f"({_PRIOR}.{_LEVEL} + 1)")
    joined = tr.filter(_qualify_prior(condition.copy(), table), at_step)
    duck = table.quoted_alias
    names = [f"{duck}.{double_quoted(output.name)}" for output in table.outputs]
    first, then = [*names], [*names]
    columns: dict[exp.Expression, str] = {}  # repeated references share a column
    for reference in list(_ancestor_references(node)):
        name = columns.get(reference, "")
        if name:
            reference.replace(exp.column(name))
            continue
        name = columns[reference.copy()] = f"_ifx_asked_{len(columns)}"
        seed, step = _values(tr, reference, table, at_start, at_step, f"{_PRIOR}.{double_quoted(name)}")
        kind = storage_type(seed.type) if seed.type is not None else "VARCHAR"
        first.append(f"CAST({seed.sql} AS {kind}) AS {double_quoted(name)}")
        then.append(f"CAST({step} AS {kind}) AS {double_quoted(name)}")
        reference.replace(exp.column(name))
        scope.variables[name] = TypedExpression(
            f"{duck}.{double_quoted(name)}",
            seed.type,
            EXPRESSION,
            is_packed_decimal=seed.is_packed_decimal,
            source=seed.type,
        )
    related = joined
    again = f"list_contains({_PRIOR}.{_PATH}, {duck}.{_ROW})"
    path = f"list_append({_PRIOR}.{_PATH}, {duck}.{_ROW})"
    if clause.args.get("nocycle"):
        joined += f" AND NOT {again}"
    elif condition.find(exp.Prior) or "level" not in {c.name for c in condition.find_all(exp.Column)}:
        path = f"CASE WHEN {again} THEN {_CYCLE_ERROR} ELSE {path} END"
    numbered = f"SELECT {', '.join(names)}, row_number() OVER ({siblings}) AS {_ROW} FROM {rows_sql}"
    filtered = f" WHERE {tr.filter(start, at_start)}" if start is not None else ""
    seeds = f"SELECT {', '.join(first)}, 1 AS {_LEVEL}, [{duck}.{_ROW}] AS {_PATH} FROM {_ROWS} AS {duck}{filtered}"
    steps = (
        f"SELECT {', '.join(then)}, {_PRIOR}.{_LEVEL} + 1, {path} "
        f"FROM {_TREE} AS {_PRIOR} JOIN {_ROWS} AS {duck} ON {joined}"
    )
    scope.variables["level"] = TypedExpression(f"{duck}.{_LEVEL}", _NUMBER, "level")
    replacement = {
        _LEAF: f"NOT EXISTS (SELECT 1 FROM {_TREE} AS {_CHILD} WHERE {_CHILD}.{_PATH}[:-2] = {_PRIOR}.{_PATH})",
        _IS_CYCLE: f"EXISTS (SELECT 1 FROM {_ROWS} AS {duck} WHERE {related} AND {again})",
    }
    references = {column.name for column in node.find_all(exp.Column)} & set(replacement)
    if _IS_CYCLE in references and not clause.args.get("nocycle"):
        raise SqlError(-201, 0, source_offset(node) or 1, _IS_CYCLE, "CONNECT_BY_ISCYCLE needs NOCYCLE.")
    tree = f"{_TREE} AS {duck}"
    if references:
        items = "".join(
            f", CAST({replacement[name]} AS INTEGER) AS {double_quoted(name)}" for name in sorted(references)
        )
        tree = f"(SELECT {_PRIOR}.*{items} FROM {_TREE} AS {_PRIOR}) AS {duck}"
        scope.variables |= {
            name: TypedExpression(f"{duck}.{double_quoted(name)}", _NUMBER, name) for name in references
        }
    scope.sources.append(FromSource(table.alias, table.outputs, None, table.read_columns))
    ctes = f"{_ROWS} AS MATERIALIZED ({numbered}), {_TREE} AS ({seeds} UNION ALL {steps})"
    return ctes, tree, f"{duck}.{_PATH}"


def _scope(table: FromSource, parent_scope: Scope, level: str) -> Scope:
    source = FromSource(table.alias, table.outputs, None, table.read_columns)
    return Scope([source], parent=parent_scope, variables={"level": TypedExpression(level, _NUMBER, "level")})


def _ancestor_references(node: exp.Select) -> Iterator[exp.Expression]:
    """Yield the references of a query to ancestor rows: PRIOR and CONNECT_BY_ROOT of a value, SYS_CONNECT_BY_PATH.

    The hierarchical clause, where PRIOR has its own translation, and nested queries are skipped.
    """
    clause = node.args["connect"]
    for part in node.walk(prune=lambda n: n is clause or (n is not node and isinstance(n, exp.Query))):
        if part is clause or not isinstance(part, (exp.Prior, d.ConnectByRoot, exp.Anonymous)):
            continue
        if not isinstance(part, exp.Anonymous) or part.name.lower() == "sys_connect_by_path":
            yield part


def _values(
    tr: Translator, reference: exp.Expression, table: FromSource, at_start: Scope, at_step: Scope, before: str
) -> tuple[TypedExpression, str]:
    """Return the value of an ancestor reference in a root, and in a row whose parent has the value `before`."""
    if isinstance(reference, d.ConnectByRoot):
        return tr.values.with_inferred_type(tr.expr(reference.this, at_start)), before
    if isinstance(reference, exp.Prior):
        found = tr.values.with_inferred_type(tr.expr(_qualify_prior(reference.copy(), table), at_step))
        nothing = TypedExpression("NULL", found.type, found.name, is_packed_decimal=found.is_packed_decimal)
        return nothing, found.sql
    if len(reference.expressions) != 2:
        raise SqlError(-201, 0, source_offset(reference) or 1)
    value, separator = reference.expressions
    link = exp.DPipe(this=separator.copy(), expression=value.copy())
    seed, step = tr.expr(link, at_start), tr.expr(link.copy(), at_step)
    return TypedExpression(seed.sql, ColumnType.lvarchar(32739), EXPRESSION), f"{before} || {step.sql}"


def _qualify_prior(condition: exp.Expression, table: FromSource) -> exp.Expression:
    """Return the condition with the operands of PRIOR referring to the parent row."""

    def renamed(node: exp.Expression) -> exp.Expression:
        if not isinstance(node, exp.Prior):
            return node
        for column in list(node.find_all(exp.Column)):
            if column.name == "level" and not column.table and table.find("level") is None:
                column.replace(exp.Paren(this=exp.Sub(this=column.copy(), expression=exp.Literal.number(1))))
            elif column.table in ("", table.alias) and table.find(column.name) is not None:
                column.set("table", exp.to_identifier(_PRIOR.strip('"'), quoted=True))
        return exp.Paren(this=node.this)

    return condition.transform(renamed)


def sibling_keys(node: exp.Select) -> list[exp.Ordered]:
    """Remove ORDER SIBLINGS BY from the query and return its items. Positions and names of the projection are
    resolved."""
    order = node.args.get("order")
    if order is None or not order.args.get("siblings"):
        return []
    node.set("order", None)
    named = {item.alias: item.this for item in node.expressions if isinstance(item, exp.Alias)}
    keys = []
    for item in order.expressions:
        key = item.this
        if isinstance(key, exp.Literal) and not key.is_string and str(key.this).isdigit():
            place = int(key.this)
            if not 1 <= place <= len(node.expressions):
                raise SqlError(-251, 0, 0, str(key.this)[:20])
            chosen = node.expressions[place - 1]
            item.set("this", (chosen.this if isinstance(chosen, exp.Alias) else chosen).copy())
        elif isinstance(key, exp.Column) and not key.table and key.name in named:
            item.set("this", named[key.name].copy())
        keys.append(item)
    return keys


def is_tree_ordered(node: exp.Select) -> bool:
    """Return whether the rows of a hierarchical query keep the order of the tree: no other clause orders or groups
    them."""
    if any(node.args.get(name) for name in ("order", "group", "having", "distinct")):
        return False
    aggregates = (found for item in node.expressions for found in item.find_all(exp.AggFunc))
    return all(found.find_ancestor(exp.Window, exp.Select) is not node for found in aggregates)
