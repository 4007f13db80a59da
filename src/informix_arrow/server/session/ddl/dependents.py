"""Views that read a table, and synonyms for it: dropped with the table, and adapted when it is renamed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ...catalog import privileges, stored_names
from ...catalog.catalog import TableInfo, forget_table
from ...errors import SqlError
from ...plan import rename_references, views
from . import triggers
from .ddl_context import DdlContext
from .duck_tables import create_duck_view


def dependent_views(context: DdlContext, info: TableInfo) -> list[TableInfo]:
    """Return the views of the same database that read a table or view, directly or through others.

    A view that reads another comes before it.
    """
    if info.temporary:
        return []
    dependents: list[TableInfo] = []
    names = {info.name}
    # a view is newer than the tables that it reads
    for name in stored_names.user_object_names(context.transaction.catalog, info.database, "V"):
        view = context.tables.find(info.database, name)
        if view is None or view.name == info.name:
            continue
        tree = _view_tree(context, view)
        if rename_references.reads_table(tree, info.database, names):
            dependents.append(view)
            names.add(view.name)
    return dependents[::-1]


def _view_tree(context: DdlContext, view: TableInfo) -> exp.Expression:
    """Parse the query of a view. Each table gets the name under which it is stored."""
    tree = context.sql_reader.parse_view(view)
    for node in tree.find_all(exp.Table):
        if (node.catalog or view.database) == view.database:
            node.meta[rename_references.STORED_NAME] = context.tables.name_in_view(view, node)
    return tree


def drop_dependents(context: DdlContext, info: TableInfo) -> bool:
    """Drop the views that read a table or view that is about to be dropped, and the synonyms for all of them.

    Return whether there were any.
    """
    dropped = dependent_views(context, info)
    writer = context.transaction.recorder
    for view in dropped:
        writer.execute(f"DROP VIEW {view.duck_name}")
        forget_table(writer, view)
        triggers.forget_table(writer, view)
        privileges.forget_table(writer, view.database, view.tabid)
    if info.temporary:
        return False
    names = {info.name, *(view.name for view in dropped)}
    synonyms = [
        tabid
        for tabid, database, name in stored_names.synonyms(context.transaction.catalog, info.database)
        if database == info.database and name in names
    ]
    for tabid in synonyms:
        stored_names.remove(writer, info.database, tabid)
    return bool(dropped or synonyms)


ParsedView = tuple[TableInfo, exp.Expression]
"""A view and its query."""


def rewritable_views(context: DdlContext, table: TableInfo) -> list[ParsedView]:
    """Return the views that read a table by one of its names and can be recreated from their text.

    A view whose `*` now means other columns than when it was created is left out.
    """
    if table.temporary:
        return []
    names = _table_names(context, table)
    result: list[ParsedView] = []
    for name in stored_names.user_object_names(context.transaction.catalog, table.database, "V"):
        view = context.tables.find(table.database, name)
        if view is None:
            continue
        tree = _view_tree(context, view)
        if rename_references.reads_table(tree, table.database, names) and _keeps_its_meaning(
            context, view, tree
        ):
            result.append((view, tree))
    return result


def _keeps_its_meaning(context: DdlContext, view: TableInfo, tree: exp.Expression) -> bool:
    stars = [star for star in tree.find_all(exp.Star) if not isinstance(star.parent, exp.Count)]
    if not stars:
        return True
    if not isinstance(tree, exp.Select):
        return False
    with context.tables.names_of(view.owner):
        _, outputs = context.planner.query_translator().query(tree.copy())
    return [output.name for output in outputs] == [column.name for column in view.columns]


def rename_table(context: DdlContext, old: TableInfo, new: str, read_by: list[ParsedView]) -> None:
    """Update the table's `rewritable_views` and the synonyms for it after it was renamed."""
    if not old.temporary:
        stored_names.redirect_synonyms(context.transaction.recorder, old.database, old.name, new)
        context.schema.mark_changed()
    _rewrite_views(context, read_by, lambda sql, tree: rename_references.rename_table(sql, tree, old, new))


def rename_column(
    context: DdlContext, table: TableInfo, old: str, new: str, read_by: list[ParsedView]
) -> None:
    """Update a table's `rewritable_views` after a column was renamed."""
    names, find = _table_names(context, table), context.tables.find

    def changed(sql: str, tree: exp.Expression) -> str:
        return rename_references.rename_column(sql, tree, table.database, names, old, new, find)

    _rewrite_views(context, read_by, changed)


def _table_names(context: DdlContext, table: TableInfo) -> set[str]:
    """Return the names of a table in its own database: its name and synonyms."""
    con = context.transaction.catalog
    return {table.name, *stored_names.synonym_names(con, table.database, table.name)}


def _rewrite_views(
    context: DdlContext, read_by: list[ParsedView], changed: Callable[[str, exp.Expression], str]
) -> None:
    """Recreate views with a changed text of their query. Their column names stay."""
    for view, tree in read_by:
        query = views.view_query(view)
        text = changed(query, tree)
        try:
            with context.tables.names_of(view.owner):
                sql, _ = context.planner.query_translator().query(context.sql_reader.parse_view(view, text))
        except SqlError:
            continue  # no reason to refuse the new name: reading the view reports what is missing
        context.transaction.recorder.execute(f"DROP VIEW {view.duck_name}")
        create_duck_view(context, view, sql)
        context.replace_table(view, replace(view, viewtext=view.viewtext.removesuffix(query) + text))
