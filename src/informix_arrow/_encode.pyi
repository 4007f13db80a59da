"""Encode Arrow record batches as SQLI messages: the server's results, and the client's PUT rows and bound rows."""

from collections.abc import Sequence
from typing import Any, Literal

class Encoder:
    """Encode record batches by a plan of ``(kind, width, arg, flags)`` per column (``wire.plan_ops.PlanOp``).

    Parameters
    ----------
    ops, names
        One op and one name for each column; the names are used in errors only. ``arg`` of a BYTE or TEXT is
        11, 12, or 0 for 11: the type of its parameter.
    codepage
        None sends text as UTF-8. Otherwise it has 65,536 bytes: the byte of each code point, 0 for none.
    blocks
        False encodes row by row with the same result, for tests.

    Notes
    -----
    A column accepts these Arrow types. Every value is encoded exactly or refused:

    =========================== ==========================================================================
    SMALLINT .. BIGINT, INT8    int8 .. int64, uint8 .. uint64
    SMALLFLOAT                  float32
    FLOAT                       float64, float32, integers that a double holds exactly
    DECIMAL, MONEY (any kind)   decimal32 .. decimal256 of any scale, integers, float64, float32; the kind
                                DECIMAL_STRING also text
    DATE                        date32, date64 of whole days
    BOOLEAN                     bool
    CHAR .. LVARCHAR            utf8, large_utf8, string_view, a dictionary of one of them with any index
                                type; with FLAG_RAW binary, large_binary, binary_view instead
    DATETIME from YEAR          date32, date64, timestamp of any unit without a zone
    DATETIME from HOUR          time32, time64
    other DATETIME              text in Informix's literal form (YEAR TO MONTH and the like take both)
    INTERVAL of YEAR, MONTH     integers (months), month_interval, month_day_nano_interval of months only
    INTERVAL of DAY .. FRACTION duration of any unit, month_day_nano_interval without months (a day is 24
                                hours)
    BYTE, TEXT in a tuple       fixed_size_binary of the descriptor's width
    BYTE, TEXT as a parameter   the content: binary, large_binary, binary_view as it is; utf8, large_utf8,
                                string_view through the code page
    BLOB, CLOB, opaque types    binary, large_binary, binary_view, fixed_size_binary; in tuples only
    any                         Arrow's null type
    =========================== ==========================================================================

    A float in a DECIMAL(p,s) is encoded as its shortest decimal text, which has to fit exactly. In a floating
    DECIMAL(p) it is encoded as the nearest number of p digits: as its shortest text if that has at most p digits, else
    as the float correctly rounded. A NaN whose bytes are FLOAT's NULL pattern (all ones) is sent as the quiet NaN
    7ff8000000000000.

    Every error of a value is a ``wire.errors.DataError`` with ``row`` and ``column``. Nothing else is rounded, and
    nothing is truncated.
    """

    def __new__(
        cls,
        ops: Sequence[tuple[int, int, int, int]],
        names: Sequence[str],
        *,
        codepage: bytes | None = None,
        blocks: bool = True,
    ) -> Encoder: ...
    def load(self, schema_capsule: object, array_capsule: object, *, first_row: int | None = None) -> int:
        """Load one record batch (the two capsules of ``__arrow_c_array__``) and return its number of rows.

        The batch is moved out of the capsules. Rows of an earlier batch that are not yet encoded are dropped.
        ``first_row`` is the number of the batch's first row in errors. By default the numbers continue after the
        previous batch.

        Raises ValueError if the Arrow type of a column does not fit the plan. Nothing is changed then.
        """

    def encode(
        self, budget: int, framing: int = 0, head: bytes = b"", tail: bytes = b""
    ) -> tuple[bytearray, int]:
        """Encode the next rows as whole messages of at most ``budget`` bytes, but at least one row.

        ``framing`` is one of:

        - 0: SQ_TUPLE messages.
        - 1: SQ_PUT messages (JDBC section 8).
        - 2: bound rows. Each row is ``head``, SQ_BIND with a parameter for every column (SQLI section 9), SQ_BBIND and
          SQ_BLOB chunks of 1024 bytes if the row has BYTE or TEXT values (SQLI section 14), and ``tail``.

        ``head`` and ``tail`` are whole messages of an even number of bytes, at most 65,536. The framing may change from
        call to call.

        Returns (messages, rows), which is ``(bytearray(), 0)`` after the last row.

        A call ends before a row that cannot be encoded. The next call raises DataError with ``row``, ``column`` and
        ``fault`` set, and so do all further calls until another batch is loaded. Raises ValueError if a BYTE or TEXT
        column was loaded with its contents and is encoded in a tuple, or with its descriptors and is bound.
        """

    @property
    def remaining(self) -> int:
        """Rows of the loaded batch that are not yet encoded."""

def columns(rows: list[Any], count: int) -> tuple[tuple[type, list[Any]], ...] | None:
    """Transpose a list of rows of ``count`` values each.

    Returns for each column the type of its values other than None, and the list of its values. The type is NoneType
    if all values are None. Returns None if a column has values of more than one type. Raises ValueError for a row of
    another length.
    """

def fixed(
    kind: Literal["i", "f", "b", "n", "D", "M", "T", "S"], values: list[Any]
) -> tuple[int, bytearray, bytearray, int, int] | None:
    """Convert a list of values of one type and None to the buffers of an Arrow column.

    kind is i (int to int64), f (float to float64), b (bool), n (Decimal to decimal128), D (date to date32), M
    (datetime to timestamp[us]), T (time to time64[us]) or S (timedelta to duration[us]).

    Returns (nulls, validity, data, precision, scale). For n, scale is the largest number of decimal places, and
    precision is scale plus the largest number of digits before the point. For M and T, scale is 6 if a value has a
    fraction of a second. All others are 0.

    Returns None for a value that the type cannot hold: more than 64 bits, a time zone, NaN, or more than 32 digits.
    """

def texts(values: list[Any]) -> tuple[int, bytearray, bytearray, bytearray] | None:
    """Convert a list of str and None to the buffers of an Arrow column of type utf8.

    Returns (nulls, validity, offsets, data), with offsets of 32 bits. Returns None if a str has half of a surrogate
    pair, or if the data has 2 GiB or more.
    """
