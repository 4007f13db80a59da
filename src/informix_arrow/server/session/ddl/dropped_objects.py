"""Large objects of a table that is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ....wire.quoting import double_quoted
from ...catalog import stored_names, stored_objects
from ...catalog.catalog import SqlConnection, TableInfo
from ...types.locators import locator_number
from ...types.nested_types import lob_kind


def drop_objects(
    info: TableInfo,
    writer: SqlConnection,
    temp_tables: Iterable[TableInfo],
    other_temp_tables: Iterable[TableInfo],
    find_table: Callable[[str, str], TableInfo | None],
) -> None:
    """Delete the objects that only this table refers to, just before it is dropped.

    Objects that another table may refer to stay. Permanent tables and this session's temporary ones, `temp_tables`, are
    searched. While another session has a temporary table with such a column, one of `other_temp_tables`, nothing is
    deleted: it cannot be searched.
    """
    columns = _lob_columns(info)
    if not columns or any(map(_lob_columns, other_temp_tables)):
        return
    numbers = _numbers(writer, info)
    if not numbers:
        return
    names = stored_names.user_object_names(writer, info.database, "T", but=info.tabid)
    permanent = [find_table(info.database, name) for name in names]
    for other in [*permanent, *temp_tables]:
        if other is not None and other is not info and numbers:
            numbers -= _numbers(writer, other)
    stored_objects.delete(writer, info.database, sorted(numbers))


def _lob_columns(info: TableInfo) -> list[str]:
    return [c.name for c in info.columns if lob_kind(c.type)]


def _numbers(writer: SqlConnection, info: TableInfo) -> set[int]:
    """Return the numbers of the objects that a table refers to."""
    object_numbers: set[int] = set()
    for name in _lob_columns(info):
        column = double_quoted(name)
        sql = f"SELECT DISTINCT {column} FROM {info.duck_name} WHERE {column} IS NOT NULL"
        rows = writer.execute(sql).fetchall()
        object_numbers |= {locator_number(bytes(locator)) for (locator,) in rows}
    return object_numbers
