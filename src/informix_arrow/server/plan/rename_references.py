"""Changes of the text of a view's query or of a CHECK, after a table or column that it names was renamed.

Only the names are replaced. The rest of the text, including comments, stays as written.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp

from ...wire.quoting import double_quoted, quote_if_needed
from ..catalog.catalog import TableInfo
from ..errors import OWNER_MARK
from .views import FindTable

STORED_NAME = "stored_name"
"""Key of the meta of a view's table: the name under which it is stored, if that is another than its name."""


def reads_table(tree: exp.Expression, database: str, names: Collection[str]) -> bool:
    """Return whether a query has a table of that database, by one of its `names`, in a FROM."""
    return any(_is_table(node, database, names) for node in tree.find_all(exp.Table))


def rename_table(sql: str, tree: exp.Expression, table: TableInfo, new: str) -> str:
    """Return a query with the new name of a table."""
    named = [node for node in tree.find_all(exp.Table) if _is_table(node, table.database, {table.name})]
    found = [node.this for node in named]
    old, new = (name.partition(OWNER_MARK)[0] for name in (table.name, new))
    if any(not node.alias for node in named):  # columns may be qualified by the table's name
        found += [c.args["table"] for c in tree.find_all(exp.Column) if c.table == old]
    return _apply_edits(sql, [(node, _quoted_like(sql, node, new)) for node in found])


def rename_column(
    sql: str, tree: exp.Expression, database: str, names: Collection[str], old: str, new: str, find: FindTable
) -> str:
    """Return a query with the new name of a column of the table that has these `names`.

    A derived table in FROM keeps the old name for its own column.
    """
    edits = []
    for column in tree.find_all(exp.Column):
        if column.name == old and _is_column_of(column, database, names, find):
            word = _quoted_like(sql, column.this, new)
            select = column.parent
            inner = isinstance(select, exp.Select) and select is not tree and column.arg_key == "expressions"
            edits.append((column.this, f"{word} as {_quoted_like(sql, column.this, old)}" if inner else word))
    return _apply_edits(sql, edits)


def rename_condition_column(condition: str, query: str, tree: exp.Expression, old: str, new: str) -> str:
    """Return the text of a CHECK with the new name of a column. It is the end of `query`, from which `tree` was
    parsed."""
    nodes = [column.this for column in tree.find_all(exp.Column) if column.name == old]
    head = len(query) - len(condition)
    return _apply_edits(query, [(node, _quoted_like(query, node, new)) for node in nodes])[head:]


def _is_table(node: exp.Table, database: str, names: Collection[str]) -> bool:
    return _stored_name(node) in names and (node.catalog or database) == database


def _stored_name(node: exp.Table) -> str:
    return str(node.meta.get(STORED_NAME, node.name))


def _sources(select: exp.Select) -> Iterator[exp.Expression]:
    """Yield the tables and queries in a SELECT's own FROM."""
    for key in ("from_", "from", "joins"):
        parts = select.args.get(key) or []
        for part in parts if isinstance(parts, list) else [parts]:
            for node in part.find_all(exp.Table, exp.Subquery):
                if node.parent_select is select:
                    yield node


def _is_column_of(column: exp.Column, database: str, names: Collection[str], find: FindTable) -> bool:
    """Return whether a column belongs to that table. The nearest enclosing query with the column in its FROM
    decides."""
    select = column.parent_select
    while select is not None:
        for source in _sources(select) if isinstance(select, exp.Select) else ():
            if column.table and source.alias_or_name != column.table:
                continue
            if isinstance(source, exp.Table) and _is_table(source, database, names):
                return True
            if column.table or column.name in _columns(source, database, find):
                return False
        select = select.parent_select
    return False


def _columns(source: exp.Expression, database: str, find: FindTable) -> list[str]:
    if isinstance(source, exp.Table):
        found = find(source.catalog or database, _stored_name(source))
        return [column.name for column in found.columns] if found is not None else []
    return list(source.unnest().named_selects)


def _quoted_like(sql: str, node: exp.Expression, name: str) -> str:
    """Return a name as an identifier, quoted if the old one was or if the name requires it."""
    written = quote_if_needed(name)
    if sql[node.meta["start"]] == '"' and not written.startswith('"'):
        return double_quoted(name)
    return written


def _apply_edits(sql: str, edits: list[tuple[exp.Expression, str]]) -> str:
    places = {(node.meta["start"], node.meta["end"] + 1): text for node, text in edits}
    for (start, end), text in sorted(places.items(), reverse=True):
        sql = sql[:start] + text + sql[end:]
    return sql
