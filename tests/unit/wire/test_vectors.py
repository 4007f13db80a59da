"""All known encodings (tests/vectors/types.json) through the C codecs, compared with the Python reference: tuples in
both directions, and parameters."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.native.decoder_support import decode_one
from tests.unit.native.encoder_support import bound, payload
from tests.unit.wire.vectors import column_type, load

from informix_arrow.wire.bind_values import bound_to_python
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.datetimes import DatetimeValue, IntervalValue
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.messages import Bind, BlobBind, BlobChunk, parse_client_message
from informix_arrow.wire.plan_ops import Kind, TypeOptions, arrow_type_of_op, plan_op
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.values import decode_tuple, encode_tuple

MODERN = Framing()
VECTORS = load("types.json")
# Options for all kinds. Every vector is read with each set of options that can hold it.
OPTIONS = {
    "default": TypeOptions(),
    "text": TypeOptions(floating_decimals="string", strings="large", char_padding="keep"),
    "float": TypeOptions(decimals="float64", encoding_errors="binary"),
    "mdn": TypeOptions(intervals="month_day_nano", integer_aggregates=True, encoding_errors="replace"),
    "exact": TypeOptions(floating_decimals=pa.decimal128(38, 6), encoding_errors="binary", strings="large"),
}


def vector_id(vector: dict[str, Any]) -> str:
    return f"{vector['name']} {vector['value']}"[:60]


@parametrize_in_one_test("options", OPTIONS.values(), ids=OPTIONS.keys())
@parametrize_in_one_test("vector", VECTORS, ids=vector_id)
def test_a_known_encoding_goes_through_the_c_codecs_as_the_reference_says(
    vector: dict[str, Any], options: TypeOptions
) -> None:
    """Both decoders refuse values that these options cannot hold (DAY(9) in a duration, 32 digits in an int64), and
    both encoders those that cannot be converted back (30 digits that were a float64)."""
    ct, data = column_type(vector), bytes.fromhex(vector["tuple_hex"])
    columns, op = [Column("c", ct)], plan_op(ct, options)
    try:
        (wanted,) = decode_tuple(data, columns, "utf-8", options)
    except DataError:
        with pytest.raises(DataError):
            decode_one(op, [data])
        return
    column = decode_one(op, [data])
    assert column.type == arrow_type_of_op(op)
    assert column.to_pylist() == [wanted]
    assert type(column.to_pylist()[0]) is type(wanted)
    try:
        again = encode_tuple([wanted], columns, "utf-8", options)
    except DataError:
        assert op.kind == Kind.DECIMAL_FLOAT64
        with pytest.raises(DataError):
            payload(op, column)
        return
    assert payload(op, column) == again
    assert again == data or op.kind == Kind.DECIMAL_FLOAT64


def test_few_of_the_vectors_are_refused_by_few_options() -> None:
    """If this fails: the test above skips vectors that the reference refuses, which must remain the exception."""
    refused = []
    for vector in VECTORS:
        for name, options in OPTIONS.items():
            try:
                decode_tuple(
                    bytes.fromhex(vector["tuple_hex"]), [Column("c", column_type(vector))], "utf-8", options
                )
            except DataError:
                refused.append(name)
    assert sorted(refused) == ["default"] * 2 + ["exact"] * 6 + ["float"] * 2 + ["mdn"] * 2 + ["text"] * 2


@parametrize_in_one_test("vector", VECTORS, ids=vector_id)
def test_a_known_value_is_bound_by_c_as_the_worked_parameter_means(vector: dict[str, Any]) -> None:
    """The bytes may differ, as a SMALLINT is sent as INT and a CHAR without its blanks. The server reads the same
    value."""
    ct = column_type(vector)
    options = OPTIONS["mdn"] if ct.code == 14 else TypeOptions(floating_decimals="string")
    op = plan_op(ct, options)
    data = bytes.fromhex(vector["tuple_hex"])
    if ct.code in (11, 12):
        content = None if vector["null"] else b"x" * vector["value"]["size"]
        column = pa.array([content], pa.large_binary())
    elif ct.is_blob or ct.is_clob:
        assert vector["bind_hex"] in ("", None, "0000ffff0000")  # through filetoblob, not as a parameter
        return
    else:
        column = decode_one(op, [data])
    record = bound(op, column)
    reader = Reader(b"\0\1" + record)
    (ours,) = Bind.parse(reader, MODERN).values
    worked_reader = Reader(b"\0\1" + bytes.fromhex(vector["bind_hex"]))
    (worked,) = Bind.parse(worked_reader, MODERN).values
    if ct.code in (11, 12) and content is not None:
        assert ours.data == worked.data
        tail = [parse_client_message(reader, MODERN) for _ in range(3)]
        assert tail == [BlobBind(1), BlobChunk(content), BlobChunk(b"")]
        assert reader.remaining == 0
        return
    assert reader.remaining == 0
    meaning, stated = bound_to_python(ours, "utf-8"), bound_to_python(worked, "utf-8")
    if isinstance(stated, DatetimeValue | IntervalValue):
        assert (ours.type, ours.precision) == (worked.type, worked.precision)
    assert meaning == stated
    if ours.type == worked.type and ours.type not in (10, 14):  # these may be normalised or not
        assert ours.data == worked.data
