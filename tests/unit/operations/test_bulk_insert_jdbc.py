"""Our PUT messages compared with those of IBM's JDBC driver for the same table and rows (JDBC section 8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
import pytest
from tests.unit.wire.vectors import load

from informix_arrow.ingest.convert import converter
from informix_arrow.ingest.row_feed import ArrowRowSource
from informix_arrow.operations.bulk_insert import RowFraming, put_type
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column
from informix_arrow.wire.messages import Describe
from informix_arrow.wire.plan_ops import TypeOptions, arrow_type
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import TypeCode
from informix_arrow.wire.values import decode_tuple

ENCODING = "latin-1"
FRAMING = Framing(encoding=ENCODING)
RECORDED = load("jdbc_puts.json")
FLOATING = TypeOptions(floating_decimals="string")


def described(recorded: dict[str, Any]) -> Describe:
    reader = Reader(bytes.fromhex(recorded["describe_hex"]))
    found = m.parse_server_message(reader, FRAMING)
    assert isinstance(found, Describe)
    return found


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: each["case"])
def test_the_insert_cursor_is_opened_as_jdbc_opens_it(recorded: dict[str, Any]) -> None:
    describe = described(recorded)
    ours: list[m.Message] = [
        m.Id(describe.statement_id),
        m.CursorName("_ifxc0000000000001"),
        m.Open(),
        m.RetType(m.RetType.PUT, tuple(put_type(column.type) for column in describe.columns)),
    ]
    assert b"".join(message.encode(FRAMING) for message in ours).hex() == recorded["open_hex"]


def normalised(rows: str) -> str:
    """Normalise the only difference: leading zero pairs of DATETIME and INTERVAL, which JDBC sends and servers drop
    when they store them (TYPES sections 6 and 7). We send what they store: 5-07 in YEAR(4) TO MONTH, and 00:00:00."""
    rows = rows.replace("c7000507", "c6050700").replace("38635e5d", "395e5d00")
    return rows.replace("5a0000c3000000", "5a000080000000")


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda each: each["case"])
def test_rows_are_put_byte_by_byte_as_jdbc_puts_them(recorded: dict[str, Any]) -> None:
    """All types with values, NULLs, negative and empty ones. JDBC sends NULL in a SERIAL column as NULL; our driver
    sends a request for the next number. So the column is described as the INTEGER that it is on the wire."""
    columns = []
    for column in described(recorded).columns:
        ct = column.type
        if ct.code == TypeCode.SERIAL:
            ct = replace(ct, code=TypeCode.INTEGER.value)
        columns.append(Column(column.name, ct))
    sent = tuple(Column(column.name, put_type(column.type)) for column in columns)
    rows = []
    for text in recorded["put_hex"]:
        message = m.parse_client_message(Reader(bytes.fromhex(text)), FRAMING)
        assert isinstance(message, m.Put)
        rows.append(decode_tuple(message.tuple_bytes, sent, ENCODING, FLOATING))
    arrays = [
        pa.array(values, arrow_type(column.type, FLOATING))
        for values, column in zip(zip(*rows, strict=True), columns, strict=True)
    ]
    names = [column.name for column in columns]
    data = pa.RecordBatch.from_arrays(arrays, names)
    ways = [
        converter(column, column.name, array.type, ENCODING)
        for column, array in zip(columns, arrays, strict=True)
    ]
    group = ArrowRowSource(iter([data]), ways, ENCODING, b"", b"").next_group(
        RowFraming.PUT, 1 << 20, 1 << 20
    )
    assert group is not None
    assert group.count == len(recorded["put_hex"])
    assert group.data.hex() == normalised("".join(recorded["put_hex"]))


@pytest.mark.parametrize(
    ("form", "true", "false"), [(RowFraming.PUT, b"\x01", b"\0"), (RowFraming.BIND, b"t", b"f")]
)
def test_boolean_is_a_byte_in_a_put_row_and_a_letter_in_a_bound_one(
    form: RowFraming, true: bytes, false: bytes
) -> None:
    column = next(c for c in described(RECORDED[-1]).columns if c.type.is_boolean)
    data = pa.record_batch({"b": pa.array([True, False, None])})
    ways = [converter(column, "b", pa.bool_(), ENCODING)]
    feed = ArrowRowSource(iter([data]), ways, ENCODING, b"", b"")
    group = feed.next_group(form, 1 << 20, 1 << 20)
    assert group is not None
    expected = {
        RowFraming.PUT: [b"\0\0\0\0\1" + true, b"\0\0\0\0\1" + false, b"\1\0\0\0\0"],
        RowFraming.BIND: [b"\0\0\0\0\0\0\0\1" + true, b"\0\0\0\0\0\0\0\1" + false, b"\0\0\xff\xff\0\0"],
    }[form]
    at = 0
    for value in expected:
        at = group.data.index(value, at) + len(value)
