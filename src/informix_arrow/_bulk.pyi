"""Rows that a client sends, as Arrow columns: SQ_PUT, and SQ_BIND with SQ_EXECUTE (SQLI sections 9 and 11)."""

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
    """Takes the longest run of whole, plain rows at the front of some bytes; stops before anything else.

    A bound value is plain when it converts to its column's kind as the server's own conversion does, with
    nothing to complain about. Nothing that a peer sends raises; one thread at a time (else ``RuntimeError``).
    """

    def __new__(
        cls,
        ops: Sequence[tuple[int, int, int, int]],
        batch_rows: int,
        batch_bytes: int,
        max_tuple: int,
        codepage: bytes | None = None,
    ) -> BulkReader:
        """``ops`` are ``PlanOp.as_tuple()``, one per column of the row; a batch is full at ``batch_rows`` rows
        or ``batch_bytes`` Arrow bytes; a longer SQ_PUT than ``max_tuple`` bytes is not taken; ``codepage`` as
        for ``Decoder``. Raises ValueError naming a wrong op."""

    def feed_puts(self, data: Buffer, start: int, /) -> tuple[int, int]:
        """Take SQ_PUTs from ``data[start:]``: the position behind the last row taken, and why it stopped.

        NEED_MORE: what is left may begin a row. OTHER: it is another message, or a row that is not plain.
        FULL: call ``take()``.
        """

    def feed_binds(self, data: Buffer, start: int, statement: int, shape: int, /) -> tuple[int, int, int]:
        """Take bound rows of ``statement``; position and status as ``feed_puts``, and the shape found.

        SHAPE_GROUPS: each row ends its group, and its SQ_EOT is taken with it. SHAPE_ONE_GROUP: the rows
        share a group, whose SQ_EOT is left.
        """

    def take(self) -> CapsuleType:
        """Hand over the rows taken, an ``arrow_array`` capsule of a struct array, and begin anew."""

    def take_values(self) -> tuple[int | float | bool | str | None, ...] | None:
        """Hand over the only row taken as Python objects, those that ``to_pylist`` gives, and begin anew.

        None, and nothing has changed, when there is not exactly one row, and where a column is of another kind than
        whole numbers, floats, BOOLEAN and text.
        """

    @property
    def rows(self) -> int:
        """Rows that the next ``take()`` hands over."""
