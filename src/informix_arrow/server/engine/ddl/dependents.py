"""What goes with a table or view that is dropped: views that read it, and synonyms for any of them."""

from __future__ import annotations

from sqlglot import exp

from ...planning import views
from ...schema import privileges, stored_names
from ...schema.catalog import TableInfo, forget_table
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
