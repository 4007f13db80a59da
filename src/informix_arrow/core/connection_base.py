"""ConnectionBase: the properties of a connection that need no request to the server."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import NoReturn

from ..dsn import Parameters
from ..observing import Observer
from ..operations.fetch import ReadOptions
from ..operations.session import Session, TransactionStatus
from ..rows.python_rows import RowFactory
from ..wire import errors
from ..wire.errors import InterfaceError, ProgrammingError
from .session_runner import SessionRunnerBase


class ConnectionBase:
    """A session with its runner, and its properties. The blocking and the asyncio connection add the calls to
    the server.

    Parameters
    ----------
    parameters
        The parameters of the login; the password is kept to open more such connections.
    link
        The runner of the open session.
    """

    _runner: SessionRunnerBase
    row_factory: RowFactory = "tuple"

    # The exceptions as attributes, an extension of PEP 249.
    Warning = errors.Warning
    Error = errors.Error
    InterfaceError = errors.InterfaceError
    DatabaseError = errors.DatabaseError
    DataError = errors.DataError
    OperationalError = errors.OperationalError
    IntegrityError = errors.IntegrityError
    InternalError = errors.InternalError
    ProgrammingError = errors.ProgrammingError
    NotSupportedError = errors.NotSupportedError

    def __init__(self, parameters: Parameters, link: SessionRunnerBase) -> None:
        self._login_parameters = parameters  # used to open another connection
        self._runner = link
        self._read_options: dict[tuple[object, ...], ReadOptions] = {}  # of cursors, by their settings

    @cached_property
    def _parameters(self) -> Parameters:
        """The parameters of the login, without the password."""
        return self._login_parameters.with_password("")

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "A connection, its cursors and its results cannot be copied or pickled. Pass the URL, and "
            "connect there."
        )

    def add_observer(self, observer: Observer) -> None:
        """Call ``observer`` with an :class:`~informix_arrow.observing.Operation` after each call to the server.

        It describes what was called, how long it took, rows, bytes, round trips and the error. The observer
        runs in the thread or task of the call, which waits for it. Exceptions that it raises are logged and
        have no other effect. :func:`informix_arrow.observing.add_observer` is for all connections, and for
        logins.
        """
        self._runner.observers.connection_observers.append(observer)

    def remove_observer(self, observer: Observer) -> None:
        """Remove an observer. Raises ``ValueError`` if it is not registered."""
        self._runner.observers.connection_observers.remove(observer)

    @property
    def closed(self) -> bool:
        """True if the connection was closed, lost, or returned to its pool."""
        return self._runner.closed

    @property
    def database(self) -> str:
        """The open database, "" if none is open. DATABASE statements change it."""
        return self._session.database

    @property
    def server_name(self) -> str:
        """The server's own name, as announced at login."""
        return self._session.server_name

    @property
    def server_version(self) -> str:
        """The version that the server announced at login.

        Releases before 15 announce the version of their protocol there, such as 9.59 for 14.10. The product's
        version is ``SELECT DBINFO('version','full') FROM informix.systables WHERE tabid = 1``.
        """
        return self._session.server_version

    @property
    def logged(self) -> bool:
        """True if the database has transactions. Without a log every statement is final."""
        return self._session.logged

    @property
    def ansi(self) -> bool:
        """True if the database is a MODE ANSI database. Such a database is always logged."""
        return self._session.ansi

    @property
    def locale(self) -> str:
        """The database's locale, such as ``en_US.57372``; "" if the server did not report it."""
        return self._session.locale

    @property
    def encoding(self) -> str:
        """The Python codec of text on the wire. Text that you get is always ``str``, and UTF-8 in Arrow data."""
        return self._session.framing.encoding

    @property
    def in_transaction(self) -> bool:
        """True if a transaction is open, as far as the client can tell.

        If a procedure that you call ends the transaction, this stays True.
        """
        if self._runner.is_transferred:
            return False
        return self._session.transaction in (TransactionStatus.OPEN, TransactionStatus.UNKNOWN)

    def _reconnect_parameters(self) -> Parameters:
        """The parameters that open another connection to the same database."""
        return replace(self._login_parameters, database=self._session.database)

    @property
    def _session(self) -> Session:
        return self._runner.session

    def _require_open(self) -> None:
        self._runner.require_open()

    def _check_autocommit(self, value: bool) -> bool:
        """Return ``value`` if autocommit can be set to it now.

        Raises ``ProgrammingError`` if not, and ``InterfaceError`` for anything but True and False, because the
        text "off" would be true.
        """
        if value not in (True, False):
            raise InterfaceError(f"autocommit must be True or False, got {value!r}.")
        session = self._session
        if value == session.autocommit:
            return bool(value)
        if session.blocks:
            raise ProgrammingError("A transaction() block is open. Leave it before changing autocommit.")
        if session.transaction is TransactionStatus.IMPLICIT_READ:
            raise ProgrammingError(
                "Results are open. Read them to their end or close them before changing autocommit."
            )
        if self.in_transaction:
            raise ProgrammingError("A transaction is open. Commit or roll back before changing autocommit.")
        return bool(value)
