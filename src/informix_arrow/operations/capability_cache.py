"""Servers' replies to the capability offer, kept so that the next login need not wait for them
(:func:`.connect.connect`).

Nothing about users is kept. PAM logins are not cached: a server that asks questions is not among these.
"""

from __future__ import annotations

#: The address of a listener: host, port, and whether it uses TLS.
ListenerAddress = tuple[str, int, bool]

_MAX_ENTRIES = 256  # addresses; more than a process normally uses
_INVALIDATED = b""

_capability_cache: dict[ListenerAddress, bytes] = {}


def get(place: ListenerAddress) -> bytes:
    """Return the complete reply of the last login, its SQ_EOT included, or b"" if none is known."""
    return _capability_cache.get(place, _INVALIDATED)


def store(place: ListenerAddress, reply: bytes) -> None:
    """Keep the reply for the next login, unless the address was invalidated."""
    if len(_capability_cache) >= _MAX_ENTRIES:
        clear()
    _capability_cache.setdefault(place, reply)


def invalidate(place: ListenerAddress) -> None:
    """Stop expecting a reply from this address: a request sent ahead of the reply failed there."""
    _capability_cache[place] = _INVALIDATED


def clear() -> None:
    """Forget all servers."""
    _capability_cache.clear()
