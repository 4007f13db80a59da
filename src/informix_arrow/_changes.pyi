"""Decode captured changes (CDC section 5) to record batches, and read them from the server's log."""

from collections.abc import Sequence
from typing import Final, final

from typing_extensions import Buffer, CapsuleType

NEED_MORE: Final = 0
OTHER: Final = 1
FULL: Final = 2

@final
class ImageDecoder:
    """Convert the row images of one captured table to Arrow record batches, one transaction at a time.

    Parameters
    ----------
    table
        The name of the table, for errors.
    label
        The user data in the records of the table.
    ops, names
        As for Decoder: first the record's number (int16) and LSN (int64), then the columns in the order of TABSCHEMA.
    variable
        Number of columns, the last ones, whose lengths are in the header of a record.
    batch_rows
        Maximum number of rows in a batch.
    batch_bytes
        Maximum number of Arrow bytes in a batch.
    max_image
        Maximum number of bytes in an image.
    codepage
        As for Decoder.

    Raises ValueError for an invalid op. Use it in one thread at a time. A call while another one runs raises
    RuntimeError.
    """

    def __new__(
        cls,
        table: str,
        label: int,
        ops: Sequence[tuple[int, int, int, int]],
        names: Sequence[str],
        *,
        variable: int,
        batch_rows: int,
        batch_bytes: int,
        max_image: int,
        codepage: bytes | None = None,
    ) -> ImageDecoder: ...
    def begin(self, transaction: int, /) -> None:
        """Decode the rows of this transaction from now on. ``transaction`` is its number, of 32 bits.

        Raises ValueError if rows of another transaction have not been taken, or if the number has more than 32 bits.
        """

    def feed(self, data: Buffer, start: int, end: int, /) -> tuple[int, int]:
        """Decode the row images of this table and transaction at the beginning of data[start:end], a bytes-like
        object.

        Returns (position, status). position is the index after the last whole record that was decoded. status is 0
        (the bytes end inside a record), 1 (the next record is of another kind, table or transaction) or 2 (the batch
        is complete: call take()). No byte outside data[start:end] is read. The GIL is released.

        Raises ProtocolError for malformed bytes, DataError for a value that does not fit its Arrow type (with .column
        set), and MemoryError. Each later feed raises the same error.
        """

    def take(self) -> tuple[CapsuleType, CapsuleType | None]:
        """Return the open batch as (after, before), and start the next batch.

        Both are 'arrow_array' capsules of struct arrays. ``after`` has the rows after inserts and updates, and the
        deleted rows. ``before`` has the rows before updates. It is None if there was no update. The columns are the
        number of the record, its LSN, and those of the table.

        The first image of an update that has no second one yet is kept: see expects_after_image.
        """

    def inexact(self) -> list[int]:
        """Return the indexes of the columns of doubles in which DECIMAL values lost digits, in any row so far."""

    @property
    def rows(self) -> int:
        """Number of images in the open batch, including those before updates."""

    @property
    def bytes(self) -> int:
        """Approximate size of the open batch in Arrow bytes."""

    @property
    def expects_after_image(self) -> bool:
        """True if the last record was the image before an update, so that the image after it must follow."""

def log_records(
    data: Buffer,
    start: int,
    place: int,
    transaction: int,
    table: int,
    label: int,
    lengths: int,
    most: int,
    room: int,
    /,
) -> tuple[bytes, int, int]:
    """Convert records of the server's log to the row images that a client of change data capture reads.

    Parameters
    ----------
    data
        A part of the log, a bytes-like object.
    start
        Index in data at which to begin.
    place
        The LSN of data[start].
    transaction
        Number of the transaction.
    table
        Number of the table; the run ends at a record of another table or transaction, or one that is damaged.
    label
        The number that the client gave to the table.
    lengths
        Number of bytes of lengths in front of each image.
    most
        Maximum number of records.
    room
        Number of bytes after which no further image begins.

    Returns (bytes, position, count): the images, the index at which to go on, and the number of images.

    Raises ValueError if start is outside data, or a number is below 0 or above 2147483647.
    """
