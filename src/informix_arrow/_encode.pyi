"""Arrow record batches -> SQLI tuples, in C: the server's results and the client's PUT rows."""

from collections.abc import Sequence

class Encoder:
    """Encode record batches by a plan of ``(kind, width, arg, flags)`` per column (``wire.types.PlanOp``).

    Parameters
    ----------
    ops, names
        One op and one name for each column; the names are used in errors only.
    codepage
        None: text travels as UTF-8. Else 65,536 bytes, the byte of each code point, 0 for none.

    Every error of a value is a ``wire.errors.DataError`` with ``row`` and ``column``; nothing is cut or
    rounded, except a float64 into a DECIMAL, which is rounded to the column's digits (halves away from zero).

    A NaN whose bytes are FLOAT's NULL pattern (all ones) is sent as the quiet NaN 7ff8000000000000.
    """

    def __new__(
        cls, ops: Sequence[tuple[int, int, int, int]], names: Sequence[str], *, codepage: bytes | None = None
    ) -> Encoder: ...
    def load(self, schema_capsule: object, array_capsule: object, *, first_row: int | None = None) -> int:
        """Take over one batch (the pair that ``__arrow_c_array__`` gives); returns its rows.

        ``first_row`` numbers the batch's first row in errors; without it the count goes on after the batch
        before. ValueError, and nothing changes, when a column's Arrow type does not fit its kind.
        """

    def encode(self, budget: int, framing: int = 0) -> tuple[bytes, int]:
        """The next rows as whole messages of at most ``budget`` bytes, at least one row; ``(bytes, rows)``.

        ``framing`` 0 makes SQ_TUPLE messages, 1 SQ_PUT messages. ``(b"", 0)`` when nothing remains.

        A row that cannot be encoded ends the call before it; the call that begins with it raises DataError,
        and goes on doing so until another batch is loaded.
        """

    @property
    def remaining(self) -> int:
        """Rows of the loaded batch that are not yet encoded."""
