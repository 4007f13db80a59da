"""Views that read a table, and synonyms for it: they go with it when it is dropped, and know it by a new name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from ...errors import SqlError
from ...planning import renaming, views
from ...schema import privileges, stored_names
from ...schema.catalog import TableInfo, forget_table
from ...types.names import quote
from . import triggers
from .workbench import Workbench


def dependent_views(bench: Workbench, info: TableInfo) -> list[TableInfo]:
    """The views of the same database that read a table or view, directly or through others; those that read another
    come before it."""
    if info.temporary:
        return []
    found: list[TableInfo] = []
    names = {info.name}
    # a view is younger than what it reads
    for name in stored_names.users_own(bench.transaction.con, info.database, "V"):
        view = bench.tables.find(info.database, name)
        if view is None or view.name == info.name:
            continue
        for node in bench.reader.parse(views.query_text(view)).find_all(exp.Table):
            if (node.catalog or info.database) == info.database and node.name in names:
                found.append(view)
                names.add(view.name)
                break
    return found[::-1]


def drop_dependents(bench: Workbench, info: TableInfo) -> None:
    """Drop the views that read a table or view that is about to be dropped, and the synonyms for it and for them."""
    gone = dependent_views(bench, info)
    writer = bench.transaction.writer
    for view in gone:
        writer.execute(f"DROP VIEW {view.duck}")
        forget_table(writer, view)
        triggers.forget_table(writer, view)
        privileges.forget_table(writer, view.database, view.tabid)
    if info.temporary:
        return
    names = {info.name, *(view.name for view in gone)}
    for tabid, database, name in stored_names.synonyms(bench.transaction.con, info.database):
        if database == info.database and name in names:
            stored_names.forget(writer, info.database, tabid)


def readers(bench: Workbench, table: TableInfo) -> list[TableInfo]:
    """The views that read a table by one of its names, and can be made anew from their text: not those whose `*` means
    other columns than it did when they were made."""
    if table.temporary:
        return []
    names, found = _names(bench, table), []
    for name in stored_names.users_own(bench.transaction.con, table.database, "V"):
        view = bench.tables.find(table.database, name)
        if view is None:
            continue
        tree = bench.reader.parse(views.query_text(view))
        if renaming.reads(tree, table.database, names) and _means_the_same(bench, view, tree):
            found.append(view)
    return found


def _means_the_same(bench: Workbench, view: TableInfo, tree: exp.Expression) -> bool:
    stars = [star for star in tree.find_all(exp.Star) if not isinstance(star.parent, exp.Count)]
    if not stars:
        return True
    if not isinstance(tree, exp.Select):
        return False
    _, outputs = bench.planner.translator(0).query(tree)
    return [output.name for output in outputs] == [column.name for column in view.columns]


def rename_table(bench: Workbench, old: TableInfo, new: str, read_by: list[TableInfo]) -> None:
    """Its `readers`, and synonyms for it, name a table as it is called now; it has that name already."""
    if not old.temporary:
        stored_names.redirect_synonyms(bench.transaction.writer, old.database, old.name, new)
        bench.schema.change()
    _rewrite(bench, read_by, lambda sql, tree: renaming.with_table(sql, tree, old, new))


def rename_column(bench: Workbench, table: TableInfo, old: str, new: str, read_by: list[TableInfo]) -> None:
    """The `readers` of a table name a column as it is called now."""
    names, find = _names(bench, table), bench.tables.find

    def changed(sql: str, tree: exp.Expression) -> str:
        return renaming.with_column(sql, tree, table.database, names, old, new, find)

    _rewrite(bench, read_by, changed)


def _names(bench: Workbench, table: TableInfo) -> set[str]:
    """What a table is called in its own database: its name and synonyms."""
    con = bench.transaction.con
    return {table.name, *stored_names.synonym_names(con, table.database, table.name)}


def _rewrite(
    bench: Workbench, read_by: list[TableInfo], changed: Callable[[str, exp.Expression], str]
) -> None:
    """Make views anew with another text of their query; their own columns stay."""
    for view in read_by:
        query = views.query_text(view)
        now = changed(query, bench.reader.parse(query))
        try:
            sql, _ = bench.planner.translator(0).query(bench.reader.parse(now))
        except SqlError:
            continue  # no reason to refuse a new name: the view says what is missing when it is read
        columns = ", ".join(quote(column.name) for column in view.columns)
        bench.transaction.writer.execute(f"DROP VIEW {view.duck}")
        bench.transaction.writer.execute(f"CREATE VIEW {view.duck} ({columns}) AS {sql}")
        bench.replace_description(view, replace(view, viewtext=view.viewtext.removesuffix(query) + now))
