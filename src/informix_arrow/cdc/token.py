"""Positions in a server's log, and tokens, which say where a capture goes on."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..wire.errors import InterfaceError

_FORM = re.compile(r"1-([0-9a-f]{1,16})-([0-9a-f]{1,16})")
_LSN_LIMIT = 1 << 63


@dataclass(frozen=True, slots=True)
class Token:
    """Where to go on: read the log from ``restart`` on, and pass over the transactions that were committed up to
    ``commit``.

    ``restart`` is where the oldest transaction that was still open had begun. Log sequence numbers are 64 bits:
    the log's number, and the place in it.
    """

    restart: int
    commit: int

    def __str__(self) -> str:
        return f"1-{self.restart:x}-{self.commit:x}"

    @classmethod
    def parse(cls, text: str) -> Token:
        """Read what ``str()`` gave. ``InterfaceError`` for anything else."""
        found = _FORM.fullmatch(text) if isinstance(text, str) else None
        if found is not None:
            restart, commit = int(found[1], 16), int(found[2], 16)
            if restart < _LSN_LIMIT and commit < _LSN_LIMIT:
                return cls(restart, commit)
        raise InterfaceError(
            "start must be a token of an earlier capture (changes.token), such as '1-4500001000-4500001100', "
            f"got {text!r}"
        )


def lsn_text(lsn: int) -> str:
    """A log sequence number as Informix's tools print it: ``28:0xaa5050``."""
    return f"{lsn >> 32}:{lsn & 0xFFFFFFFF:#x}"
