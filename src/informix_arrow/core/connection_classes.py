"""Which class ``connect()`` makes: the package's own, or a subclass of it that an integration wants.

An integration knows the connections, they do not know it. One that is installed has an entry point in the group
``informix_arrow.connections``, a function of the own class; one that is not says so itself::

    registry.register(Connection, lambda: OurConnection)

Such a function gives None for the package's own after all. It is asked at each ``connect()`` until it gives a class, so
that it may wait for what its user imports, and import then what is costly.
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
    """Let ``choose()`` say what ``connect()`` and the pool make instead of ``own``; the last one registered counts, and
    overrules what is installed.
    """
    _registered[own] = choose
    _resolved.pop(own, None)


def connection_class(own: type[C]) -> type[C]:
    """The class to make instead of ``own``: itself when nobody wants another."""
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
    """The functions of the integrations that are installed."""
    return tuple(each.load() for each in entry_points(group=ENTRY_POINT_GROUP))
