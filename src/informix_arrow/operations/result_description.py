"""The description of a statement's rows and how they are read. Made once per statement, used by each execution."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from .._decode import Decoder
from ..rows.dbapi_types import DescriptionItem
from ..rows.dbapi_types import describe as describe_columns
from ..rows.postprocess import BatchPostprocessor
from ..rows.python_rows import is_made_in_c
from ..wire.code_sets import is_multibyte
from ..wire.codepages import decoder_table
from ..wire.describe import Column, Plan
from ..wire.errors import NotSupportedError
from ..wire.plan_ops import Kind, TypeOptions
from ..wire.types import TypeCode

_MANY_COLUMNS = 2048


@dataclass(frozen=True, slots=True)
class ObjectColumn:
    """A large-object column of a result."""

    index: int  # of the decoded batch
    name: str
    smart: bool  # BLOB, CLOB; else BYTE, TEXT
    text: bool  # TEXT, CLOB
    exact: bool  # the size in the descriptor is exact: False if a server may transcode


def object_columns(columns: Sequence[Column]) -> tuple[ObjectColumn, ...]:
    """Return the large-object columns among ``columns``."""
    objects = [
        ObjectColumn(
            index,
            column.name,
            smart=column.type.code not in (TypeCode.BYTE, TypeCode.TEXT),
            text=column.type.code == TypeCode.TEXT or column.type.is_clob,
            exact=column.type.code == TypeCode.BYTE,
        )
        for index, column in enumerate(columns)
        if column.type.is_large_object
    ]
    return tuple(objects)


class ResultDescription:
    """The columns of a result, the plan compiled from them, and what is derived from both. Immutable.

    Parameters
    ----------
    columns, plan
        The result's columns and the plan compiled from them with ``types``.
    types
        The mapping of Informix's types to Arrow's.
    encoding
        Python codec of text on the wire.
    """

    def __init__(self, columns: tuple[Column, ...], plan: Plan, types: TypeOptions, encoding: str) -> None:
        self.columns, self.plan, self.types, self.encoding = columns, plan, types, encoding

    @cached_property
    def postprocessor(self) -> BatchPostprocessor:
        """The postprocessor that turns decoded batches into final ones."""
        return BatchPostprocessor(self.columns, self.plan, self.types, self.encoding)

    @cached_property
    def description(self) -> tuple[DescriptionItem, ...]:
        """``Cursor.description`` of the columns that are returned."""
        return describe_columns(tuple([self.columns[index] for index in self.plan.column_indexes]))

    @cached_property
    def objects(self) -> tuple[ObjectColumn, ...]:
        """The columns whose contents the server stores apart from the row."""
        return object_columns(self.columns)

    @cached_property
    def floating_columns(self) -> frozenset[int]:
        """The columns of floating DECIMALs that are read as float64, and may lose digits."""
        pairs = zip(self.columns, self.plan.ops, strict=True)
        return frozenset(
            [
                index
                for index, (column, op) in enumerate(pairs)
                if op.kind == Kind.DECIMAL_FLOAT64 and column.type.scale is None
            ]
        )

    @cached_property
    def c_schema(self) -> Any:
        """The schema as a PyCapsule for :func:`.._decode.rows`.

        None if that function does not support all types, or if decoded batches need postprocessing.
        """
        schema = self.plan.schema
        if (
            self.floating_columns
            or not self.postprocessor.is_identity
            or not all(map(is_made_in_c, schema.types))
        ):
            return None
        return schema.__arrow_c_schema__()

    @cached_property
    def _ops(self) -> list[tuple[int, int, int, int]]:
        return [op.as_tuple() for op in self.plan.ops]

    @cached_property
    def _names(self) -> list[str]:
        return [column.name for column in self.columns]

    def decoder(self, batch_rows: int, batch_bytes: int, first_row: int = 0) -> Decoder:
        """Return a decoder for the tuples of one execution, from row number ``first_row`` on.

        Raises ``NotSupportedError`` for rows that are too large.
        """
        count = len(self._ops)
        if count > _MANY_COLUMNS:  # the buffer for the first rows alone would take gigabytes
            batch_rows = min(batch_rows, max(16, batch_bytes // (64 * count)))
        try:
            return Decoder(
                self._ops,
                self._names,
                batch_rows=batch_rows,
                batch_bytes=batch_bytes,
                max_tuple=self.plan.tuple_limit,
                codepage=None if is_multibyte(self.encoding) else decoder_table(self.encoding),
                first_row=first_row,
            )
        except (ValueError, OverflowError) as error:
            raise NotSupportedError(
                f"Rows of up to {self.plan.max_tuple:,} bytes cannot be read: {error}"
            ) from error
