"""Rows that a client sends for an INSERT: decoded in C if they are plain, otherwise one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ..._bulk import NEED_MORE, OTHER, SHAPE_UNKNOWN, BulkReader
from ...wire.code_sets import is_multibyte
from ...wire.codepages import decoder_table
from ...wire.describe import Column
from ...wire.errors import DataError, NotSupportedError, ProtocolError
from ...wire.messages import Done
from ...wire.plan_ops import Kind, TypeOptions, arrow_type_of_op, plan_op
from ...wire.types import ColumnType
from ...wire.values import decode_tuple
from ..errors import SqlError
from ..session.insert import accepts_batches
from ..session.prepared_plan import PreparedPlan
from ..session.table_appender import BatchOutcome
from .cursors import encoding_error

MAX_ROWS, MAX_BYTES = 65536, 16 << 20
"""Rows and Arrow bytes passed to the engine at a time. They bound memory and the delay of an interrupt."""

MAX_ROW = 1 << 20
"""Largest size of a row that the bulk path waits for, in bytes. A longer one is read as a message, with its own limit.
"""

OPTIONS = TypeOptions(floating_decimals="string", intervals="month_day_nano")
"""Types of the decoded columns: the storage types, or close to them (session/insert.py)."""

_KINDS = frozenset(
    {
        Kind.INT16, Kind.INT32, Kind.INT64, Kind.INT8, Kind.FLOAT32, Kind.FLOAT64, Kind.DATE, Kind.BOOL,
        Kind.CHAR, Kind.VARCHAR, Kind.LVARCHAR, Kind.DECIMAL128, Kind.DECIMAL_STRING, Kind.DATETIME_DATE32,
        Kind.DATETIME_TIMESTAMP, Kind.DATETIME_TIME32, Kind.DATETIME_TIME64, Kind.DATETIME_TEXT,
        Kind.INTERVAL_MDN,
    }
)  # fmt: skip
_CONVERSION_ERROR = -415


class BulkRowReader:
    """Decodes plain rows of one prepared INSERT from received bytes into columns (decode_bulk.h).

    Attributes
    ----------
    encoding
        The code set of the rows' text.
    shape
        Grouping of bound rows, as far as it is known: each in a group of its own, or all in one.
    """

    def __init__(self, types: Sequence[ColumnType], encoding: str) -> None:
        if any(ct.is_json or ct.is_bson for ct in types):
            raise NotSupportedError("JSON and BSON documents are checked one by one.")
        ops = [plan_op(ct, OPTIONS) for ct in types]
        unread = next((op for op in ops if op.kind not in _KINDS), None)
        if unread is not None:
            raise NotSupportedError(f"rows with a column of kind {unread.kind.name} are not read in bulk")
        self.encoding = encoding
        self.shape = SHAPE_UNKNOWN
        self._schema = pa.schema([(f"p{n}", arrow_type_of_op(op)) for n, op in enumerate(ops, 1)])
        self._reader = BulkReader(
            [op.as_tuple() for op in ops], MAX_ROWS, MAX_BYTES, MAX_BYTES, decoder_table(encoding)
        )

    @classmethod
    def for_statement(cls, prepared: PreparedPlan, encoding: str) -> BulkRowReader | None:
        """Return a reader for rows of `prepared`; None if they must be decoded one by one.

        That is so for rows in a multi-byte code set that the C decoder does not know, too.
        """
        if not prepared.parameters or not accepts_batches(prepared.plan) or is_multibyte(encoding):
            return None
        try:
            return cls(prepared.parameters, encoding)
        except (NotSupportedError, ProtocolError):
            return None

    @property
    def rows(self) -> int:
        """Number of decoded rows."""
        return self._reader.rows

    def read_puts(self, inbox: bytes, pos: int) -> tuple[int, int]:
        """Decode SQ_PUTs from inbox[pos:].

        Return the position after them and the reason for stopping (NEED_MORE, OTHER, FULL).
        """
        pos, status = self._reader.feed_puts(inbox, pos)
        return pos, _check_row_size(status, len(inbox) - pos)

    def read_binds(self, inbox: bytes, pos: int, statement: int) -> tuple[int, int]:
        """Decode executions of the statement with their binds from inbox[pos:]; returns the same as `read_puts`."""
        pos, status, self.shape = self._reader.feed_binds(inbox, pos, statement, self.shape)
        return pos, _check_row_size(status, len(inbox) - pos)

    def take_batch(self) -> Any:
        """Remove and return the decoded rows as a record batch with one column per parameter."""
        self.shape = SHAPE_UNKNOWN
        return pa.RecordBatch._import_from_c_capsule(self._schema.__arrow_c_schema__(), self._reader.take())

    def take_single_row(self) -> tuple[object, ...] | None:
        """Remove and return the only decoded row, as the Python objects that `take_batch` would contain.

        Returns None, and removes nothing, if there is not exactly one row, or if it has other columns than integers,
        floats, BOOLEAN and text.
        """
        row = self._reader.take_values()
        if row is not None:
            self.shape = SHAPE_UNKNOWN
        return row


def _check_row_size(status: int, left: int) -> int:
    return OTHER if status == NEED_MORE and left > MAX_ROW else status


class InsertCursor:
    """Rows put by the client that have not reached the engine yet (JDBC section 8).

    They are in `reader` (plain rows, in C) or in `rows`, never in both.

    Attributes
    ----------
    inserted
        Rows inserted since the last SQ_DONE was sent.
    serial
        The last SERIAL among them, 0 for none.
    """

    def __init__(self, prepared: PreparedPlan) -> None:
        self.rows: list[Sequence[object]] = []
        self.inserted = self.serial = 0
        self._prepared = prepared
        self._reader: BulkRowReader | None = None
        self._columns: Sequence[Column] = prepared.columns
        # VALUES (?, 0, ?): rows contain only the values of the marks.
        if len(prepared.columns) != len(prepared.parameters):
            self._columns = [Column(f"parameter {n}", ct) for n, ct in enumerate(prepared.parameters, 1)]

    def reader(self, encoding: str) -> BulkRowReader | None:
        """Return the reader of plain rows; None if all rows go through `put`."""
        if self._reader is None or self._reader.encoding != encoding:
            self._reader = BulkRowReader.for_statement(self._prepared, encoding)
        return self._reader

    @property
    def pending_rows(self) -> int:
        """Number of rows that have not reached the engine."""
        return len(self.rows) or (self._reader.rows if self._reader is not None else 0)

    def add_outcome(self, outcome: BatchOutcome) -> None:
        """Count rows that the engine has inserted."""
        self.inserted += outcome.inserted
        last = outcome.last_inserted
        if last is not None and outcome.serial is not None:
            self.serial = int(outcome.serial[last])

    def take_done(self) -> Done:
        """Return the SQ_DONE for the rows inserted since the last one."""
        done = Done(0, self.inserted, 0, self.serial)
        self.inserted = self.serial = 0
        return done

    def put(self, payload: bytes, encoding: str) -> None:
        """Decode one row; SqlError if a value is not one of its type."""
        try:
            self.rows.append(decode_tuple(payload, self._columns, encoding, OPTIONS))
        except (DataError, NotSupportedError) as problem:
            raise encoding_error(problem) from problem
        except ProtocolError as problem:  # the length of the message was right, so the session can continue
            raise SqlError(_CONVERSION_ERROR, near=problem.column or "", detail=str(problem)) from problem

    def take_rows(self) -> list[Sequence[object]]:
        """Remove and return the rows of `put`."""
        rows, self.rows = self.rows, []
        return rows

    def take_batch(self) -> Any:
        """Remove and return the rows of `reader` as a record batch, None if there are none."""
        return self._reader.take_batch() if self._reader is not None and self._reader.rows else None
