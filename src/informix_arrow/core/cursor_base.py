"""CursorBase: the settings of a cursor, the outcome of its last statement, and its rows' Python form.

The blocking and the asyncio cursor derive from :class:`CursorBase` and add the calls to the server.
"""

from __future__ import annotations

import operator
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeVar

from ..operations.batch_replies import ManyOutcome
from ..operations.client_files import refuse_in_pipeline
from ..operations.execute import run_statement
from ..operations.executemany import execute_many
from ..operations.fetch import ReadOptions, ServerCursor
from ..operations.io_steps import Exchange
from ..operations.prepare import Outcome
from ..operations.procedures import call_procedure
from ..operations.reexecute import SmallResult
from ..operations.session import Session
from ..rows.dbapi_types import DescriptionItem
from ..rows.parameters import Values, count_placeholders, parse
from ..rows.python_rows import MakeRow, RowFactory, check_factory, decimals, row_maker
from ..wire import errors
from ..wire.assignment import Inexact, inexact_option
from ..wire.errors import InterfaceError, ProgrammingError
from ..wire.type_codes import DECIMAL_TYPES
from .connection_protocol import ConnectionProtocolBase
from .read_options import type_options

# Small batches: the first row is available soon, and rows are consumed piece by piece.
_BATCH_BYTES = 1 << 20
T = TypeVar("T")
_NAME = re.compile(r"[^\W\d]\w{0,127}")


class CursorBase:
    """The settings and the outcome of a cursor.

    Attributes
    ----------
    arraysize
        Rows that ``fetchmany()`` returns by default, initially 1.
    rowcount
        Rows inserted, updated or deleted by the last statement; -1 after a query, before any statement, and if the
        server did not report the number.
    lastrowid
        The SERIAL, SERIAL8 or BIGSERIAL value that the last INSERT generated, None if there was none.
    messages
        The server's warnings: ``(Warning, warning)`` for each, newest last. Cleared by every call that executes
        (PEP 249's extension). The same warnings go to Python's ``warnings``.
    lobs
        Large objects in the rows of the next ``execute``: ``"inline"`` (default) bytes and str, ``"skip"`` no
        such columns, ``"lazy"`` :class:`~informix_arrow.LargeObject` files that are read on demand
        (rows only, not Arrow).
    floating_decimals
        DECIMAL(p) without a scale in the rows of the next ``execute``: ``"float64"`` (default), ``"string"``, or
        ``"decimal"``, which is exact too: ``Decimal`` in rows, text in Arrow.
    intervals, nested, char_padding, encoding_errors, integer_aggregates
        As in :meth:`Connection.query`, for the next ``execute``. Interval values are int months and
        ``timedelta``; with ``intervals = "month_day_nano"`` ``pyarrow.MonthDayNano``.
    bson
        BSON in the rows of the next ``execute``: ``"binary"`` (default) bytes, or ``"json"`` text.
    """

    # Class attributes until they are set, because many programs create a cursor for each statement.
    _closed = False
    _name, _scrollable, _withhold = "", False, False
    _row_factory: RowFactory = "tuple"
    _description: tuple[DescriptionItem, ...] | None = None
    _make_row: MakeRow | None = None
    messages: list[tuple[type[errors.Warning], errors.Warning]]  # set for each instance
    arraysize: int = 1
    rowcount: int = -1
    lastrowid: int | None = None
    lobs: Literal["inline", "skip", "lazy"] = "inline"
    floating_decimals: Literal["float64", "string", "decimal"] = "float64"
    intervals: Literal["native", "month_day_nano"] = "native"
    nested: Literal["arrow", "text"] = "arrow"
    char_padding: Literal["strip", "keep"] = "strip"
    encoding_errors: Literal["strict", "replace", "binary"] | None = None
    integer_aggregates: bool = False
    bson: Literal["binary", "json"] = "binary"

    def _configure(self, name: str, scrollable: bool, withhold: bool, row_factory: RowFactory) -> None:
        """Set options that few cursors have. Raises ``InterfaceError`` for an invalid name or row factory."""
        if name and (not isinstance(name, str) or not _NAME.fullmatch(name)):
            raise InterfaceError(
                "A cursor name is a letter or _, followed by at most 127 letters, digits and _, got "
                f"{name!r}."
            )
        self._name, self._scrollable, self._withhold = name, bool(scrollable), bool(withhold)
        check_factory(row_factory)
        self._row_factory = row_factory

    @property
    def name(self) -> str:
        """The name for ``WHERE CURRENT OF``; "" if there is none."""
        return self._name

    @property
    def scrollable(self) -> bool:
        """True if the cursor can move through its rows in any direction."""
        return self._scrollable

    @property
    def withhold(self) -> bool:
        """True if a result stays open after COMMIT and ROLLBACK."""
        return self._withhold

    @property
    def row_factory(self) -> RowFactory:
        """The form of the rows from the next ``execute`` on.

        This is ``"tuple"``, ``"namedtuple"`` (:class:`~informix_arrow.Row`), ``"dict"``, or a function. The function
        takes :attr:`description` and returns another function, which makes a row from a tuple of values. A row must not
        be None.
        """
        return self._row_factory

    @row_factory.setter
    def row_factory(self, value: RowFactory) -> None:
        check_factory(value)
        self._row_factory = value

    @property
    def description(self) -> tuple[DescriptionItem, ...] | None:
        """Seven items per result column, None if the last statement returned no rows (PEP 249).

        The type is a :class:`~informix_arrow.dbapi.SqlType`, whose text is the declaration: ``DECIMAL(8,2)``.
        """
        return self._description

    @property
    def closed(self) -> bool:
        """True if the cursor was closed."""
        return self._closed

    def setinputsizes(self, sizes: Sequence[object]) -> None:
        """Do nothing: the server converts parameters to the types that it needs (PEP 249 allows that)."""
        self._require_open()

    def setoutputsize(self, size: int, column: int | None = None) -> None:
        """Do nothing: values are never truncated (PEP 249 allows that)."""
        self._require_open()

    # ---- for the classes that talk to the server ---------------------------------------------------------------------

    def _number_of_rows(self, size: int | None) -> int:
        """Return the number of rows for ``fetchmany``. Raises ``InterfaceError`` for an invalid one."""
        count = self.arraysize if size is None else size
        if type(count) is int and 0 <= count <= sys.maxsize:
            return count
        try:
            number = operator.index(count)
        except TypeError:
            number = -1
        if number < 0:
            what = "arraysize" if size is None else "size"
            raise InterfaceError(f"{what} must be a whole number of at least 0, got {count!r}.")
        return min(number, sys.maxsize)

    def _execute_exchange(
        self,
        connection: ConnectionProtocolBase,
        operation: str,
        parameters: Values | None,
        inexact: Inexact | None = None,
    ) -> Exchange[Outcome | ServerCursor | SmallResult]:
        """Return the operation of ``execute``. Wrong parameters are refused at once."""
        statement = parse(operation)
        values = statement.values(parameters)
        chosen = None if inexact is None else inexact_option(inexact)
        session, options = connection._session, self._options(connection)
        as_rows = not self._name and self.floating_decimals != "decimal"
        execution = run_statement(session, statement, values, options, as_rows=as_rows, inexact=chosen)
        return _refuse_open_name(session, self._name, execution) if self._name else execution

    def _executemany_exchange(
        self,
        connection: ConnectionProtocolBase,
        operation: str,
        rows: Iterable[Values],
        stop_on_error: bool,
        inexact: Inexact | None,
    ) -> Exchange[ManyOutcome]:
        """Return the operation of ``executemany``."""
        count = count_placeholders(operation)
        refuse_in_pipeline(operation)
        return execute_many(
            connection._session,
            operation,
            count,
            rows,
            stop_on_error=stop_on_error,
            inexact=None if inexact is None else inexact_option(inexact),
        )

    def _callproc_exchange(
        self,
        connection: ConnectionProtocolBase,
        name: str,
        parameters: Sequence[object] | None,
        inexact: Inexact | None,
    ) -> Exchange[Outcome | ServerCursor]:
        """Return the operation of ``callproc``."""
        values = () if parameters is None else parameters
        chosen = None if inexact is None else inexact_option(inexact)
        session = connection._session
        called = call_procedure(session, name, values, self._options(connection), inexact=chosen)
        return _refuse_open_name(session, self._name, called) if self._name else called

    def _options(self, connection: ConnectionProtocolBase) -> ReadOptions:
        """Return the read options of the settings; the same object for the same settings."""
        if self._name:
            return self._build_options(connection)
        settings = (
            self.lobs,
            self.floating_decimals,
            self.intervals,
            self.nested,
            self.char_padding,
            self.encoding_errors,
            self.integer_aggregates,
            self.bson,
            self._withhold,
            self._scrollable,
        )
        known = connection._read_options
        try:
            return known[settings]
        except (KeyError, TypeError):  # TypeError: a wrong value, which the next line reports
            options = known[settings] = self._build_options(connection)
            return options

    def _build_options(self, connection: ConnectionProtocolBase) -> ReadOptions:
        types = type_options(
            connection._parameters.encoding_errors,
            lobs=self.lobs,
            floating_decimals="string" if self.floating_decimals == "decimal" else self.floating_decimals,
            intervals=self.intervals,
            nested=self.nested,
            char_padding=self.char_padding,
            encoding_errors=self.encoding_errors,
            integer_aggregates=self.integer_aggregates,
            bson=self.bson,
        )
        return ReadOptions(
            types,
            _BATCH_BYTES,
            fetch_bytes=connection._parameters.fetch_buffer_size,
            with_hold=self._withhold,
            scroll=self._scrollable,
            name=self._name,
        )

    def _reset_outcome(self) -> None:
        """Forget the last statement. Raises ``InterfaceError`` if the cursor is closed."""
        if self._closed:
            self._require_open()
        self._description = self._make_row = None
        self.rowcount = -1
        self.lastrowid = None
        if self.messages:
            self.messages.clear()

    def _set_outcome(self, outcome: Outcome) -> None:
        """Record the outcome of a statement without rows."""
        self.rowcount = outcome.rows
        self.lastrowid = outcome.serial or None
        if outcome.truncated:
            self._warn_of_cut_text("")

    def _set_many_outcome(self, outcome: ManyOutcome) -> None:
        """Record the outcome of many executions, and raise one error for all refused rows."""
        self.rowcount = -1 if outcome.uncounted else outcome.rows
        self.lastrowid = outcome.serial or None
        if outcome.truncated_rows:
            self._warn_of_cut_text(
                f" in {len(outcome.truncated_rows)} of {outcome.executed} rows, "
                f"first in row {outcome.truncated_rows[0]}"
            )
        if outcome.errors:
            raise outcome.combined_error()

    def _set_description(self, cursor: ServerCursor | SmallResult) -> None:
        """Set the description of a result and how its rows are made. Raises as :func:`.rows.python_rows.row_maker`."""
        description = cursor.shape.description
        if self._row_factory != "tuple":
            self._make_row = row_maker(self._row_factory, description)
        self._description = description

    def _decimal_converters(self, cursor: ServerCursor) -> dict[int, Callable[[list[Any]], list[Any]]]:
        """Return by column the functions that make Decimals of floating DECIMALs, which are read as text."""
        if self.floating_decimals != "decimal":
            return {}
        columns = [cursor.columns[index] for index in cursor.plan.column_indexes]
        return {
            index: decimals
            for index, column in enumerate(columns)
            if column.type.code in DECIMAL_TYPES and column.type.scale is None
        }

    def _require_open(self) -> None:
        if self._closed:
            raise InterfaceError("The cursor is closed.")

    def _warn_of_cut_text(self, where: str) -> None:
        warning = errors.Warning(f"The server truncated text that is too long for its column{where}.")
        self.messages.append((errors.Warning, warning))
        warnings.warn(warning, stacklevel=4)


def _refuse_open_name(session: Session, name: str, exchange: Exchange[T]) -> Exchange[T]:
    """Refuse the name of a cursor that is open, because ``WHERE CURRENT OF`` would be ambiguous."""
    for cursor in session.cursors:
        if not isinstance(cursor, ServerCursor) or cursor.closed_by_server:
            continue
        if cursor.read_options.name.lower() == name.lower():
            raise InterfaceError(
                f"Another open cursor of this connection is called {cursor.read_options.name!r}, so WHERE "
                f"CURRENT OF {name} is ambiguous. Close that cursor first, or choose another name."
            )
    return (yield from exchange)


def no_result_error() -> ProgrammingError:
    """Return the error of a fetch after a statement without rows."""
    return ProgrammingError("There is nothing to fetch. The last statement returned no rows.")
