"""Why the encoder refused a value.

The numbers are those of native/encode_status.h, which explains them; a test compares them.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple


class EncodeStatus(IntEnum):
    """The kinds of values that have no encoding in their column's type."""

    NULL_INT16 = 1
    NULL_INT32 = 2
    NULL_INT64 = 3
    RANGE = 4
    RANGE_DIGITS = 5
    FRACTION = 6
    INEXACT = 7
    TOO_LONG = 8
    NUL_TEXT = 9
    CODE_POINT = 10
    UTF8 = 11
    DATE_RANGE = 12
    PART_OF_DAY = 13
    TIME_RANGE = 14
    PRECISION = 15
    SCALE = 16
    EXPONENT = 17
    NOT_FINITE = 18
    DECIMAL_TEXT = 19
    FINER = 20
    FINER_DIGITS = 21
    DATETIME_TEXT = 22
    LEADING = 23
    CLASS = 24
    NULL_DESCRIPTOR = 25
    UNBINDABLE = 26
    OFFSETS = 27
    INDEX = 28
    ROW_SIZE = 29


#: The kinds whose predicate contains the number that was refused.
_WITH_NUMBER = (
    EncodeStatus.NULL_INT16,
    EncodeStatus.NULL_INT32,
    EncodeStatus.NULL_INT64,
    EncodeStatus.RANGE,
    EncodeStatus.INEXACT,
)


class EncodeFault(NamedTuple):
    """Why a value was refused. The error's text is its place, the subject and the predicate."""

    status: int
    """An :class:`EncodeStatus`."""
    subject: str
    """The words that stand for the value, such as ``The number``. Empty if the text cannot begin with the value."""
    predicate: str
    """The rest of the text, such as ``has more digits than DECIMAL(5,2) can store.``"""

    def describe(self, value: str) -> str:
        """Return the reason as a text that shows the value, at its beginning where that makes a sentence."""
        if self.subject:
            return f"{value} {self.predicate}"
        return self.predicate if self.status in _WITH_NUMBER else f"{self.predicate} The value is {value}."
