"""BSON documents: encoding, a check of their structure, and their JSON (bsonspec.org, version 1.1).

Informix's BSON columns hold such documents. Both ends of the wire need them: the client encodes a dict or a JSON text
for a BSON column, and the embedded server checks what it stores and shows it as JSON.

JSON has the *relaxed* form of MongoDB's Extended JSON, version 2: ``{"$oid": ..}`` for an ObjectId, ``{"$date": ..}``
for a time, and plain numbers.
"""

from __future__ import annotations

import base64
import binascii
import datetime as dt
import json
import math
import struct
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from .errors import DataError

MAX_DEPTH = 100
"""Levels of documents and arrays in one document, as in MongoDB."""

DOUBLE, STRING, DOCUMENT, ARRAY, BINARY, UNDEFINED, OBJECT_ID, BOOLEAN, DATE, NULL, REGEX = range(1, 12)
DB_POINTER, CODE, SYMBOL, CODE_WITH_SCOPE, INT32, TIMESTAMP, INT64, DECIMAL128 = range(12, 20)
MIN_KEY, MAX_KEY = 0xFF, 0x7F

_EPOCH = dt.datetime(1970, 1, 1)
_MILLISECOND = dt.timedelta(milliseconds=1)
_INT32, _UINT32, _INT64, _DOUBLE = (struct.Struct(form) for form in ("<i", "<I", "<q", "<d"))
_FIXED = {
    DOUBLE: 8,
    OBJECT_ID: 12,
    BOOLEAN: 1,
    DATE: 8,
    INT32: 4,
    TIMESTAMP: 8,
    INT64: 8,
    DECIMAL128: 16,
    UNDEFINED: 0,
    NULL: 0,
    MIN_KEY: 0,
    MAX_KEY: 0,
}


class Pairs(list[tuple[str, object]]):
    """The fields of a JSON object in their order. Unlike a dict, it keeps fields of the same name."""


@dataclass(frozen=True, slots=True)
class Element:
    """A field of a document: its type, its name and the bytes of its value."""

    type: int
    name: str
    data: bytes


# ---- to BSON ---------------------------------------------------------------------------------------------------------


def encode(document: Mapping[str, object]) -> bytes:
    """Encode a dict as a document.

    str, bool, None, int (64 bits), float, bytes, UUID, datetime (whole milliseconds, UTC if it has no zone), dicts,
    lists and tuples are encoded. Raises ``DataError`` for any other value.
    """
    return _document(document.items(), extended=False, depth=1)


def from_json(text: str) -> bytes:
    """Encode a JSON text, which must be an object, as a document. Extended JSON is understood.

    Raises ``DataError`` for a text that is not a JSON object.
    """
    try:
        value = json.loads(text, object_pairs_hook=Pairs, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DataError(f"The text is not JSON: {error}.") from None
    return from_value(value)


def from_value(value: object) -> bytes:
    """Encode a parsed JSON object, in which :class:`Pairs` stand for objects.

    Raises ``DataError`` for anything else.
    """
    if not isinstance(value, Pairs):
        raise DataError("The text is JSON, but not an object. A BSON document must be a JSON object.")
    return _document(value, extended=True, depth=1)


def _no_constant(word: str) -> object:
    raise ValueError(f"{word} is not a JSON value")


def _document(fields: Iterable[tuple[object, object]], *, extended: bool, depth: int) -> bytes:
    if depth > MAX_DEPTH:
        raise DataError(f"The document has more than {MAX_DEPTH} levels.")
    parts = []
    for name, value in fields:
        if not isinstance(name, str):
            raise DataError(f"A field of a BSON document is called {name!r}. Use a str as the name.")
        kind, data = _value(value, extended, depth)
        parts.append(bytes((kind,)) + _name(name) + data)
    body = b"".join(parts)
    return _INT32.pack(len(body) + 5) + body + b"\0"


def _name(name: str) -> bytes:
    if "\0" in name:
        raise DataError(f"The field name {name!r} has a NUL character, which ends names in BSON.")
    return _utf8(name) + b"\0"


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise DataError(
            f"{text[error.start]!r} is half of a surrogate pair, which BSON cannot store."
        ) from None


def _string(text: str) -> bytes:
    data = _utf8(text)
    return _INT32.pack(len(data) + 1) + data + b"\0"


def _value(value: object, extended: bool, depth: int) -> tuple[int, bytes]:
    if value is None:
        return NULL, b""
    if isinstance(value, str):
        return STRING, _string(value)
    if isinstance(value, bool):
        return BOOLEAN, bytes((value,))
    if isinstance(value, int):
        return _integer(value)
    if isinstance(value, float):
        return DOUBLE, _DOUBLE.pack(value)
    if isinstance(value, Pairs):
        special = _extended(value) if extended else None
        return special or (DOCUMENT, _document(value, extended=extended, depth=depth + 1))
    if isinstance(value, Mapping):
        return DOCUMENT, _document(value.items(), extended=extended, depth=depth + 1)
    if isinstance(value, bytes | bytearray | memoryview):
        return BINARY, _binary(bytes(value), 0)
    if isinstance(value, uuid.UUID):
        return BINARY, _binary(value.bytes, 4)
    if isinstance(value, dt.datetime):
        return DATE, _INT64.pack(_milliseconds(value))
    if isinstance(value, Sequence):
        numbered = ((str(i), item) for i, item in enumerate(value))
        return ARRAY, _document(numbered, extended=extended, depth=depth + 1)
    raise DataError(
        f"A value of type {type(value).__name__} cannot be stored in a BSON document. Convert it, or pass the bytes "
        "of the whole document, as of bson.encode()."
    )


def _integer(value: int) -> tuple[int, bytes]:
    if -(2**31) <= value < 2**31:
        return INT32, _INT32.pack(value)
    if -(2**63) <= value < 2**63:
        return INT64, _INT64.pack(value)
    raise DataError(f"The integer {value} has more than the 64 bits that a BSON document holds.")


def _binary(data: bytes, subtype: int) -> bytes:
    if subtype == 2:  # the obsolete form repeats the length
        data = _INT32.pack(len(data)) + data
    return _INT32.pack(len(data)) + bytes((subtype,)) + data


def _milliseconds(value: dt.datetime) -> int:
    if value.tzinfo is not None:
        value = value.astimezone(dt.timezone.utc).replace(tzinfo=None)
    if value.microsecond % 1000:
        raise DataError(
            f"{value} has microseconds, but a time in a BSON document has milliseconds. Round it first."
        )
    return (value - _EPOCH) // _MILLISECOND


def _extended(pairs: Pairs) -> tuple[int, bytes] | None:
    """Return the value that Extended JSON writes as this object; None for an ordinary object."""
    if not 1 <= len(pairs) <= 2 or not pairs[0][0].startswith("$"):
        return None
    fields = dict(pairs)
    if len(fields) != len(pairs):
        return None
    try:
        return _special(fields)
    except (ValueError, TypeError, KeyError, struct.error, OverflowError, binascii.Error) as error:
        raise DataError(f"{json.dumps(fields, default=str)} is not valid Extended JSON: {error}.") from None


def _special(fields: dict[str, object]) -> tuple[int, bytes] | None:
    names = frozenset(fields)
    if names == {"$oid"}:
        data = bytes.fromhex(str(fields["$oid"]))
        if len(data) != 12:
            raise ValueError("an ObjectId must have 24 hexadecimal digits")
        return OBJECT_ID, data
    if names == {"$date"}:
        return DATE, _INT64.pack(_date(fields["$date"]))
    if names == {"$numberLong"}:
        return INT64, _INT64.pack(int(str(fields["$numberLong"])))
    if names == {"$numberInt"}:
        return INT32, _INT32.pack(int(str(fields["$numberInt"])))
    if names == {"$numberDouble"}:
        return DOUBLE, _DOUBLE.pack(float(str(fields["$numberDouble"])))
    if names == {"$binary"} and isinstance(fields["$binary"], Pairs):
        inner = dict(fields["$binary"])
        return _base64(inner["base64"], inner["subType"]) if inner.keys() == {"base64", "subType"} else None
    if names == {"$binary", "$type"}:
        return _base64(fields["$binary"], fields["$type"])
    if names == {"$timestamp"} and isinstance(fields["$timestamp"], Pairs):
        inner = dict(fields["$timestamp"])
        seconds, count = int(str(inner.get("t"))), int(str(inner.get("i")))
        return TIMESTAMP, _UINT32.pack(count) + _UINT32.pack(seconds)
    if names == {"$numberDecimal"}:
        return DECIMAL128, _to_decimal128(str(fields["$numberDecimal"]))
    if names == {"$regularExpression"} and isinstance(fields["$regularExpression"], Pairs):
        inner = dict(fields["$regularExpression"])
        return REGEX, _name(str(inner["pattern"])) + _name(str(inner["options"]))
    if names == {"$code"}:
        return CODE, _string(str(fields["$code"]))
    if names == {"$symbol"}:
        return SYMBOL, _string(str(fields["$symbol"]))
    if names == {"$undefined"}:
        return UNDEFINED, b""
    if names in ({"$minKey"}, {"$maxKey"}):
        return (MIN_KEY if "$minKey" in fields else MAX_KEY), b""
    return None


def _to_decimal128(text: str) -> bytes:
    """Encode a decimal number of at most 34 digits. Raises ``ValueError`` for others."""
    try:
        value = Decimal(text.strip())
    except ArithmeticError:
        raise ValueError(f"{text!r} is not a number") from None
    sign, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        special = 0x1F if value.is_nan() else 0x1E
        return (sign << 127 | special << 122).to_bytes(16, "little")
    coefficient = int("".join(map(str, digits)))
    if coefficient >= 10**34 or not -6176 <= exponent <= 6111:
        raise ValueError(f"{text!r} has more than 34 digits, or its exponent is too large")
    return (sign << 127 | (exponent + 6176) << 113 | coefficient).to_bytes(16, "little")


def _base64(text: object, subtype: object) -> tuple[int, bytes]:
    number = int(str(subtype), 16)
    if not 0 <= number <= 255:
        raise ValueError("a subtype must be below 256")
    return BINARY, _binary(base64.b64decode(str(text), validate=True), number)


def _date(value: object) -> int:
    if isinstance(value, Pairs):
        return int(str(dict(value)["$numberLong"]))
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    text = str(value)  # such as 2013-05-18T00:33:14.000Z
    return _milliseconds(dt.datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith("Z") else text))


# ---- from BSON -------------------------------------------------------------------------------------------------------


def check(data: bytes) -> None:
    """Check the structure of a whole document. Raises ``DataError`` if it is not valid BSON."""
    _check(data, 1)


def _check(data: bytes, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise DataError(f"The document has more than {MAX_DEPTH} levels.")
    for element in elements(data):
        if element.type in (DOCUMENT, ARRAY):
            _check(element.data, depth + 1)
        elif element.type == CODE_WITH_SCOPE:
            _check(_code_and_scope(element.data)[1], depth + 1)


def elements(data: bytes) -> Iterator[Element]:
    """Yield the fields of a document.

    Raises ``DataError`` where it is not valid BSON. Inner documents are not checked.
    """
    if len(data) < 5 or _INT32.unpack_from(data)[0] != len(data) or data[-1]:
        raise _invalid("its length is not the one at its beginning, or its last byte is not zero")
    at, end = 4, len(data) - 1
    while at < end:
        kind, name_start = data[at], at + 1
        start = _end_of_name(data, name_start, end)
        at = start + _size(kind, data, start, end)
        if at > end:
            raise _invalid("a value is longer than the document")
        value = data[start:at]
        _check_value(kind, value)
        yield Element(kind, _read_utf8(data[name_start : start - 1]), value)


def _invalid(reason: str) -> DataError:
    return DataError(f"The bytes are not a BSON document: {reason}.")


def _end_of_name(data: bytes, start: int, end: int) -> int:
    """Return where the value behind a name begins."""
    found = data.find(0, start, end)
    if found < 0:
        raise _invalid("a name has no end")
    return found + 1


def _size(kind: int, data: bytes, start: int, end: int) -> int:
    """Return the number of bytes of a value, which may be more than there are."""
    fixed = _FIXED.get(kind)
    if fixed is not None:
        return fixed
    if kind == REGEX:
        return _end_of_name(data, _end_of_name(data, start, end), end) - start
    if kind not in _PREFIXED or start + 4 > end:
        raise _invalid(
            f"a value has the unknown type 0x{kind:02x}" if kind not in _PREFIXED else "a value has no length"
        )
    least, added = _PREFIXED[kind]
    length: int = _INT32.unpack_from(data, start)[0]
    if length < least:
        raise _invalid(f"a value has the length {length}")
    return length + added


#: The least number that stands at the beginning of a value, and the bytes that it does not count.
_PREFIXED = {
    STRING: (1, 4),
    CODE: (1, 4),
    SYMBOL: (1, 4),
    DOCUMENT: (5, 0),
    ARRAY: (5, 0),
    BINARY: (0, 5),
    DB_POINTER: (1, 16),
    CODE_WITH_SCOPE: (14, 0),
}


def _check_value(kind: int, value: bytes) -> None:
    if kind in (STRING, CODE, SYMBOL):
        _read_string(value)
    elif kind == DB_POINTER:
        _read_string(value[:-12])
    elif kind == REGEX:
        _regex(value)
    elif kind == CODE_WITH_SCOPE:
        _code_and_scope(value)
    elif kind == BOOLEAN and value[0] > 1:
        raise _invalid(f"a boolean has the value {value[0]}")
    elif (
        kind == BINARY
        and value[4] == 2
        and (len(value) < 9 or _INT32.unpack_from(value, 5)[0] != len(value) - 9)
    ):
        raise _invalid("the inner length of binary data is wrong")


def _read_utf8(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _invalid(f"the byte 0x{data[error.start]:02x} is not UTF-8") from None


def _read_string(value: bytes) -> str:
    if value[-1]:
        raise _invalid("a string has no NUL at its end")
    return _read_utf8(value[4:-1])


def _regex(value: bytes) -> tuple[str, str]:
    pattern, options, _ = value.split(b"\0")
    return _read_utf8(pattern), _read_utf8(options)


def _code_and_scope(value: bytes) -> tuple[str, bytes]:
    length: int = _INT32.unpack_from(value, 4)[0]
    if not 1 <= length <= len(value) - 13:
        raise _invalid("the length of code with a scope is wrong")
    return _read_string(value[4 : 8 + length]), value[8 + length :]


def find(document: bytes, path: str) -> Element | None:
    """Return the field at a path such as ``name.family``, in which a number is a place in an array, from 0.

    None if it is missing.
    """
    head, _, rest = path.partition(".")
    for element in elements(document):
        if element.name == path:
            return element
        if rest and element.name == head and element.type in (DOCUMENT, ARRAY):
            return find(element.data, rest)
    return None


def number(element: Element) -> int | float | None:
    """Return the value of a number or a boolean; None for other types."""
    if element.type in (INT32, INT64):
        return int.from_bytes(element.data, "little", signed=True)
    if element.type == DOUBLE:
        value: float = _DOUBLE.unpack(element.data)[0]
        return value
    return element.data[0] if element.type == BOOLEAN else None


def text(element: Element) -> str | None:
    """Return the value of a string; None for other types."""
    return _read_string(element.data) if element.type in (STRING, SYMBOL) else None


def moment(element: Element) -> dt.datetime | None:
    """Return a time as UTC without a zone; None for other types and for years outside of 1 to 9999."""
    if element.type != DATE:
        return None
    try:
        milliseconds: int = _INT64.unpack(element.data)[0]
        return _EPOCH + _MILLISECOND * milliseconds
    except OverflowError:
        return None


def object_id(element: Element) -> str | None:
    """Return the 24 hexadecimal digits of an ObjectId; None for other types."""
    return element.data.hex() if element.type == OBJECT_ID else None


def single(name: str, element: Element) -> bytes:
    """Return a document of one field, with the value of another one."""
    body = bytes((element.type,)) + _name(name) + element.data
    return _INT32.pack(len(body) + 5) + body + b"\0"


def to_json(document: bytes) -> str:
    """Return a document as JSON without blanks. Raises ``DataError`` for bytes that are not valid BSON."""
    return _object(document, 1)


def _object(document: bytes, depth: int) -> str:
    return "{" + ",".join(f"{_quote(e.name)}:{_json(e, depth)}" for e in _inner(document, depth)) + "}"


def _inner(document: bytes, depth: int) -> Iterator[Element]:
    if depth > MAX_DEPTH:
        raise DataError(f"The document has more than {MAX_DEPTH} levels.")
    return elements(document)


def _quote(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json(element: Element, depth: int) -> str:
    kind, data = element.type, element.data
    if kind == DOCUMENT:
        return _object(data, depth + 1)
    if kind == ARRAY:
        return "[" + ",".join(_json(each, depth + 1) for each in _inner(data, depth + 1)) + "]"
    if kind == STRING:
        return _quote(_read_string(data))
    if kind == DOUBLE:
        value: float = _DOUBLE.unpack(data)[0]
        return repr(value) if math.isfinite(value) else f'{{"$numberDouble":"{_not_finite(value)}"}}'
    if kind in (INT32, INT64):
        return str(int.from_bytes(data, "little", signed=True))
    if kind == BOOLEAN:
        return "true" if data[0] else "false"
    if kind == NULL:
        return "null"
    return _special_json(element, depth)


def _not_finite(value: float) -> str:
    return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"


def _special_json(element: Element, depth: int) -> str:
    """Return the value of a type that JSON does not have, in Extended JSON."""
    kind, data = element.type, element.data
    if kind == OBJECT_ID:
        return f'{{"$oid":"{data.hex()}"}}'
    if kind == DATE:
        when = moment(element)
        if when is None or when.year < 1970:
            return f'{{"$date":{{"$numberLong":"{_INT64.unpack(data)[0]}"}}}}'
        return f'{{"$date":"{when.isoformat(timespec="milliseconds")}Z"}}'
    if kind == BINARY:
        content = data[9:] if data[4] == 2 else data[5:]
        return f'{{"$binary":{{"base64":"{base64.b64encode(content).decode()}","subType":"{data[4]:02x}"}}}}'
    if kind == REGEX:
        pattern, options = _regex(data)
        return f'{{"$regularExpression":{{"pattern":{_quote(pattern)},"options":{_quote(options)}}}}}'
    if kind == TIMESTAMP:
        count, seconds = _UINT32.unpack_from(data)[0], _UINT32.unpack_from(data, 4)[0]
        return f'{{"$timestamp":{{"t":{seconds},"i":{count}}}}}'
    if kind == CODE:
        return f'{{"$code":{_quote(_read_string(data))}}}'
    if kind == CODE_WITH_SCOPE:
        code, scope = _code_and_scope(data)
        return f'{{"$code":{_quote(code)},"$scope":{_object(scope, depth + 1)}}}'
    if kind == SYMBOL:
        return f'{{"$symbol":{_quote(_read_string(data))}}}'
    if kind == DB_POINTER:
        return f'{{"$dbPointer":{{"$ref":{_quote(_read_string(data[:-12]))},"$id":{{"$oid":"{data[-12:].hex()}"}}}}}}'
    if kind == DECIMAL128:
        return f'{{"$numberDecimal":"{_decimal128(data)}"}}'
    return {UNDEFINED: '{"$undefined":true}', MIN_KEY: '{"$minKey":1}', MAX_KEY: '{"$maxKey":1}'}[kind]


def _decimal128(data: bytes) -> str:
    """Return the text of an IEEE 754 decimal128 in binary encoding."""
    bits = int.from_bytes(data, "little")
    sign, top = "-" if bits >> 127 else "", bits >> 122 & 0x1F
    if top == 0x1F:
        return "NaN"
    if top == 0x1E:
        return f"{sign}Infinity"
    if top >> 3 == 3:  # a coefficient beyond 34 digits, which is not canonical and means zero
        exponent, coefficient = bits >> 111 & 0x3FFF, 0
    else:
        exponent, coefficient = bits >> 113 & 0x3FFF, bits & ((1 << 113) - 1)
        if coefficient >= 10**34:
            coefficient = 0
    digits = tuple(map(int, str(coefficient)))
    return str(Decimal((int(bool(sign)), digits, exponent - 6176)))
