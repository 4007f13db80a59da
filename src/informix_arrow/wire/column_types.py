"""Type codes and column types as DESCRIBE tells them (SQLI section 8, TYPES section 2)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from .qualifiers import Qualifier


class TypeCode(IntEnum):
    """Low byte of the type word."""

    CHAR = 0
    SMALLINT = 1
    INTEGER = 2
    FLOAT = 3
    SMALLFLOAT = 4
    DECIMAL = 5
    SERIAL = 6
    DATE = 7
    MONEY = 8
    NULL = 9
    DATETIME = 10
    BYTE = 11
    TEXT = 12
    VARCHAR = 13
    INTERVAL = 14
    NCHAR = 15
    NVARCHAR = 16
    INT8 = 17
    SERIAL8 = 18
    SET = 19
    MULTISET = 20
    LIST = 21
    ROW = 22
    COLLECTION = 23
    UDTVAR = 40
    UDTFIXED = 41
    LVARCHAR = 43
    SENDRECV = 44
    BOOL = 45
    BIGINT = 52
    BIGSERIAL = 53


# Flags in the high byte of the type word (SQLI section 8).
FLAG_NOT_NULL = 0x0100
FLAG_HOST_VARIABLE = 0x0200
FLAG_DISTINCT = 0x0800
FLAG_NAMED_ROW = 0x1000
FLAG_DISTINCT_LVARCHAR = 0x2000
FLAG_DISTINCT_BOOLEAN = 0x4000
FLAG_CLIENT_COLLECTION = 0x8000

LVARCHAR_MAX = 32739
_LVARCHAR_ID = 1
_BOOLEAN_ID = 5
_FLOATING = 255


def has_type_name(code: int) -> bool:
    """Whether BIND and RET_TYPE carry owner and type name after this type word: above 18, but not 52 and
    53."""
    low = code & 0xFF
    return low > TypeCode.SERIAL8 and low not in (TypeCode.BIGINT, TypeCode.BIGSERIAL)


_FIXED: dict[int, tuple[str, int, int]] = {  # code -> (SQL name, encoded length, tuple bytes)
    TypeCode.SMALLINT: ("SMALLINT", 2, 2),
    TypeCode.INTEGER: ("INTEGER", 4, 4),
    TypeCode.FLOAT: ("FLOAT", 8, 8),
    TypeCode.SMALLFLOAT: ("SMALLFLOAT", 4, 4),
    TypeCode.SERIAL: ("SERIAL", 4, 4),
    TypeCode.DATE: ("DATE", 4, 4),
    TypeCode.INT8: ("INT8", 10, 10),
    TypeCode.SERIAL8: ("SERIAL8", 10, 10),
    TypeCode.BIGINT: ("BIGINT", 8, 8),
    TypeCode.BIGSERIAL: ("BIGSERIAL", 8, 8),
    TypeCode.BYTE: ("BYTE", 56, 56),
    TypeCode.TEXT: ("TEXT", 56, 56),
}
_COLLECTIONS = {
    TypeCode.SET: "SET",
    TypeCode.MULTISET: "MULTISET",
    TypeCode.LIST: "LIST",
    TypeCode.ROW: "ROW",
    TypeCode.COLLECTION: "COLLECTION",
}
_CHARS = {TypeCode.CHAR: "CHAR", TypeCode.NCHAR: "NCHAR"}
_VARCHARS = {TypeCode.VARCHAR: "VARCHAR", TypeCode.NVARCHAR: "NVARCHAR"}
_DECIMALS = {TypeCode.DECIMAL: "DECIMAL", TypeCode.MONEY: "MONEY"}


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type as DESCRIBE tells it: type word (code and flags apart), encoded length and the extended type's
    name.

    ``encoded_length`` is the number on the wire: bytes of CHAR, ``reserve << 8 | maximum`` of VARCHAR,
    ``precision << 8 | scale`` of DECIMAL, the qualifier of DATETIME and INTERVAL.
    """

    code: int
    encoded_length: int
    flags: int = 0
    extended_id: int = 0
    owner: str = ""
    extended_name: str = ""
    source_type: int = 0

    @classmethod
    def from_word(
        cls,
        word: int,
        encoded_length: int,
        extended_id: int = 0,
        owner: str = "",
        extended_name: str = "",
        source_type: int = 0,
    ) -> ColumnType:
        """Split a type word into code and flags."""
        word &= 0xFFFF
        return cls(word & 0xFF, encoded_length, word & 0xFF00, extended_id, owner, extended_name, source_type)

    @property
    def word(self) -> int:
        """Code and flags together, as they travel."""
        return self.code | self.flags

    @property
    def not_null(self) -> bool:
        """Declared NOT NULL."""
        return bool(self.flags & FLAG_NOT_NULL)

    @property
    def precision(self) -> int | None:
        """Decimal digits of DECIMAL and MONEY, else None."""
        return (self.encoded_length >> 8) & 0xFF if self.code in _DECIMALS else None

    @property
    def scale(self) -> int | None:
        """Digits after the point of DECIMAL and MONEY; None when the column is floating or no decimal."""
        if self.code not in _DECIMALS or self.encoded_length & 0xFF == _FLOATING:
            return None
        return self.encoded_length & 0xFF

    @property
    def qualifier(self) -> Qualifier | None:
        """Fields of DATETIME and INTERVAL, else None. ``ValueError`` for an impossible code."""
        if self.code in (TypeCode.DATETIME, TypeCode.INTERVAL):
            return Qualifier.from_encoded(self.encoded_length)
        return None

    @property
    def is_boolean(self) -> bool:
        """BOOLEAN in any of its forms: 41 by name or id, 45, or distinct of it."""
        if self.code == TypeCode.BOOL or self.flags & FLAG_DISTINCT_BOOLEAN:
            return True
        return self.code == TypeCode.UDTFIXED and (
            self.extended_id == _BOOLEAN_ID or self.extended_name == "boolean"
        )

    @property
    def is_lvarchar(self) -> bool:
        """LVARCHAR in any of its forms: 40 by name or id, 43, or distinct of it."""
        if self.code == TypeCode.LVARCHAR or self.flags & FLAG_DISTINCT_LVARCHAR:
            return True
        return self.code == TypeCode.UDTVAR and (
            self.extended_id == _LVARCHAR_ID or self.extended_name == "lvarchar"
        )

    @property
    def width(self) -> int | None:
        """Bytes in a tuple; None when they vary by value."""
        fixed = _FIXED.get(self.code)
        if fixed is not None:
            return fixed[2]
        if self.code in _CHARS:
            return self.encoded_length
        if self.code in _DECIMALS or self.code in (TypeCode.DATETIME, TypeCode.INTERVAL):
            # precision and scale, or digits and end field: the parity of the low byte decides the last pair
            return ((self.encoded_length >> 8 & 0xFF) + (self.encoded_length & 1) + 3) // 2
        return None

    @property
    def content_width(self) -> int:
        """Longest content of a character type in bytes, without a length prefix; 0 for other types."""
        if self.code in _CHARS:
            return self.encoded_length
        if self.code in _VARCHARS:
            return self.encoded_length & 0xFF or 255
        if self.is_lvarchar:
            return self.encoded_length if 0 < self.encoded_length <= 0x7FFF else LVARCHAR_MAX
        return 0

    @property
    def max_width(self) -> int:
        """Most bytes that a value takes in a tuple."""
        width = self.width
        if width is not None:
            return width
        if self.code in _VARCHARS:
            return 1 + self.content_width
        if self.is_boolean:
            return 6
        if self.is_lvarchar:
            return 5 + self.content_width
        if self.code == TypeCode.NULL:
            return 0
        if self.code == TypeCode.UDTFIXED:
            return 5 + 2 * self.encoded_length  # a LOB locator travels as hexadecimal text (TYPES section 13)
        return 5 + max(self.encoded_length, 0)

    @property
    def sql(self) -> str:
        """The declared type: ``DECIMAL(8,2)``, ``DATETIME YEAR TO SECOND``, ``VARCHAR(20)``, ``SERIAL``
        ..."""
        fixed = _FIXED.get(self.code)
        if self.flags & FLAG_DISTINCT and self.extended_name:
            return self.extended_name
        if fixed is not None:
            return fixed[0]
        if self.code in _CHARS:
            return f"{_CHARS[TypeCode(self.code)]}({self.encoded_length})"
        if self.code in _VARCHARS:
            name, reserve = _VARCHARS[TypeCode(self.code)], self.encoded_length >> 8 & 0xFF
            return f"{name}({self.content_width},{reserve})" if reserve else f"{name}({self.content_width})"
        if self.code in _DECIMALS:
            name = _DECIMALS[TypeCode(self.code)]
            return (
                f"{name}({self.precision})"
                if self.scale is None
                else f"{name}({self.precision},{self.scale})"
            )
        if self.code == TypeCode.DATETIME:
            return f"DATETIME {Qualifier.from_encoded(self.encoded_length).sql}"
        if self.code == TypeCode.INTERVAL:
            return f"INTERVAL {Qualifier.from_encoded(self.encoded_length).interval_sql}"
        if self.is_boolean:
            return "BOOLEAN"
        if self.is_lvarchar:
            return f"LVARCHAR({self.content_width})"
        if self.code in (TypeCode.UDTVAR, TypeCode.UDTFIXED, TypeCode.SENDRECV) and self.extended_name:
            builtin = {"blob", "clob", "json", "bson"}
            return self.extended_name.upper() if self.extended_name in builtin else self.extended_name
        if self.code in _COLLECTIONS:
            return self.extended_name or _COLLECTIONS[TypeCode(self.code)]
        if self.code == TypeCode.NULL:
            return "NULL"
        return f"type {self.code}"

    # ---- constructors
    # -------------------------------------------------------------------------------------------

    @classmethod
    def _fixed(cls, code: TypeCode, not_null: bool) -> ColumnType:
        return cls(code.value, _FIXED[code][1], FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def smallint(cls, *, not_null: bool = False) -> ColumnType:
        """SMALLINT."""
        return cls._fixed(TypeCode.SMALLINT, not_null)

    @classmethod
    def integer(cls, *, not_null: bool = False) -> ColumnType:
        """INTEGER."""
        return cls._fixed(TypeCode.INTEGER, not_null)

    @classmethod
    def bigint(cls, *, not_null: bool = False) -> ColumnType:
        """BIGINT."""
        return cls._fixed(TypeCode.BIGINT, not_null)

    @classmethod
    def int8(cls, *, not_null: bool = False) -> ColumnType:
        """INT8."""
        return cls._fixed(TypeCode.INT8, not_null)

    @classmethod
    def serial(cls, *, not_null: bool = False) -> ColumnType:
        """SERIAL."""
        return cls._fixed(TypeCode.SERIAL, not_null)

    @classmethod
    def serial8(cls, *, not_null: bool = False) -> ColumnType:
        """SERIAL8."""
        return cls._fixed(TypeCode.SERIAL8, not_null)

    @classmethod
    def bigserial(cls, *, not_null: bool = False) -> ColumnType:
        """BIGSERIAL."""
        return cls._fixed(TypeCode.BIGSERIAL, not_null)

    @classmethod
    def float_(cls, *, not_null: bool = False) -> ColumnType:
        """FLOAT (8 bytes)."""
        return cls._fixed(TypeCode.FLOAT, not_null)

    @classmethod
    def smallfloat(cls, *, not_null: bool = False) -> ColumnType:
        """SMALLFLOAT (4 bytes)."""
        return cls._fixed(TypeCode.SMALLFLOAT, not_null)

    @classmethod
    def date(cls, *, not_null: bool = False) -> ColumnType:
        """DATE."""
        return cls._fixed(TypeCode.DATE, not_null)

    @classmethod
    def byte(cls, *, not_null: bool = False) -> ColumnType:
        """BYTE (simple large object)."""
        return cls._fixed(TypeCode.BYTE, not_null)

    @classmethod
    def text(cls, *, not_null: bool = False) -> ColumnType:
        """TEXT (simple large object)."""
        return cls._fixed(TypeCode.TEXT, not_null)

    @classmethod
    def char(cls, n: int = 1, *, not_null: bool = False) -> ColumnType:
        """CHAR(n): 1..32767 bytes."""
        return cls._sized(TypeCode.CHAR, n, not_null)

    @classmethod
    def nchar(cls, n: int = 1, *, not_null: bool = False) -> ColumnType:
        """NCHAR(n): 1..32767 bytes."""
        return cls._sized(TypeCode.NCHAR, n, not_null)

    @classmethod
    def _sized(cls, code: TypeCode, n: int, not_null: bool) -> ColumnType:
        if not 1 <= n <= 32767:
            raise ValueError(f"{code.name}({n}): the length must be 1..32767")
        return cls(code.value, n, FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def varchar(cls, m: int = 255, r: int = 0, *, not_null: bool = False) -> ColumnType:
        """VARCHAR(m,r): at most m (1..255) bytes, r reserved."""
        return cls._varying(TypeCode.VARCHAR, m, r, not_null)

    @classmethod
    def nvarchar(cls, m: int = 255, r: int = 0, *, not_null: bool = False) -> ColumnType:
        """NVARCHAR(m,r)."""
        return cls._varying(TypeCode.NVARCHAR, m, r, not_null)

    @classmethod
    def _varying(cls, code: TypeCode, m: int, r: int, not_null: bool) -> ColumnType:
        if not (1 <= m <= 255 and 0 <= r <= m):
            raise ValueError(f"{code.name}({m},{r}): the maximum must be 1..255 and the reserve not above it")
        return cls(code.value, r << 8 | m, FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def lvarchar(cls, n: int = 2048, *, not_null: bool = False) -> ColumnType:
        """LVARCHAR(n): 1..32739 bytes; 2048 when not given."""
        if not 1 <= n <= LVARCHAR_MAX:
            raise ValueError(f"LVARCHAR({n}): the length must be 1..{LVARCHAR_MAX}")
        flags = FLAG_NOT_NULL if not_null else 0
        return cls(TypeCode.UDTVAR.value, n, flags, _LVARCHAR_ID, "informix", "lvarchar")

    @classmethod
    def boolean(cls, *, not_null: bool = False) -> ColumnType:
        """BOOLEAN."""
        flags = FLAG_NOT_NULL if not_null else 0
        return cls(TypeCode.UDTFIXED.value, 1, flags, _BOOLEAN_ID, "informix", "boolean")

    @classmethod
    def decimal(cls, p: int = 16, s: int | None = None, *, not_null: bool = False) -> ColumnType:
        """DECIMAL(p,s), or floating DECIMAL(p) when ``s`` is None."""
        return cls._decimal(TypeCode.DECIMAL, p, s, not_null)

    @classmethod
    def money(cls, p: int = 16, s: int = 2, *, not_null: bool = False) -> ColumnType:
        """MONEY(p,s); MONEY(16,2) when not given."""
        return cls._decimal(TypeCode.MONEY, p, s, not_null)

    @classmethod
    def _decimal(cls, code: TypeCode, p: int, s: int | None, not_null: bool) -> ColumnType:
        if not 1 <= p <= 32 or (s is not None and not 0 <= s <= p):
            raise ValueError(f"{code.name}({p},{s}): precision must be 1..32, scale 0..precision")
        return cls(code.value, p << 8 | (_FLOATING if s is None else s), FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def datetime(
        cls, start: str | int = "YEAR", end: str | int | None = None, *, not_null: bool = False
    ) -> ColumnType:
        """``datetime("YEAR", "FRACTION(3)")`` or ``datetime("YEAR TO FRACTION(3)")``."""
        if end is None:
            qualifier = Qualifier.parse(str(start))
        else:
            qualifier = Qualifier.datetime(start, end)
        return cls(TypeCode.DATETIME.value, qualifier.encoded, FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def interval(cls, text: str, *, not_null: bool = False) -> ColumnType:
        """``interval("DAY(3) TO SECOND")``."""
        encoded = Qualifier.parse(text, interval=True).encoded
        return cls(TypeCode.INTERVAL.value, encoded, FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def parse_sql(cls, text: str) -> ColumnType:
        """Read a declared type in any case and spacing, with an optional NOT NULL behind it.

        ``ValueError`` for what is no Informix type or has wrong sizes.
        """
        from .type_names import parse_type

        return parse_type(text)
