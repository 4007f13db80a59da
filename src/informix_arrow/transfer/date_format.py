"""Find the DBDATE of an export from the dates in its ``.sql`` and ``.unl`` files."""

from __future__ import annotations

import datetime as dt
import itertools
import re
from collections.abc import Iterable, Iterator

from ..unl.dialect import Dialect
from ..wire.sql_text import is_comment, tokens

DEFAULT_DBDATE = "MDY4/"
_ORDERS = ("MDY", "DMY", "YMD", "YDM")
_DATE = re.compile(r"\s*(\d{1,4})([/.\- ])(\d{1,2})\2(\d{1,4})\s*")
_YEAR_OF_FOUR = re.compile(r"(\d{4}([/.-])\d{1,2}\2\d{1,2}|\d{1,2}([/.-])\d{1,2}\3\d{4})")
_NO_COLUMN = ("PRIMARY", "FOREIGN", "UNIQUE", "DISTINCT", "CHECK", "CONSTRAINT")


class DateFormats:
    """The orders of day, month and year that all dates seen so far may have."""

    def __init__(self) -> None:
        self._orders: tuple[str, ...] = _ORDERS
        self._first = ""  # the first date
        self._separator = ""
        self._long_years = False
        self._ambiguous: dict[tuple[str, str], str] = {}  # a date that two orders read differently
        self.conflict: tuple[str, str] | None = None  # two dates that no order has in common

    @property
    def decided(self) -> bool:
        """True if one order is left."""
        return len(self._orders) == 1

    def add(self, texts: Iterable[str | None]) -> None:
        """Take dates into account. Other texts are passed over."""
        for text in texts:
            match = _DATE.fullmatch(text or "")
            if match is None or self.conflict:
                continue
            parts = (match[1], match[3], match[4])
            values = {order: value for order in _ORDERS if (value := _value(order, parts)) is not None}
            left = tuple(order for order in self._orders if order in values)
            if not values:
                continue
            if not left:
                self.conflict = self._first, match[0].strip()
                continue
            self._orders = left
            for pair in itertools.combinations(left, 2):
                if values[pair[0]] != values[pair[1]]:
                    self._ambiguous.setdefault(pair, match[0].strip())
            self._long_years |= any(len(part) == 4 for part in parts)
            self._first = self._first or match[0].strip()
            self._separator = self._separator or match[2]

    @property
    def choices(self) -> list[str]:
        """The DBDATEs that differ in what they make of the dates. One if they are known, none if there was no date."""
        if not self._first:
            return []
        orders = [self._orders[0]]
        for order in self._orders[1:]:
            if any((other, order) in self._ambiguous for other in orders):
                orders.append(order)
        years = "4" if self._long_years else "2"
        separator = "/" if self._separator == " " else self._separator
        return [order.replace("Y", f"Y{years}") + separator for order in orders]

    def admits(self, dbdate: str) -> bool:
        """Return whether a session with this DBDATE reads the dates that were seen."""
        return not self._first or (self.conflict is None and Dialect.of(dbdate=dbdate).order in self._orders)

    @property
    def example(self) -> str:
        """A date that the choices read differently."""
        return next(
            (text for pair, text in self._ambiguous.items() if set(pair) <= set(self._orders)), self._first
        )


def format_date(day: dt.date, dbdate: str) -> str:
    """Return a date as a session with this DBDATE or GL_DATE writes it."""
    form = Dialect.of(dbdate=dbdate)
    year = f"{day.year:04d}"
    parts = {"M": f"{day.month:02d}", "D": f"{day.day:02d}", "Y": year if form.year_digits == 4 else year[2:]}
    return form.separator.join(parts[part] for part in form.order)


def _value(order: str, parts: tuple[str, str, str]) -> tuple[int, int, int] | None:
    by_name = dict(zip(order, parts, strict=True))
    if len(by_name["Y"]) == 3 or len(by_name["M"]) > 2 or len(by_name["D"]) > 2:
        return None
    year, month, day = int(by_name["Y"]), int(by_name["M"]), int(by_name["D"])
    return (year, month, day) if 1 <= month <= 12 and 1 <= day <= 31 else None


def date_columns(create: str) -> list[int]:
    """Return the places, from 0, of the DATE columns of a CREATE TABLE statement."""
    return [
        number
        for number, words in enumerate(_columns(create))
        if len(words) > 1 and words[1].upper() == "DATE"
    ]


def column_count(create: str) -> int:
    """Return the number of columns of a CREATE TABLE statement."""
    return sum(1 for _ in _columns(create))


def date_literals(statements: Iterable[str]) -> Iterator[str]:
    """Yield the literals of statements that are dates: defaults of DATE columns, arguments of DATE(), and any other
    that has a year of four digits."""
    for statement in statements:
        for words in _columns(statement):
            if len(words) > 3 and words[1].upper() == "DATE" and words[2].upper() == "DEFAULT":
                yield words[3].strip("'\"")
        words = [token for token in tokens(statement) if not token.isspace() and not is_comment(token)]
        for before, opening, literal in zip(["", "", *words], ["", *words], words, strict=False):
            if literal[:1] in ("'", '"'):
                text = literal[1:-1]
                if (opening == "(" and before.upper() == "DATE") or _YEAR_OF_FOUR.fullmatch(text):
                    yield text


def _columns(create: str) -> Iterator[list[str]]:
    """Yield the words of each column of a CREATE TABLE statement."""
    words = [token for token in tokens(create) if not token.isspace() and not is_comment(token)]
    if "(" not in words or [word.upper() for word in words[:1]] != ["CREATE"]:
        return
    if "TABLE" not in [word.upper() for word in words[:3]]:
        return
    depth, column = 1, list[str]()
    for word in words[words.index("(") + 1 :]:
        depth += {"(": 1, ")": -1}.get(word, 0)
        if depth == 0 or (depth == 1 and word == ","):
            if column and column[0].upper() not in _NO_COLUMN:
                yield column
            column = []
            if depth == 0:
                return
        else:
            column.append(word)
