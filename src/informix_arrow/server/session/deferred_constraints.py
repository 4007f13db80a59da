"""SET CONSTRAINTS .. DEFERRED: the foreign keys of a transaction that are checked at its COMMIT.

Keys and CHECKs cannot be deferred: DuckDB checks them for every statement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from weakref import WeakMethod

from ..catalog.catalog import ForeignKey, TableInfo


@dataclass(frozen=True, slots=True)
class DeferredCheck:
    """A foreign key whose check was deferred: the number of its table, and its name at that time."""

    database: str
    tabid: int
    constraint: str


class DeferredConstraints:
    """The deferred constraints of one session's transaction.

    Attributes
    ----------
    pending_checks
        The checks that are still to be made.
    """

    def __init__(self) -> None:
        self.pending_checks: dict[DeferredCheck, None] = {}
        self._all_deferred = False
        self._exceptions: set[str] = set()  # constraints for which the opposite of `_all_deferred` holds
        self._checker: WeakMethod[Callable[[], None]] | None = None

    def set_checker(self, check: Callable[[], None]) -> None:
        """Set the function that makes the pending checks.

        The reference is weak, because its object refers to the transaction.
        """
        self._checker = WeakMethod(check)

    def check(self) -> None:
        """Make all pending checks, inside `SessionTransaction.write`: -691 for a row without its parent."""
        check = self._checker() if self._checker is not None else None
        assert check is not None  # its object lives as long as the session
        check()
        self.pending_checks.clear()

    def set_deferred(self, names: Collection[str], *, deferred: bool) -> None:
        """Defer constraints or make them immediate; all of them if no names are given."""
        if not names:
            self._all_deferred, self._exceptions = deferred, set()
        elif deferred == self._all_deferred:
            self._exceptions -= set(names)
        else:
            self._exceptions |= set(names)

    def defer(self, info: TableInfo, foreign: ForeignKey) -> bool:
        """Return whether the check of a table's foreign key is deferred, and add it to the pending checks if so."""
        if self._all_deferred == (foreign.name in self._exceptions):
            return False
        self.pending_checks[DeferredCheck(info.database, info.tabid, foreign.name)] = None
        return True

    def clear(self) -> None:
        """Reset at the end of a transaction."""
        if self._all_deferred or self._exceptions:
            self._all_deferred, self._exceptions = False, set()
            self.pending_checks.clear()
