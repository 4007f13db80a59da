"""What servers answered to the offer of capabilities when this process last logged in, so that the next login need not
wait for it (:func:`.connect.connect`).

Nothing about users is kept. Not for PAM: a server that asks questions is not among those.
"""

from __future__ import annotations

#: Where a listener is: host, port, and whether it speaks TLS.
Place = tuple[str, int, bool]

_MOST = 256  # places; nobody talks to more of them in turns
_STRUCK = b""

_said: dict[Place, bytes] = {}


def expected(place: Place) -> bytes:
    """The whole answer of last time, its SQ_EOT included; empty when none is to be expected."""
    return _said.get(place, _STRUCK)


def learn(place: Place, answer: bytes) -> None:
    """Keep the answer for the next login, unless it was struck out."""
    if len(_said) >= _MOST:
        forget()
    _said.setdefault(place, answer)


def strike(place: Place) -> None:
    """Nothing is expected of this place any more: what was sent there ahead of its answer did not fare well."""
    _said[place] = _STRUCK


def forget() -> None:
    """Know no server at all, as when the process began."""
    _said.clear()
