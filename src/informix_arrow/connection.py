"""Connection: one session with a database server."""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from .bulk.api import WriteKeywords, writing
from .bulk.report import WriteReport
from .dsn.parameters import CHECKS
from .exchange.ping import ping
from .exchange.read_scope import set_reading
from .exchange.session import Session
from .exchange.steps import Exchange
from .exchange.transaction import commit, rollback
from .facts import ErrorClasses, SessionFacts
from .link import Link
from .metadata.api import Metadata
from .reading import Reading
from .result import Result
from .running import Running
from .transactions import TransactionBlock
from .wire.errors import InterfaceError

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

    from .dsn import Parameters

T = TypeVar("T")


class Connection(Reading, Running, SessionFacts, Metadata, ErrorClasses):
    """One session with a database server. Made by :func:`~informix_arrow.connect`.

    Threads may share it: a lock is held around each exchange with the server, so statements of several
    threads run one after the other, and open results can be read from different threads. They share one
    transaction.

    Transactions: with ``autocommit`` off (the default), the first statement that is not a query opens one in
    a logged database, the first of any kind in an ANSI database, and :meth:`commit` or :meth:`rollback` ends it. With
    ``autocommit`` on, and in unlogged databases, every statement is final. :meth:`transaction` gives blocks that can be
    nested. BEGIN, COMMIT and ROLLBACK WORK typed as SQL are kept track of.

    As a context manager a connection commits when the block ends well, rolls back when it raises, and closes.

    After an error a connection is either usable as before or closed, nothing in between. It closes when the
    network fails, when the server breaks the protocol, when ``read_timeout`` is over, and when an interrupt
    (:meth:`cancel`, ``timeout=``, Ctrl-C) is not answered within 5 seconds: the answer that was on its way would be
    taken for the next one's. The server rolls back then.
    """

    def __init__(self, parameters: Parameters) -> None:
        self._parameters = replace(parameters, password="")  # needed once, kept nowhere
        self._link = Link(parameters)

    def write_arrow(
        self, table: str, data: Any, *, timeout: float | None = None, **options: Unpack[WriteKeywords]
    ) -> WriteReport:
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
        timeout
            Seconds for the whole load; it is undone when they are over, up to its last commit, and ``QueryTimeout``
            raised. None (default): the connection's ``call_timeout``.
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
        with writing(self._session, table, data, delimident, options) as exchange:
            return self._run(exchange, timeout)

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

    def transaction(
        self, savepoint_name: str | None = None, *, force_rollback: bool = False
    ) -> TransactionBlock:
        """A block whose statements are in effect together, or not at all::

            with conn.transaction():
                conn.execute("INSERT INTO orders ...")
                with conn.transaction():            # a savepoint
                    conn.execute("INSERT INTO items ...")

        The outermost block is a transaction, with autocommit too: committed when it is left well, rolled back when an
        exception leaves it. A block inside another one, or inside a transaction that is open already, is a savepoint:
        an exception undoes the work since then, and only what surrounds it can commit. Exceptions pass on, except
        :class:`Rollback`, which undoes a block and ends there. :meth:`commit`, :meth:`rollback` and their SQL are
        refused inside.

        Parameters
        ----------
        savepoint_name
            The savepoint's name, when the block is one; made up by default.
        force_rollback
            True: undo the work in any case, for tests.

        Raises
        ------
        NotSupportedError
            The database has no log (when the block is entered).
        """
        return TransactionBlock(self, savepoint_name, force_rollback)

    def ping(self) -> None:
        """Ask the server for a sign of life, in one round trip that touches nothing.

        Raises ``OperationalError`` when the connection is lost; it is closed then.
        """
        self._run(ping(self._session))

    def cancel(self) -> None:
        """End the statement that runs now in another thread, by the interrupt that the server knows.

        The call that waits raises ``QueryCanceled`` and the connection stays usable; a call that ended before the
        interrupt came returns as if nothing had been. Without a running statement nothing happens. From any thread,
        signal handlers included.
        """
        self._link.interrupt()

    def close(self) -> None:
        """End the session; an open transaction is rolled back. May be called again; other use is an error
        then.
        """
        self._link.close()

    @property
    def closed(self) -> bool:
        """Whether the connection was closed or lost."""
        return self._link.closed

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
            self._check_autocommit(bool(value))
            self._session.autocommit = bool(value)

    @property
    def isolation(self) -> str | None:
        """How reads see the work of others: ``"dirty"``, ``"committed"``, ``"last committed"``, ``"cursor stability"``
        or ``"repeatable"``; None when nobody has set it: committed read in a logged database, dirty read in an unlogged
        one, repeatable read in an ANSI one. May be set at any time, and for one result by ``query(isolation=...)``.
        """
        return self._isolation

    @isolation.setter
    def isolation(self, value: str) -> None:
        self._run(set_reading(self._session, isolation=CHECKS["isolation"]("isolation", value)))

    @property
    def lock_wait(self) -> int | None:
        """Seconds that a statement waits for another session's lock; 0 = it fails at once, -1 = for ever; None when
        nobody has set it: it fails at once. May be set at any time, and for one result by ``query(lock_wait=...)``.
        """
        return self._lock_wait

    @lock_wait.setter
    def lock_wait(self, value: int) -> None:
        self._run(set_reading(self._session, lock_wait=CHECKS["lock_wait"]("lock_wait", value)))

    @property
    def _session(self) -> Session:
        return self._link.session

    @property
    def _lock(self) -> AbstractContextManager[bool]:
        return self._link.lock

    def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T:
        return self._link.run(exchange, timeout=timeout)

    def _require_open(self) -> None:
        self._link.require_open()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            # After an error closing is enough: the server rolls back, and nothing can hide the error.
            if error is None and not self.closed:
                self.commit()
        finally:
            self.close()

    def __del__(self) -> None:
        # Nothing is sent here: a finalizer may run in the middle of anything. The server rolls back by
        # itself.
        link: Link | None = getattr(self, "_link", None)
        if link is not None and not link.closed:
            text = f"unclosed {self!r}"
            link.abandon()
            warnings.warn(text, ResourceWarning, source=self, stacklevel=2)

    def __repr__(self) -> str:
        p = self._parameters
        # A debugger may ask while the login is failing: there is no session then.
        link: Link | None = getattr(self, "_link", None)
        state = "closed" if link is None or link.closed else "open"
        database = p.database if link is None else link.session.database
        return f"<informix_arrow.Connection {p.user}@{p.host}:{p.port}/{database} {state}>"
