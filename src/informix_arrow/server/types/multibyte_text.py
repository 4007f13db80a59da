"""Text of results in multi-byte code sets, for which the C encoder has no tables.

The encoder receives such columns as bytes in their wire form (FLAG_RAW of plan_ops). Python's codecs encode them value
by value. A column that is all ASCII needs no encoding, as every code set of a server extends ASCII.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from ...wire.describe import Column
from ...wire.encode_fault import EncodeFault, EncodeStatus
from ...wire.errors import DataError
from ...wire.plan_ops import FLAG_RAW, FLAG_REPLACE, TEXT_KINDS, PlanOp


class MultibyteTextEncoder:
    """Encodes the text columns of one cursor in a multi-byte code set.

    Parameters
    ----------
    columns, ops
        The result's columns and their compiled ops. Pass `self.ops` to the encoder instead of `ops`.
    encoding
        Python codec of the code set.
    """

    def __init__(self, columns: Sequence[Column], ops: Sequence[PlanOp], encoding: str) -> None:
        self._encoding = encoding
        self._text = [position for position, op in enumerate(ops) if op.kind in TEXT_KINDS]
        self._names = [column.name for column in columns]
        self.ops = [
            replace(op, flags=op.flags & ~FLAG_REPLACE | FLAG_RAW) if op.kind in TEXT_KINDS else op
            for op in ops
        ]

    def wire_form(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch with its text as bytes. Raises DataError with row and column for a character that the code
        set lacks."""
        arrays = batch.columns
        for position in self._text:
            arrays[position] = self._bytes(arrays[position], self._names[position])
        return pa.RecordBatch.from_arrays(arrays, names=self._names)

    def _bytes(self, values: pa.Array, name: str) -> pa.Array:
        kind = pa.large_binary() if pa.types.is_large_string(values.type) else pa.binary()
        if pc.all(pc.string_is_ascii(values)).as_py() is not False:  # None: all values are NULL
            return values.cast(kind)
        encoded: list[bytes | None] = []
        for row, text in enumerate(values.to_pylist()):
            try:
                encoded.append(None if text is None else text.encode(self._encoding))
            except UnicodeEncodeError as problem:
                reason = f"The character U+{ord(text[problem.start]):04X} does not exist in the database's code set."
                error = DataError(f"Column {name!r}, row {row}: {reason}", row=row, column=name)
                error.fault = EncodeFault(EncodeStatus.CODE_POINT, "", reason)
                raise error from None
        return pa.array(encoded, kind)
