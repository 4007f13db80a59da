"""Decode the rows of a result (SQ_TUPLE, SQLI section 6) or of an insert cursor (SQ_PUT, SQLI section 11) to record
batches, by a plan (TYPES section 2)."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar, final

from typing_extensions import Buffer, CapsuleType

_T = TypeVar("_T")

NEED_MORE: Final = 0
OTHER: Final = 1
FULL: Final = 2

@final
class Decoder:
    """Decode the rows of one result to Arrow record batches.

    Use it in one thread at a time. A call while another one runs raises RuntimeError.
    """

    def __new__(
        cls,
        ops: Sequence[tuple[int, int, int, int]],
        names: Sequence[str],
        *,
        batch_rows: int,
        batch_bytes: int,
        max_tuple: int,
        codepage: bytes | None = None,
        framing: int = 0,
        text_limit: int = 2147483647,
        blocks: bool = True,
        first_row: int = 0,
    ) -> Decoder:
        """Create a decoder.

        Parameters
        ----------
        ops
            ``PlanOp.as_tuple()`` of each column.
        names
            The names of the columns, for errors.
        batch_rows
            Maximum number of rows in a batch.
        batch_bytes
            Maximum number of Arrow bytes in a batch. A larger row is a batch of its own.
        max_tuple
            Maximum number of bytes in a payload.
        codepage
            None for UTF-8 (checked strictly), or 256 entries {uint8 length (0 = undefined byte), 3 UTF-8 bytes}.
        framing
            0 for SQ_TUPLE messages, 1 for SQ_PUT messages.
        text_limit
            Maximum number of bytes of one column with 32-bit offsets. A longer value is a DataError.
        blocks
            False decodes row by row with the same result, for tests.
        first_row
            Number of the first row, for errors and ``total_rows``.

        Raises
        ------
        ValueError
            An op is invalid.
        """

    def feed(self, data: Buffer, start: int, end: int, /) -> tuple[int, int]:
        """Decode the SQ_TUPLE (or SQ_PUT) messages in ``data[start:end]``.

        Returns (position, status). position is the index in data after the last whole message, where the next feed
        begins. status is NEED_MORE (the bytes end inside a message), OTHER (the next message is of another kind) or
        FULL (call ``take()``). No byte outside ``data[start:end]`` is read. The GIL is released.

        Raises ProtocolError for malformed bytes, DataError for a value that does not fit its Arrow type (both with
        ``.row``, 0-based over the whole result, and ``.column``), and MemoryError. Each later feed raises the same
        error.
        """

    def take(self) -> CapsuleType:
        """Return the open batch as an ``arrow_array`` capsule of a struct array, and start the next batch.

        It may have 0 rows. After an error it has the whole rows before it.
        """

    def reply(
        self, schema_capsule: object, data: Buffer, start: int, end: int, done: int, /
    ) -> tuple[list[tuple[Any, ...]], bytes, int] | None:
        """Return the rows of a complete reply to a fetch as tuples, its bytes, and the position after it.

        ``schema_capsule`` is the schema of the batches (``arrow_schema``). :func:`rows` must be able to convert all of
        its columns. ``done`` is the number of bytes of an SQ_DONE, including its tag.

        Returns None unless ``data[start:end]`` has SQ_TUPLEs of valid values, such an SQ_DONE, an optional SQ_COST and
        an SQ_EOT. Do not use the decoder after that.
        """

    def inexact(self) -> list[tuple[int, int, int]]:
        """Return (column, count, first row) for each column of doubles in which DECIMAL values lost digits.

        count is the number of such values in the rows decoded so far.
        """

    @property
    def rows(self) -> int:
        """Number of rows in the open batch."""

    @property
    def total_rows(self) -> int:
        """Number of the next row: rows decoded so far, including those of taken batches, after ``first_row``."""

def rows(
    schema_capsule: object,
    array_capsule: object,
    first: int,
    count: int,
    ready: tuple[list[Any] | None, ...] | None,
) -> list[tuple[Any, ...]]:
    """Return the rows first to first + count of a record batch as tuples, with the values of to_pylist().

    The capsules are those of __arrow_c_array__. The batch is not released.

    ready has one entry per column. It is None for a column that this function converts: int16, int32, int64, float32,
    float64, bool, utf8, date32 and decimal128. For any other column it is the list of the ``count`` values. ready may
    be None if it would be None for all columns.

    Raises ValueError for a column of another type without such a list, and for rows outside the batch.
    """

def skip_rows(data: Buffer, start: int, end: int, header: int, /) -> tuple[int, int]:
    """Skip the whole SQ_TUPLE messages at the beginning of data[start:end], whose headers have ``header`` bytes (6 or
    8).

    Returns (position, count): the index after the last message, and the number of messages. Values are not checked.
    Skipping ends at another message, at one that is incomplete, and at a size below 0. Raises ValueError for an
    argument out of range.
    """

def untrack(objects: list[Any], type: type, shared: tuple[object, ...]) -> None:
    """Stop the cyclic garbage collector from tracking objects of a list.

    It applies to instances of exactly this type that refer only to objects of ``shared`` (a tuple of at most three),
    to values without references, and to tuples of such values.

    Use it only for objects that cannot be changed, and that nothing in ``shared`` refers to. A reference cycle
    through one of them would never be found.

    Raises ValueError if ``shared`` has more than three objects.
    """

def untracked(
    type: type[_T], first: tuple[object, ...], values: list[Any], shared: tuple[object, ...]
) -> list[_T]:
    """Return type(*first, value) for each value of a list. The objects are not tracked, as if untrack() had been
    called.

    Each is untracked as soon as it is created, so that no collection visits it.
    """
