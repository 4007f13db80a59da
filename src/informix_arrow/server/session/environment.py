"""A session's user, and the settings that the text form of its values depends on."""

from __future__ import annotations

from collections.abc import Mapping

from ...wire.capabilities import codec_of_locale
from ...wire.types import ColumnType
from ..types.conversions import ValueConverter

_DEFAULT_LOCALE = "en_US.819"


class SessionEnvironment:
    """The environment of a session: settings of the login, and the open database's locale.

    Attributes
    ----------
    user, session_id
        The user's name and the session's number.
    variables
        The variables of the login: DBDATE, DB_LOCALE, DELIMIDENT.
    server_name, version
        Name and version that the server reports.
    locale
        Locale of the open database; before one is open, that of the login.
    """

    def __init__(
        self, user: str, variables: Mapping[str, str], session_id: int, server_name: str, version: str
    ) -> None:
        self.user = user
        self.variables = variables
        self.session_id = session_id
        self.server_name = server_name
        self.version = version
        self._locale = self.requested_locale
        self._codec: str | None = None  # looked up at first use: a login may name an unknown locale
        self._converters: dict[ColumnType, ValueConverter] = {}

    @property
    def requested_locale(self) -> str:
        """DB_LOCALE of the login, or its default."""
        return self.variables.get("DB_LOCALE", _DEFAULT_LOCALE)

    @property
    def locale(self) -> str:
        return self._locale

    @locale.setter
    def locale(self, locale: str) -> None:
        self._locale = locale
        self._codec = None
        self._converters.clear()

    @property
    def codec(self) -> str:
        """Python's name of the locale's code set."""
        if self._codec is None:
            self._codec = codec_of_locale(self._locale)
        return self._codec

    @property
    def dbdate(self) -> str:
        """Format of dates in text, such as ``"Y4MD-"``; empty for the default."""
        return self.variables.get("DBDATE", "")

    @property
    def delimident(self) -> bool:
        """True if double quotes enclose names."""
        return "DELIMIDENT" in self.variables

    @property
    def no_default_access(self) -> bool:
        """True if PUBLIC gets no privileges on what the session creates."""
        return self.variables.get("NODEFDAC", "").lower() == "yes"

    def converter(self, t: ColumnType) -> ValueConverter:
        """Return the converter of values into the storage form of a type."""
        converter = self._converters.get(t)
        if converter is None:
            converter = self._converters[t] = ValueConverter(t, self.codec, self.dbdate)
        return converter
