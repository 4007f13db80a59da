"""What a trace does not say: passwords never, values only where they were asked for."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..dsn.properties import SESSION
from ..observing import without_values
from ..wire.redaction import hide_secrets, holds_secret

HIDDEN = "<hidden>"

# Shorter ones are found in every other word.
_MIN_SECRET_LENGTH = 4
_SECRET_NAME = re.compile(r"pass|pwd|secret|token|key|credential", re.IGNORECASE)
#: Session variables whose values say how text and numbers are written, and nothing else.
_HARMLESS = frozenset(
    {
        "CLIENT_LOCALE", "CLNT_PAM_CAPABLE", "DBPATH", "DBTEMP", "DB_LOCALE", "IFX_UPDDESC", "SUBQCACHESZ",
        *(name.upper() for name in SESSION),
    }
)  # fmt: skip


class Redactor:
    """What may be told on one connection.

    Passwords are hidden by their place: in a login, in an answer to PAM, behind words such as PASSWORD in statements.
    Besides, no text is told that holds one which this connection has used, wherever it stands, if it has four
    characters at least. A statement with a password in it ends the telling of values for good, because the parameters
    of a later one may be the same password.

    Parameters
    ----------
    values
        Values of rows, parameters and literals are told.
    """

    __slots__ = ("_last", "_secrets", "_values")

    def __init__(self, values: bool) -> None:
        self._values = values
        self._secrets: set[str] = set()
        self._last = ""  # the last statement, as it was told

    @property
    def values(self) -> bool:
        """Whether values are told, as things stand."""
        return self._values

    def add_secret(self, secret: str) -> None:
        """Tell no text that holds ``secret``, whatever code set it is taken for and whatever its case."""
        if len(secret) >= _MIN_SECRET_LENGTH:
            for form in (secret, secret.encode("utf-8", "surrogateescape").decode("latin-1")):
                self._secrets.add(form.casefold())

    def text(self, text: str) -> str:
        """A name, or something that a server says."""
        if self._secrets:
            folded = text.casefold()
            if any(secret in folded for secret in self._secrets):
                return HIDDEN
        return text

    def column(self, name: str) -> str:
        """The name of a column, which may be an expression with literals in it."""
        return self.text(name if self._values or not {"'", '"'} & set(name) else without_values(name))

    def statement(self, sql: str) -> str:
        """The text of a statement."""
        if holds_secret(sql):
            self._values = False
        shown = hide_secrets(sql)
        self._last = self.text(shown if self._values else without_values(shown))
        return self._last

    def redact_token(self, token: str) -> str:
        """The token of an error: told where it is in the statement, as that was told, or values are."""
        return self.text(token) if not token or self._values or token in self._last else HIDDEN

    def environment(self, pairs: Collection[tuple[str, str]]) -> dict[str, str]:
        """Session variables."""
        return {self.text(name): self._variable(name, value) for name, value in pairs}

    def _variable(self, name: str, value: str) -> str:
        harmless = name in _HARMLESS or (self._values and not _SECRET_NAME.search(name))
        return self.text(value) if harmless else HIDDEN
