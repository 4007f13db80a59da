"""Plans of statements about a temporary table, for the same statements about another one that is like it: programs make
the same table again and again, and often number it.

Only a text that says the table's name once, right behind FROM or INTO and without quotes, is recognized: so nothing
else of its plan can have it from there.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace

from ..planning.plans import InsertPlan, SelectPlan
from ..schema.catalog import TableInfo
from ..types.names import quote
from .literal_rows import LiteralRow
from .prepared import Prepared

KEPT = 32
"""Plans that a session keeps."""

_LONGEST = 1 << 10
_SELECT = re.compile(
    r"(\s*select\s[\w\s,.*()]*?\sfrom\s+)([a-z]\w*)((?:\s[\w\s,.*()]*)?;?\s*)", re.IGNORECASE | re.ASCII
)
_INSERT = re.compile(r"(\s*insert\s+into\s+)([a-z]\w*)([\w\s,()]*)", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True, slots=True)
class About:
    """A text that is about one temporary table: `pattern` is all of it but the table's name, and a row's literals."""

    pattern: Hashable
    table: TableInfo


def about(sql: str, row: LiteralRow | None, tables: Mapping[str, TableInfo]) -> About | None:
    """The table that a query, or an INSERT of literals, is about, of those given by their names; None where it is about
    none of these, or more than one thing."""
    if not tables or len(sql) > _LONGEST:
        return None
    found = _SELECT.fullmatch(sql) if row is None else _INSERT.fullmatch(row.head)
    if found is None:
        return None
    before, name, behind = found.groups()
    name = name.lower()
    table = tables.get(name)
    if table is None or table.name != name or not _is_plain(table):
        return None
    if name in re.findall(r"\w+", f"{before} {behind}".lower()):
        return None
    return About((before, behind) if row is None else (before, behind, *row.rest), table)


def _is_plain(table: TableInfo) -> bool:
    """Whether there is nothing to a table but its columns."""
    more = table.uniques or table.checks or table.foreigns or table.indexes or table.triggers
    return table.temporary and not more and table.column(table.name) is None


class RenamedPlans:
    """Those of one session; the least recently used goes first."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, tuple[Prepared, TableInfo]] = OrderedDict()

    def get(self, key: Hashable, table: TableInfo, sql: str) -> Prepared | None:
        """The statement `sql` about a table, from one about another with the same columns."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        prepared, old = kept
        if old.columns != table.columns or table.column(old.name) is not None:
            return None
        self._kept.move_to_end(key)
        plan = prepared.plan

        def renamed(text: str) -> str:
            return text.replace(old.duck, table.duck).replace(quote(old.name), quote(table.name))

        if isinstance(plan, InsertPlan):
            assert plan.row is not None
            plan = replace(plan, info=table, row=replace(plan.row, sql=renamed(plan.row.sql)))
        else:
            plan = replace(plan, sql=renamed(plan.sql), keyed=renamed(plan.keyed), tables=(table,))
        return replace(prepared, sql=sql, plan=plan)

    def put(self, key: Hashable, table: TableInfo, prepared: Prepared) -> None:
        """Keep a statement about a table, where its plan is one of columns and values alone."""
        plan = prepared.plan
        if isinstance(plan, SelectPlan):
            simple = plan.plain is not None and plan.tables == (table,) and not (plan.shown or plan.into)
        else:
            simple = isinstance(plan, InsertPlan) and plan.row is not None and plan.info == table
            simple = simple and not plan.row.keys
        if not simple:
            return
        self._kept[key] = replace(prepared), table  # as it is before it runs
        self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            self._kept.popitem(last=False)
