"""INSERTs that differ in their literals alone: one plan serves all of them.

Programs that write their values into the text send another text for each row, which would be read and planned anew
for longer than it runs. Only what is certain without a parser is recognized: anything else takes the long way.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from dataclasses import dataclass, replace
from decimal import Decimal

from ..planning.plans import InsertPlan
from .plan_cache import LONGEST_TEXT
from .prepared import Prepared

_VALUES = re.compile(r"\bvalues\s*\(", re.IGNORECASE)
_HEAD = re.compile(r"\s*insert\s+into\s[\w\s.:,()]*", re.IGNORECASE)
_LONGEST_HEAD = 1 << 14
_ITEM = re.compile(
    r"\s*(?:'((?:[^'\"\\\x00\r\n]|'')*)'|(-?[0-9]{1,200}(\.[0-9]{1,200})?)|(null))\s*([,)])", re.IGNORECASE
)
_TAIL = re.compile(r"[\s;]*")


@dataclass(frozen=True, slots=True)
class LiteralRow:
    """The text of an INSERT of one row of literals: `head` is what stands before them, `rest` are their kinds and what
    stands behind them."""

    head: str
    rest: tuple[str, str]
    values: tuple[object, ...]

    @property
    def pattern(self) -> Hashable:
        """All of the text but the values."""
        return self.head, self.rest

    def is_of(self, prepared: Prepared) -> bool:
        """Whether the plan of the text holds for its pattern: the same values in the same places, and nothing more."""
        plan = prepared.plan
        if not isinstance(plan, InsertPlan) or plan.values is None or prepared.own:
            return False
        mine = [(type(value), str(value)) for value in self.values]
        return mine == [(type(value), str(value)) for kind, value in plan.values if kind == "const"] and len(
            mine
        ) == len(plan.values)

    def filled(self, prepared: Prepared, sql: str) -> Prepared:
        """The statement of this text, from that of another with the same pattern."""
        plan = prepared.plan
        values = tuple(("const", value) for value in self.values)
        row = plan.row
        if row is not None:
            given = dict(zip(plan.targets, self.values, strict=True))
            columns = tuple(
                (column, kind, given[column.name] if kind == "const" else value)
                for column, kind, value in row.columns
            )
            row = replace(row, columns=columns)
        return replace(prepared, sql=sql, plan=replace(plan, values=values, row=row))


def literal_row(sql: str) -> LiteralRow | None:
    """The row of an INSERT whose values are all plain literals; None for any other text, and for a doubtful one."""
    if len(sql) > LONGEST_TEXT or _HEAD.match(sql) is None:
        return None
    opened = _VALUES.search(sql, 0, _LONGEST_HEAD)
    if opened is None or _HEAD.fullmatch(sql, 0, opened.end()) is None:
        return None
    values: list[object] = []
    kinds = []
    at, sign = opened.end(), ","
    while sign == ",":
        item = _ITEM.match(sql, at)
        if item is None:
            return None
        text, number, fraction, null, sign = item.groups()
        if text is not None:
            values.append(text.replace("''", "'"))
            kinds.append("t")
        elif null is not None:
            values.append(None)
            kinds.append("n")
        else:
            values.append(Decimal(number) if fraction else int(number))
            kinds.append("f" if fraction else "i")
        at = item.end()
    if _TAIL.fullmatch(sql, at) is None:
        return None
    return LiteralRow(sql[: opened.end()], ("".join(kinds), sql[at:]), tuple(values))
