"""Statements that were read and described already, by their text."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable

from .prepared_plan import PreparedPlan
from .schema_version import SchemaVersion

CACHE_SIZE = 256
MAX_TEXT = 1 << 16
"""Characters of a statement that is worth keeping: a longer one holds its data in itself."""


class PlanCache:
    """Prepared statements as of one version of whatever they depend on; the least recently used goes first.

    Thread-safe. A statement of another version is never given.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = -1
        self._plans: OrderedDict[Hashable, PreparedPlan] = OrderedDict()

    def get(self, key: Hashable, version: int) -> PreparedPlan | None:
        """The statement under this key, if it is of this version."""
        with self._lock:
            if version != self._version or key not in self._plans:
                return None
            self._plans.move_to_end(key)
            return self._plans[key]

    def put(self, key: Hashable, version: int, prepared: PreparedPlan) -> None:
        """Keep a statement. A later version drops all earlier ones, an earlier one is not kept."""
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
    """Statements that all sessions of an engine may run.

    Attributes
    ----------
    version
        That of the schema, as of which `by_text` holds.
    by_text
        Statements about stored tables, and nothing of one session.
    fixed
        Queries of the catalogue alone, which a change of the schema leaves as they are: they hold until databases come
        or go.
    """

    def __init__(self, version: SchemaVersion) -> None:
        self.version = version
        self.by_text = PlanCache()
        self.catalog_plans = PlanCache()
