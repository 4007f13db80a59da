"""Convert .unl files to Arrow and back, for :mod:`informix_arrow.unl`."""

from collections.abc import Sequence
from typing import final

from typing_extensions import Buffer, CapsuleType

@final
class Reader:
    """Convert the lines of a .unl file to Arrow record batches.

    Parameters
    ----------
    source
        The name of the file, for errors.
    ops
        One (kind, width, arg, flags) per column, with the numbers of plan.h.
    names
        The names of the columns, for errors.
    types
        The declared types of the columns, for errors.
    format
        Dialect.as_tuple().
    batch_rows
        Maximum number of rows in a batch.
    batch_bytes
        Maximum number of Arrow bytes in a batch; a larger row is a batch of its own.
    join_lines
        True: a line break belongs to the text if the row still has too few fields.
    empty_text
        True: an empty field of a text column is the empty text, not NULL.

    Raises ValueError for an invalid op. Use it in one thread at a time. A call while another one runs raises
    RuntimeError.
    """

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
    ) -> Reader: ...
    def feed(self, data: Buffer, start: int, end: int, final: bool, /) -> tuple[int, bool]:
        """Read the rows in data[start:end], a bytes-like object with UTF-8 text. ``final`` is true if the file ends
        there.

        Returns (position, full). The next feed has to begin at position, the index after the last whole row. full is
        true if the batch is complete: call take(). The GIL is released.

        Raises DataError with the file, line and column in its text, and with .row (from 0) and .column set. The whole
        rows before the error can be taken. Nothing can be fed after it.
        """

    def skip(self, data: Buffer, start: int, end: int, final: bool, rows: int, /) -> tuple[int, int]:
        """Skip up to ``rows`` rows of data[start:end] without converting them.

        Returns (position, skipped): the index after the last skipped row, and how many rows were skipped. Raises
        DataError if a row has too many or too few fields, as feed() does.
        """

    def take(self) -> CapsuleType:
        """Return the open batch as an 'arrow_array' capsule, and start the next batch.

        The capsule holds a struct array with one child per column. It may have 0 rows.
        """

    @property
    def rows(self) -> int:
        """Number of rows in the open batch."""

    @property
    def line(self) -> int:
        """Number of the line in which the next row begins, from 1."""

@final
class Writer:
    """Convert Arrow record batches to lines of a .unl file.

    The arguments are those of Reader. Use it in one thread at a time. A call while another one runs raises
    RuntimeError.
    """

    def __new__(
        cls,
        ops: Sequence[tuple[int, int, int, int]],
        names: Sequence[str],
        types: Sequence[str],
        format: tuple[int, bytes, int, int, int, int, int, bytes, bytes],
    ) -> Writer: ...
    def write(self, schema: CapsuleType, array: CapsuleType, first_row: int, /) -> bytearray:
        """Return the lines of one record batch, which __arrow_c_array__ exported as two capsules, as UTF-8.

        The columns must have exactly the Arrow types of their ops. The batch is released. first_row is the number of
        its first row in errors. The GIL is released.

        Raises DataError with .row and .column for a value that the format cannot represent, and ValueError for a
        column of another Arrow type.
        """
