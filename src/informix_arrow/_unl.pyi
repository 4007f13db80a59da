"""The per-value work of :mod:`informix_arrow.unl`: lines of a .unl file to Arrow, and back."""

from collections.abc import Sequence
from typing import final

from typing_extensions import Buffer, CapsuleType

@final
class Reader:
    """Turn the lines of a .unl file into Arrow record batches; one thread at a time (else ``RuntimeError``)."""

    def __new__(
        cls,
        source: str,
        ops: Sequence[tuple[int, int, int, int]],
        names: Sequence[str],
        types: Sequence[str],
        format: tuple[int, bytes, int, int, int, int, int, bytes, bytes],
        *,
        batch_rows: int,
        batch_bytes: int,
        join_lines: bool,
        empty_text: bool,
    ) -> Reader:
        """``ops`` are those of plan.h; ``source``, ``names`` and ``types`` stand in errors; ``format`` is
        ``Dialect.as_tuple()``. A batch is full at ``batch_rows`` rows or ``batch_bytes`` Arrow bytes. ``join_lines``
        takes the end of a line into a text while the row has too few fields, ``empty_text`` nothing at all in a column
        of text as the empty one."""

    def feed(self, data: Buffer, start: int, end: int, final: bool, /) -> tuple[int, bool]:
        """Read the rows in ``data[start:end]``, which is UTF-8; ``final``: the file ends there.

        Returns the position behind the last whole row and whether the batch is full. Raises DataError naming file,
        line and column, with ``.row`` (0-based) and ``.column``; the whole rows before it can be taken."""

    def skip(self, data: Buffer, start: int, end: int, final: bool, rows: int, /) -> tuple[int, int]:
        """Pass over at most ``rows`` rows without converting them; the position behind them, and how many they were."""

    def take(self) -> CapsuleType:
        """Hand over the open batch, an ``arrow_array`` capsule of a struct array, and start the next."""

    @property
    def rows(self) -> int:
        """Rows in the open batch."""

    @property
    def line(self) -> int:
        """The line in which the next row begins, from 1."""

@final
class Writer:
    """Turn Arrow record batches into lines of a .unl file; one thread at a time (else ``RuntimeError``)."""

    def __new__(
        cls,
        ops: Sequence[tuple[int, int, int, int]],
        names: Sequence[str],
        types: Sequence[str],
        format: tuple[int, bytes, int, int, int, int, int, bytes, bytes],
    ) -> Writer:
        """Arguments as of :class:`Reader`."""

    def write(self, schema: CapsuleType, array: CapsuleType, first_row: int, /) -> bytearray:
        """The lines of a batch, UTF-8, whose columns have exactly the Arrow types of their ops.

        ``first_row`` numbers its first row in errors: DataError with ``.row`` and ``.column`` for a value that cannot
        be said."""
