"""Cache of prepared statements by their text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from .prepared_plan import PreparedPlan
from .schema_version import SchemaVersion

CACHE_SIZE = 256
MAX_TEXT = 1 << 16
"""Characters of a statement that is cached. A longer one contains its data."""


class PlanCache:
    """Prepared statements for one version of their dependencies; the least recently used is evicted first.

    Thread-safe. A statement of another version is never returned.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = -1
        self._plans: OrderedDict[Hashable, PreparedPlan] = OrderedDict()

    def get(self, key: Hashable, version: int) -> PreparedPlan | None:
        """Return the statement with this key if it has this version."""
        with self._lock:
            if version != self._version or key not in self._plans:
                return None
            self._plans.move_to_end(key)
            return self._plans[key]

    def put(self, key: Hashable, version: int, prepared: PreparedPlan) -> None:
        """Add a statement. A later version removes all earlier ones; one of an earlier version is not added."""
        with self._lock:
            if version < self._version:
                return
            if version > self._version:
                self._version = version
                self._plans.clear()
            self._plans[key] = prepared
            self._plans.move_to_end(key)
            if len(self._plans) > CACHE_SIZE:
                self._plans.popitem(last=False)


class SharedPlans:
    """Plans that all sessions of an engine share.

    Attributes
    ----------
    version
        The schema version that `by_text` is valid for.
    by_text
        Statements that name only stored tables and nothing of one session.
    catalog_plans
        Queries of the catalogue alone. Schema changes do not affect them: they stay valid until databases are created
        or dropped.
    """

    def __init__(self, version: SchemaVersion) -> None:
        self.version = version
        self.by_text = PlanCache()
        self.catalog_plans = PlanCache()
