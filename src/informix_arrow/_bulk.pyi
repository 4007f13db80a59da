"""Decode rows that a client sends to Arrow columns: SQ_PUT, and SQ_BIND with SQ_EXECUTE (SQLI sections 9 and 11)."""

from collections.abc import Sequence
from typing import Final, final

from typing_extensions import Buffer, CapsuleType

NEED_MORE: Final = 0
OTHER: Final = 1
FULL: Final = 2
SHAPE_UNKNOWN: Final = 0
SHAPE_GROUPS: Final = 1
SHAPE_ONE_GROUP: Final = 2

@final
class BulkReader:
    """Decode rows that a client sends (SQ_PUT, or SQ_BIND and SQ_EXECUTE) to Arrow columns.

    Parameters
    ----------
    ops
        One (kind, width, arg, flags) per column, with the numbers of plan.h.
    batch_rows
        Maximum number of rows in a batch.
    batch_bytes
        Maximum number of Arrow bytes in a batch.
    max_tuple
        Maximum number of bytes in an SQ_PUT.
    codepage
        As for Decoder.

    Raises ValueError for an invalid op. Use it in one thread at a time. A call while another one runs raises
    RuntimeError.
    """

    def __new__(
        cls,
        ops: Sequence[tuple[int, int, int, int]],
        batch_rows: int,
        batch_bytes: int,
        max_tuple: int,
        codepage: bytes | None = None,
    ) -> BulkReader: ...
    def feed_puts(self, data: Buffer, start: int, /) -> tuple[int, int]:
        """Decode the SQ_PUT messages at the beginning of data[start:], a bytes-like object.

        Returns (position, status). position is the index after the last row that was decoded. status is NEED_MORE
        (the bytes end inside a message), OTHER (the next message is of another kind, or its row needs the server's
        conversions) or FULL (call take()).

        No content of data raises an error. Raises MemoryError, and ValueError if start is outside data.
        """

    def feed_binds(self, data: Buffer, start: int, statement: int, shape: int, /) -> tuple[int, int, int]:
        """Decode the bound rows (SQ_BIND, SQ_EXECUTE) of a statement at the beginning of data[start:].

        statement is the number that SQ_ID must have. shape says how the rows are grouped: SHAPE_UNKNOWN at first,
        then the shape that the previous call returned. It is SHAPE_GROUPS if each row ends its group, whose SQ_EOT is
        consumed, and SHAPE_ONE_GROUP if all rows share one group, whose SQ_EOT is not consumed.

        Returns (position, status, shape), with position and status as in feed_puts(). Raises ValueError for an
        argument out of range, and MemoryError.
        """

    def take(self) -> CapsuleType:
        """Return the rows decoded so far as an 'arrow_array' capsule of a struct array, and start the next batch."""

    def take_values(self) -> tuple[int | float | bool | str | None, ...] | None:
        """Return the only row decoded so far as a tuple of int, float, bool, str and None, and start the next batch.

        Returns None and keeps the rows if there is not exactly one, or if a column has another type.
        """

    @property
    def rows(self) -> int:
        """Number of rows that the next ``take()`` returns."""
