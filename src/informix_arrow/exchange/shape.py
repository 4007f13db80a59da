"""What the rows of a described statement look like and how they are read: made once per statement, used by each of
its executions.
"""

from __future__ import annotations

from functools import cached_property

from .. import _decode
from ..dbapi_types import DescriptionItem
from ..dbapi_types import describe as describe_columns
from ..finish import Finisher
from ..wire.code_sets import is_multibyte
from ..wire.codepages import decoder_table
from ..wire.describe import Column, Plan
from ..wire.types import TypeOptions
from .large_objects import ObjectColumn, object_columns


class Shape:
    """Columns, the plan compiled from them, and what follows from both. Never changes; made as it is asked for.

    Parameters
    ----------
    columns, plan
        The result's columns and the plan compiled from them with ``types``.
    types
        How Informix's types become Arrow's.
    encoding
        Python codec of text on the wire.
    """

    def __init__(self, columns: tuple[Column, ...], plan: Plan, types: TypeOptions, encoding: str) -> None:
        self.columns, self.plan, self.types, self.encoding = columns, plan, types, encoding

    @cached_property
    def finisher(self) -> Finisher:
        """Makes final batches of decoded ones."""
        return Finisher(self.columns, self.plan, self.types, self.encoding)

    @cached_property
    def description(self) -> tuple[DescriptionItem, ...]:
        """``Cursor.description`` of the columns that are handed out."""
        return describe_columns(tuple([self.columns[index] for index in self.plan.kept]))

    @cached_property
    def objects(self) -> tuple[ObjectColumn, ...]:
        """The columns whose contents the server keeps apart from the row."""
        return object_columns(self.columns)

    @cached_property
    def _ops(self) -> list[tuple[int, int, int, int]]:
        return [op.as_tuple() for op in self.plan.ops]

    @cached_property
    def _names(self) -> list[str]:
        return [column.name for column in self.columns]

    def decoder(self, batch_rows: int, batch_bytes: int) -> _decode.Decoder:
        """A decoder for the tuples of one execution."""
        return _decode.Decoder(
            self._ops,
            self._names,
            batch_rows=batch_rows,
            batch_bytes=batch_bytes,
            max_tuple=self.plan.max_tuple,
            codepage=None if is_multibyte(self.encoding) else decoder_table(self.encoding),
        )
