"""The adapter: checks the options of Harlequin's command line, and connects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar

from harlequin.adapter import HarlequinAdapter
from harlequin.exception import HarlequinConfigError, HarlequinConnectionError
from harlequin.options import TextOption

from ..connection import Connection, open_connection
from ..dsn import Parameters, resolve
from ..wire.errors import Error
from .connection import InformixConnection

PASSWORD_VARIABLE = "INFORMIX_ARROW_PASSWORD"

_OPTIONS = (
    TextOption(name="user", description="The login, where the URL names none.", short_decls=["-U"]),
    TextOption(
        name="password",
        description=f"The user's password. Safer in the environment, as {PASSWORD_VARIABLE}, than on a command line.",
        secret=True,
    ),
    TextOption(
        name="isolation",
        description="How reads see the work of others: dirty, committed, 'last committed', 'cursor stability' or "
        "repeatable.",
    ),
    TextOption(
        name="lock-wait",
        description="Seconds that a statement waits for locks of others; -1: for ever. They fail at once by default.",
    ),
)


class InformixAdapter(HarlequinAdapter):  # type: ignore[misc]
    """One database of an Informix server.

    Parameters
    ----------
    conn_str
        One connection string of any form that :func:`informix_arrow.connect` takes; none if the environment has all
        parameters.
    read_only
        Refused: Informix has no read-only sessions.
    options
        ``user``, ``password``, ``isolation``, ``lock_wait``, as in :func:`informix_arrow.connect`. Others belong to
        other adapters.

    Raises
    ------
    HarlequinConfigError
        A value is invalid. Nothing was sent. The text never contains the password.
    """

    ADAPTER_OPTIONS: ClassVar[list[TextOption]] = list(_OPTIONS)
    IMPLEMENTS_CANCEL = True
    ADAPTER_DETAILS = "IBM Informix, through informix-arrow."

    def __init__(self, conn_str: Sequence[str], read_only: bool = False, **options: Any) -> None:
        if len(conn_str) > 1:
            raise _config_error("This adapter takes a single connection string: a URL.")
        if read_only:
            raise _config_error(
                "Sessions cannot be made read-only. Log in as a user without write privileges."
            )
        names = [option.name.replace("-", "_") for option in _OPTIONS]
        known = {name: options[name] for name in names if options.get(name)}
        try:
            self._parameters = _with_password(conn_str[0] if conn_str and conn_str[0] else None, known)
        except Error as error:
            raise _config_error(str(error)) from None

    @property
    def connection_id(self) -> str:
        """User, server and database, without the password."""
        p = self._parameters
        return f"informix://{p.user}@{p.host}:{p.port}/{p.database}?server={p.server}"

    def connect(self) -> InformixConnection:
        """Log in, with autocommit.

        Raises
        ------
        HarlequinConnectionError
            The server could not be reached or refused the login.
        """
        try:
            connection = open_connection(self._parameters, Connection)
        except Error as error:
            raise HarlequinConnectionError(str(error), title="Informix could not be reached.") from None
        return InformixConnection(connection)


def _with_password(url: str | None, options: dict[str, Any]) -> Parameters:
    """Return the parameters of the URL and the options, with the environment's password if neither has one."""
    parameters = resolve(url, autocommit=True, **options)
    password = os.environ.get(PASSWORD_VARIABLE)
    if parameters.password or not password:
        return parameters
    return resolve(url, autocommit=True, password=password, **options)


def _config_error(text: str) -> HarlequinConfigError:
    return HarlequinConfigError(text, title="informix-arrow cannot connect that way.")
