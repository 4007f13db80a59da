"""Positions in a server's log, and tokens, which say where a capture continues."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..wire.errors import InterfaceError

_FORM = re.compile(r"1-([0-9a-f]{1,16})-([0-9a-f]{1,16})")
_LSN_LIMIT = 1 << 63


@dataclass(frozen=True, slots=True)
class Token:
    """The position at which a capture continues.

    The log is read from ``restart`` on, the beginning of the oldest transaction that was still open. Transactions
    committed up to ``commit`` are skipped. Log sequence numbers have 64 bits: the number of the log file, and the
    position in it.
    """

    restart: int
    commit: int

    def __str__(self) -> str:
        return f"1-{self.restart:x}-{self.commit:x}"

    @classmethod
    def parse(cls, text: str) -> Token:
        """Parse the result of ``str()``. Raises ``InterfaceError`` for anything else."""
        match = _FORM.fullmatch(text) if isinstance(text, str) else None
        if match is not None:
            restart, commit = int(match[1], 16), int(match[2], 16)
            if restart < _LSN_LIMIT and commit < _LSN_LIMIT:
                return cls(restart, commit)
        raise InterfaceError(
            "start must be a token of an earlier capture (changes.token), such as "
            f"'1-4500001000-4500001100', got {text!r}."
        )


def lsn_text(lsn: int) -> str:
    """Return a log sequence number as Informix's tools print it: ``28:0xaa5050``."""
    return f"{lsn >> 32}:{lsn & 0xFFFFFFFF:#x}"
