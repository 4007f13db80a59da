"""Arrow record batches -> SQLI messages, in C: the server's results, the client's PUT rows and bind rows."""

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
        None: text travels as UTF-8. Else 65,536 bytes, the byte of each code point, 0 for none.
    blocks
        False, for tests: row by row, which writes the same bytes.

    Notes
    -----
    A column takes these Arrow types, every value exactly or not at all:

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

    A float in a DECIMAL(p,s) stands for its shortest decimal text, which has to fit exactly; in a floating
    DECIMAL(p) it becomes the nearest number of p digits (its shortest text where that has no more, else the
    float itself, correctly rounded). A NaN whose bytes are FLOAT's NULL pattern (all ones) is sent as the quiet
    NaN 7ff8000000000000.

    Every error of a value is a ``wire.errors.DataError`` with ``row`` and ``column``; nothing else is rounded,
    and nothing is cut.
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
        """Take over one batch (the pair that ``__arrow_c_array__`` gives); returns its rows.

        ``first_row`` numbers the batch's first row in errors; without it the count goes on after the batch
        before. ValueError, and nothing changes, when a column's Arrow type does not fit its kind.
        """

    def encode(
        self, budget: int, framing: int = 0, head: bytes = b"", tail: bytes = b""
    ) -> tuple[bytearray, int]:
        """The next rows as whole messages of at most ``budget`` bytes, at least one row; ``(messages, rows)``.

        ``framing`` 0 makes SQ_TUPLE messages, 1 SQ_PUT messages (JDBC section 8), 2 bind rows: for each row
        ``head``, SQ_BIND with a parameter for every column (SQLI section 9), SQ_BBIND and SQ_BLOB chunks of
        1024 bytes when the row has BYTE or TEXT values (SQLI section 14), ``tail``. ``head`` and ``tail`` are
        whole messages: even numbers of bytes, at most 65,536. ``(bytearray(), 0)`` when nothing remains. The framing
        may change from call to call.

        A row that cannot be encoded ends the call before it; the call that begins with it raises DataError,
        and goes on doing so until another batch is loaded. ValueError when a BYTE or TEXT column was loaded
        as a content and is to go out in a tuple, or as a descriptor and is to be bound.
        """

    @property
    def remaining(self) -> int:
        """Rows of the loaded batch that are not yet encoded."""

def columns(rows: list[Any], count: int) -> tuple[tuple[type, list[Any]], ...] | None:
    """The values of ``rows``, sequences of ``count``, by column: for each the type of its values, None apart
    (``NoneType`` when there are no others), and the values.

    None when a column has values of more than one type. ValueError for a row of another length.
    """

def fixed(
    kind: Literal["i", "f", "b", "n", "D", "M", "T", "S"], values: list[Any]
) -> tuple[int, bytearray, bytearray, int, int] | None:
    """Values of one type and None as an Arrow column: the number of NULLs, validity, data, precision, scale.

    ``kind`` is i (int as int64), f (float as float64), b (bool), n (Decimal as decimal128), D (date as date32), M
    (datetime as timestamp[us]), T (time as time64[us]) or S (timedelta as duration[us]). The scale is the most
    places of any number (n), and the precision that and the most digits before the point, as ``pyarrow.array``
    finds them; the scale of M and T is 6 where there is a fraction of a second, and all others are 0. None where a
    value has no such form: beyond 64 bits, a time zone, NaN, more than 32 digits.
    """

def texts(values: list[Any]) -> tuple[int, bytearray, bytearray, bytearray] | None:
    """``str`` and None as an Arrow column of utf8: the number of NULLs, validity, offsets of 32 bits, data.

    None where a text has half of a surrogate pair, and for 2 GiB and more.
    """
