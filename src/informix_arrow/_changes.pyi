"""Row images of captured changes (CDC section 5) as record batches by a plan."""

from collections.abc import Sequence
from typing import Final, final

from typing_extensions import Buffer, CapsuleType

NEED_MORE: Final = 0
OTHER: Final = 1
FULL: Final = 2

@final
class ImageDecoder:
    """Turn the row images of one captured table into Arrow batches; one thread at a time (else ``RuntimeError``)."""

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
    ) -> ImageDecoder:
        """``ops`` and ``names`` are those of the record's number (int16) and LSN (int64), then those of the columns in
        the order of TABSCHEMA; the last ``variable`` of them have their lengths in a record's header. ``label`` is the
        user data of the table's records. A batch is full at ``batch_rows`` rows or ``batch_bytes`` Arrow bytes;
        ``max_image`` is the longest image allowed, bytes. Raises ValueError naming a wrong op.
        """

    def begin(self, transaction: int, /) -> None:
        """Decode the rows of this transaction from now on; ValueError when rows of another were not taken."""

    def feed(self, data: Buffer, start: int, end: int, /) -> tuple[int, int]:
        """Decode the images of this table and transaction at the front of ``data[start:end]``; returns the position to
        go on from and a status.

        NEED_MORE: the bytes end inside a record. OTHER: the next record is another. FULL: call ``take()``.
        Raises ProtocolError or DataError with ``.column``; both are final.
        """

    def take(self) -> tuple[CapsuleType, CapsuleType | None]:
        """Hand over the open batch, rows after and rows before updates, and start the next."""

    def inexact(self) -> list[int]:
        """The columns of doubles that were DECIMALs of more digits than a double gives back, in any row so far."""

    @property
    def rows(self) -> int:
        """Images in the open batch, those before updates counted."""

    @property
    def bytes(self) -> int:
        """Their Arrow bytes, about."""

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
    """The row images of one table in one transaction at the front of ``data[start:]``, records of the server's log
    (server/cdc_log/log.py), as clients read them: the bytes, the position to go on from, and how many there are.

    ``place`` is the LSN of ``data[start]``, ``label`` what the client calls the table, ``lengths`` the bytes of lengths
    in front of each image. At most ``most`` records, and none that would begin behind ``room`` bytes. What is no
    whole, sound record of theirs ends the run.
    """
