"""Redaction of traces: passwords are always hidden, values unless they were requested."""

from __future__ import annotations

import re
from collections.abc import Collection

from ..dsn.properties import SESSION
from ..observing import without_values
from ..wire.redaction import hide_secrets, holds_secret

HIDDEN = "<hidden>"

# Shorter secrets occur in many words.
_MIN_SECRET_LENGTH = 4
_SECRET_NAME = re.compile(r"pass|pwd|secret|token|key|credential", re.IGNORECASE)
#: Session variables whose values only say how text and numbers are written.
_HARMLESS = frozenset(
    {
        "CLIENT_LOCALE", "CLNT_PAM_CAPABLE", "DBPATH", "DBTEMP", "DB_LOCALE", "IFX_UPDDESC", "SUBQCACHESZ",
        *(name.upper() for name in SESSION),
    }
)  # fmt: skip


class Redactor:
    """Decides what the trace of one connection may contain.

    Passwords are hidden by their place: in a login, in a response to PAM, behind words such as PASSWORD in statements.
    In addition, any text that contains a password used on this connection is hidden, if the password has at least four
    characters. After a statement with a password, values are hidden for the rest of the connection, because the
    parameters of a later statement may be the same password.

    Parameters
    ----------
    values
        True: show values of rows, parameters and literals.
    """

    __slots__ = ("_last", "_secrets", "_values")

    def __init__(self, values: bool) -> None:
        self._values = values
        self._secrets: set[str] = set()
        self._last = ""  # the last statement, redacted

    @property
    def values(self) -> bool:
        """True if values are shown, which a statement with a password ends."""
        return self._values

    def add_secret(self, secret: str) -> None:
        """Hide any text that contains ``secret``, in any code set and ignoring case."""
        if len(secret) >= _MIN_SECRET_LENGTH:
            for form in (secret, secret.encode("utf-8", "surrogateescape").decode("latin-1")):
                self._secrets.add(form.casefold())

    def text(self, text: str) -> str:
        """Return a name or a text of the server, or ``<hidden>``."""
        if self._secrets:
            folded = text.casefold()
            if any(secret in folded for secret in self._secrets):
                return HIDDEN
        return text

    def column(self, name: str) -> str:
        """Return the name of a column, without the literals that an expression may contain."""
        return self.text(name if self._values or not {"'", '"'} & set(name) else without_values(name))

    def statement(self, sql: str) -> str:
        """Return the text of a statement without secrets and, unless values are shown, without literals."""
        if holds_secret(sql):
            self._values = False
        shown = hide_secrets(sql)
        self._last = self.text(shown if self._values else without_values(shown))
        return self._last

    def redact_token(self, token: str) -> str:
        """Return the token of an error if values are shown or the redacted statement contains it."""
        return self.text(token) if not token or self._values or token in self._last else HIDDEN

    def environment(self, pairs: Collection[tuple[str, str]]) -> dict[str, str]:
        """Return session variables, with values hidden that may be secret."""
        return {self.text(name): self._variable(name, value) for name, value in pairs}

    def _variable(self, name: str, value: str) -> str:
        harmless = name in _HARMLESS or (self._values and not _SECRET_NAME.search(name))
        return self.text(value) if harmless else HIDDEN
