"""From column types to the codecs' plan and to Arrow types.

The numbers of kinds are those of native/kinds.def, the flags those of native/plan.h; tests compare them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from typing import Any, Literal

import pyarrow as pa

from .decimals import MAX_DIGITS
from .errors import NotSupportedError, ProtocolError
from .qualifiers import Field, Qualifier
from .types import ColumnType, ExtendedId, TypeCode


class Kind(IntEnum):
    """How a column's bytes lie in a tuple. Made by tools/kinds.py of native/kinds.def."""

    INT16 = 1
    INT32 = 2
    INT64 = 3
    INT8 = 4
    FLOAT32 = 5
    FLOAT64 = 6
    DATE = 7
    BOOL = 8
    CHAR = 9
    VARCHAR = 10
    LVARCHAR = 11
    DECIMAL128 = 12
    DECIMAL_FLOAT64 = 13
    DECIMAL_STRING = 14
    DATETIME_DATE32 = 15
    DATETIME_TIMESTAMP = 16
    DATETIME_TIME32 = 17
    DATETIME_TIME64 = 18
    DATETIME_TEXT = 19
    INTERVAL_MONTHS = 20
    INTERVAL_DURATION = 21
    INTERVAL_MDN = 22
    LOB = 23
    OPAQUE = 24
    DECIMAL_INT64 = 25
    CHANGE_BOOL = 26
    CHANGE_LVARCHAR = 27


FLAG_TRIM = 1
FLAG_BINARY_BOOL = 2
FLAG_LARGE = 4
FLAG_REPLACE = 8
FLAG_RAW = 16
FLAG_ROUND = 32
FLAG_TRUNCATE = 64


@dataclass(frozen=True, slots=True)
class TypeOptions:
    """Choices where one Informix type has several good Arrow types; the defaults are the project's.

    ``floating_decimals`` is "float64", "string" or a ``pyarrow.Decimal128Type``: exact, or a DataError.
    ``intervals``: "native" is int32 months and duration[us]. ``lobs``: "inline" holds the contents, "skip"
    leaves large object columns out, "lazy" holds what opens them later. ``nested``: collections and ROWs as
    list and struct, or as "text" in Informix's literal form. ``encoding_errors``: a byte that is no text is a
    DataError, becomes U+FFFD, or all text columns arrive as "binary". ``integer_aggregates``: DECIMAL(p,0),
    which COUNT(*) and SUM of integers are, as int64: exact, or a DataError. ``json``: JSON as "text", or as
    Arrow's JSON type ("arrow"). ``bson``: BSON as "binary", or as "json", with the type that ``json`` says.
    """

    decimals: Literal["decimal128", "float64"] = "decimal128"
    floating_decimals: Any = "float64"
    char_padding: Literal["strip", "keep"] = "strip"
    strings: Literal["utf8", "large", "view", "dictionary"] = "utf8"
    intervals: Literal["native", "month_day_nano"] = "native"
    lobs: Literal["inline", "skip", "lazy"] = "inline"
    nested: Literal["arrow", "text"] = "arrow"
    encoding_errors: Literal["strict", "replace", "binary"] = "strict"
    integer_aggregates: bool = False
    json: Literal["text", "arrow"] = "text"
    bson: Literal["binary", "json"] = "binary"

    def __post_init__(self) -> None:
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if isinstance(value, pa.Decimal128Type) and name == "floating_decimals":
                if not 0 <= value.scale <= value.precision:
                    raise ValueError(f"floating_decimals={value}: The scale must be 0 to the precision.")
            elif value not in allowed:
                raise ValueError(f"{name}={value!r}: It must be one of {', '.join(map(repr, allowed))}.")


_CHOICES = {
    "decimals": ("decimal128", "float64"),
    "char_padding": ("strip", "keep"),
    "strings": ("utf8", "large", "view", "dictionary"),
    "intervals": ("native", "month_day_nano"),
    "lobs": ("inline", "skip", "lazy"),
    "nested": ("arrow", "text"),
    "encoding_errors": ("strict", "replace", "binary"),
    "floating_decimals": ("float64", "string"),
    "json": ("text", "arrow"),
    "bson": ("binary", "json"),
}

DEFAULT_OPTIONS = TypeOptions()


@dataclass(frozen=True, slots=True)
class PlanOp:
    """One column of a plan: ``struct ia_op`` of plan.h."""

    kind: Kind
    width: int
    arg: int
    flags: int

    def as_tuple(self) -> tuple[int, int, int, int]:
        """Plain ints for the C codecs."""
        return (int(self.kind), self.width, self.arg, self.flags)


_FIXED_KINDS: dict[int, Kind] = {
    TypeCode.SMALLINT: Kind.INT16,
    TypeCode.INTEGER: Kind.INT32,
    TypeCode.SERIAL: Kind.INT32,
    TypeCode.BIGINT: Kind.INT64,
    TypeCode.BIGSERIAL: Kind.INT64,
    TypeCode.INT8: Kind.INT8,
    TypeCode.SERIAL8: Kind.INT8,
    TypeCode.SMALLFLOAT: Kind.FLOAT32,
    TypeCode.FLOAT: Kind.FLOAT64,
    TypeCode.DATE: Kind.DATE,
}


def plan_op(
    ct: ColumnType, options: TypeOptions = DEFAULT_OPTIONS, *, bool_binary: bool = False, column: str = ""
) -> PlanOp:
    """Compile one column. ``bool_binary``: the encoder writes BOOLEAN as 0/1 because SQ_RETTYPE asked for
    type 45.

    Raises ``NotSupportedError`` naming type and column for a type that no codec handles, and
    ``ProtocolError`` for a description that cannot be.
    """
    try:
        return _compile(ct, options, bool_binary, column)
    except ValueError as e:  # an impossible qualifier or decimal: the peer described nonsense
        raise ProtocolError(f"Column {column!r}: {e}", column=column or None) from None


def _compile(ct: ColumnType, options: TypeOptions, bool_binary: bool, column: str) -> PlanOp:
    text = FLAG_LARGE if options.strings == "large" else 0
    text |= {"strict": 0, "replace": FLAG_REPLACE, "binary": FLAG_RAW}[options.encoding_errors]
    if ct.is_boolean:
        return PlanOp(Kind.BOOL, ct.max_width, 0, FLAG_BINARY_BOOL if bool_binary else 0)
    if ct.is_lvarchar:
        return PlanOp(Kind.LVARCHAR, ct.content_width, 0, text)
    if ct.is_json or ct.is_bson:  # of any length
        if ct.is_json:
            return PlanOp(Kind.LVARCHAR, 0, ExtendedId.JSON, text)
        return PlanOp(Kind.OPAQUE, 0, ExtendedId.BSON, 0)
    if ct.is_complex:  # their literal form, whatever is made of it later
        return PlanOp(Kind.LVARCHAR, ct.content_width, 0, text)
    if ct.code in (TypeCode.BYTE, TypeCode.TEXT):
        return PlanOp(Kind.LOB, ct.max_width, 0, 0)
    if ct.code in (TypeCode.UDTVAR, TypeCode.UDTFIXED):  # locators of BLOB and CLOB, opaque types
        return PlanOp(Kind.OPAQUE, ct.max_width - 5, 0, 0)
    kind = _FIXED_KINDS.get(ct.code)
    if kind is not None:
        return PlanOp(kind, ct.max_width, 0, 0)
    if ct.code in (TypeCode.CHAR, TypeCode.NCHAR):
        if ct.encoded_length < 1:
            raise ValueError(f"CHAR({ct.encoded_length}) does not exist.")
        trim = FLAG_TRIM if options.char_padding == "strip" else 0
        return PlanOp(Kind.CHAR, ct.encoded_length, 0, trim | text)
    if ct.code in (TypeCode.VARCHAR, TypeCode.NVARCHAR):
        return PlanOp(Kind.VARCHAR, ct.content_width, 0, text)
    if ct.code in (TypeCode.DECIMAL, TypeCode.MONEY):
        return _decimal_op(ct, options)
    if ct.code == TypeCode.DATETIME:
        qualifier = Qualifier.from_encoded(ct.encoded_length)
        return PlanOp(_datetime_kind(qualifier), qualifier.width, qualifier.encoded, 0)
    if ct.code == TypeCode.INTERVAL:
        qualifier = Qualifier.from_encoded(ct.encoded_length)
        if not qualifier.is_interval:
            raise ValueError(f"INTERVAL {qualifier.interval_sql} does not exist.")
        kind = Kind.INTERVAL_MONTHS if qualifier.is_year_month else Kind.INTERVAL_DURATION
        if options.intervals == "month_day_nano":
            kind = Kind.INTERVAL_MDN
        return PlanOp(kind, qualifier.width, qualifier.encoded, 0)
    where = f"Column {column!r}" if column else "A column"
    raise NotSupportedError(
        f"{where} has the type {ct.sql}, which cannot be read or written. "
        "Leave it out of the select list, or cast it to a character type on the server.",
        column=column or None,
    )


def _decimal_op(ct: ColumnType, options: TypeOptions) -> PlanOp:
    precision, scale = ct.precision or 0, ct.scale
    if not 1 <= precision <= MAX_DIGITS or (scale is not None and scale > precision):
        raise ValueError(f"{ct.sql} does not exist.")
    width, encoded = ct.max_width, ct.encoded_length & 0xFFFF
    if options.decimals == "float64":
        return PlanOp(Kind.DECIMAL_FLOAT64, width, encoded, 0)
    if scale == 0 and options.integer_aggregates:
        return PlanOp(Kind.DECIMAL_INT64, width, encoded, 0)
    if scale is not None:
        return PlanOp(Kind.DECIMAL128, width, precision << 8 | scale, 0)
    floating = options.floating_decimals
    if floating == "string":
        return PlanOp(Kind.DECIMAL_STRING, width, encoded, 0)
    if floating == "float64":
        return PlanOp(Kind.DECIMAL_FLOAT64, width, encoded, 0)
    return PlanOp(Kind.DECIMAL128, width, floating.precision << 8 | floating.scale, 0)


def _datetime_kind(qualifier: Qualifier) -> Kind:
    start, end = qualifier.start, qualifier.end
    if start == Field.YEAR and end == Field.DAY:
        return Kind.DATETIME_DATE32
    if start == Field.YEAR and end >= Field.HOUR:
        return Kind.DATETIME_TIMESTAMP
    if start == Field.HOUR and end in (Field.MINUTE, Field.SECOND):
        return Kind.DATETIME_TIME32
    if start == Field.HOUR and end > Field.SECOND:
        return Kind.DATETIME_TIME64
    return Kind.DATETIME_TEXT


def timestamp_unit(qualifier: Qualifier) -> Literal["s", "ms", "us"]:
    """Arrow unit of a DATETIME YEAR TO something: the coarsest that holds all its digits."""
    if qualifier.fraction_digits == 0:
        return "s"
    return "ms" if qualifier.fraction_digits <= 3 else "us"


@lru_cache(maxsize=1024)
def arrow_type(ct: ColumnType, options: TypeOptions = DEFAULT_OPTIONS) -> Any:
    """The Arrow type of a column under ``options``; errors as :func:`plan_op`."""
    return arrow_type_of_op(plan_op(ct, options))


TEXT_KINDS = frozenset({Kind.CHAR, Kind.VARCHAR, Kind.LVARCHAR, Kind.CHANGE_LVARCHAR})
"""Kinds whose content is text in the connection's code set."""


def text_type(options: TypeOptions) -> Any:
    """The Arrow type in which users get text columns."""
    if options.encoding_errors == "binary":
        plain, large, view = pa.binary(), pa.large_binary(), pa.binary_view()
    else:
        plain, large, view = pa.utf8(), pa.large_utf8(), pa.string_view()
    kinds = {"utf8": plain, "large": large, "view": view, "dictionary": pa.dictionary(pa.int32(), plain)}
    return kinds[options.strings]


def json_type(options: TypeOptions) -> Any:
    """The Arrow type in which users get JSON. Raises ``NotSupportedError`` if pyarrow has no JSON type."""
    if options.json == "text":
        return text_type(options)
    if options.encoding_errors == "binary":
        return text_type(options)  # bytes that nobody has checked are not JSON
    if not hasattr(pa, "json_"):
        raise NotSupportedError(
            f'pyarrow {pa.__version__} has no JSON type. Update pyarrow, or use json="text".'
        )
    storage = {"large": pa.large_utf8(), "view": pa.string_view()}.get(options.strings, pa.utf8())
    return pa.json_(storage)


def arrow_type_of_op(op: PlanOp) -> Any:
    """The Arrow type that the C codecs put beside one op; what users get may be made of it afterwards."""
    simple = _ARROW.get(op.kind)
    if simple is not None:
        return simple
    if op.kind in TEXT_KINDS:
        if op.flags & FLAG_RAW:
            return pa.large_binary() if op.flags & FLAG_LARGE else pa.binary()
        return pa.large_utf8() if op.flags & FLAG_LARGE else pa.utf8()
    if op.kind == Kind.OPAQUE:
        return pa.large_binary() if op.flags & FLAG_LARGE else pa.binary()
    if op.kind == Kind.LOB:
        return pa.binary(op.width)
    if op.kind == Kind.DECIMAL128:
        return pa.decimal128(op.arg >> 8, op.arg & 0xFF)
    return pa.timestamp(timestamp_unit(Qualifier.from_encoded(op.arg)))


_ARROW: dict[Kind, Any] = {
    Kind.INT16: pa.int16(),
    Kind.INT32: pa.int32(),
    Kind.INT64: pa.int64(),
    Kind.INT8: pa.int64(),
    Kind.FLOAT32: pa.float32(),
    Kind.FLOAT64: pa.float64(),
    Kind.DATE: pa.date32(),
    Kind.BOOL: pa.bool_(),
    Kind.CHANGE_BOOL: pa.bool_(),
    Kind.DECIMAL_FLOAT64: pa.float64(),
    Kind.DECIMAL_STRING: pa.utf8(),
    Kind.DATETIME_DATE32: pa.date32(),
    Kind.DATETIME_TIME32: pa.time32("s"),
    Kind.DATETIME_TIME64: pa.time64("us"),
    Kind.DATETIME_TEXT: pa.utf8(),
    Kind.INTERVAL_MONTHS: pa.int32(),
    Kind.INTERVAL_DURATION: pa.duration("us"),
    Kind.INTERVAL_MDN: pa.month_day_nano_interval(),
    Kind.DECIMAL_INT64: pa.int64(),
}
