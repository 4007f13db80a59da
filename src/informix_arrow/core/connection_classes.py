"""The class that ``connect()`` creates: the package's own, or a subclass that an integration provides.

Integrations know the connection classes, not the other way round. An installed integration has an entry point
in the group ``informix_arrow.connections``, a function of the package's own class. Others register such a
function::

    connection_classes.register(Connection, lambda: OurConnection)

The function may return None for the package's own class. It is called at each ``connect()`` until it returns a
class, so it may wait until its user imports something, and import what is costly only then.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib.metadata import entry_points
from typing import Any, TypeVar, cast

C = TypeVar("C")

ENTRY_POINT_GROUP = "informix_arrow.connections"

_registered: dict[type[Any], Callable[[], type[Any] | None]] = {}
_resolved: dict[type[Any], type[Any]] = {}


def register(own: type[C], choose: Callable[[], type[C] | None]) -> None:
    """Let ``choose()`` decide the class that ``connect()`` and the pool create instead of ``own``.

    The last function registered is used, and overrides installed ones.
    """
    _registered[own] = choose
    _resolved.pop(own, None)


def connection_class(own: type[C]) -> type[C]:
    """Return the class to create instead of ``own``; ``own`` itself if no integration provides one."""
    kind = _resolved.get(own) or _resolve(own)
    if kind is None:
        return own
    _resolved[own] = kind
    return cast("type[C]", kind)


def _resolve(own: type[Any]) -> type[Any] | None:
    registered = _registered.get(own)
    if registered is not None:
        return registered()
    for choose in integration_hooks():
        kind = choose(own)
        if kind is not None:
            return kind
    return None


@cache
def integration_hooks() -> tuple[Callable[[type[Any]], type[Any] | None], ...]:
    """Return the functions of the installed integrations."""
    return tuple(each.load() for each in entry_points(group=ENTRY_POINT_GROUP))
