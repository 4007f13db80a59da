"""Open cursors: rows for the client as SQ_TUPLE messages. For SQ_PUT rows from the client see bulk.py."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import pyarrow as pa

from ..._encode import Encoder
from ...wire.code_sets import is_multibyte
from ...wire.codepages import encoder_table
from ...wire.describe import Column
from ...wire.encode_fault import EncodeStatus
from ...wire.errors import DataError, NotSupportedError
from ...wire.plan_ops import plan_op
from ...wire.types import TypeCode
from ..errors import SqlError
from ..session.prepared_plan import PythonRowsResult, QueryResult
from ..session.spool import BatchSpool
from ..session.update_cursor import UpdateCursorRows
from ..types.multibyte_text import MultibyteTextEncoder
from ..types.result_types import RESULT_OPTIONS
from .lob_columns import NO_SUCH_OBJECT, LobColumns
from .python_tuples import PythonTupleEncoder

MAX_FETCH = 16 << 20
"""Largest number of bytes of tuples in one reply, whatever the client allows: the reply is built in memory."""

_MAX_RETAINED_ROWS = 64
"""Rows that may stay in memory after their cursor has been closed."""

TUPLE_HEADER = 8
"""Bytes of SQ_TUPLE's tag, warnings and size, before its payload."""


class TupleEncoder:
    """Encodes a result's batches as SQ_TUPLE messages.

    Parameters
    ----------
    columns
        Columns of the result.
    encoding
        The connection's code set.
    result_types
        Type codes that SQ_RETTYPE asked for, by position (JDBC section 5): 45 makes a BOOLEAN 0 or 1, 44 a locator raw
        bytes. Other types have the same form whether they are asked for or not.
    """

    def __init__(self, columns: Sequence[Column], encoding: str, result_types: Mapping[int, int]) -> None:
        ops = [
            plan_op(column.type, RESULT_OPTIONS, bool_binary=result_types.get(position) == TypeCode.BOOL)
            for position, column in enumerate(columns)
        ]
        self._text_encoder = MultibyteTextEncoder(columns, ops, encoding) if is_multibyte(encoding) else None
        self._plain_encoder = (
            PythonTupleEncoder.for_columns(columns, ops, encoding) if self._text_encoder is None else None
        )
        if self._text_encoder is not None:
            ops = self._text_encoder.ops
        self._encoding_and_types = encoding, dict(result_types)
        self._encoder = Encoder(
            [op.as_tuple() for op in ops],
            [column.name for column in columns],
            codepage=None if self._text_encoder is not None else encoder_table(encoding),
        )
        self.encode = self._encoder.encode
        self.lobs = LobColumns(columns, result_types)

    def is_compatible(self, encoding: str, result_types: Mapping[int, int]) -> bool:
        """Return whether it encodes for this code set and these types."""
        return self._encoding_and_types == (encoding, result_types)

    def encode_values(self, rows: Sequence[Sequence[object]]) -> list[bytes] | None:
        """Return the messages of a few rows of Python objects; None if Arrow is needed."""
        return None if self._plain_encoder is None else self._plain_encoder.encode(rows)

    @property
    def remaining(self) -> int:
        """Rows of the loaded batch that are not yet encoded."""
        return self._encoder.remaining

    def load(self, batch: pa.RecordBatch) -> None:
        """Load the next batch."""
        if self.lobs:
            batch = self.lobs.wire_form(batch)
        self.load_wire_form(batch)

    def load_wire_form(self, batch: pa.RecordBatch) -> None:
        """Load a batch whose large objects have their wire form already."""
        if self._text_encoder is not None:
            batch = self._text_encoder.wire_form(batch)
        self._encoder.load(*batch.__arrow_c_array__())


def check_columns(columns: Sequence[Column]) -> None:
    """Raise -9628 with the type's name for the first column of a type that cannot be sent (yet)."""
    for column in columns:
        try:
            plan_op(column.type, RESULT_OPTIONS, column=column.name)
        except NotSupportedError as problem:
            raise SqlError(_UNKNOWN_TYPE, near=column.type.sql, detail=str(problem)) from problem


# The encoder's status -> SQLCODE (SERVER-BEHAVIOUR section 1).
_ENCODER_CODES: dict[int, int] = {
    EncodeStatus.NULL_INT16: -1214,
    EncodeStatus.NULL_INT32: -1215,
    EncodeStatus.NULL_INT64: -1284,
    EncodeStatus.CODE_POINT: -23103,
    EncodeStatus.TOO_LONG: -1279,
    EncodeStatus.RANGE_DIGITS: -1226,
    EncodeStatus.FRACTION: -1226,
    EncodeStatus.PRECISION: -1226,
    EncodeStatus.SCALE: -1226,
    EncodeStatus.EXPONENT: -1226,
    EncodeStatus.NOT_FINITE: -1226,
    EncodeStatus.DATE_RANGE: -1218,
    EncodeStatus.PART_OF_DAY: -1218,
    EncodeStatus.TIME_RANGE: -1263,
}
_CONVERSION_ERROR = -415
_UNKNOWN_TYPE = -9628


def encoding_error(problem: DataError | NotSupportedError) -> SqlError:
    """Return the SQ_ERR for a value or a type that the wire cannot carry.

    -9628 with the column for a type that is not supported. For a value the code of its kind: -23103 for a character
    that the database's code set lacks, -1279 for text that is too long, -1226 for a number that is too large, -1214,
    -1215 or -1284 for an integer, -415 for the rest. The token is the column.
    """
    if isinstance(problem, NotSupportedError):
        code = _UNKNOWN_TYPE
    elif problem.sqlcode is not None:
        code = problem.sqlcode
    elif problem.fault is not None:
        code = _ENCODER_CODES.get(problem.fault.status, _CONVERSION_ERROR)
    else:
        code = _CONVERSION_ERROR
    return SqlError(code, near=problem.column or "", detail=str(problem))


class SelectCursor:
    """A forward cursor over a query's batches. It may reuse the encoder of an earlier cursor of the same statement.

    The encoder is created at the first fetch: SQ_RETTYPE, which follows SQ_OPEN, affects it.

    Attributes
    ----------
    rows
        Rows returned so far.
    exhausted
        True if every row has been returned.
    failure
        The error that ended the query after the returned rows.
    """

    def __init__(self, result: QueryResult, encoder: TupleEncoder | None = None) -> None:
        self.rows = 0
        self.exhausted = False
        self.failure: SqlError | None = None
        self._spare_encoder = encoder
        self._columns = result.columns
        self._result = result
        # Until they are encoded
        self._values = result.values if isinstance(result, PythonRowsResult) else None
        self._messages: list[bytes] | None = None  # of these rows, instead of batches
        self._batches: Iterator[pa.RecordBatch] | None = None  # started at the first use
        self._encoder: TupleEncoder | None = None

    @cached_property
    def _max_tuple_size(self) -> int:
        """Largest size of a row's message in bytes. Needed if a reply may continue with another batch."""
        return TUPLE_HEADER + 1 + sum(column.type.max_width for column in self._columns)

    def fetch(self, budget: int, encoding: str, result_types: Mapping[int, int]) -> bytes | bytearray:
        """Return SQ_TUPLE messages of at most `budget` bytes, but at least one row if there is one."""
        budget = min(max(budget, 1), MAX_FETCH)
        blocks: list[bytearray] = []
        size = 0
        try:
            if self._encoder is None:
                spare, self._spare_encoder = self._spare_encoder, None
                fits = spare is not None and spare.is_compatible(encoding, result_types)
                self._encoder = spare if fits else TupleEncoder(self._columns, encoding, result_types)
            assert self._encoder is not None
            if self._values is not None:
                self._messages = self._encoder.encode_values(self._values)
                self._values = None
            if self._messages is not None:
                return self._next_messages(self._messages, budget)
            while not self.exhausted and self.failure is None:
                if not self._encoder.remaining and not self._load_next_batch(self._encoder):
                    break
                if blocks and size + self._max_tuple_size > budget:
                    break
                data, rows = self._encoder.encode(budget - size)
                blocks.append(data)
                size += len(data)
                self.rows += rows
                if self._encoder.remaining:
                    break
        except SqlError as problem:
            self.failure = problem
        except (DataError, NotSupportedError) as problem:
            self.failure = encoding_error(problem)
        return blocks[0] if len(blocks) == 1 else bytearray().join(blocks)

    def _next_messages(self, messages: list[bytes], budget: int) -> bytes:
        """Return the next messages within the budget, like `fetch`."""
        first, last, size = self.rows, self.rows, 0
        for message in messages[first:]:
            size += len(message)
            if size > budget and last > first:
                break
            last += 1
        self.rows = last
        self.exhausted = last == len(messages)
        return b"".join(messages[first:last])

    def content(self, descriptor: bytes) -> memoryview:
        """Return the BYTE or TEXT content for a descriptor of a returned row; SqlError -602 for any other."""
        return _content(self._encoder, descriptor)

    def close(self) -> None:
        """Discard the remaining rows."""
        self._result.close()

    def spare_encoder(self) -> TupleEncoder | None:
        """Return the encoder for the next cursor of the statement; None if it holds more than a few rows, or
        contents.
        """
        encoder = self._encoder
        is_small = self.exhausted and self.failure is None and self.rows <= _MAX_RETAINED_ROWS
        return encoder if is_small and encoder is not None and not encoder.lobs else None

    def _load_next_batch(self, encoder: TupleEncoder) -> bool:
        """Pass the next batch that has rows to the encoder; return False if there is none."""
        if self._batches is None:
            self._batches = self._result.batches()
        for batch in self._batches:
            if batch.num_rows:
                encoder.load(batch)
                return True
        self.exhausted = True
        return False


class UpdateCursor:
    """A cursor FOR UPDATE: a fetch returns one row, whatever its budget.

    Attributes
    ----------
    rows
        Rows returned so far.
    exhausted
        True if there is no further row.
    """

    failure: SqlError | None = None

    def __init__(self, rows: UpdateCursorRows) -> None:
        self.rows = 0
        self.exhausted = False
        self._rows = rows
        self._encoder: TupleEncoder | None = None

    def fetch(self, budget: int, encoding: str, result_types: Mapping[int, int]) -> bytes | bytearray:
        """Return one SQ_TUPLE message, none after the last row. SqlError if the row is locked or cannot be sent."""
        result = self._rows.next()
        if result is None:
            self.exhausted = True
            return b""
        if self._encoder is None:
            self._encoder = TupleEncoder(result.columns, encoding, result_types)
        try:
            for batch in result.batches():
                self._encoder.load(batch)
            data, rows = self._encoder.encode(MAX_FETCH)
        except (DataError, NotSupportedError) as problem:
            raise encoding_error(problem) from problem
        self.rows += rows
        return data

    def content(self, descriptor: bytes) -> memoryview:
        """See `SelectCursor.content`."""
        return _content(self._encoder, descriptor)

    def close(self) -> None:
        """Close the cursor. The current row is unlocked if it was not changed."""
        self._rows.close()


class ScrollCursor:
    """A scroll cursor (SQLI section 13, JDBC section 10).

    Rows are buffered up to the last one that was requested, with many of them in a temporary file in `directory`.
    """

    def __init__(self, result: QueryResult, directory: str) -> None:
        self._columns = result.columns
        self._result = result
        self._batches = iter(result.batches())
        self._fetched_batches = BatchSpool(directory=directory)
        self._batch_starts = [0]  # of the buffered batches, and the end of the last
        self._loaded_batch: tuple[int, pa.RecordBatch] | None = None
        self._failure: SqlError | None = None
        self._encoder: TupleEncoder | None = None
        self.position = 0

    def _fetch_up_to(self, position: int | None, encoder: TupleEncoder) -> bool:
        """Return whether there is a row at 1-based `position`. Buffers all rows up to it, or all if it is None."""
        while position is None or self._batch_starts[-1] < position:
            if self._failure is not None:
                raise self._failure
            try:
                batch = next(self._batches, None)
            except SqlError as problem:
                self._failure = problem
                raise
            if batch is None:
                return False
            if batch.num_rows:
                batch = encoder.lobs.wire_form(batch) if encoder.lobs else batch
                self._batch_starts.append(self._batch_starts[-1] + batch.num_rows)
                self._fetched_batches.append(batch)
        return position is not None and position > 0

    def target_position(self, how: int, row: int) -> int | None:
        """Return the 1-based position that an SQ_SFETCH requests, None for the last. -285 for an unknown kind of move.

        1 is next with the absolute number of the row; a real server takes 0 there as the last row. 4 is last, 6
        absolute (JDBC section 10, SQLI section 13). 2, 3, 5 and 7 follow the numbering of ESQL/C.
        """
        targets: dict[int, int | None] = {1: row or None, 2: self.position - 1, 3: 1, 4: None}
        targets.update({5: self.position + row, 6: row, 7: self.position})
        if how not in targets:
            raise SqlError(-285)
        return targets[how]

    def fetch(
        self, position: int | None, encoding: str, result_types: Mapping[int, int]
    ) -> bytes | bytearray:
        """Return one SQ_TUPLE for the row at 1-based `position`, or for the last; empty if there is no such row.

        Raises the SqlError of `encoding_error`. The attribute `position` is then that of the row, 0 before the first
        and one more than the number of rows after the last.
        """
        try:
            if self._encoder is None:
                self._encoder = TupleEncoder(self._columns, encoding, result_types)
            found = self._fetch_up_to(position, self._encoder)
            if position is None:
                position = self._batch_starts[-1]
                found = position > 0
            if not found:
                self.position = 0 if position < 1 else self._batch_starts[-1] + 1
                return b""
            index = bisect_right(self._batch_starts, position - 1) - 1
            if self._loaded_batch is None or self._loaded_batch[0] != index:
                self._loaded_batch = index, self._fetched_batches.read(index)
            row = self._loaded_batch[1].slice(position - 1 - self._batch_starts[index], 1)
            self._encoder.load_wire_form(row)
            data, _ = self._encoder.encode(MAX_FETCH)
        except (DataError, NotSupportedError) as problem:
            raise encoding_error(problem) from problem
        self.position = position
        return data

    def content(self, descriptor: bytes) -> memoryview:
        """See `SelectCursor.content`."""
        return _content(self._encoder, descriptor)

    def close(self) -> None:
        """Discard all rows."""
        self._result.close()
        self._fetched_batches.close()


def _content(encoder: TupleEncoder | None, descriptor: bytes) -> memoryview:
    if encoder is None:
        raise SqlError(NO_SUCH_OBJECT, detail="No row has been fetched.")
    return encoder.lobs.content(descriptor)
