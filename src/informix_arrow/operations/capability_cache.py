"""What servers answered to the offer of capabilities when this process last logged in, so that the next login need not
wait for it (:func:`.connect.connect`).

Nothing about users is kept. Not for PAM: a server that asks questions is not among those.
"""

from __future__ import annotations

#: Where a listener is: host, port, and whether it speaks TLS.
ListenerAddress = tuple[str, int, bool]

_MAX_ENTRIES = 256  # places; nobody talks to more of them in turns
_INVALIDATED = b""

_capability_cache: dict[ListenerAddress, bytes] = {}


def get(place: ListenerAddress) -> bytes:
    """The whole answer of last time, its SQ_EOT included; empty when none is to be expected."""
    return _capability_cache.get(place, _INVALIDATED)


def store(place: ListenerAddress, answer: bytes) -> None:
    """Keep the answer for the next login, unless it was struck out."""
    if len(_capability_cache) >= _MAX_ENTRIES:
        clear()
    _capability_cache.setdefault(place, answer)


def invalidate(place: ListenerAddress) -> None:
    """Nothing is expected of this place any more: what was sent there ahead of its answer did not fare well."""
    _capability_cache[place] = _INVALIDATED


def clear() -> None:
    """Know no server at all, as when the process began."""
    _capability_cache.clear()
