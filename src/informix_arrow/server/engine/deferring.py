"""SET CONSTRAINTS .. DEFERRED: the foreign keys of a transaction that are looked at when it is committed.

Keys and CHECKs are DuckDB's, which holds every statement against them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from weakref import WeakMethod

from ..schema.catalog import Foreign, TableInfo


@dataclass(frozen=True, slots=True)
class Skipped:
    """A foreign key that was not looked at, of the table of that number, by the name that it had then."""

    database: str
    tabid: int
    constraint: str


class Deferred:
    """Those of one session's transaction.

    Attributes
    ----------
    skipped
        What is still to be looked at.
    """

    def __init__(self) -> None:
        self.skipped: dict[Skipped, None] = {}
        self._all = False
        self._others: set[str] = set()  # for which the opposite of `_all` holds
        self._check: WeakMethod[Callable[[], None]] | None = None

    def check_by(self, check: Callable[[], None]) -> None:
        """Who looks at what was skipped. It is not kept alive: it holds the transaction."""
        self._check = WeakMethod(check)

    def check(self) -> None:
        """Look at everything that was skipped, inside `Transaction.write`: -691 for a row without its parent."""
        check = self._check() if self._check is not None else None
        assert check is not None  # it lives as long as its session
        check()
        self.skipped.clear()

    def set(self, names: Collection[str], *, deferred: bool) -> None:
        """Defer constraints, or do not; all of them where no names are given."""
        if not names:
            self._all, self._others = deferred, set()
        elif deferred == self._all:
            self._others -= set(names)
        else:
            self._others |= set(names)

    def skips(self, info: TableInfo, foreign: Foreign) -> bool:
        """Whether a foreign key of a table is left for later, which is noted then."""
        if self._all == (foreign.name in self._others):
            return False
        self.skipped[Skipped(info.database, info.tabid, foreign.name)] = None
        return True

    def clear(self) -> None:
        """A transaction is over."""
        if self._all or self._others:
            self._all, self._others = False, set()
            self.skipped.clear()
