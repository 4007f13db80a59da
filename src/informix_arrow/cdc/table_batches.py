"""Build the batches that users get from row images of one table: ``_op``, ``_lsn``, the columns, ``_before``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from .._changes import ImageDecoder
from ..rows.postprocess import BatchPostprocessor
from ..wire import changes as records
from ..wire.code_sets import is_multibyte
from ..wire.codepages import decoder_table
from ..wire.describe import Column, compile_plan
from ..wire.errors import DataError, NotSupportedError, ProtocolError
from ..wire.plan_ops import Kind, TypeOptions
from ..wire.type_codes import FLAG_NOT_NULL

OPERATIONS = ("insert", "update", "delete", "truncate")

_OP_TYPE = pa.dictionary(pa.int8(), pa.utf8())
_OP_OF_RECORD = np.full(records.UPDATE_AFTER + 1, -1, np.int8)
_OP_OF_RECORD[records.INSERT] = 0
_OP_OF_RECORD[records.UPDATE_AFTER] = 1
_OP_OF_RECORD[records.DELETE] = 2
_TRUNCATED = 3

#: Names of the columns besides the table's own.
EXTRA = ("_op", "_lsn", "_before")


@cache
def _op_names() -> pa.Array:
    """Return the names of operations. Created on demand, as pyarrow imports pandas for its first array."""
    return pa.array(OPERATIONS, pa.utf8())


@dataclass(frozen=True, slots=True)
class Sizes:
    """The size at which a batch is full, in rows or bytes, whichever comes first."""

    rows: int = 1 << 20
    bytes: int = 16 << 20


class TableBatches:
    """Builds the batches of one table, as one TABSCHEMA describes it.

    Parameters
    ----------
    table, label
        The table's name for users, and the user data of its records.
    table_schema
        The columns as the server described them. Values are laid out in this order in row images.
    order
        Names of the columns in the order in which users get them. If the server described other columns, its order is
        used.
    """

    def __init__(
        self,
        table: str,
        label: int,
        table_schema: records.TableSchemaRecord,
        order: Sequence[str],
        options: TypeOptions,
        encoding: str,
        sizes: Sizes,
    ) -> None:
        self.table, self.label, self.table_schema = table, label, table_schema
        columns = table_schema.columns
        names = [column.name for column in columns]
        for name in names:
            if name in EXTRA or names.count(name) > 1:
                raise NotSupportedError(
                    f"{table} has a column {name!r}, which is the name of a column of the change itself, or "
                    "occurs twice. Leave it out of the columns.",
                    column=name,
                )
        raw = is_multibyte(encoding) and encoding not in ("utf-8", "utf8")
        self._plan = records.image_plan(columns, options, raw_text=raw)
        self._postprocessor = BatchPostprocessor(columns, self._plan.plan, options, encoding)
        self._codepage = None if is_multibyte(encoding) else decoder_table(encoding)
        self._sizes = sizes
        self._idle: list[ImageDecoder] = []
        self._floating = {
            index + 2: column
            for index, (op, column) in enumerate(zip(self._plan.plan.ops, columns, strict=True))
            if op.kind == Kind.DECIMAL_FLOAT64 and column.type.scale is None
        }
        self.warnings: list[str] = []  # issued by the caller that returns the batches
        ordered = list(order) if sorted(order) == sorted(names) else names
        self._column_indexes = [names.index(name) for name in ordered]
        self.schema = _schema([self._plan.plan.schema.field(index) for index in self._column_indexes])
        self._before: pa.DataType = self.schema.field("_before").type

    def decoder(self, transaction: int) -> ImageDecoder:
        """Return a decoder for rows of this transaction. Return it with :meth:`return_decoder`."""
        if self._idle:
            decoder = self._idle.pop()
        else:
            decoder = ImageDecoder(
                self.table,
                self.label,
                self._plan.ops,
                self._plan.names,
                variable=self.table_schema.variable,
                batch_rows=self._sizes.rows,
                batch_bytes=self._sizes.bytes,
                max_image=self._plan.max_image,
                codepage=self._codepage,
            )
        decoder.begin(transaction)
        return decoder

    def return_decoder(self, decoder: ImageDecoder) -> None:
        """Keep a decoder without rows for another transaction."""
        if len(self._idle) < 8:
            self._idle.append(decoder)

    def build_batch(self, decoder: ImageDecoder, *, undone: bool = False) -> pa.RecordBatch:
        """Return the rows of the decoder as a batch.

        With ``undone`` an update whose second image has not arrived is dropped.
        """
        if self._floating:
            self._note_lost_digits(decoder)
        after_capsule, before_capsule = decoder.take()
        after = self._import_batch(after_capsule)
        before = None if before_capsule is None else self._import_batch(before_capsule)
        numbers = after.column(0).to_numpy(zero_copy_only=False)
        updates = int(np.count_nonzero(numbers == records.UPDATE_AFTER))
        images = 0 if before is None else before.num_rows
        if images == updates + 1 and undone and before is not None:
            before = before.slice(0, updates) if updates else None
        elif images != updates:
            raise ProtocolError(
                f"A change of {self.table}: An UPDBEF is followed by something that is not its UPDAFT."
            )
        rows = self._final(after)
        operations = pa.DictionaryArray.from_arrays(pa.array(_OP_OF_RECORD[numbers]), _op_names())
        return pa.RecordBatch.from_arrays(
            [operations, after.column(1), *rows, self._before_column(numbers, updates, before)],
            schema=self.schema,
        )

    def _note_lost_digits(self, decoder: ImageDecoder) -> None:
        """Warn of floating-point DECIMALs that lost digits as float64, once for each column."""
        for index in decoder.inexact():
            column = self._floating.pop(index, None)
            if column is not None:
                self.warnings.append(
                    f"Column {column.name!r} of {self.table}, a {column.type.sql}, was read as float64, which lost "
                    "digits. floating_decimals='string' or a pyarrow.decimal128(p, s) reads them exactly."
                )

    def truncated(self, lsn: int) -> pa.RecordBatch:
        """Return the one row that reports that the table was emptied."""
        operation = pa.DictionaryArray.from_arrays(pa.array([_TRUNCATED], pa.int8()), _op_names())
        nulls = [pa.nulls(1, field.type) for field in list(self.schema)[2:]]
        return pa.RecordBatch.from_arrays(
            [operation, pa.array([lsn], pa.int64()), *nulls], schema=self.schema
        )

    def _import_batch(self, capsule: Any) -> pa.RecordBatch:
        schema = self._plan.decoded
        return pa.RecordBatch._import_from_c_capsule(schema.__arrow_c_schema__(), capsule)

    def _final(self, decoded: pa.RecordBatch) -> list[pa.Array]:
        """Return the table's columns of a decoded batch in the users' order."""
        columns = decoded.columns[2:]
        if not self._postprocessor.is_identity:
            plain = pa.RecordBatch.from_arrays(columns, schema=self._postprocessor.decoded_schema)
            try:
                columns = self._postprocessor.process(plain, 0).columns
            except DataError as error:
                raise DataError(f"A change of {self.table}: {error}", column=error.column) from error
        return [columns[index] for index in self._column_indexes]

    def _before_column(self, numbers: Any, updates: int, before: pa.RecordBatch | None) -> pa.Array:
        if before is None or not updates:
            return nulls(self._before, len(numbers))
        images = pa.StructArray.from_arrays(self._final(before), fields=list(self._before))
        if updates == len(numbers):
            return images
        changed = numbers == records.UPDATE_AFTER
        return images.take(pa.array(np.cumsum(changed) - 1, mask=~changed))


def expected_schema(columns: Sequence[Column], options: TypeOptions) -> pa.Schema:
    """Return the schema of the batches of a table with these columns, before the server has described it."""
    bare = [
        replace(column, type=replace(column.type, flags=column.type.flags & ~FLAG_NOT_NULL))
        for column in columns
    ]
    return _schema(list(compile_plan(bare, options).schema))


def _schema(fields: Sequence[pa.Field]) -> pa.Schema:
    before = pa.struct([field.remove_metadata() for field in fields])
    return pa.schema(
        [
            pa.field("_op", _OP_TYPE, nullable=False),
            pa.field("_lsn", pa.int64(), nullable=False),
            *fields,
            pa.field("_before", before),
        ]
    )


_ZEROS = pa.py_buffer(bytes(64))


def nulls(of: pa.DataType, rows: int) -> pa.Array:
    """Return NULLs that share one buffer of zeros, if their type has no children."""
    if pa.types.is_struct(of):
        children = [nulls(field.type, rows) for field in of]
        return pa.Array.from_buffers(of, rows, [_zeros(rows // 8 + 1)], null_count=rows, children=children)
    if pa.types.is_string(of) or pa.types.is_binary(of):
        return pa.Array.from_buffers(
            of, rows, [_zeros(rows // 8 + 1), _zeros(4 * (rows + 1)), _zeros(1)], null_count=rows
        )
    if not pa.types.is_primitive(of) and not pa.types.is_decimal(of):
        return pa.nulls(rows, of)
    width = of.bit_width
    return pa.Array.from_buffers(
        of, rows, [_zeros(rows // 8 + 1), _zeros(rows * width // 8 + 1)], null_count=rows
    )


def _zeros(size: int) -> pa.Buffer:
    global _ZEROS
    zeros = _ZEROS
    if zeros.size < size:
        zeros = _ZEROS = pa.py_buffer(bytes(1 << (size - 1).bit_length()))
    return zeros
