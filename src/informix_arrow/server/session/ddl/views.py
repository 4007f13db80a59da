"""CREATE VIEW."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import replace

from ....wire.quoting import double_quoted, quote_if_needed
from ...catalog import privileges
from ...catalog.catalog import ColumnInfo, TableInfo, duck_database
from ...errors import SqlError, not_supported
from ...parse.ddl_nodes import CreateView
from ...parse.stored_text import with_single_quotes
from ...plan.views import view_query
from .ddl_context import DdlContext
from .dependents import rename_table, rewritable_views
from .duck_tables import create_duck_view


def create(context: DdlContext, statement: CreateView) -> int:
    if context.tables.is_name_taken(statement.name):
        if statement.if_not_exists:
            return 0
        raise SqlError(-310, 0, 0, statement.name)
    tree = context.sql_reader.parse(statement.query)
    owner = statement.owner or context.privileges.acting_owner
    translator = context.planner.query_translator()
    with context.tables.names_of(owner):
        sql, outputs = translator.query(tree)
    needs = translator.ctx.bind_requirements()
    translator.ctx.require_read()
    temporary = next((table for table in translator.ctx.tables.values() if table.temporary), None)
    if temporary is not None:
        raise SqlError(-337, 0, 0, temporary.name)
    if translator.ctx.sequences:
        raise not_supported("NEXTVAL and CURRVAL in a view")
    names = statement.columns or [o.name for o in outputs]
    if len(names) != len(outputs):
        raise SqlError(-236)
    if any(n.startswith("(") for n in names) or len(set(names)) < len(names):
        raise SqlError(-249)
    query = with_single_quotes(statement.query, context.environment.delimident)
    types = context.planner.output_types(sql, outputs, needs)
    database = context.current_database.require()
    duck = f"{duck_database(database)}.main.{double_quoted(statement.name)}"
    info = TableInfo(
        statement.name,
        context.new_tabid(),
        "V",
        tuple(ColumnInfo(n, t) for n, t in zip(names, types, strict=True)),
        database,
        duck,
        viewtext=_text(statement.name, names, query),
        is_delimited=True,
        with_check_option=statement.checked,
        is_expanded=translator.ctx.uses_session,
        owner=owner,
    )
    if statement.checked:
        context.tables.view_target(info)  # -385 matters only if rows are written through the view
    create_duck_view(context, info, sql)
    context.register_table(info, owner)
    _grant_to_owner(context, info, owner, [table for table, _, _ in translator.ctx.read_checks])
    return 0


def rename(context: DdlContext, info: TableInfo, new_name: str) -> int:
    """RENAME TABLE of a view: -310 if the name is taken."""
    if context.tables.is_name_taken(new_name):
        raise SqlError(-310, 0, 0, new_name)
    read_by = rewritable_views(context, info)
    query = view_query(info)
    with context.tables.names_of(info.owner):
        sql, _ = context.planner.query_translator().query(context.sql_reader.parse_view(info))
    new = replace(
        info,
        name=new_name,
        duck_name=f"{duck_database(info.database)}.main.{double_quoted(new_name)}",
        viewtext=_text(new_name, [column.name for column in info.columns], query),
    )
    context.transaction.recorder.execute(f"DROP VIEW {info.duck_name}")
    create_duck_view(context, new, sql)
    context.replace_table(info, new)
    rename_table(context, info, new_name, read_by)
    return 0


def _text(name: str, columns: Iterable[str], query: str) -> str:
    """Return the text of a view. Its own name is as it is stored; sysviews shows it as a statement has it."""
    return f"create view {name} ({', '.join(map(quote_if_needed, columns))}) as {query}"


def _grant_to_owner(context: DdlContext, info: TableInfo, owner: str, tables: list[TableInfo]) -> None:
    """Grant the owner of a view SELECT, and the changes that he may make to its table.

    He may pass them on if he may do so for the table.
    """
    own = context.privileges
    letters = {"S" if all(own.has_privilege(table, "s", grant=True) for table in tables) else "s"}
    with contextlib.suppress(SqlError):  # a view of more than one table's rows
        table = context.tables.view_target(info).table
        letters |= {letter for letter in "uid" if own.has_privilege(table, letter)}
        letters |= {
            letter.upper()
            for letter in letters - {"s"}
            if own.has_privilege(table, letter.lower(), grant=True)
        }
    privileges.set_table_grants(
        context.transaction.recorder, info.database, info.tabid, owner, owner, letters, {}
    )
