"""Read large objects: the contents that belong to the rows of a decoded batch.

A tuple holds a descriptor (BYTE, TEXT) or a locator (BLOB, CLOB), and the content is requested value by value.
That is done in runs of rows: all requests of a run are sent together, so a run costs one round trip and not one
or three per value, and the contents in flight stay bounded (``Session.lob_window``; 0 requests one value at a
time). Contents are stored in the buffers of the Arrow arrays directly. A batch is cut where its contents reach
the batch's budget: a result of large values comes in many small batches.

Descriptors are valid only while their cursor is open (SQLI section 14), so the cursor of such a result is
closed after its last content was read. Smart large objects are opened and closed within one operation: none of
their descriptors stays open, whatever happens to the result.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from ..rows.postprocess import Content
from ..wire import messages as m
from ..wire.errors import INTERRUPTED, DataError, Error
from .cancel import raise_if_cancelled
from .io_steps import Exchange, Send
from .message_stream import encode_group
from .object_streams import Sink, discard_content, read_blob_reply
from .request_reply import drain_pending_replies, send_all
from .result_description import ObjectColumn
from .session import Session
from .smart_objects import MAX_RUN_OBJECTS, ObjectRequest, SmartObjectReader

_SIZE = slice(16, 20)  # of a descriptor: bytes of the content (TYPES section 12)


@dataclass(frozen=True, slots=True)
class ObjectContents:
    """The contents of some rows of a batch."""

    rows: int  # number of rows from the requested one on; 0 = the first of them failed
    contents: dict[int, Content]  # by the column's index in the decoded batch
    error: Error | None  # the error of the row after them


@dataclass(slots=True, eq=False)
class ObjectReader:
    """Reads the contents of one result's large objects."""

    statement_id: int
    sql: str
    columns: tuple[ObjectColumn, ...]
    budget: int  # bytes of contents after which a batch is cut
    _smart: SmartObjectReader = field(default_factory=SmartObjectReader)

    def read(
        self, session: Session, batch: pa.RecordBatch, start: int, first_row: int
    ) -> Exchange[ObjectContents]:
        """Read the contents of rows of ``batch`` from ``start`` on, at least one row, until they reach the
        budget.

        ``first_row`` is the number of the batch's first row in the result. An error that concerns one object
        ends the rows before it; the session is in step then.
        """
        yield from drain_pending_replies(session)
        contents = {column.index: Content() for column in self.columns}
        rows, used, total = 0, 0, batch.num_rows - start
        error: Error | None = None
        try:
            while error is None and rows < total and (rows == 0 or used < self.budget):
                handles = [
                    batch.column(column.index).slice(start + rows, 2 * MAX_RUN_OBJECTS).to_pylist()
                    for column in self.columns
                ]
                self._smart.adapt(session)
                count = self._run_length(session, handles, self.budget - used, at_least_one=rows == 0)
                if not count:
                    break
                row = first_row + start + rows
                yield from raise_if_cancelled(session)
                count, error = yield from self._read_smart(session, handles, count, contents, row, used)
                done, failed = yield from self._read_simple(session, handles, count, contents, row)
                rows, error = rows + done, failed or error
                if error is not None and error.sqlcode == INTERRUPTED:
                    raise error  # not caused by that row
                used = sum(len(content.data) for content in contents.values())
        except Error as failure:
            if session.usable_after(failure):
                yield from self._smart.close_all(session)
            raise
        yield from self._smart.close_all(session)
        return ObjectContents(rows, contents, error)

    def _run_length(
        self, session: Session, handles: list[list[bytes | None]], budget: int, *, at_least_one: bool
    ) -> int:
        """Return how many rows of ``handles`` to request at once: as many as fit by their expected bytes."""
        room, most = min(budget, session.lob_window), MAX_RUN_OBJECTS if session.lob_window else 1
        smart = simple = expected = 0
        for count, row in enumerate(zip(*handles, strict=True)):
            for column, handle in zip(self.columns, row, strict=True):
                if handle is None:
                    continue
                if column.smart:
                    expected += self._smart.expected
                    smart += 1
                else:
                    expected += _size(handle)
                    simple += 1
            crowded = smart > min(most, self._smart.run_size) or simple > most
            if crowded or expected > room:
                if count:
                    return count
                return 1 if at_least_one or expected <= budget else 0
        return len(handles[0])

    def _read_smart(
        self,
        session: Session,
        handles: list[list[bytes | None]],
        count: int,
        contents: dict[int, Content],
        first_row: int,
        used: int,
    ) -> Exchange[tuple[int, Error | None]]:
        """Read the BLOB and CLOB values of ``count`` rows, fewer if they reach the budget or one fails."""
        smart = [place for place, column in enumerate(self.columns) if column.smart]
        if not smart:
            return count, None
        requests = self._object_requests(handles, smart, range(count), first_row)
        left = (self.budget - used) // self._smart.expected - len(requests)
        later_rows = range(count, len(handles[0])) if left > 0 else range(0)
        upcoming = self._object_requests(handles, smart, later_rows, first_row)[
            : min(left, self._smart.ahead_size)
        ]
        yield from self._smart.begin(session, requests, upcoming)
        for row in range(count):
            for place in smart:
                column = self.columns[place]
                content = contents[column.index]
                if handles[place][row] is None:
                    content.end_value(valid=False)
                    continue
                before = len(content.data)
                error = yield from self._smart.finish(session, (first_row + row, place), content.data)
                if error is not None:
                    del content.data[before:]
                    return row, _locate_error(error, self.sql, column.name, first_row + row)
                content.end_value()
                used += len(content.data) - before
            if used >= self.budget:
                return row + 1, None
        return count, None

    def _object_requests(
        self, handles: list[list[bytes | None]], smart: list[int], rows: range, first_row: int
    ) -> list[ObjectRequest]:
        """Return the BLOB and CLOB values of some rows, without NULLs."""
        return [
            ((first_row + row, place), handle, self.columns[place].text)
            for row in rows
            for place in smart
            if (handle := handles[place][row]) is not None
        ]

    def _read_simple(
        self,
        session: Session,
        handles: list[list[bytes | None]],
        count: int,
        contents: dict[int, Content],
        first_row: int,
    ) -> Exchange[tuple[int, Error | None]]:
        """Read the BYTE and TEXT values of ``count`` rows, fewer if one fails."""
        simple = [(place, column) for place, column in enumerate(self.columns) if not column.smart]
        statement = m.Id(self.statement_id)
        if session.lob_window:
            descriptors = [handles[place][row] for row in range(count) for place, _ in simple]
            requests = [
                encode_group(session, (statement, m.FetchBlob(each)))
                for each in descriptors
                if each is not None
            ]
            yield from send_all(session, requests)
        error: Error | None = None
        for row in range(count):
            for place, column in simple:
                handle = handles[place][row]
                content = contents[column.index]
                if handle is None:
                    content.end_value(valid=False)
                    continue
                if not session.lob_window:
                    if error is not None:
                        continue
                    yield from send_all(session, [encode_group(session, (statement, m.FetchBlob(handle)))])
                size = _size(handle)
                sink = content.data.extend if error is None else discard_content
                came, refused = yield from read_blob_reply(session, sink, size, exact=column.exact)
                if error is not None:
                    continue  # read only to stay in step
                if refused is not None:
                    error = _locate_error(refused, self.sql, column.name, first_row + row)
                elif column.exact and came != size:
                    error = DataError(
                        f"Column {column.name!r}, row {first_row + row}: The server announced {size} bytes "
                        f"but sent {came}.",
                        row=first_row + row,
                        column=column.name,
                        statement=self.sql,
                    )
                content.end_value()
                if error is not None:
                    count = row
        return count, error


def _size(descriptor: bytes) -> int:
    return max(0, int.from_bytes(descriptor[_SIZE], "big", signed=True))


def _locate_error(error: Error, sql: str, column: str, row: int) -> Error:
    """Return the error with its place in the result."""
    text = (
        f"Column {column!r}, row {row}: {error.args[0] if error.args else 'A large object cannot be read.'}"
    )
    error.args = (text, *error.args[1:])
    error.row, error.column, error.statement = row, column, sql
    return error


def read_blob(session: Session, statement_id: int, descriptor: bytes, sink: Sink) -> Exchange[None]:
    """Read one BYTE or TEXT value into ``sink``, a function that takes pieces. Raises the server's error."""
    yield from drain_pending_replies(session)
    data = encode_group(session, (m.Id(statement_id), m.FetchBlob(descriptor)))
    session.outstanding_requests += 1
    yield Send(data)
    _, refused = yield from read_blob_reply(session, sink, _size(descriptor))
    if refused is not None:
        raise refused
