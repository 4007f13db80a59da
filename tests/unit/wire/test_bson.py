"""BSON documents: bytes written by hand and by pymongo, JSON in both directions, and damaged documents."""

from __future__ import annotations

import datetime as dt
import json
import random
import uuid
from typing import Any

import bson as pymongo
import pytest
from bson import json_util
from bson.decimal128 import Decimal128

from informix_arrow.wire import bson
from informix_arrow.wire.errors import DataError

#: The examples of bsonspec.org.
HELLO = bytes.fromhex("16000000 02 68656c6c6f 00 06000000 776f726c64 00 00")
AWESOME = bytes.fromhex(
    "31000000 04 42534f4e 00 26000000 02 30 00 08000000 617765736f6d65 00"
    "01 31 00 333333333333 1440 10 32 00 c2070000 00 00"
)
SPECIAL = {
    "decimal": Decimal128("1.50"),
    "large": Decimal128("-1E+6000"),
    "nan": Decimal128("NaN"),
    "infinite": Decimal128("-Infinity"),
    "regex": pymongo.Regex("a.b", "i"),
    "code": pymongo.Code("x"),
    "scope": pymongo.Code("y", {"q": 1}),
    "timestamp": pymongo.Timestamp(5, 6),
    "least": pymongo.MinKey(),
    "greatest": pymongo.MaxKey(),
    "old binary": pymongo.Binary(b"abc", 2),
    "uuid": pymongo.Binary(b"\1" * 16, 4),
    "early": dt.datetime(1900, 1, 1),
    "double": float("inf"),
    "reference": pymongo.DBRef("c", 1),
    "id": pymongo.ObjectId(b"123456789012"),
}


def _value(draw: random.Random, depth: int = 0) -> Any:
    choice = draw.randrange(13 if depth < 3 else 10)
    if choice == 10:
        return {f"k{n}": _value(draw, depth + 1) for n in range(draw.randrange(4))}
    if choice > 10:
        return [_value(draw, depth + 1) for _ in range(draw.randrange(4))]
    plain = (None, True, 5, -(2**40), 1.5, 'é"x\0y', "", b"ab", dt.datetime(2020, 1, 2, 3, 4, 5, 6000), 2**31)
    return plain[choice]


def _as_pymongo_says(document: bytes) -> Any:
    return json.loads(json_util.dumps(pymongo.decode(document), json_options=json_util.RELAXED_JSON_OPTIONS))


def test_the_examples_of_the_specification() -> None:
    assert bson.encode({"hello": "world"}) == HELLO
    assert bson.encode({"BSON": ["awesome", 5.05, 1986]}) == AWESOME
    assert bson.to_json(AWESOME) == '{"BSON":["awesome",5.05,1986]}'
    assert bson.from_json('{"BSON": ["awesome", 5.05, 1986]}') == AWESOME


@pytest.mark.parametrize("seed", range(200))
def test_documents_are_those_of_pymongo(seed: int) -> None:
    draw = random.Random(seed)
    fields = {f"a{n}": _value(draw) for n in range(draw.randrange(6))}
    document = pymongo.encode(fields)
    assert bson.encode(fields) == document
    bson.check(document)
    text = bson.to_json(document)
    assert json.loads(text) == _as_pymongo_says(document)
    assert pymongo.decode(bson.from_json(text)) == pymongo.decode(document)


def test_every_type_of_bson_is_json_as_pymongo_writes_it() -> None:
    document = pymongo.encode(SPECIAL)
    bson.check(document)
    text = bson.to_json(document)
    assert json.loads(text) == _as_pymongo_says(document)
    del SPECIAL["scope"]  # obsolete, and only possible in Extended JSON
    document = pymongo.encode(SPECIAL)
    assert bson.from_json(bson.to_json(document)) == document


def test_fields_of_the_same_name_are_kept() -> None:
    document = bson.from_json('{"a": 1, "a": 2}')
    assert [(e.name, bson.number(e)) for e in bson.elements(document)] == [("a", 1), ("a", 2)]
    assert bson.to_json(document) == '{"a":1,"a":2}'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"a": 2**63}, "64 bits"),
        ({"a": {1, 2}}, "set cannot be stored"),
        ({1: 2}, "Use a str as the name"),
        ({"a\0": 1}, "NUL"),
        ({"a": "\ud800"}, "half of a surrogate pair"),
        ({"a": dt.datetime(2020, 1, 1, microsecond=1)}, "microseconds"),
    ],
)
def test_what_bson_cannot_hold_is_refused(value: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        bson.encode(value)


@pytest.mark.parametrize("text", ["", "[]", "1", '{"a":', '{"a":NaN}', '{"a":{"$oid":"12"}}', "[" * 100_000])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(DataError):
        bson.from_json(text)


def test_a_deep_document_is_refused_both_ways() -> None:
    deep: dict[str, Any] = {}
    for _ in range(bson.MAX_DEPTH):
        deep = {"d": deep}
    with pytest.raises(DataError, match="levels"):
        bson.encode(deep)
    document = b"\5\0\0\0\0"
    for _ in range(bson.MAX_DEPTH):
        document = (len(document) + 8).to_bytes(4, "little") + b"\x03d\0" + document + b"\0"
    for function in (bson.check, bson.to_json):
        with pytest.raises(DataError, match="levels"):
            function(document)


def test_a_damaged_document_is_refused_or_read_and_never_anything_else() -> None:
    draw = random.Random(1)
    whole = pymongo.encode(
        {**SPECIAL, "scope": pymongo.Code("y", {"q": 1}), "list": [1, {"d": b"q"}], "text": "xyz"}
    )
    refused = 0
    for _ in range(2500):
        document = bytearray(whole)
        for _ in range(draw.randrange(1, 4)):
            document[draw.randrange(len(document))] = draw.randrange(256)
        try:
            bson.check(bytes(document))
        except DataError:
            refused += 1
        else:
            bson.to_json(bytes(document))
    assert 100 < refused < 2500
    for size in range(len(whole)):
        with pytest.raises(DataError):
            bson.check(whole[:size])


def test_fields_are_found_by_their_path() -> None:
    document = bson.encode({"a": {"b": [10, {"c": "x"}]}, "a.b": 7, "u": uuid.UUID(int=1)})
    found = {path: bson.find(document, path) for path in ("a.b.0", "a.b.1.c", "a.b", "a.x", "a.b.1.c.d", "u")}
    assert [None if e is None else e.data for e in found.values()] == [
        b"\x0a\0\0\0", b"\2\0\0\0x\0", found["a.b"].data if found["a.b"] else None, None, None,
        b"\x10\0\0\0\4" + uuid.UUID(int=1).bytes,
    ]  # fmt: skip
