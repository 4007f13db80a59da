"""Wire to Arrow: the tuples of a result (SQ_TUPLE, SQLI section 6) or of an insert cursor (SQ_PUT, SQLI section 11)
become record batches by a plan (TYPES section 2)."""

from collections.abc import Sequence
from typing import Any, Final, TypeVar, final

from typing_extensions import Buffer, CapsuleType

_T = TypeVar("_T")

NEED_MORE: Final = 0
OTHER: Final = 1
FULL: Final = 2

@final
class Decoder:
    """Turn the tuples of one result into Arrow record batches; one thread at a time (else ``RuntimeError``)."""

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
        """``ops`` are ``PlanOp.as_tuple()``; a batch is full at ``batch_rows`` rows or ``batch_bytes`` Arrow bytes.

        ``max_tuple`` is the longest payload allowed, bytes. ``codepage`` is None for UTF-8 (checked strictly) or 1024
        bytes: 256 entries {uint8 length (0 = undefined byte), 3 UTF-8 bytes}. ``framing`` 0 reads SQ_TUPLE messages,
        1 SQ_PUT messages: their payloads are alike. ``text_limit`` is how many bytes one column's 32-bit offsets count
        in a batch, which ends before a row could exceed them; a single longer value is a DataError. ``blocks=False``,
        for tests, decodes row by row, which gives the same. ``first_row`` is the number of the first row. Raises
        ValueError naming a wrong op.
        """

    def feed(self, data: Buffer, start: int, end: int, /) -> tuple[int, int]:
        """Decode the messages in ``data[start:end]``; returns the position to go on from and a status.

        NEED_MORE: the bytes end inside a message. OTHER: the next message is another. FULL: call ``take()``.
        Raises ProtocolError or DataError with ``.row`` (0-based, of the whole result) and ``.column``; both are final.
        """

    def take(self) -> CapsuleType:
        """Hand over the open batch, an ``arrow_array`` capsule of a struct array, and start the next."""

    def reply(
        self, schema_capsule: object, data: Buffer, start: int, end: int, done: int, /
    ) -> tuple[list[tuple[Any, ...]], bytes, int] | None:
        """The rows of a reply to a fetch that lies in ``data[start:end]`` as a whole, its bytes, and where it ends.

        ``schema_capsule`` is the batches' schema (``arrow_schema``), of columns that :func:`rows` makes all values of;
        ``done`` the bytes of an SQ_DONE, its tag included. None when the bytes are anything but SQ_TUPLEs whose values
        can be read, that DONE, perhaps SQ_COST, and SQ_EOT: the decoder may hold rows then, and is of no further use.
        """

    def inexact(self) -> list[tuple[int, int, int]]:
        """For each column of doubles that were DECIMALs of more digits than a double gives back: the column, how many
        values of the rows decoded so far, the row of the first.
        """

    @property
    def rows(self) -> int:
        """Rows in the open batch."""

    @property
    def total_rows(self) -> int:
        """Rows decoded so far, those of taken batches included."""

def rows(
    schema_capsule: object,
    array_capsule: object,
    first: int,
    count: int,
    ready: tuple[list[Any] | None, ...] | None,
) -> list[tuple[Any, ...]]:
    """Rows ``first`` to ``first + count`` of a record batch (the pair that ``__arrow_c_array__`` gives, which stays as
    it is) as tuples, with the values of ``to_pylist()``.

    ``ready`` has None for each column that is made here: int16, int32, int64, float32, float64, bool, utf8, date32 and
    decimal128; and the ``count`` values of each other column as a list; or is None where all columns are made here.
    ValueError for a column that is neither. Equal dates may be one object.
    """

def skip_rows(data: Buffer, start: int, end: int, header: int, /) -> tuple[int, int]:
    """Pass over the whole SQ_TUPLE messages at the beginning of ``data[start:end]``, whose headers have ``header``
    bytes, 6 or 8. Returns the position behind the last and how many they were. It ends before another message, one
    that is not here as a whole, and a size below 0. Values are not looked at.
    """

def untrack(objects: list[Any], type: type, shared: tuple[object, ...]) -> None:
    """Take those of a list out of the cyclic garbage collector's sight that are of this class (not of one beneath it)
    and refer to nothing but ``shared``, values that have no references themselves, and tuples of such values.

    Only for objects that cannot be changed, and that nothing in ``shared`` refers to: a cycle through one of them
    would never be found.
    """

def untracked(
    type: type[_T], first: tuple[object, ...], values: list[Any], shared: tuple[object, ...]
) -> list[_T]:
    """``type(*first, value)`` for each value of a list, as :func:`untrack` leaves them: each at once, so that the
    collector meets none of them.
    """
