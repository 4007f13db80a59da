"""What a connection can run: cursors, statements, routines of the fast path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeVar, cast, overload

from .cursor import Cursor
from .exchange.routines import fast_path_call
from .parameters import Values
from .rows import RowFactory
from .scroll_cursor import ScrollCursor

if TYPE_CHECKING:
    from .connection import Connection
    from .exchange.session import Session
    from .exchange.steps import Exchange

T = TypeVar("T")


class Running:
    """The part of :class:`~informix_arrow.Connection` that runs statements.

    Attributes
    ----------
    row_factory
        What the rows of new cursors are made into, ``"tuple"`` by default; see :attr:`Cursor.row_factory`.
    """

    row_factory: RowFactory = "tuple"

    if TYPE_CHECKING:

        @property
        def _session(self) -> Session: ...

        def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T: ...

        def _require_open(self) -> None: ...

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: Literal[False] = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> Cursor: ...

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: Literal[True],
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> ScrollCursor: ...

    @overload
    def cursor(
        self,
        name: str = "",
        *,
        scrollable: bool = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> Cursor: ...

    def cursor(
        self,
        name: str = "",
        *,
        scrollable: bool = False,
        withhold: bool = False,
        row_factory: RowFactory | None = None,
    ) -> Cursor:
        """A new PEP 249 cursor on this connection. Any number may be open at a time.

        Parameters
        ----------
        name
            What ``WHERE CURRENT OF`` calls the cursor's current row. Rows are fetched one by one then.
        scrollable
            True: a :class:`ScrollCursor`, whose rows can be had in any order.
        withhold
            True: its results outlive COMMIT and ROLLBACK.
        row_factory
            ``"tuple"``, ``"namedtuple"``, ``"dict"`` or a function; the connection's by default.
        """
        self._require_open()
        connection = cast("Connection", self)
        if scrollable:
            return ScrollCursor(connection, name, withhold=withhold, row_factory=row_factory)
        return Cursor(connection, name, withhold=withhold, row_factory=row_factory)

    def execute(
        self,
        operation: str,
        parameters: Values | None = None,
        *,
        timeout: float | None = None,
    ) -> Cursor:
        """Run one statement in a new cursor and return it: ``conn.execute("DROP TABLE t")``."""
        return self.cursor().execute(operation, parameters, timeout=timeout)

    def fast_path_call(self, signature: str, *arguments: object, timeout: float | None = None) -> Any:
        """Call a routine of the server without SQL; what it returns: None, a value, or a tuple of several.

        ``conn.fast_path_call("function informix.ifx_lo_close(integer)", descriptor)``. The routine is looked up once;
        a call costs one round trip.

        Parameters
        ----------
        signature
            ``function owner.name(type, ...)`` as the server knows the routine; ``function`` may be left out.
        arguments
            A value for each type, of just that type: nothing is converted. bytes for opaque types, BLOB and CLOB
            locators (72 bytes) among them.

        Raises
        ------
        InterfaceError, ProgrammingError
            This is no signature, or it has another number of types; nothing was sent.
        DataError
            An argument is none of its type; nothing was sent.
        Error
            The server's: -674 when it knows no such routine.
        """
        self._require_open()
        return self._run(fast_path_call(self._session, signature, arguments), timeout)
