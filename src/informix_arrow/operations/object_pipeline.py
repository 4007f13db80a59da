"""Loading rows with BLOB and CLOB values ahead of the answers: the fast path makes the objects, the rows name them.

What a step needs is in the answer to the one before: an object is created (``ifx_lo_create`` gives its locator and an
open descriptor), written and closed, and then its row is inserted with the locator as a parameter; so does IBM's JDBC
driver, one step at a time. Here the steps of three windows of rows fly together: the inserts of one, the writes of the
next, the creates of the one behind. So a window costs one round trip.

A row is inserted only when the server has said that its objects are whole. Where it says anything else, and for objects
larger than a window, the row goes the way of :mod:`.object_load`, alone and in its place: its error, if it has one, is
that of a single step, and rows go in in their order.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ..wire import messages as m
from ..wire.errors import INTERRUPTED, DataError, Error, ProtocolError
from ..wire.messages import NULL_VALUE
from ..wire.types import TypeCode
from .bulk_insert import LoadOutcome, LoadSpec, RowFraming, RowGroup, is_connection_lost, send_group
from .cancel import cancel_requested, raise_if_cancelled
from .fast_path import routine_handles
from .io_steps import Exchange
from .load_transaction import LoadTransaction
from .message_stream import encode_group, server_error
from .object_load import ObjectLoader, ObjectRowSource
from .request_reply import Reply, drain_pending_replies, pipeline, queue, read_reply
from .session import Session
from .smart_objects import locator_bytes

MAX_OBJECTS = 128  # created at a time
WRITE_BYTES = 256 << 10  # bytes of one SQ_LODATA

_CREATE = "function informix.ifx_lo_create( ifx_lo_spec,integer,blob)"
_CLOSE = "function informix.ifx_lo_close(integer)"
_DESCRIBE = "function informix.ifx_lo_col_sbinfo(lvarchar,ifx_lo_spec)"
_READ_WRITE = 8  # LO_RDWR
_INTEGER = 0x0A00  # precision word of an INTEGER parameter (SQLI section 9)
_LOCATOR = 72


def _default_specification() -> bytes:
    """The specification of an object as JDBC sends it: everything as the column, or the server, has it."""
    words = bytearray(596)
    words[0:4] = b"\xda\xda\xfe\xed"
    words[15] = words[27] = 1
    words[20:22] = words[32:34] = b"\xff\xff"
    words[36:40] = b"\xff" * 4
    words[572:580] = b"\xff" * 8
    return bytes(words)


def object_specifications(
    session: Session, table: str, columns: Sequence[str]
) -> Exchange[list[bytes] | None]:
    """How objects of some columns are to be made, as the server says; None where it does not say."""
    try:
        (describe, *_) = yield from routine_handles(session, _DESCRIBE, _CREATE, _CLOSE)
        requests: list[list[m.Message]] = []
        for column in columns:
            name = f"{table}.{column}".encode(session.framing.encoding)
            values = (
                m.BoundValue(TypeCode.LVARCHAR.value, _length_prefixed(name), extended_name="lvarchar"),
                m.BoundValue(
                    TypeCode.SENDRECV.value,
                    _length_prefixed(_default_specification()),
                    extended_name="ifx_lo_spec",
                ),
            )
            requests.append([m.ExecuteRoutine(*describe, len(values)), m.Bind(values)])
        found = []
        for reply in (yield from pipeline(session, requests)):
            reply.check()
            (value, *_) = _results(reply)
            if value.data is None or len(value.data) <= 4:
                return None
            found.append(value.data[4:])
        return found
    except Error as error:
        if not session.usable_after(error) or error.sqlcode is None or error.sqlcode == INTERRUPTED:
            raise
        return None


@dataclass(slots=True)
class _LargeObjectWrite:
    """An object that was asked for."""

    content: memoryview
    clob: bool
    locator: bytes = b""
    fd: int | None = None  # None: not open


@dataclass(slots=True)
class _PendingRow:
    """A row on its way; ``objects`` are those of its BLOB and CLOB columns, None for NULL."""

    group: RowGroup
    objects: list[_LargeObjectWrite | None]
    size: int  # bytes of contents
    single_step: bool = False  # it goes by single steps
    interrupted: Error | None = None  # an interrupt has hit one of its steps

    @property
    def non_null_objects(self) -> list[_LargeObjectWrite]:
        """Those that are not NULL."""
        return [each for each in self.objects if each is not None]

    @property
    def open_objects(self) -> list[_LargeObjectWrite]:
        """Those that are open."""
        return [each for each in self.non_null_objects if each.fd is not None]


class ObjectPipeline(ObjectLoader):
    """Runs one job in flights.

    ``objects`` are the numbers of the BLOB (False) and CLOB (True) columns, which must be the first ones of the INSERT;
    ``made_as`` says how an object of each is made (:func:`object_specifications`); ``window`` bounds the bytes of contents
    that are sent ahead of their answers.
    """

    def __init__(
        self,
        session: Session,
        job: LoadSpec,
        feed: ObjectRowSource,
        scope: LoadTransaction,
        progress: Callable[[LoadOutcome], None],
        objects: Sequence[tuple[int, bool]],
        made_as: Sequence[bytes],
        window: int,
    ) -> None:
        super().__init__(session, job, feed, scope, progress, objects)
        self._specifications, self._window = made_as, window
        self._source_error: Exception | None = None  # what the data raised; the rows before it first
        self._source_exhausted = False  # there are no more rows
        self._deferred_row: _PendingRow | None = None  # the next one, which the last window had no room for
        self._stepwise = False  # the server makes no objects this way: the rows to come go alone
        self._created_rows: list[_PendingRow] = []  # rows whose objects are open, to be written next

    def _run(self) -> Exchange[None]:
        self.outcome.method = "pipeline"
        written: list[_PendingRow] = []
        while True:
            if cancel_requested(self._session):
                yield from raise_if_cancelled(self._session)
            fresh = yield from self._next_window()
            if fresh or self._created_rows or written:
                yield from self._transaction.begin_next()
                inserts = yield from self._insert_single_rows(written)
                if self._failure:
                    break
                written = self._created_rows
                yield from self._pipeline_window(inserts, written, fresh)
                self._created_rows = fresh
                if self._failure:
                    break
                if inserts:
                    self._call_user_code(lambda: self._progress(self.outcome))
            elif self._uncommitted == self._job.commit_every:
                yield from self._commit()
            else:
                break
        yield from self._close()
        failure = self._failure or self._source_error
        if failure is not None:
            raise failure

    def _next_window(self) -> Exchange[list[_PendingRow]]:
        """The rows of the next window: none at the end of the data, and none at a commit that is due, which lets the
        rows before it come to their end."""
        rows: list[_PendingRow] = []
        size = count = 0
        while count < MAX_OBJECTS and len(rows) < MAX_OBJECTS and self._uncommitted != self._job.commit_every:
            row, self._deferred_row = self._deferred_row or (yield from self._next_row()), None
            if row is None:
                break
            weight = len(row.group.data) + (0 if row.single_step else row.size)
            if rows and size + weight > self._window:
                self._deferred_row = row
                break
            size += weight
            count += 0 if row.single_step else len(row.non_null_objects)
            rows.append(row)
            self._uncommitted += 1
        return rows

    def _next_row(self) -> Exchange[_PendingRow | None]:
        """The next row; None when there are no more, because the data has failed perhaps."""
        if self._source_exhausted:
            return None
        try:
            taken = yield from self._next_group(RowFraming.BIND)
        except Exception as error:
            if isinstance(error, Error) and (is_connection_lost(error) or error.sqlcode == INTERRUPTED):
                raise
            taken, self._source_error = None, error
        if taken is None:
            self._source_exhausted = True
            return None
        objects = [
            None if content is None else _LargeObjectWrite(content.cast("B"), clob)
            for content, (_, clob) in zip(self._rows.contents(taken), self._objects, strict=True)
        ]
        size = sum(len(each.content) for each in objects if each is not None)
        return _PendingRow(taken, objects, size, single_step=self._stepwise or size > self._window)

    def _insert_single_rows(self, rows: Sequence[_PendingRow]) -> Exchange[list[_PendingRow]]:
        """Insert rows up to the last of those that go alone, each in its place; those behind are returned."""
        ready: list[_PendingRow] = []
        for row in rows:
            if not row.single_step:
                ready.append(row)
                continue
            yield from self._pipeline_window(ready, (), ())
            ready = []
            if self._failure:
                break
            if row.interrupted is not None:
                self._record_rejected(row.group, 0, row.interrupted)
            else:
                yield from self._execute(row.group)
            if self._failure:
                break
            self._call_user_code(lambda: self._progress(self.outcome))
        return ready

    def _pipeline_window(
        self, inserts: Sequence[_PendingRow], writes: Sequence[_PendingRow], creates: Sequence[_PendingRow]
    ) -> Exchange[None]:
        """One flight: rows are inserted, objects of others written and closed, those of others made."""
        session = self._session
        create, close = yield from routine_handles(session, _CREATE, _CLOSE)
        creates = [row for row in creates if not row.single_step]
        groups = [self._insert(row) for row in inserts]
        self.outcome.groups += len(groups)
        self.outcome.bytes += sum(map(len, groups)) + sum(row.size for row in inserts)
        for row in writes:
            groups += self._write_requests(row, close)
        for row in creates:
            groups += self._create_requests(row, create)
        if not groups:
            return
        yield from drain_pending_replies(session)
        session.outstanding_requests += len(groups)
        yield from send_group(session, b"".join(groups))
        for row in inserts:
            self._record_inserted(row.group, (yield from read_reply(session)))
        for row in writes:
            yield from self._read_write_replies(row)
        for row in creates:
            yield from self._read_create_replies(row)
        refused = any(row.non_null_objects and not row.interrupted for row in creates)
        if refused and not any(row.open_objects for row in creates):
            self._stepwise = True

    # ---- requests ------------------------------------------------------------------------------------------

    def _create_requests(self, row: _PendingRow, handle: tuple[str, int]) -> list[bytes]:
        groups = []
        for each, made_as in zip(row.objects, self._specifications, strict=True):
            if each is not None:
                values = (
                    m.BoundValue(
                        TypeCode.SENDRECV.value, _length_prefixed(made_as), extended_name="ifx_lo_spec"
                    ),
                    _integer(_READ_WRITE),
                    m.BoundValue(
                        TypeCode.SENDRECV.value, _length_prefixed(bytes(_LOCATOR)), extended_name="blob"
                    ),
                )
                groups.append(_call(self._session, handle, values))
        return groups

    def _write_requests(self, row: _PendingRow, close: tuple[str, int]) -> list[bytes]:
        """The pieces of each object and its close; the close alone where another one of the row has failed."""
        groups = []
        for each in row.open_objects:
            assert each.fd is not None
            for at, size in _write_ranges(row, each):
                piece = bytes(each.content[at : at + size])
                groups.append(encode_group(self._session, (m.LoData.write(each.fd, piece),)))
            groups.append(_call(self._session, close, (_integer(each.fd),)))
        return groups

    def _insert(self, row: _PendingRow) -> bytes:
        """The execution for a row: its SQ_BIND, with the locators in front of the other values."""
        framing = self._session.framing
        values = tuple([NULL_VALUE if each is None else _locator(each) for each in row.objects])
        bind, plain = m.Bind(values).encode(framing), row.group.data
        if plain:
            count = int.from_bytes(plain[2:4], "big") + len(values)
            bind = b"".join((plain[:2], count.to_bytes(2, "big"), bind[4:], plain[4:]))
        head, *tail = (
            each.encode(framing) for each in (m.Id(self._job.statement_id), m.Execute(), m.EndOfTurn())
        )
        return b"".join((head, bind, *tail))

    # ---- replies -------------------------------------------------------------------------------------------

    def _read_write_replies(self, row: _PendingRow) -> Exchange[None]:
        failed = False
        for each in row.open_objects:
            for _, size in _write_ranges(row, each):
                reply = yield from read_reply(self._session)
                failed = self._record_failure(row, reply) or failed or _parse_written(reply) != size
            failed = self._record_failure(row, (yield from read_reply(self._session))) or failed
            each.fd = None
        row.single_step = row.single_step or failed

    def _read_create_replies(self, row: _PendingRow) -> Exchange[None]:
        for each in row.non_null_objects:
            reply = yield from read_reply(self._session)
            if self._record_failure(row, reply):
                row.single_step = True
            else:
                each.locator, each.fd = _parse_created(reply)

    def _record_failure(self, row: _PendingRow, reply: Reply) -> bool:
        """Whether a step was refused; the row goes alone then."""
        if reply.error is not None and reply.error.sqlcode == INTERRUPTED:
            row.interrupted = server_error(reply.error, self._job.sql)
        return reply.error is not None

    def _close(self) -> Exchange[None]:
        """Give back what is still open after a failure, and release the statements."""
        left = [each for row in self._created_rows for each in row.open_objects]
        self._created_rows = []
        for each in left:
            assert each.fd is not None
            ((database, number),) = yield from routine_handles(self._session, _CLOSE)
            queue(self._session, _call(self._session, (database, number), (_integer(each.fd),)))
        yield from super()._close()


def _write_ranges(row: _PendingRow, made: _LargeObjectWrite) -> list[tuple[int, int]]:
    """Where the pieces of an object's content begin, and their sizes; none for a row that goes alone."""
    size = 0 if row.single_step else len(made.content)
    return [(at, min(WRITE_BYTES, size - at)) for at in range(0, size, WRITE_BYTES)]


def _call(session: Session, handle: tuple[str, int], values: tuple[m.BoundValue, ...]) -> bytes:
    return encode_group(session, (m.ExecuteRoutine(*handle, len(values)), m.Bind(values)))


def _results(reply: Reply) -> tuple[m.BoundValue, ...]:
    for message in reply.other_messages:
        if isinstance(message, m.RoutineResult):
            return message.values
    raise ProtocolError("the server called a routine and gave no result")


def _parse_created(reply: Reply) -> tuple[bytes, int]:
    """Locator and descriptor of a new object, in whatever order (CORRECTIONS 14)."""
    locator, descriptor = b"", None
    for value in _results(reply):
        data = value.data or b""
        if len(data) > 8:
            try:
                locator = locator_bytes(bytes(data[4:]))
            except DataError as error:
                raise ProtocolError(f"the server made a smart large object: {error}") from None
        elif len(data) in (2, 4, 8):
            descriptor = int.from_bytes(data, "big", signed=True)
    if not locator or descriptor is None:
        raise ProtocolError("the server made a smart large object without giving its locator and descriptor")
    return locator, descriptor


def _parse_written(reply: Reply) -> int:
    for message in reply.other_messages:
        if isinstance(message, m.LoDataReply):
            return message.size
    raise ProtocolError("the reply to a write of a smart large object holds no SQ_LODATA")


def _length_prefixed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _integer(value: int) -> m.BoundValue:
    return m.BoundValue(TypeCode.INTEGER.value, value.to_bytes(4, "big", signed=True), _INTEGER)


def _locator(made: _LargeObjectWrite) -> m.BoundValue:
    """A locator as JDBC binds it to a column of its kind."""
    data = _length_prefixed(made.locator)
    if made.clob:
        return m.BoundValue(TypeCode.SENDRECV.value, data, extended_name="clob")
    return m.BoundValue(TypeCode.SENDRECV.value, data, _LOCATOR, owner="informix", extended_name="blob")
