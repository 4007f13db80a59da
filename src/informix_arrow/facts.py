"""What a connection knows about its session, without asking the server."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .exchange.read_scope import isolation_of, lock_wait_of
from .exchange.session import Transaction
from .wire import errors
from .wire.errors import ProgrammingError

if TYPE_CHECKING:
    from .exchange.session import Session


class ErrorClasses:
    """The exceptions as attributes of a connection, PEP 249's extension."""

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


class SessionFacts:
    """The read-only properties of a connection, blocking or asynchronous."""

    if TYPE_CHECKING:

        @property
        def _session(self) -> Session: ...

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
        return self._session.transaction in (Transaction.OPEN, Transaction.UNKNOWN)

    @property
    def _isolation(self) -> str | None:
        return isolation_of(self._session)

    @property
    def _lock_wait(self) -> int | None:
        return lock_wait_of(self._session)

    def _check_autocommit(self, value: bool) -> None:
        """``ProgrammingError`` when autocommit cannot become ``value`` now."""
        session = self._session
        if value == session.autocommit:
            return
        if session.blocks:
            raise ProgrammingError("a transaction() block is open: leave it before changing autocommit")
        if session.transaction is Transaction.READING:
            raise ProgrammingError(
                "results are open: read them to their end or close them before changing autocommit"
            )
        if self.in_transaction:
            raise ProgrammingError("a transaction is open: commit or roll back before changing autocommit")
