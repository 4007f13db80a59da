"""Connection: one session with a database server, and the functions that make one."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import pyarrow as pa

from .bulk.api import WriteKeywords, write
from .bulk.report import WriteReport
from .cursor import Cursor
from .dsn import Parameters, resolve
from .exchange import connect as login
from .exchange.session import Session, Transaction, clear_orphans
from .exchange.steps import Exchange
from .exchange.transaction import commit, rollback
from .reading import Reading, ReadKeywords
from .result import Result
from .transport.blocking import BlockingTransport
from .wire import errors
from .wire.errors import InterfaceError, OperationalError, ProgrammingError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

T = TypeVar("T")


class Connection(Reading):
    """One session with a database server. Made by :func:`connect`.

    Threads may share it: a lock is held around each exchange with the server, so statements of several
    threads run one after the other, and open results can be read from different threads. They share one
    transaction.

    Transactions: with ``autocommit`` off (the default), the first statement that is not a query opens one in
    a logged database, and :meth:`commit` or :meth:`rollback` ends it. With ``autocommit`` on, and in unlogged
    databases, every statement is final. BEGIN, COMMIT and ROLLBACK WORK typed as SQL are kept track of.

    As a context manager a connection commits when the block ends well, rolls back when it raises, and closes.

    After an error a connection is either usable as before or closed, nothing in between. It closes when the
    network fails, when the server breaks the protocol, when ``read_timeout`` is over, and when a wait is
    interrupted by Ctrl-C: the answer that was on its way would be taken for the next one's. The server rolls
    back then.
    """

    # PEP 249's extension: the exceptions as attributes.
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

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = replace(parameters, password="")  # needed once, kept nowhere
        self._lock = threading.RLock()
        self._busy = False
        self._closed = True  # until the session stands
        self._why_closed = ""  # why the connection was lost; "" when it was closed on purpose
        self._transport = BlockingTransport(
            connect_timeout=parameters.connect_timeout, read_timeout=parameters.read_timeout
        )
        try:
            self._session: Session = self._transport.run(login.connect(parameters))
        except BaseException:
            self._transport.close()
            raise
        self._closed = False

    def write_arrow(self, table: str, data: Any, **options: Unpack[WriteKeywords]) -> WriteReport:
        """Load Arrow data into a table, by the fastest way that the server has.

        ``conn.write_arrow("orders", frame)``. Everything about modes, types, transactions and errors is in the
        documentation, "Writing".

        Parameters
        ----------
        table
            ``table``, ``owner.table`` or ``database:owner.table``.
        data
            Anything with ``__arrow_c_stream__`` or ``__arrow_c_array__`` (Polars, pandas, DuckDB, pyarrow), or an
            iterable of record batches. Streamed: memory holds one batch of it and one window.
        mode
            ``"append"`` (default); ``"create"``, ``"replace"``, ``"create_append"`` make the table;
            ``"truncate"`` empties it first; ``"upsert"`` updates the rows whose ``key`` is there.
        columns
            None (default): by name. A sequence: the table's columns for those of the data, in order. A mapping:
            from names of the data to names of the table.
        on_error
            ``"abort"`` (default) raises at the first refused row; ``"collect"`` loads the others and returns the
            refused ones in ``report.rejected``.
        commit_every
            None (default): one transaction, all or nothing; inside a transaction that is open already, a part of
            it. A number: commit after so many rows.
        method
            ``"auto"`` (default), ``"put"`` (insert cursor) or ``"pipeline"`` (an execution per row, sent ahead).
        key
            Columns that identify a row, for ``mode="upsert"``.
        primary_key, serial, types, temporary
            For modes that make the table: its key, its self-numbering column, declared types by column name
            (``{"name": "VARCHAR(40)"}``), and whether it is a TEMP table.
        progress
            ``True`` draws a bar on stderr; a function is called with rows, bytes and seconds.
        group_bytes, window_bytes, window_rows, piece_rows
            Bytes of one PUT group (1 MiB), bytes and rows sent ahead of their replies in the pipeline (512 KiB,
            4096), rows converted at a time (65,536). There should be no need to change them.

        Returns
        -------
        WriteReport
            ``rows``, ``rejected``, ``batches``, ``seconds``, ``bytes``, ``method``, ``commits``, ``transaction`` ...

        Raises
        ------
        InterfaceError
            A wrong argument, or data that is no Arrow data; nothing was sent.
        ProgrammingError
            Columns that the table lacks, types that do not fit, a statement that the server refused.
        DataError, IntegrityError
            A row was refused: ``row`` (0-based), ``column``, ``sqlcode`` and ``isamcode`` are set, and the text
            names the row's key.
        OperationalError
            Locks, space, a long transaction, or the connection was lost. The text says what is in the table.
        """
        if isinstance(data, Result) and data._connection is self:
            raise InterfaceError(
                "a result cannot be written through the connection that reads it: read it first (read_all()), or "
                "use another connection"
            )
        delimident = self._parameters.env.get("DELIMIDENT", "n").lower() not in ("n", "no", "0", "")
        return write(self._run, self._session, table, data, delimident, options)

    def cursor(self) -> Cursor:
        """A new PEP 249 cursor on this connection. Any number may be open at a time."""
        self._require_open()
        return Cursor(self)

    def execute(self, operation: str, parameters: Sequence[object] | None = None) -> Cursor:
        """Run one statement in a new cursor and return it: ``conn.execute("DROP TABLE t")``."""
        return self.cursor().execute(operation, parameters)

    def commit(self) -> None:
        """Make the work of the open transaction permanent; does nothing when none is open.

        Results that were not read to their end are closed by the server.
        """
        self._run(commit(self._session))

    def rollback(self) -> None:
        """Undo the work of the open transaction; does nothing when none is open. Closes results as
        :meth:`commit`.
        """
        self._run(rollback(self._session))

    def ping(self) -> None:
        """Ask the server for a sign of life; one round trip for each step of a small query.

        Any answer is one, an error of the server's too. Raises ``OperationalError`` when the connection is lost; it is
        closed then.
        """
        try:
            self.read_arrow("SELECT tabid FROM systables WHERE tabid = 1")
        except errors.Error as error:
            if error.sqlcode is None:
                raise

    def close(self) -> None:
        """End the session; an open transaction is rolled back. May be called again; other use is an error
        then.
        """
        with self._lock:
            if self._closed:
                return
            self._closed = True
            try:
                if not self._busy:  # else from within an exchange: no goodbye can be said in the middle of it
                    self._transport.run(login.leave(self._session))
            finally:
                self._transport.close()

    @property
    def closed(self) -> bool:
        """Whether the connection was closed or lost."""
        return self._closed

    @property
    def autocommit(self) -> bool:
        """Whether every statement is final. May be set while no transaction is open (``ProgrammingError``
        else).
        """
        return self._session.autocommit

    @autocommit.setter
    def autocommit(self, value: bool) -> None:
        with self._lock:
            self._require_open()
            if bool(value) != self._session.autocommit and self.in_transaction:
                raise ProgrammingError(
                    "a transaction is open: commit or roll back before changing autocommit"
                )
            self._session.autocommit = bool(value)

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open, as far as can be told from here."""
        return self._session.transaction is Transaction.OPEN

    def _run(self, exchange: Exchange[T]) -> T:
        """Run one exchange while nobody else does; close the connection if it ends out of step."""
        with self._lock:
            self._require_open()
            if self._busy:
                # The same thread, from within an exchange: the rows of an executemany(), a signal handler.
                raise InterfaceError(
                    "the connection is in the middle of a statement; rows for executemany() cannot be read "
                    "from the same connection while they are sent: read them first, or use another connection"
                )
            self._busy = True
            try:
                if self._session.orphans:
                    self._transport.run(clear_orphans(self._session))
                return self._transport.run(exchange)
            except BaseException as error:
                if not self._session.usable_after(error):
                    self._closed = True
                    reason = str(error).partition("\n")[0]
                    self._why_closed = f"the connection was lost: {reason or type(error).__name__}"
                    self._transport.close()
                raise
            finally:
                self._busy = False

    def _require_open(self) -> None:
        if self._closed:
            if self._why_closed:
                raise OperationalError(self._why_closed)
            raise InterfaceError("the connection is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # After an error closing is enough: the server rolls back, and nothing can hide the error.
            if error is None and not self._closed:
                self.commit()
        finally:
            self.close()

    def __del__(self) -> None:
        # Nothing is sent here: a finalizer may run in the middle of anything. The server rolls back by
        # itself.
        if not getattr(self, "_closed", True):
            text = f"unclosed {self!r}"
            self._transport.close()
            self._closed = True
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        p = self._parameters
        state = "closed" if self._closed else "open"
        # A debugger may ask while the login is failing: there is no session then.
        database = self._session.database if hasattr(self, "_session") else p.database
        return f"<informix_arrow.Connection {p.user}@{p.host}:{p.port}/{database} {state}>"


def connect(
    url: str | None = None,
    *,
    host: str | None = None,
    port: int | str | None = None,
    user: str | None = None,
    password: str | None = None,
    database: str | None = None,
    server: str | None = None,
    autocommit: bool | None = None,
    connect_timeout: float | None = None,
    read_timeout: float | None = None,
    fetch_buffer_size: int | None = None,
    client_locale: str | None = None,
    db_locale: str | None = None,
    sqlhosts: str | None = None,
    isolation: str | None = None,
    lock_wait: int | None = None,
    encoding: str | None = None,
    encoding_errors: Literal["strict", "replace", "binary"] | None = None,
    application: str | None = None,
    env: Mapping[str, str] | None = None,
    **unknown: Any,
) -> Connection:
    """Open a connection.

    ``connect("informix://user:pw@host:9088/stores?server=ol_informix")``, or the same as keywords, as a JDBC URL, as an
    ODBC string, or ``connect("stores@ol_informix")`` through a sqlhosts file. A keyword overrules the string, the
    string the environment, the environment the sqlhosts file, and that the default.

    Parameters
    ----------
    url
        ``informix://[user[:password]@]host[:port][/database][?key=value&...]``; the keys are the keywords
        below, and ``env.NAME`` for a session variable. Special characters are percent-encoded, IPv6 hosts in
        square brackets. For the other forms see the documentation, "Connecting".
    host, port
        Where the server listens; port 9088 by default.
    user, password
        Sent in plain text over the network, as SQLI without TLS does.
    database
        Opened at once; may be left out.
    server
        The server's DBSERVERNAME or an alias; ``INFORMIXSERVER`` by default. Without a host, the entry or the group
        of this name in the sqlhosts file tells where it is.
    sqlhosts
        Path of that file; ``INFORMIXSQLHOSTS``, else ``INFORMIXDIR/etc/sqlhosts`` by default.
    autocommit
        False by default.
    connect_timeout
        Seconds until the TCP connection stands, and then again until the login is answered; 15 by default.
    read_timeout
        Seconds of silence borne while an answer is awaited; no limit by default. The connection closes when
        it is over.
    fetch_buffer_size
        Bytes of rows asked for in one fetch, 4096 to 2147483647; ``FET_BUF_SIZE`` or 1 MiB by default. A
        server without large fetch buffers gets 32767.
    client_locale, db_locale
        ``CLIENT_LOCALE`` (default ``en_US.utf8``) and ``DB_LOCALE`` of the login. Text always arrives as
        UTF-8 here: when the database's code set differs from the login's, the login is repeated with the
        database's locale, so naming it here saves a round.
    isolation
        ``"dirty"``, ``"committed"``, ``"last committed"``, ``"cursor stability"`` or ``"repeatable"``; the server's
        default by default.
    lock_wait
        Seconds to wait for a lock; 0 fails at once, -1 waits for ever; the server's default (not to wait) by default.
    encoding
        Python codec of text on the wire, overruling what the database says about its code set: for data that
        was stored under a wrong label.
    encoding_errors
        What happens to a byte that is no text of the code set, in results: ``"strict"`` (default),
        ``"replace"`` or ``"binary"``; see :meth:`Connection.query`, which can say otherwise for one read.
    application
        Name shown by the server's monitoring, ``informix-arrow`` by default.
    env
        Session variables for the login, such as ``{"PDQPRIORITY": "50"}``.

    Raises
    ------
    InterfaceError
        An argument is unknown (with a suggestion), malformed or missing.
    OperationalError
        The server cannot be reached, or refuses user, password, server or database name.
    NotSupportedError
        The form of the URL, the server's protocol or the database's code set is not supported.
    """
    return Connection(
        resolve(
            url,
            host=host,
            port=port,
            user=user,
            password=password,
            database=database,
            server=server,
            autocommit=autocommit,
            connect_timeout=connect_timeout,
            read_timeout=read_timeout,
            fetch_buffer_size=fetch_buffer_size,
            client_locale=client_locale,
            db_locale=db_locale,
            sqlhosts=sqlhosts,
            isolation=isolation,
            lock_wait=lock_wait,
            encoding=encoding,
            encoding_errors=encoding_errors,
            application=application,
            env=env,
            **unknown,
        )
    )


def read_arrow(
    sql: str,
    connection: Connection | str,
    parameters: Sequence[object] = (),
    **options: Unpack[ReadKeywords],
) -> pa.Table:
    """Run a query and read all its rows into one table: ``read_arrow("SELECT ...", "informix://...")``.

    ``connection`` is an open :class:`Connection`, or a URL to connect to for this query alone. Parameters,
    options and errors are those of :meth:`Connection.query`.
    """
    if isinstance(connection, Connection):
        return connection.read_arrow(sql, parameters, **options)
    with connect(connection, autocommit=True) as own:
        return own.read_arrow(sql, parameters, **options)


def write_arrow(
    table: str, data: Any, connection: Connection | str, **options: Unpack[WriteKeywords]
) -> WriteReport:
    """Load Arrow data into a table: ``write_arrow("orders", frame, "informix://...")``.

    ``connection`` is an open :class:`Connection`, or a URL to connect to for this load alone. Options and errors
    are those of :meth:`Connection.write_arrow`.
    """
    if isinstance(connection, Connection):
        return connection.write_arrow(table, data, **options)
    with connect(connection, autocommit=True) as own:
        return own.write_arrow(table, data, **options)
