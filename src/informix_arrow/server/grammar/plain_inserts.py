"""INSERTs of one row of literals as trees, without the parser: a table that was made a moment ago is filled by texts
that nobody has read before, and reading one takes the parser longer than DuckDB takes to insert the row.

Only what is certain without a tokenizer is taken; whatever else it is, the parser says so.
"""

from __future__ import annotations

import re

from sqlglot import exp

from .dialect import InformixTokenizer

_LONGEST = 1 << 14
_HEAD = re.compile(r"\s*insert\s+into\s+([a-z_][a-z0-9_]*)\s+values\s*\(", re.IGNORECASE)
_ITEM = re.compile(
    r"\s*(?:'((?:[^'\"\\\x00\r\n]|'')*)'|(-?)([0-9]{1,200}(?:\.[0-9]{1,200})?)|(null))\s*([,)])",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[\s;]*")


def plain_insert(sql: str) -> exp.Insert | None:
    """What `parse` makes of the text, but for positions that nobody asks for; None where that is not certain."""
    head = _HEAD.match(sql) if len(sql) <= _LONGEST else None
    if head is None or head[1].upper() in InformixTokenizer.KEYWORDS:
        return None
    items: list[exp.Expression] = []
    at, sign = head.end(), ","
    while sign == ",":
        item = _ITEM.match(sql, at)
        if item is None:
            return None
        text, minus, number, _, sign = item.groups()
        if text is not None:
            items.append(exp.Literal.string(text.replace("''", "'")))
        elif number is not None:
            literal = exp.Literal.number(number)
            items.append(exp.Neg(this=literal) if minus else literal)
        else:
            items.append(exp.Null())
        at = item.end()
    if _TAIL.fullmatch(sql, at) is None:
        return None
    name = exp.to_identifier(head[1].lower(), quoted=False)
    start, end = head.span(1)
    name.meta.update(start=start, end=end - 1)
    return exp.Insert(
        this=exp.Table(this=name), expression=exp.Values(expressions=[exp.Tuple(expressions=items)])
    )
