"""What a connection can read: queries as Arrow, and their options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict, TypeVar, cast

import pyarrow as pa

from .dsn.parameters import CHECKS
from .exchange.fetch import ReadOptions, ServerCursor
from .exchange.run import run
from .parameters import Values, check_parameters
from .result import Result
from .wire.errors import InterfaceError
from .wire.types import TypeOptions

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from typing_extensions import Unpack

    from .connection import Connection
    from .dsn import Parameters
    from .exchange.session import Session
    from .exchange.steps import Exchange

T = TypeVar("T")


class ReadKeywords(TypedDict, total=False):
    """The options of :meth:`Connection.query`, for the functions that pass them on."""

    batch_bytes: int
    batch_rows: int
    decimals: Literal["decimal128", "float64"]
    floating_decimals: Literal["float64", "string"] | pa.Decimal128Type
    char_padding: Literal["strip", "keep"]
    strings: Literal["utf8", "large", "view", "dictionary"]
    intervals: Literal["native", "month_day_nano"]
    lobs: Literal["inline", "skip"]
    nested: Literal["arrow", "text"]
    encoding_errors: Literal["strict", "replace", "binary"] | None
    integer_aggregates: bool
    isolation: str | None
    lock_wait: int | None


class ReadArguments:
    """What the reading half of a connection, blocking or asynchronous, makes of its arguments."""

    _parameters: Parameters

    if TYPE_CHECKING:

        @property
        def _session(self) -> Session: ...

    def _start_query(
        self,
        sql: str,
        parameters: Values,
        *,
        batch_bytes: int = 16 << 20,
        batch_rows: int = 1 << 20,
        encoding_errors: str | None = None,
        isolation: str | None = None,
        lock_wait: int | None = None,
        **options: Any,
    ) -> Exchange[ServerCursor]:
        """The exchange behind :meth:`Connection.query`; the arguments are checked here and now."""
        if options.get("lobs") == "lazy":
            raise InterfaceError(
                'lobs="lazy" has no place in Arrow columns: use cursor.lobs = "lazy" and fetch rows, or '
                'lobs="inline", which streams the contents batch by batch'
            )
        types = self._type_options(encoding_errors=encoding_errors, **options)
        _check_size("batch_bytes", batch_bytes, 4096)
        _check_size("batch_rows", batch_rows, 1)
        values = check_parameters(sql, parameters)
        wishes = ReadOptions(
            types,
            batch_bytes,
            batch_rows,
            isolation=CHECKS["isolation"]("isolation", isolation) if isolation else "",
            lock_wait=None if lock_wait is None else CHECKS["lock_wait"]("lock_wait", lock_wait),
        )
        reading = self._read_options(wishes)
        exchange = run(self._session, sql, len(values), values, reading, need_rows=True)
        return cast("Exchange[ServerCursor]", exchange)  # a statement without rows is refused

    def _type_options(self, *, encoding_errors: str | None, **options: Any) -> TypeOptions:
        """Checked options; ``InterfaceError`` for a value that none of them has."""
        options["encoding_errors"] = encoding_errors or self._parameters.encoding_errors
        try:
            try:
                return _checked(tuple(options.items()))
            except TypeError:  # a value that has no hash
                return TypeOptions(**options)
        except ValueError as error:
            raise InterfaceError(str(error)) from None

    def _read_options(self, options: ReadOptions) -> ReadOptions:
        return replace(options, fetch_bytes=self._parameters.fetch_buffer_size)


class Reading(ReadArguments):
    """The part of :class:`~informix_arrow.Connection` that reads."""

    if TYPE_CHECKING:

        @property
        def _lock(self) -> AbstractContextManager[bool]: ...

        def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T: ...

        def _require_open(self) -> None: ...

    def read_arrow(
        self,
        sql: str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        **options: Unpack[ReadKeywords],
    ) -> pa.Table:
        """Run a query and read all its rows into one table.

        ``conn.read_arrow("SELECT * FROM orders WHERE day >= ?", (date(2026, 1, 1),))``. Parameters, options
        and errors are those of :meth:`query`, which streams instead.
        """
        with self.query(sql, parameters, timeout=timeout, **options) as result:
            return result.read_all()

    def query(
        self,
        sql: str,
        parameters: Values = (),
        *,
        timeout: float | None = None,
        batch_bytes: int = 16 << 20,
        batch_rows: int = 1 << 20,
        decimals: Literal["decimal128", "float64"] = "decimal128",
        floating_decimals: Literal["float64", "string"] | pa.Decimal128Type = "float64",
        char_padding: Literal["strip", "keep"] = "strip",
        strings: Literal["utf8", "large", "view", "dictionary"] = "utf8",
        intervals: Literal["native", "month_day_nano"] = "native",
        lobs: Literal["inline", "skip"] = "inline",
        nested: Literal["arrow", "text"] = "arrow",
        encoding_errors: Literal["strict", "replace", "binary"] | None = None,
        integer_aggregates: bool = False,
        isolation: str | None = None,
        lock_wait: int | None = None,
    ) -> Result:
        """Run a query and stream its rows as Arrow record batches.

        Parameters
        ----------
        sql
            One statement that returns rows, with ``?`` for each parameter, or ``:1``, ``:2`` ..., or ``:name``.
        parameters
            One value for each placeholder, a mapping for ``:name``: what :meth:`Cursor.execute` takes, BLOB and CLOB
            contents excepted.
        timeout
            Seconds that running the query, and then the reading of each batch, may take: ``QueryTimeout`` when they
            are over, and the connection stays usable. None (default): the connection's ``call_timeout``.
        batch_bytes
            Target size of one batch, bytes of Arrow buffers, at least 4096 (default 16 MiB). The last batch
            is smaller; a single row larger than this makes a batch of one row. The contents of large objects
            count by themselves: a batch ends where they reach this size, too.
        batch_rows
            Most rows of one batch, at least 1 (default 1,048,576).
        decimals
            DECIMAL(p,s) and MONEY as exact ``"decimal128"`` (default) or as ``"float64"``.
        floating_decimals
            DECIMAL(p) without a scale as ``"float64"`` (default), ``"string"``, or a ``pa.decimal128(p, s)``:
            then exact, or a ``DataError``.
        char_padding
            ``"strip"`` (default) removes the trailing blanks of CHAR and NCHAR, ``"keep"`` keeps them.
        strings
            Text as ``"utf8"`` (default), ``"large"`` (64-bit offsets), ``"view"`` (string views) or
            ``"dictionary"`` (int32 indices, each batch with a dictionary of its own).
        intervals
            ``"native"`` (default): INTERVAL YEAR TO MONTH as int32 months, DAY TO FRACTION as duration[us]
            (beyond 106,751,991 days a ``DataError``); ``"month_day_nano"``: both as Arrow's interval type.
        lobs
            ``"inline"`` (default): TEXT and CLOB as large_utf8, BYTE and BLOB as large_binary, with their
            contents, which are asked for in a second step; ``"skip"`` leaves these columns out of the result.
        nested
            ``"arrow"`` (default): SET, MULTISET and LIST as list, ROW as struct, where the description tells
            the element types; ``"text"``: always as Informix's literal, ``SET{1,2}``. The parsing is Python
            per value.
        encoding_errors
            For a byte that is no text of the database's code set: ``"strict"`` (a ``DataError`` naming row and
            column), ``"replace"`` (U+FFFD in its place), or ``"binary"``: all text columns arrive as bytes,
            unchecked. By default what the connection was opened with, which is ``"strict"`` by default.
        integer_aggregates
            True: DECIMAL without fraction digits, as which Informix gives COUNT(*) and the SUM of integers,
            as int64; beyond its range a ``DataError``. False by default: decimal128.
        isolation, lock_wait
            For this result alone, as :func:`connect` takes them; set back when it ends, is closed or dropped. Two
            results that are read in turns share one session: the one opened last decides for both.

        Returns
        -------
        Result
            Single use, its schema known at once, also for zero rows.

        Raises
        ------
        ProgrammingError
            The number of parameters is wrong, or the statement returns no rows (it is not executed then), or
            the server refused it; ``sqlcode``, ``isamcode``, ``offset`` and ``near`` are set in the last
            case.
        DataError
            A parameter, or a character of ``sql``, does not exist in the database's code set or does not fit.
        NotSupportedError
            A column has a type that cannot be read; the text names both.
        InterfaceError
            An argument is wrong, or the connection is closed.
        OperationalError
            The server failed or was lost; the text says whether the connection is closed now.

        Types: the mapping table in the documentation. Source: SQLI section 7.
        """
        cursor = self._run(
            self._start_query(
                sql,
                parameters,
                batch_bytes=batch_bytes,
                batch_rows=batch_rows,
                decimals=decimals,
                floating_decimals=floating_decimals,
                char_padding=char_padding,
                strings=strings,
                intervals=intervals,
                lobs=lobs,
                nested=nested,
                encoding_errors=encoding_errors,
                integer_aggregates=integer_aggregates,
                isolation=isolation,
                lock_wait=lock_wait,
            ),
            timeout,
        )
        return Result(cast("Connection", self), cursor, timeout)

    @contextmanager
    def client_files(self, files: Mapping[str, object]) -> Iterator[None]:
        """Let the statements of a block read and write "files" of this side that are no files::

            with conn.client_files({"in": b"...", "out": (made := {})}):
                conn.execute("INSERT INTO t VALUES (1, filetoblob('in', 'client'))")
                conn.read_arrow("SELECT lotofile(b, 'out', 'client') FROM t")

        Only for SQL that calls FILETOBLOB, FILETOCLOB or LOTOFILE itself: bytes and file objects as
        parameters, and reading the column, do the same with less. The server gets what is registered here and
        nothing else; no path of this computer is ever opened.

        Parameters
        ----------
        files
            By the name that the SQL uses: bytes or a readable file object to be read; a dict or an object
            with ``write()`` to be written. The server adds a suffix to the names of files that it makes: a
            dict gets each file as bytes under its full name, an object takes one file. Read the result within
            the block.

        Raises
        ------
        InterfaceError
            A value is none of these, or a name is in use.
        OperationalError
            From a statement in the block: the server asked for another name, or an object failed.
        """
        with self._lock:
            self._require_open()
            self._session.files.register(files, self._session.framing.encoding)
        try:
            yield
        finally:
            with self._lock:
                self._session.files.forget(list(files))


@lru_cache(maxsize=256)
def _checked(options: tuple[tuple[str, Any], ...]) -> TypeOptions:
    """The same few options come with every statement."""
    return TypeOptions(**dict(options))


def _check_size(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or not least <= value < 2**63:
        raise InterfaceError(f"{name} must be a whole number of at least {least}, got {value!r}")
