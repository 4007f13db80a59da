"""Arrow streams of the shared library, and the tables of its metadata."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import pyarrow as pa

import informix_arrow as ifx


class Stream:
    """Record batches on their way to a consumer in C. Its last exception is kept for the consumer.

    Parameters
    ----------
    schema, batches
        What is exported.
    rows
        Number of rows that the statement affected; -1 if it is not known.
    """

    def __init__(self, schema: pa.Schema, batches: Iterable[pa.RecordBatch], rows: int = -1) -> None:
        self._schema, self._batches, self._rows = schema, iter(batches), rows
        self._failure: BaseException | None = None
        self._cancelled = False
        self.finished = False

    def export(self, address: int) -> Stream:
        """Export it as the ``ArrowArrayStream`` at ``address``, and return it."""
        pa.RecordBatchReader.from_batches(self._schema, self)._export_to_c(address)
        return self

    def rows_affected(self) -> int:
        """Return the number of rows that the statement affected; -1 if it is not known."""
        return self._rows

    def cancel(self) -> None:
        """Let the next batch fail."""
        self._cancelled = True

    def raise_failure(self) -> None:
        """Raise the exception that ended the stream, if any."""
        if self._failure is not None:
            raise self._failure

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return self

    def __next__(self) -> pa.RecordBatch:
        try:
            if self._cancelled:
                raise ifx.QueryCanceled("The statement was cancelled while its result was read.")
            return next(self._batches)
        except StopIteration:
            self.finished = True
            raise
        except BaseException as error:
            self.finished, self._failure = True, error
            raise


#: The members of GetInfo's union.
_INFO_VALUE = pa.dense_union(
    [
        pa.field("string_value", pa.utf8()),
        pa.field("bool_value", pa.bool_()),
        pa.field("int64_value", pa.int64()),
        pa.field("int32_bitmask", pa.int32()),
        pa.field("string_list", pa.list_(pa.utf8())),
        pa.field("int32_to_int32_list_map", pa.map_(pa.int32(), pa.list_(pa.int32()))),
    ]
)
_INFO = pa.schema([pa.field("info_name", pa.uint32(), nullable=False), pa.field("info_value", _INFO_VALUE)])
_INFO_CODES = {
    "vendor_name": 0, "vendor_version": 1, "vendor_sql": 3, "vendor_substrait": 4, "driver_name": 100,
    "driver_version": 101, "driver_arrow_version": 102, "driver_adbc_version": 103,
}  # fmt: skip
_MEMBERS: dict[type, int] = {str: 0, bool: 1, int: 2}


def info_stream(info: Mapping[str | int, object], codes: Sequence[int] | None) -> Stream:
    """Return GetInfo's table of the named values; ``codes`` selects some of them."""
    known = {_INFO_CODES[name]: value for name, value in info.items() if name in _INFO_CODES}
    chosen = list(known) if codes is None else [code for code in codes if code in known]
    members: list[list[object]] = [[] for _ in _INFO_VALUE]
    types, offsets = [], []
    for code in chosen:
        member = _MEMBERS[type(known[code])]
        types.append(member)
        offsets.append(len(members[member]))
        members[member].append(known[code])
    values = pa.UnionArray.from_dense(
        pa.array(types, pa.int8()),
        pa.array(offsets, pa.int32()),
        [pa.array(each, field.type) for each, field in zip(members, _INFO_VALUE, strict=True)],
        [field.name for field in _INFO_VALUE],
    )
    batch = pa.RecordBatch.from_arrays([pa.array(chosen, pa.uint32()), values], schema=_INFO)
    return Stream(_INFO, [batch])


def table_types_stream(types: Sequence[str]) -> Stream:
    """Return GetTableTypes' table."""
    schema = pa.schema([pa.field("table_type", pa.utf8(), nullable=False)])
    return Stream(schema, [pa.RecordBatch.from_arrays([pa.array(types, pa.utf8())], schema=schema)])
