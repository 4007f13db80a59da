"""Load rows with BLOB and CLOB values in a pipeline: the fast path creates the objects, the rows refer to them.

Each step needs the reply to the one before: an object is created (``ifx_lo_create`` returns its locator and an
open descriptor), written and closed, and then its row is inserted with the locator as a parameter. IBM's JDBC
driver does the same, one step at a time. Here the steps of three windows of rows are sent together: the inserts
of one, the writes of the next, the creates of the one after. So a window costs one round trip.

A row is inserted only after the server has confirmed that its objects are complete. If a step fails, and for
objects larger than a window, the row is sent as in :mod:`.object_load`, alone and in its place. Its error, if
any, is that of a single step, and rows are inserted in order.
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

MAX_OBJECTS = 128  # objects created at a time
WRITE_BYTES = 256 << 10  # bytes of one SQ_LODATA

_CREATE = "function informix.ifx_lo_create( ifx_lo_spec,integer,blob)"
_CLOSE = "function informix.ifx_lo_close(integer)"
_DESCRIBE = "function informix.ifx_lo_col_sbinfo(lvarchar,ifx_lo_spec)"
_READ_WRITE = 8  # LO_RDWR
_INTEGER = 0x0A00  # precision word of an INTEGER parameter (SQLI section 9)
_LOCATOR = 72


def _default_specification() -> bytes:
    """Encode the specification of an object as JDBC sends it: all from the column or the server."""
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
    """Return the specifications for new objects of some columns, or None if the server does not report them."""
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
        specifications = []
        for reply in (yield from pipeline(session, requests)):
            reply.check()
            (value, *_) = _results(reply)
            if value.data is None or len(value.data) <= 4:
                return None
            specifications.append(value.data[4:])
        return specifications
    except Error as error:
        if not session.usable_after(error) or error.sqlcode is None or error.sqlcode == INTERRUPTED:
            raise
        return None


@dataclass(slots=True)
class _LargeObjectWrite:
    """An object to be created and written."""

    content: memoryview
    clob: bool
    locator: bytes = b""
    fd: int | None = None  # None: not open


@dataclass(slots=True)
class _PendingRow:
    """A row being loaded. ``objects`` are those of its BLOB and CLOB columns, None for NULL."""

    group: RowGroup
    objects: list[_LargeObjectWrite | None]
    size: int  # bytes of contents
    single_step: bool = False  # it is sent by single steps
    interrupted: Error | None = None  # an interrupt ended one of its steps

    @property
    def non_null_objects(self) -> list[_LargeObjectWrite]:
        """The objects that are not NULL."""
        return [each for each in self.objects if each is not None]

    @property
    def open_objects(self) -> list[_LargeObjectWrite]:
        """The objects that are open."""
        return [each for each in self.non_null_objects if each.fd is not None]


class ObjectPipeline(ObjectLoader):
    """Runs one load job as a pipeline.

    ``objects`` are the numbers of the BLOB (False) and CLOB (True) columns, which must be the first ones of the
    INSERT. ``specifications`` are those of new objects of each column (:func:`object_specifications`).
    ``window`` limits the bytes of contents that are sent ahead of their replies.
    """

    def __init__(
        self,
        session: Session,
        job: LoadSpec,
        rows: ObjectRowSource,
        transaction: LoadTransaction,
        progress: Callable[[LoadOutcome], None],
        objects: Sequence[tuple[int, bool]],
        specifications: Sequence[bytes],
        window: int,
    ) -> None:
        super().__init__(session, job, rows, transaction, progress, objects)
        self._specifications, self._window = specifications, window
        self._source_error: Exception | None = None  # error of the data; the rows before it are loaded first
        self._source_exhausted = False  # there are no more rows
        self._deferred_row: _PendingRow | None = None  # the next row, which did not fit into the last window
        self._stepwise = False  # the server creates no objects this way: the remaining rows are sent alone
        self._created_rows: list[_PendingRow] = []  # rows whose objects are open and are written next

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
        """Return the rows of the next window.

        Empty at the end of the data, and when a commit is due, so that the rows before it are completed first.
        """
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
        """Return the next row, or None at the end of the data or if reading it failed."""
        if self._source_exhausted:
            return None
        try:
            group = yield from self._next_group(RowFraming.BIND)
        except Exception as error:
            if isinstance(error, Error) and (is_connection_lost(error) or error.sqlcode == INTERRUPTED):
                raise
            group, self._source_error = None, error
        if group is None:
            self._source_exhausted = True
            return None
        objects = [
            None if content is None else _LargeObjectWrite(content.cast("B"), clob)
            for content, (_, clob) in zip(self._rows.contents(group), self._objects, strict=True)
        ]
        size = sum(len(each.content) for each in objects if each is not None)
        return _PendingRow(group, objects, size, single_step=self._stepwise or size > self._window)

    def _insert_single_rows(self, rows: Sequence[_PendingRow]) -> Exchange[list[_PendingRow]]:
        """Insert rows up to the last one that is sent alone, in order. Returns the rows after it."""
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
        """Send one window: insert rows, write and close the objects of others, create those of others."""
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
        for each, specification in zip(row.objects, self._specifications, strict=True):
            if each is not None:
                values = (
                    m.BoundValue(
                        TypeCode.SENDRECV.value, _length_prefixed(specification), extended_name="ifx_lo_spec"
                    ),
                    _integer(_READ_WRITE),
                    m.BoundValue(
                        TypeCode.SENDRECV.value, _length_prefixed(bytes(_LOCATOR)), extended_name="blob"
                    ),
                )
                groups.append(_call(self._session, handle, values))
        return groups

    def _write_requests(self, row: _PendingRow, close: tuple[str, int]) -> list[bytes]:
        """Return the requests that write and close each object; only the close if the row has failed."""
        groups = []
        for each in row.open_objects:
            assert each.fd is not None
            for at, size in _write_ranges(row, each):
                piece = bytes(each.content[at : at + size])
                groups.append(encode_group(self._session, (m.LoData.write(each.fd, piece),)))
            groups.append(_call(self._session, close, (_integer(each.fd),)))
        return groups

    def _insert(self, row: _PendingRow) -> bytes:
        """Encode the execution of a row: its SQ_BIND, with the locators before the other values."""
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
        """Return whether a step was refused; the row is then sent alone."""
        if reply.error is not None and reply.error.sqlcode == INTERRUPTED:
            row.interrupted = server_error(reply.error, self._job.sql)
        return reply.error is not None

    def _close(self) -> Exchange[None]:
        """Close objects that are still open after a failure, and release the statements."""
        unclosed = [each for row in self._created_rows for each in row.open_objects]
        self._created_rows = []
        for each in unclosed:
            assert each.fd is not None
            ((database, number),) = yield from routine_handles(self._session, _CLOSE)
            queue(self._session, _call(self._session, (database, number), (_integer(each.fd),)))
        yield from super()._close()


def _write_ranges(row: _PendingRow, each: _LargeObjectWrite) -> list[tuple[int, int]]:
    """Return offset and size of the pieces of an object's content; none for a row that is sent alone."""
    size = 0 if row.single_step else len(each.content)
    return [(at, min(WRITE_BYTES, size - at)) for at in range(0, size, WRITE_BYTES)]


def _call(session: Session, handle: tuple[str, int], values: tuple[m.BoundValue, ...]) -> bytes:
    return encode_group(session, (m.ExecuteRoutine(*handle, len(values)), m.Bind(values)))


def _results(reply: Reply) -> tuple[m.BoundValue, ...]:
    for message in reply.other_messages:
        if isinstance(message, m.RoutineResult):
            return message.values
    raise ProtocolError("The server called a routine and returned no result.")


def _parse_created(reply: Reply) -> tuple[bytes, int]:
    """Return locator and descriptor of a new object, which arrive in any order (CORRECTIONS 14)."""
    locator, descriptor = b"", None
    for value in _results(reply):
        data = value.data or b""
        if len(data) > 8:
            try:
                locator = locator_bytes(bytes(data[4:]))
            except DataError as error:
                raise ProtocolError(f"The server created a smart large object: {error}") from None
        elif len(data) in (2, 4, 8):
            descriptor = int.from_bytes(data, "big", signed=True)
    if not locator or descriptor is None:
        raise ProtocolError(
            "The server created a smart large object without returning its locator and descriptor."
        )
    return locator, descriptor


def _parse_written(reply: Reply) -> int:
    for message in reply.other_messages:
        if isinstance(message, m.LoDataReply):
            return message.size
    raise ProtocolError("The reply to a write of a smart large object holds no SQ_LODATA.")


def _length_prefixed(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


def _integer(value: int) -> m.BoundValue:
    return m.BoundValue(TypeCode.INTEGER.value, value.to_bytes(4, "big", signed=True), _INTEGER)


def _locator(each: _LargeObjectWrite) -> m.BoundValue:
    """Bind a locator as JDBC binds it to a column of its kind."""
    data = _length_prefixed(each.locator)
    if each.clob:
        return m.BoundValue(TypeCode.SENDRECV.value, data, extended_name="clob")
    return m.BoundValue(TypeCode.SENDRECV.value, data, _LOCATOR, owner="informix", extended_name="blob")
