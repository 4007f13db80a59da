"""What a connection is apart from waiting: its session, and what is known of that without asking the server."""

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
    """A session behind a link, and its facts. The blocking and the asyncio connection derive from it and add the calls
    that talk to the server.

    Parameters
    ----------
    parameters
        Where the login was and how; the password is kept to open more such connections.
    link
        The open session.
    """

    _runner: SessionRunnerBase
    row_factory: RowFactory = "tuple"

    # The exceptions as attributes, PEP 249's extension.
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
        self._login_parameters = parameters  # with what another connection can be opened
        self._runner = link
        self._read_options: dict[tuple[object, ...], ReadOptions] = {}  # of cursors, by their settings

    @cached_property
    def _parameters(self) -> Parameters:
        """Where the login was and how, the password left out."""
        return self._login_parameters.with_password("")

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            "a connection cannot be copied or pickled, nor can its cursors and results: pass the URL, and open another "
            "one there"
        )

    def add_observer(self, observer: Observer) -> None:
        """Let ``observer`` be called with an :class:`~informix_arrow.observing.Operation` after each call that talks to
        the server, successful or not: what it was, how long it took, rows, bytes, round trips, the error.

        It is called in the thread or task of the call, which waits for it; what it raises is logged, and harms nothing.
        :func:`informix_arrow.observing.add_observer` is for all connections, and for logins.
        """
        self._runner.observers.connection_observers.append(observer)

    def remove_observer(self, observer: Observer) -> None:
        """The opposite; ``ValueError`` when it is not there."""
        self._runner.observers.connection_observers.remove(observer)

    @property
    def closed(self) -> bool:
        """Whether the connection was closed, lost, or given back to its pool."""
        return self._runner.closed

    @property
    def database(self) -> str:
        """The open database, "" when none is; follows DATABASE statements."""
        return self._session.database

    @property
    def server_name(self) -> str:
        """The server's own name, as announced at login."""
        return self._session.server_name

    @property
    def server_version(self) -> str:
        """What the server announced at login. Many releases announce the version of their protocol there, such as
        9.59 for 14.10: the product's is ``SELECT DBINFO('version','full') FROM systables WHERE tabid = 1``.
        """
        return self._session.server_version

    @property
    def logged(self) -> bool:
        """Whether the database has transactions; without a log every statement is final."""
        return self._session.logged

    @property
    def ansi(self) -> bool:
        """Whether the database is of the kind MODE ANSI, which is logged too."""
        return self._session.ansi

    @property
    def locale(self) -> str:
        """The database's locale, such as ``en_US.57372``; "" when it did not tell."""
        return self._session.locale

    @property
    def encoding(self) -> str:
        """The Python codec of text on the wire. Text that you get is ``str`` and UTF-8 in any case."""
        return self._session.framing.encoding

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, as far as can be told from here. After a procedure was called in one this is
        True, though the procedure may have ended it.
        """
        if self._runner.is_transferred:
            return False
        return self._session.transaction in (TransactionStatus.OPEN, TransactionStatus.UNKNOWN)

    def _reconnect_parameters(self) -> Parameters:
        """With what to open another connection to the same database."""
        return replace(self._login_parameters, database=self._session.database)

    @property
    def _session(self) -> Session:
        return self._runner.session

    def _require_open(self) -> None:
        self._runner.require_open()

    def _check_autocommit(self, value: bool) -> bool:
        """``value``; ``ProgrammingError`` when autocommit cannot become that now, ``InterfaceError`` for anything but
        True and False: the text "off" would be the opposite of what is meant."""
        if value not in (True, False):
            raise InterfaceError(f"autocommit must be True or False, got {value!r}")
        session = self._session
        if value == session.autocommit:
            return bool(value)
        if session.blocks:
            raise ProgrammingError("a transaction() block is open: leave it before changing autocommit")
        if session.transaction is TransactionStatus.IMPLICIT_READ:
            raise ProgrammingError(
                "results are open: read them to their end or close them before changing autocommit"
            )
        if self.in_transaction:
            raise ProgrammingError("a transaction is open: commit or roll back before changing autocommit")
        return bool(value)
