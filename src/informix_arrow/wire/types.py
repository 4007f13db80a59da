"""Column types as DESCRIBE reports them (SQLI section 8, TYPES section 2), and conversions from and to declared
types: ``DATETIME YEAR TO SECOND``, ``character varying (20, 5) not null``, ``SET(ROW(a INTEGER, b VARCHAR(20)) NOT
NULL)``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from .errors import ProtocolError
from .qualifiers import Qualifier
from .type_codes import (
    CHAR_TYPES,
    COLLECTION_TYPES,
    COMPLEX_CODES,
    DECIMAL_TYPES,
    DOCUMENT_LENGTH,
    ENVELOPE_MIN,
    FIXED_TYPES,
    FLAG_CLIENT_COLLECTION,
    FLAG_DISTINCT,
    FLAG_DISTINCT_BOOLEAN,
    FLAG_DISTINCT_LVARCHAR,
    FLAG_HOST_VARIABLE,
    FLAG_NAMED_ROW,
    FLAG_NOT_NULL,
    FLOATING_SCALE,
    LOCATOR_SIZE,
    LVARCHAR_MAX,
    VARCHAR_TYPES,
    ExtendedId,
    TypeCode,
    has_type_name,
)
from .type_names import is_name, kind_and_members, name_and_type, without_not_null, word_and_sizes

__all__ = [
    "COMPLEX_CODES",
    "ENVELOPE_MIN",
    "FLAG_CLIENT_COLLECTION",
    "FLAG_DISTINCT",
    "FLAG_DISTINCT_BOOLEAN",
    "FLAG_DISTINCT_LVARCHAR",
    "FLAG_HOST_VARIABLE",
    "FLAG_NAMED_ROW",
    "FLAG_NOT_NULL",
    "LOCATOR_SIZE",
    "LVARCHAR_MAX",
    "ColumnType",
    "Definition",
    "ExtendedId",
    "NamedType",
    "TypeCode",
    "has_type_name",
    "parse_definition",
]

_SMART_OBJECT_CODES = frozenset(
    (TypeCode.UDTFIXED, TypeCode.SENDRECV)
)  # BLOB and CLOB use these codes, and other types too


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A type as DESCRIBE reports it: code and flags of the type word, encoded length and the extended type's name.

    ``encoded_length`` is the number on the wire: bytes of CHAR, ``reserve << 8 | maximum`` of VARCHAR, ``precision
    << 8 | scale`` of DECIMAL, the qualifier of DATETIME and INTERVAL.
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
        """The type word: code and flags together."""
        return self.code | self.flags

    @property
    def not_null(self) -> bool:
        """True if declared NOT NULL."""
        return bool(self.flags & FLAG_NOT_NULL)

    @property
    def precision(self) -> int | None:
        """Number of decimal digits of DECIMAL and MONEY. None for other types."""
        return (self.encoded_length >> 8) & 0xFF if self.code in DECIMAL_TYPES else None

    @property
    def scale(self) -> int | None:
        """Number of digits after the point of DECIMAL and MONEY. None for floating ones and other types."""
        if self.code not in DECIMAL_TYPES or self.encoded_length & 0xFF == FLOATING_SCALE:
            return None
        return self.encoded_length & 0xFF

    @property
    def qualifier(self) -> Qualifier | None:
        """Fields of DATETIME and INTERVAL. None for other types. Raises ``ValueError`` for an impossible code."""
        if self.code in (TypeCode.DATETIME, TypeCode.INTERVAL):
            return Qualifier.from_encoded(self.encoded_length)
        return None

    @property
    def is_boolean(self) -> bool:
        """True for BOOLEAN in any of its forms: 41 by name or id, 45, or distinct of it."""
        if self.code == TypeCode.BOOL or self.flags & FLAG_DISTINCT_BOOLEAN:
            return True
        return self.code == TypeCode.UDTFIXED and (
            self.extended_id == ExtendedId.BOOLEAN or self.type_name == "boolean"
        )

    @property
    def is_lvarchar(self) -> bool:
        """True for LVARCHAR in any of its forms: 40 by name or id, 43, or distinct of it."""
        if self.code == TypeCode.LVARCHAR or self.flags & FLAG_DISTINCT_LVARCHAR:
            return True
        return self.code == TypeCode.UDTVAR and (
            self.extended_id == ExtendedId.LVARCHAR or self.type_name == "lvarchar"
        )

    @property
    def type_name(self) -> str:
        """The extended type's name in the form for comparisons: lower case, without blanks around it."""
        return self.extended_name.strip().lower()

    @property
    def is_blob(self) -> bool:
        """True for BLOB by name or id, or distinct of it."""
        return self._is_smart_object("blob", ExtendedId.BLOB)

    @property
    def is_clob(self) -> bool:
        """True for CLOB by name or id, or distinct of it."""
        return self._is_smart_object("clob", ExtendedId.CLOB)

    def _is_smart_object(self, name: str, extended_id: int) -> bool:
        if self.code not in _SMART_OBJECT_CODES:
            return False
        if self.flags & FLAG_DISTINCT and self.source_type == extended_id:
            return True
        return self.type_name == name or self.extended_id == extended_id

    @property
    def is_large_object(self) -> bool:
        """True for BYTE, TEXT, BLOB and CLOB. The tuple has a descriptor or locator, and the content is sent
        separately."""
        if self.code in _SMART_OBJECT_CODES:
            return self.is_blob or self.is_clob
        return self.code in (TypeCode.BYTE, TypeCode.TEXT)

    @property
    def is_json(self) -> bool:
        """True for JSON by name or id, or distinct of it. The content is text."""
        return self.code == TypeCode.UDTVAR and self._is_document("json", ExtendedId.JSON)

    @property
    def is_bson(self) -> bool:
        """True for BSON by name or id, or distinct of it. The content is the bytes of a document."""
        return self.code == TypeCode.UDTVAR and self._is_document("bson", ExtendedId.BSON)

    def _is_document(self, name: str, extended_id: int) -> bool:
        if self.flags & FLAG_DISTINCT and self.source_type == extended_id:
            return True
        return self.type_name == name or (not self.extended_name and self.extended_id == extended_id)

    @property
    def is_floating_decimal(self) -> bool:
        """True for DECIMAL without a scale."""
        return self.code == TypeCode.DECIMAL and self.scale is None

    @property
    def is_complex(self) -> bool:
        """True for collections and ROWs."""
        return self.code in COMPLEX_CODES

    @property
    def source(self) -> ColumnType | None:
        """The source type of a DISTINCT type. None for other types.

        Of an opaque source only code, length and id are known, and of a collection not even its members.
        """
        if not self.flags & FLAG_DISTINCT:
            return None
        flags = self.flags & ~(FLAG_DISTINCT | FLAG_DISTINCT_LVARCHAR | FLAG_DISTINCT_BOOLEAN)
        if self.is_boolean:
            return replace(ColumnType.boolean(), flags=flags)
        if self.is_lvarchar:
            return replace(ColumnType.lvarchar(self.content_width), flags=flags)
        if self.is_blob or self.is_clob:
            return replace(ColumnType.blob() if self.is_blob else ColumnType.clob(), flags=flags)
        if self.is_json or self.is_bson:
            return replace(ColumnType.json() if self.is_json else ColumnType.bson(), flags=flags)
        return ColumnType(self.code, self.encoded_length, flags, self.source_type)

    @property
    def width(self) -> int | None:
        """Number of bytes in a tuple. None if it varies by value."""
        fixed = FIXED_TYPES.get(self.code)
        if fixed is not None:
            return fixed[2]
        if self.code in CHAR_TYPES:
            return self.encoded_length
        if self.code in DECIMAL_TYPES or self.code in (TypeCode.DATETIME, TypeCode.INTERVAL):
            # Precision and scale, or digits and end field. The parity of the low byte decides on the last pair.
            return ((self.encoded_length >> 8 & 0xFF) + (self.encoded_length & 1) + 3) // 2
        return None

    @property
    def content_width(self) -> int:
        """Maximum bytes of the content of a character type, without a length prefix. 0 for other types."""
        if self.code in CHAR_TYPES:
            return self.encoded_length
        if self.code in VARCHAR_TYPES:
            return self.encoded_length & 0xFF or 255
        if self.is_lvarchar:
            return self.encoded_length if 0 < self.encoded_length <= 0x7FFF else LVARCHAR_MAX
        if self.is_complex or self.is_json:
            return max(self.encoded_length, ENVELOPE_MIN)
        return 0

    @property
    def max_width(self) -> int:
        """Maximum bytes of a value in a tuple."""
        width = self.width
        if width is not None:
            return width
        if self.code in VARCHAR_TYPES:
            return 1 + self.content_width
        if self.is_boolean:
            return 6
        if self.is_lvarchar:
            return 5 + self.content_width
        if self.code == TypeCode.NULL:
            return 0
        if self.is_blob or self.is_clob:
            return 5 + 2 * LOCATOR_SIZE  # as hexadecimal text
        return 5 + max(self.encoded_length, ENVELOPE_MIN)

    @property
    def sql(self) -> str:
        """The declared type, which :meth:`parse_sql` parses: ``DECIMAL(8,2)``, ``SET(INTEGER NOT NULL)``,
        ``SERIAL``.

        DISTINCT types and named ROWs are given by their name.
        """
        return _declared(self)

    # ---- constructors
    # -------------------------------------------------------------------------------------------

    @classmethod
    def _fixed(cls, code: TypeCode, not_null: bool = False) -> ColumnType:
        return cls(code.value, FIXED_TYPES[code][1], FLAG_NOT_NULL if not_null else 0)

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
            raise ValueError(f"{code.name}({n}): The length must be 1 to 32767.")
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
            raise ValueError(
                f"{code.name}({m},{r}): The maximum must be 1 to 255, and the reserve at most the maximum."
            )
        return cls(code.value, r << 8 | m, FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def lvarchar(cls, n: int = 2048, *, not_null: bool = False) -> ColumnType:
        """LVARCHAR(n): 1..32739 bytes, 2048 by default."""
        if not 1 <= n <= LVARCHAR_MAX:
            raise ValueError(f"LVARCHAR({n}): The length must be 1 to {LVARCHAR_MAX}.")
        flags = FLAG_NOT_NULL if not_null else 0
        return cls(TypeCode.UDTVAR.value, n, flags, ExtendedId.LVARCHAR.value, "informix", "lvarchar")

    @classmethod
    def boolean(cls, *, not_null: bool = False) -> ColumnType:
        """BOOLEAN."""
        flags = FLAG_NOT_NULL if not_null else 0
        return cls(TypeCode.UDTFIXED.value, 1, flags, ExtendedId.BOOLEAN.value, "informix", "boolean")

    @classmethod
    def blob(cls, *, not_null: bool = False) -> ColumnType:
        """BLOB (smart large object)."""
        return cls._smart_object(ExtendedId.BLOB, "blob", not_null)

    @classmethod
    def clob(cls, *, not_null: bool = False) -> ColumnType:
        """CLOB (smart large object)."""
        return cls._smart_object(ExtendedId.CLOB, "clob", not_null)

    @classmethod
    def _smart_object(cls, extended_id: int, name: str, not_null: bool) -> ColumnType:
        flags = FLAG_NOT_NULL if not_null else 0
        return cls(TypeCode.UDTFIXED.value, LOCATOR_SIZE, flags, int(extended_id), "informix", name)

    @classmethod
    def json(cls, *, not_null: bool = False) -> ColumnType:
        """JSON."""
        return cls._document(ExtendedId.JSON, "json", not_null)

    @classmethod
    def bson(cls, *, not_null: bool = False) -> ColumnType:
        """BSON."""
        return cls._document(ExtendedId.BSON, "bson", not_null)

    @classmethod
    def _document(cls, extended_id: int, name: str, not_null: bool) -> ColumnType:
        flags = FLAG_NOT_NULL if not_null else 0
        return cls(TypeCode.UDTVAR.value, DOCUMENT_LENGTH, flags, int(extended_id), "informix", name)

    @classmethod
    def named_row(
        cls, name: str, extended_id: int = 0, owner: str = "", *, not_null: bool = False
    ) -> ColumnType:
        """A column of a named ROW type. DESCRIBE reports its name and not its fields."""
        flags = FLAG_NAMED_ROW | (FLAG_NOT_NULL if not_null else 0)
        return cls(TypeCode.ROW.value, 0, flags, extended_id, owner, name)

    @classmethod
    def distinct(
        cls, name: str, source: ColumnType, extended_id: int = 0, owner: str = "", *, not_null: bool = False
    ) -> ColumnType:
        """A DISTINCT type of ``source``: its code and length, flagged, with the new type's name."""
        flags = source.flags & ~FLAG_NOT_NULL | FLAG_DISTINCT | (FLAG_NOT_NULL if not_null else 0)
        if source.is_boolean:
            flags |= FLAG_DISTINCT_BOOLEAN
        elif source.is_lvarchar:
            flags |= FLAG_DISTINCT_LVARCHAR
        return cls(source.code, source.encoded_length, flags, extended_id, owner, name, source.extended_id)

    @classmethod
    def decimal(cls, p: int = 16, s: int | None = None, *, not_null: bool = False) -> ColumnType:
        """DECIMAL(p,s), or floating DECIMAL(p) when ``s`` is None."""
        return cls._decimal(TypeCode.DECIMAL, p, s, not_null)

    @classmethod
    def money(cls, p: int = 16, s: int = 2, *, not_null: bool = False) -> ColumnType:
        """MONEY(p,s), MONEY(16,2) by default."""
        return cls._decimal(TypeCode.MONEY, p, s, not_null)

    @classmethod
    def _decimal(cls, code: TypeCode, p: int, s: int | None, not_null: bool) -> ColumnType:
        if not 1 <= p <= 32 or (s is not None and not 0 <= s <= p):
            raise ValueError(
                f"{code.name}({p},{s}): The precision must be 1 to 32, and the scale 0 to the precision."
            )
        return cls(
            code.value, p << 8 | (FLOATING_SCALE if s is None else s), FLAG_NOT_NULL if not_null else 0
        )

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
        qualifier = Qualifier.parse(text, interval=True)
        if not qualifier.is_interval:
            raise ValueError(
                f"INTERVAL {text.strip()}: Years and months cannot be combined with days and times."
            )
        return cls(TypeCode.INTERVAL.value, qualifier.encoded, FLAG_NOT_NULL if not_null else 0)

    @classmethod
    def parse_sql(cls, text: str) -> ColumnType:
        """Parse a declared type in any case and spacing, with an optional NOT NULL after it.

        Raises ``ValueError`` for a text that is not an Informix type or has invalid sizes.
        """
        return _parse_type(text)


# ---- declared types as text --------------------------------------------------------------------------------------

_PLAIN: dict[str, Callable[[], ColumnType]] = {
    **{name: partial(ColumnType._fixed, TypeCode(code)) for code, (name, _, _) in FIXED_TYPES.items()},
    "INT": ColumnType.integer,
    "REAL": ColumnType.smallfloat,
    "BOOLEAN": ColumnType.boolean,
    "BLOB": ColumnType.blob,
    "CLOB": ColumnType.clob,
    "JSON": ColumnType.json,
    "BSON": ColumnType.bson,
}
# These types take a number that the type word does not have: a serial's first value, the obsolete digits of FLOAT(n).
_NUMBER_IGNORED: dict[str, Callable[[], ColumnType]] = {
    "SERIAL": ColumnType.serial,
    "SERIAL8": ColumnType.serial8,
    "BIGSERIAL": ColumnType.bigserial,
    "FLOAT": ColumnType.float_,
    "DOUBLE PRECISION": ColumnType.float_,
}
_SIZED: dict[str, Callable[..., ColumnType]] = {
    "CHAR": ColumnType.char,
    "CHARACTER": ColumnType.char,
    "NCHAR": ColumnType.nchar,
    "NATIONAL CHAR": ColumnType.nchar,
    "NATIONAL CHARACTER": ColumnType.nchar,
    "LVARCHAR": ColumnType.lvarchar,
}
_TWO_SIZES: dict[str, Callable[..., ColumnType]] = {
    "VARCHAR": ColumnType.varchar,
    "CHAR VARYING": ColumnType.varchar,
    "CHARACTER VARYING": ColumnType.varchar,
    "NVARCHAR": ColumnType.nvarchar,
    "NCHAR VARYING": ColumnType.nvarchar,
    "NATIONAL CHAR VARYING": ColumnType.nvarchar,
    "NATIONAL CHARACTER VARYING": ColumnType.nvarchar,
    "DECIMAL": ColumnType.decimal,
    "DEC": ColumnType.decimal,
    "NUMERIC": ColumnType.decimal,
    "MONEY": ColumnType.money,
}
_COMPLEX_CODES = {
    "SET": TypeCode.SET,
    "MULTISET": TypeCode.MULTISET,
    "LIST": TypeCode.LIST,
    "COLLECTION": TypeCode.COLLECTION,
    "ROW": TypeCode.ROW,
}


@dataclass(frozen=True, slots=True)
class NamedType:
    """A type known only by name: DISTINCT, named ROW or opaque, inside a definition."""

    name: str
    not_null: bool = False

    @property
    def sql(self) -> str:
        """The name of the type."""
        return self.name


Member = ColumnType | NamedType


@dataclass(frozen=True, slots=True)
class Definition:
    """The member types of a collection or an unnamed ROW.

    ``kind`` is SET, MULTISET, LIST, COLLECTION or ROW. ``members`` has the element's type under the name "", or
    the ROW's fields in their order.
    """

    kind: str
    members: tuple[tuple[str, Member], ...]

    @property
    def is_row(self) -> bool:
        """True for a ROW, False for a collection."""
        return self.kind == "ROW"

    @property
    def element(self) -> Member:
        """The element type of a collection."""
        return self.members[0][1]

    @property
    def sql(self) -> str:
        """``SET(INTEGER NOT NULL)``, ``ROW(name VARCHAR(20), age INTEGER)``."""
        parts = []
        for name, member in self.members:
            text = f"{name} {member.sql}" if name else member.sql
            parts.append(f"{text} NOT NULL" if member.not_null else text)
        return f"{self.kind}({', '.join(parts)})"


def _parse_type(text: str) -> ColumnType:
    """Implement :meth:`ColumnType.parse_sql`."""
    body, not_null = without_not_null(text)
    ct = _parse(body, text)
    return replace(ct, flags=ct.flags | FLAG_NOT_NULL) if not_null else ct


def _parse(body: str, text: str) -> ColumnType:
    if kind_and_members(body) is not None:
        definition = parse_definition(body)
        return ColumnType(_COMPLEX_CODES[definition.kind].value, 0, extended_name=definition.sql)
    body = " ".join(body.split())
    first, _, rest = body.partition(" ")
    if first.upper() == "DATETIME":
        return ColumnType.datetime(rest)
    if first.upper() == "INTERVAL":
        return ColumnType.interval(rest)
    words = word_and_sizes(body)
    if words is None:
        raise ValueError(f"{text!r} is not an Informix type.")
    name, sizes = words
    if name in _PLAIN and not sizes:
        return _PLAIN[name]()
    if name in _NUMBER_IGNORED and len(sizes) <= 1:
        return _NUMBER_IGNORED[name]()
    if name in _SIZED and len(sizes) <= 1:
        return _SIZED[name](*sizes)
    if name in _TWO_SIZES:
        return _TWO_SIZES[name](*sizes)
    raise ValueError(f"{text!r} is not an Informix type.")


_OPAQUE_CODES = (TypeCode.UDTVAR, TypeCode.UDTFIXED, TypeCode.SENDRECV)


def _declared(ct: ColumnType) -> str:
    """Implement :attr:`ColumnType.sql`."""
    code = ct.code
    if ct.flags & FLAG_DISTINCT and ct.extended_name:
        return ct.extended_name
    if code in FIXED_TYPES:
        return FIXED_TYPES[code][0]
    if code in CHAR_TYPES:
        return f"{CHAR_TYPES[TypeCode(code)]}({ct.encoded_length})"
    if code in VARCHAR_TYPES:
        name, reserve = VARCHAR_TYPES[TypeCode(code)], ct.encoded_length >> 8 & 0xFF
        return f"{name}({ct.content_width},{reserve})" if reserve else f"{name}({ct.content_width})"
    if code in DECIMAL_TYPES:
        scale = "" if ct.scale is None else f",{ct.scale}"
        return f"{DECIMAL_TYPES[TypeCode(code)]}({ct.precision}{scale})"
    if code in (TypeCode.DATETIME, TypeCode.INTERVAL):
        try:
            qualifier = Qualifier.from_encoded(ct.encoded_length)
        except ValueError:  # a peer described an impossible type, which must still be shown
            return f"{TypeCode(code).name} of length {ct.encoded_length}"
        return (
            f"DATETIME {qualifier.sql}" if code == TypeCode.DATETIME else f"INTERVAL {qualifier.interval_sql}"
        )
    if ct.is_boolean:
        return "BOOLEAN"
    if ct.is_lvarchar:
        return f"LVARCHAR({ct.content_width})"
    if ct.is_blob or ct.is_clob:
        return "BLOB" if ct.is_blob else "CLOB"
    if ct.is_json or ct.is_bson:
        return "JSON" if ct.is_json else "BSON"
    if code in _OPAQUE_CODES and ct.extended_name:
        return ct.extended_name
    if ct.is_complex:
        return _declared_complex(ct)
    return "NULL" if code == TypeCode.NULL else f"type {code}"


def _declared_complex(ct: ColumnType) -> str:
    """Return the definition in its usual spelling. A name, or a text that cannot be parsed, is returned unchanged."""
    if not ct.extended_name:
        return COLLECTION_TYPES[TypeCode(ct.code)]
    if ct.flags & FLAG_NAMED_ROW:
        return ct.extended_name
    try:
        return parse_definition(ct.extended_name).sql
    except ValueError:
        return ct.extended_name


def described_qualifier(ct: ColumnType) -> Qualifier | None:
    """Return the qualifier of a type that the peer described. Raises ``ProtocolError`` for an impossible one."""
    try:
        return ct.qualifier
    except ValueError as e:
        raise ProtocolError(
            f"The server described a parameter of type {TypeCode(ct.code).name} that is not valid. {e}"
        ) from None


@lru_cache(maxsize=1024)
def parse_definition(text: str) -> Definition:
    """Parse the definition of a collection or an unnamed ROW in any case and spacing (SQLI section 8).

    Raises ``ValueError`` for any other text. A word that is not a built-in type is taken as the name of another
    type.
    """
    definition = kind_and_members(text)
    if definition is None:
        raise ValueError(f"{text!r} is not the definition of a collection or ROW.")
    kind, parts = definition
    if kind != "ROW":
        if len(parts) != 1:
            raise ValueError(f"A collection must have one element type: {text!r}.")
        return Definition(kind, (("", _member(parts[0], text)),))
    members = []
    for part in parts:
        pair = name_and_type(part)
        if pair is None:
            raise ValueError(f"{part.strip()!r} in {text!r} is not a field of a ROW.")
        members.append((pair[0], _member(pair[1], text)))
    return Definition(kind, tuple(members))


def _member(text: str, definition: str) -> Member:
    try:
        return _parse_type(text)
    except ValueError:
        name, not_null = without_not_null(text)
        if not is_name(name) or name.upper() in _BUILTIN_WORDS:
            raise ValueError(f"{text.strip()!r} in {definition!r} is not an Informix type.") from None
        return NamedType("".join(name.split()), not_null)


_BUILTIN_WORDS = frozenset(
    {*_PLAIN, *_NUMBER_IGNORED, *_SIZED, *_TWO_SIZES, *_COMPLEX_CODES, "DATETIME", "INTERVAL"}
)
