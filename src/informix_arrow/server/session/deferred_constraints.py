"""SET CONSTRAINTS .. DEFERRED: the foreign keys of a transaction that are looked at when it is committed.

Keys and CHECKs are DuckDB's, which holds every statement against them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from weakref import WeakMethod

from ..catalog.catalog import ForeignKey, TableInfo


@dataclass(frozen=True, slots=True)
class DeferredCheck:
    """A foreign key that was not looked at, of the table of that number, by the name that it had then."""

    database: str
    tabid: int
    constraint: str


class DeferredConstraints:
    """Those of one session's transaction.

    Attributes
    ----------
    skipped
        What is still to be looked at.
    """

    def __init__(self) -> None:
        self.pending_checks: dict[DeferredCheck, None] = {}
        self._all_deferred = False
        self._exceptions: set[str] = set()  # for which the opposite of `_all_deferred` holds
        self._checker: WeakMethod[Callable[[], None]] | None = None

    def set_checker(self, check: Callable[[], None]) -> None:
        """Who looks at what was skipped. It is not kept alive: it holds the transaction."""
        self._checker = WeakMethod(check)

    def check(self) -> None:
        """Look at everything that was skipped, inside `Transaction.write`: -691 for a row without its parent."""
        check = self._checker() if self._checker is not None else None
        assert check is not None  # it lives as long as its session
        check()
        self.pending_checks.clear()

    def set_deferred(self, names: Collection[str], *, deferred: bool) -> None:
        """Defer constraints, or do not; all of them where no names are given."""
        if not names:
            self._all_deferred, self._exceptions = deferred, set()
        elif deferred == self._all_deferred:
            self._exceptions -= set(names)
        else:
            self._exceptions |= set(names)

    def defer(self, info: TableInfo, foreign: ForeignKey) -> bool:
        """Whether a foreign key of a table is left for later, which is noted then."""
        if self._all_deferred == (foreign.name in self._exceptions):
            return False
        self.pending_checks[DeferredCheck(info.database, info.tabid, foreign.name)] = None
        return True

    def clear(self) -> None:
        """A transaction is over."""
        if self._all_deferred or self._exceptions:
            self._all_deferred, self._exceptions = False, set()
            self.pending_checks.clear()
