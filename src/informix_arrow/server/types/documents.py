"""JSON and BSON: checks of what is stored, casts between the two, and the values of fields.

A JSON column stores the text as it was written, a BSON column the bytes of the document. The server reads JSON as the
shell of MongoDB does: field names may stand without quotes, strings in single quotes, and ISODate(..), ObjectId(..),
NumberLong(..) and NumberInt(..) are values.
"""

from __future__ import annotations

import datetime as dt
import json
import re
from collections.abc import Callable
from typing import Any

from ...wire import bson
from ...wire.errors import DataError
from ...wire.types import ColumnType
from ..errors import SqlError

INVALID = -9660
"""A text that is not JSON, or bytes that are not BSON."""
_NO_CAST = -9634
_TOO_LONG = -881
_VARCHAR_BYTES = 255
_INT, _BIGINT = (2**31 - 1, -1215), (2**63 - 1, -1284)
_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[{}\[\]:,()])|(?P<string>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|(?P<number>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)(?![\w$.])|(?P<word>[A-Za-z_$][\w$]*))""",
    re.DOTALL,
)
_WORDS = {"true": True, "false": False, "null": None}


def is_document(t: ColumnType | None) -> bool:
    """Return whether the type is JSON or BSON."""
    return t is not None and (t.is_json or t.is_bson)


# ---- JSON ------------------------------------------------------------------------------------------------------------


def check_json(text: str) -> str:
    """Return a JSON text unchanged. Raises -9660 for a text that is not an object or an array."""
    if not isinstance(parse(text), bson.Pairs | list):
        raise SqlError(INVALID, detail="A JSON document must be an object or an array.")
    return text


def parse(text: str) -> object:
    """Parse JSON, with objects as :class:`bson.Pairs`. Raises -9660 if it is not valid."""
    try:
        return json.loads(text, object_pairs_hook=bson.Pairs, parse_constant=_no_constant)
    except RecursionError:
        raise SqlError(INVALID, detail="The document has too many levels.") from None
    except ValueError:
        return _RelaxedParser(text).document()


def _no_constant(word: str) -> object:
    raise ValueError(word)


class _RelaxedParser:
    """Parses the JSON of MongoDB's shell."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._kind = self._token = ""
        self._advance()

    def document(self) -> object:
        value = self._value(1)
        if self._kind:
            raise self._invalid()
        return value

    def _invalid(self) -> SqlError:
        return SqlError(INVALID, detail=f"The JSON is not valid at character {self._at}.")

    def _advance(self) -> str:
        """Go to the next token. Return the current one."""
        token = self._token
        found = _TOKEN.match(self._text, self._at)
        if found is not None and found.lastgroup is not None:
            self._kind, self._token, self._at = found.lastgroup, found[found.lastgroup], found.end()
        elif self._text[self._at :].strip():
            raise self._invalid()
        else:
            self._kind = self._token = ""
        return token

    def _expect(self, mark: str) -> None:
        if self._kind != "mark" or self._token != mark:
            raise self._invalid()
        self._advance()

    def _accept(self, mark: str) -> bool:
        found = self._kind == "mark" and self._token == mark
        if found:
            self._advance()
        return found

    def _value(self, depth: int) -> object:
        if depth > bson.MAX_DEPTH:
            raise SqlError(INVALID, detail=f"The document has more than {bson.MAX_DEPTH} levels.")
        if self._accept("{"):
            return self._object(depth)
        if self._accept("["):
            return self._array(depth)
        if self._kind == "string":
            return _unquoted(self._advance(), self._invalid)
        if self._kind == "number":
            return json.loads(self._advance())
        if self._kind == "word":
            word = self._advance()
            return _WORDS[word] if word in _WORDS else self._call(word)
        raise self._invalid()

    def _object(self, depth: int) -> bson.Pairs:
        pairs = bson.Pairs()
        if self._accept("}"):
            return pairs
        while True:
            if self._kind not in ("string", "word"):
                raise self._invalid()
            quoted = self._kind == "string"
            name = self._advance()
            self._expect(":")
            pairs.append((_unquoted(name, self._invalid) if quoted else name, self._value(depth + 1)))
            if self._accept("}"):
                return pairs
            self._expect(",")

    def _array(self, depth: int) -> list[object]:
        items: list[object] = []
        if self._accept("]"):
            return items
        while True:
            items.append(self._value(depth + 1))
            if self._accept("]"):
                return items
            self._expect(",")

    def _call(self, word: str) -> object:
        names = {
            "ISODate": "$date",
            "ObjectId": "$oid",
            "NumberLong": "$numberLong",
            "NumberInt": "$numberInt",
        }
        if word not in names:
            raise self._invalid()
        self._expect("(")
        if self._kind not in ("string", "number"):
            raise self._invalid()
        is_text = self._kind == "string"
        argument = self._advance()
        self._expect(")")
        return bson.Pairs(
            [(names[word], _unquoted(argument, self._invalid) if is_text else int(float(argument)))]
        )


def _unquoted(token: str, invalid: Callable[[], SqlError]) -> str:
    """Return the value of a quoted string."""
    inner = token[1:-1]
    if token[0] == "'":
        inner = re.sub(r"""\\'|"|\\.""", lambda m: {"\\'": "'", '"': '\\"'}.get(m[0], m[0]), inner)
    try:
        return str(json.loads(f'"{inner}"'))
    except ValueError:
        raise invalid() from None


# ---- casts -----------------------------------------------------------------------------------------------------------


def to_bson(text: str) -> bytes:
    """Cast JSON to BSON. Raises -9660 if the text is not a JSON object."""
    try:
        return bson.from_value(parse(text))
    except DataError as e:
        raise SqlError(INVALID, detail=str(e)) from None


def to_json(document: bytes) -> str:
    """Cast BSON to JSON."""
    return str(_checked(bson.to_json, document))


def check_bson(document: bytes) -> bytes:
    """Return a document unchanged. Raises -9660 for bytes that are not valid BSON."""
    _checked(bson.check, document)
    return document


def _checked(function: Callable[[bytes], Any], document: bytes) -> Any:
    try:
        return function(document)
    except DataError as e:
        raise SqlError(INVALID, detail=str(e)) from None


def storage_value(value: object, t: ColumnType) -> str | bytes:
    """Convert a parameter or literal to the storage of a JSON or BSON column.

    Raises -9634 for a value of another type, as for a text in a BSON column, which needs ``::JSON``.
    """
    if t.is_json and isinstance(value, str):
        return check_json(value)
    if t.is_bson and isinstance(value, bytes | bytearray | memoryview):
        return check_bson(bytes(value))
    raise SqlError(_NO_CAST, 0, 0, t.sql.lower())


# ---- fields ----------------------------------------------------------------------------------------------------------


def field_text(document: bytes, path: str) -> str | None:
    """BSON_VALUE_LVARCHAR: return a string. None for another type or a missing field."""
    element = bson.find(document, path)
    return None if element is None else bson.text(element)


def field_varchar(document: bytes, path: str) -> str | None:
    """BSON_VALUE_VARCHAR: a string of at most 255 bytes. Raises -881 for a longer one."""
    text = field_text(document, path)
    if text is not None and len(text.encode()) > _VARCHAR_BYTES:
        raise SqlError(_TOO_LONG)
    return text


def _number(document: bytes, path: str) -> float | None:
    element = bson.find(document, path)
    return None if element is None or element.type == bson.BOOLEAN else bson.number(element)


def field_double(document: bytes, path: str) -> float | None:
    """BSON_VALUE_DOUBLE: return a number. None for another type or a missing field."""
    value = _number(document, path)
    return None if value is None else float(value)


def _whole(document: bytes, path: str, limit: tuple[int, int]) -> int | None:
    value = _number(document, path)
    if value is None:
        return None
    most, code = limit
    if value != value or not -most <= value <= most:
        raise SqlError(code)
    return int(value)


def field_int(document: bytes, path: str) -> int | None:
    """BSON_VALUE_INT: return a number without its fraction. Raises -1215 if it is too large."""
    return _whole(document, path, _INT)


def field_bigint(document: bytes, path: str) -> int | None:
    """BSON_VALUE_BIGINT: return a number without its fraction. Raises -1284 if it is too large."""
    return _whole(document, path, _BIGINT)


def field_boolean(document: bytes, path: str) -> bool | None:
    """BSON_VALUE_BOOLEAN: return a boolean, or that of the strings 't' and 'f'. None for anything else."""
    element = bson.find(document, path)
    if element is None:
        return None
    if element.type == bson.BOOLEAN:
        return bool(element.data[0])
    text = bson.text(element)
    return {"t": True, "f": False}.get(text) if text is not None else None


def field_timestamp(document: bytes, path: str) -> dt.datetime | None:
    """BSON_VALUE_TIMESTAMP: return a time in UTC. None for another type or a missing field."""
    element = bson.find(document, path)
    return None if element is None else bson.moment(element)


def field_date(document: bytes, path: str) -> dt.date | None:
    """BSON_VALUE_DATE: return the day of a time in UTC. None for another type or a missing field."""
    moment = field_timestamp(document, path)
    return None if moment is None else moment.date()


def field_object_id(document: bytes, path: str) -> str | None:
    """BSON_VALUE_OBJECTID: return the hexadecimal digits of an ObjectId. None for another type or a missing field."""
    element = bson.find(document, path)
    return None if element is None else bson.object_id(element)


def field_document(document: bytes, path: str, name: str) -> bytes | None:
    """BSON_GET: return a document of one field, under a new name if it is not empty. None for a missing field."""
    element = bson.find(document, path)
    return None if element is None else bson.single(name or element.name, element)


def size(document: bytes, path: str) -> int | None:
    """BSON_SIZE: return the bytes of a field's value, or of the whole document if the path is empty."""
    if not path:
        return len(document)
    element = bson.find(document, path)
    return None if element is None else len(element.data)
