"""One statement with many parameter rows, pipelined.

Every row is a group of its own, ``ID BIND EXECUTE EOT``, and gets a reply of its own; a row that fails
neither stops nor poisons the later ones (SQLI section 11). Groups leave in chunks, one chunk ahead of the
replies being read, and the transport takes replies in while it sends. So the server always finds a next row
to work on, unread replies stay bounded by two chunks, and neither side can end up waiting for the other to
read.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..parameters import RowCheck, Statement, Values, parse
from ..wire import messages as m
from ..wire.errors import Error, InterfaceError, ProgrammingError
from ..wire.values import bind_value
from .cancel import heed, wanted
from .columns import ColumnBinder
from .load import send
from .lob_parameters import refuse_contents
from .object_execute import ObjectStatement, execute_rows, failing, peek, special_targets
from .replies import ManyOutcome, Replies
from .session import Session, settle
from .statement import acquire, hand_back, release_after, release_statement
from .statement_cache import STALE, Prepared
from .steps import Exchange
from .transaction import after_failure, begin_if_needed, track

CHUNK_ROWS = 4096  # rows in one send
CHUNK_BYTES = 256 << 10  # a chunk is closed early beyond this many bytes
_FIRST_ROWS = 256  # of the first chunk, when nobody knows yet how large rows are


def execute_many(
    session: Session, sql: str, parameters: int, rows: Iterable[Values]
) -> Exchange[ManyOutcome]:
    """Execute ``sql`` once for each of ``rows``, consuming them as it goes.

    A row that cannot be bound, and an error of the iterable itself, ends the run: the rows before it are
    sent, their replies read, then the error is raised (with ``row`` set if it is one of ours). The server's
    errors are collected in the outcome instead. Raises ``InterfaceError`` at the call, before the exchange
    begins, when ``rows`` is no iterable of rows.
    """
    if isinstance(rows, Mapping | str | bytes):
        raise InterfaceError(f"executemany() takes rows of parameters, got {type(rows).__name__}")
    try:
        source = iter(rows)
    except TypeError:
        raise InterfaceError(
            f"executemany() takes an iterable of rows of parameters, got {type(rows).__name__}"
        ) from None
    return _execute_many(session, sql, parameters, source)


def _execute_many(
    session: Session, sql: str, parameters: int, rows: Iterator[object]
) -> Exchange[ManyOutcome]:
    statement = parse(sql)
    check = RowCheck(statement, parameters)
    try:
        prepared = yield from acquire(session, statement.text, parameters)
        first = _First(rows) if prepared.reused else None
        try:
            return (yield from _with_prepared(session, statement, prepared, first or rows, check, first))
        except _Stale:
            assert first is not None
        prepared = yield from acquire(session, statement.text, parameters, anew=True)
        return (yield from _with_prepared(session, statement, prepared, first.again(), check, None))
    except Error as error:
        statement.explain(error)
        raise


class _Stale(Exception):
    """The server does not know the statement any more; none of the rows was executed."""


class _First:
    """Rows, the first of which can be had once more: as long as the server has not accepted the statement."""

    def __init__(self, rows: Iterator[object]) -> None:
        self._rows = rows
        self._seen: list[object] | None = []
        self._error: Exception | None = None  # that ended them

    def __iter__(self) -> Iterator[object]:
        return self

    def __next__(self) -> object:
        try:
            row = next(self._rows)
        except StopIteration:
            raise
        except Exception as error:
            self._error = error
            raise
        if self._seen is not None:
            self._seen.append(row)
        return row

    def accepted(self) -> None:
        """Forget the rows."""
        self._seen = None

    def again(self) -> Iterator[object]:
        """All rows from the first on."""
        rows = itertools.chain(self._seen or (), self._rows)
        return rows if self._error is None else itertools.chain(rows, failing(self._error))


def _with_prepared(
    session: Session,
    statement: Statement,
    prepared: Prepared,
    rows: Iterator[object],
    check: RowCheck,
    first: _First | None,
) -> Exchange[ManyOutcome]:
    """Execute for all rows; the statement is handed back or released then. ``first`` are the rows when the statement
    may be stale: raises ``_Stale`` then, if it is.
    """
    describe, statement_id = prepared.describe, prepared.statement_id
    kind = describe.statement_type
    try:
        if describe.has_rows:
            raise ProgrammingError(
                "executemany() takes a statement without a result; run queries one at a time"
            )
        row, rows = peek(rows)
        targets = yield from special_targets(session, describe, check.count, check.sample(row))
        if targets is not None and first is not None:
            raise _Stale  # contents are used up by the attempt: they go to a statement that is surely good
        yield from begin_if_needed(session, kind, statement.text)
        if targets is not None:
            outcome = ManyOutcome()
            objects = ObjectStatement(statement.text, statement_id, targets)
            yield from execute_rows(session, objects, kind, rows, check, outcome)
        else:
            outcome = yield from _pipeline(session, statement, prepared, rows, check, first)
    except _Stale:
        yield from release_statement(session, statement_id)
        raise
    except Exception as error:
        yield from release_after(session, statement_id, error)
        if session.usable_after(error):
            yield from after_failure(session)
        raise
    for refused in outcome.errors:
        statement.explain(refused)
    yield from hand_back(session, prepared)
    yield from track(session, kind, statement.text)
    return outcome


def _pipeline(
    session: Session,
    statement: Statement,
    prepared: Prepared,
    rows: Iterator[object],
    check: RowCheck,
    first: _First | None,
) -> Exchange[ManyOutcome]:
    statement_id, kind = prepared.statement_id, prepared.describe.statement_type
    yield from settle(session)
    outcome = ManyOutcome()
    replies = Replies(session, statement.text, kind)
    refused: list[Exception] = []
    before = 0  # replies owed to the chunk sent before the current one
    for data, count in _chunks(session, check, statement_id, rows, refused):
        session.own += count
        yield from send(session, data)
        if first is not None:
            yield from replies.take(outcome, 1)
            if outcome.errors and outcome.errors[0].sqlcode in STALE:
                yield from replies.take(outcome, count - 1)
                raise _Stale
            first.accepted()
            first, count = None, count - 1
        yield from replies.take(outcome, before)
        before = count
        if wanted(session):
            yield from replies.take(outcome, before)
            yield from heed(session)
    yield from replies.take(outcome, before)
    if refused:
        session.passed_on = refused[0]
        raise refused[0]
    return outcome


def _chunks(
    session: Session,
    check: RowCheck,
    statement_id: int,
    rows: Iterator[object],
    refused: list[Exception],
) -> Iterator[tuple[bytes, int]]:
    """Encode groups into chunks; a row that cannot be encoded lands in ``refused`` and ends the chunks."""
    framing = session.framing
    head = m.Id(statement_id).encode(framing)
    tail = m.Execute().encode(framing) + m.EndOfTurn().encode(framing)
    columns = ColumnBinder(framing.encoding, check.count, head, tail)
    number = 0  # of the next row to be encoded
    most = _FIRST_ROWS
    while not refused:
        taken, failure = _take(rows, most, check)
        if not taken and failure is None:
            return
        first, size = number, 0
        try:
            encoded = _by_columns if taken and columns.load(taken) else _by_values
            for data, count in encoded(session, columns, taken, head, tail):
                number += count
                size += len(data)
                yield data, count
        except Exception as error:  # noqa: BLE001 - raised again by _pipeline
            failure = error
            if isinstance(error, Error):
                number = first + (error.row or 0)
        if failure is not None:
            if isinstance(failure, Error):
                failure.row = number
            refused.append(failure)
        most = max(1, min(CHUNK_ROWS, CHUNK_BYTES * len(taken) // max(size, 1)))


def _take(
    rows: Iterator[object], most: int, check: RowCheck
) -> tuple[list[Sequence[object]], Exception | None]:
    """The next rows, at most ``most``, as far as they are good, and what ended them before."""
    taken: list[object] = []
    failure: Exception | None = None
    try:
        taken.extend(itertools.islice(rows, most))  # what came before an error stays in the list
    except Exception as error:  # noqa: BLE001 - raised again by _pipeline, when the rows before it are in
        failure = error
    good, refused = check.many(taken)
    return good, refused or failure


def _by_columns(
    session: Session, columns: ColumnBinder, rows: Sequence[Sequence[object]], head: bytes, tail: bytes
) -> Iterator[tuple[bytes, int]]:
    """Encode the rows that ``columns`` has taken."""
    while (piece := columns.encode(CHUNK_BYTES))[1]:
        yield piece


def _by_values(
    session: Session, columns: ColumnBinder, rows: Sequence[Sequence[object]], head: bytes, tail: bytes
) -> Iterator[tuple[bytes, int]]:
    """Encode rows value by value; an ``Error`` tells its row."""
    framing, encoding = session.framing, session.framing.encoding
    chunk, count = bytearray(), 0
    failure: Exception | None = None
    for number, row in enumerate(rows):
        try:
            bound = tuple([bind_value(value, encoding) for value in row])
            refuse_contents(bound)
            binding = m.Bind(bound).encode(framing) if bound else b""
        except Exception as error:  # noqa: BLE001 - raised below, when the rows before it are on their way
            failure = error
            if isinstance(error, Error):
                error.row = number
            break
        chunk += head + binding + tail
        count += 1
        if len(chunk) >= CHUNK_BYTES:
            yield bytes(chunk), count
            chunk, count = bytearray(), 0
    if count:
        yield bytes(chunk), count
    if failure is not None:
        raise failure
