"""Written files equal those of dbexport and UNLOAD, byte for byte.

The rows are our own. Their formats are those of published files of dbexport, and of the page "UNLOAD TO File" of the
manual: docs/unl.md names both.
"""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from informix_arrow.unl import read_unl, write_unl

ARTICLE = {
    "id": "SERIAL", "code": "CHAR(6)", "label": "VARCHAR(30,10)", "rate": "DECIMAL(4,2)", "price": "DECIMAL(12,2)",
    "number": "DECIMAL(15,0)", "factor": "DECIMAL(16,9)", "state": "CHAR(1)", "day": "DATE",
    "at": "DATETIME YEAR TO SECOND", "until": "DATETIME HOUR TO MINUTE", "level": "SMALLINT",
}  # fmt: skip
FILE = (
    b"1|AB12|bolt  |12.0|354.0|1.0|1.0|A|06/01/2017|2017-07-08 01:14:34|08:30|2|\n"
    b"2| |\\ |0.25|-85.18|488.0|0.5| |||||\n"
    b"31||a\\|b\\\\c|1.5|299.2||0.000000001||12/31/2001|2002-01-06 12:00:00|23:59|-3|\n"
    b"310|Z|x\\\ny|0.0|9999999999.99|999999999999999.0|||01/20/2003|1999-12-31 23:59:59|00:00|0|\n"
)
ROWS: list[tuple[Any, ...]] = [
    (1, "AB12", "bolt  ", "12.00", "354.00", "1", "1.000000000", "A", dt.date(2017, 6, 1),
     dt.datetime(2017, 7, 8, 1, 14, 34), dt.time(8, 30), 2),
    (2, "", "", "0.25", "-85.18", "488", "0.500000000", "", None, None, None, None),
    (31, None, "a|b\\c", "1.50", "299.20", None, "0.000000001", None, dt.date(2001, 12, 31),
     dt.datetime(2002, 1, 6, 12), dt.time(23, 59), -3),
    (310, "Z", "x\ny", "0.00", "9999999999.99", "999999999999999", None, None, dt.date(2003, 1, 20),
     dt.datetime(1999, 12, 31, 23, 59, 59), dt.time(0, 0), 0),
]  # fmt: skip
DECIMALS = (3, 4, 5, 6)


def rows() -> pa.Table:
    schema = read_unl(io.BytesIO(b""), ARTICLE).schema
    columns = list(zip(*ROWS, strict=True))
    for place in DECIMALS:
        columns[place] = tuple(None if text is None else Decimal(text) for text in columns[place])
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)], schema=schema)


def test_rows_are_written_byte_for_byte_as_dbexport_writes_them() -> None:
    file = io.BytesIO()
    assert write_unl(rows(), file) == len(ROWS)
    assert file.getvalue() == FILE


def test_a_file_of_dbexport_is_read_as_its_rows() -> None:
    assert read_unl(io.BytesIO(FILE), ARTICLE).read_all().equals(rows())


@pytest.mark.parametrize(
    ("declared", "number", "field"),
    [
        ("DECIMAL(4,2)", "12.00", "12.0"),
        ("DECIMAL(4,2)", "-12.50", "-12.5"),
        ("DECIMAL(4,2)", "0.05", "0.05"),
        ("DECIMAL(4,2)", "0.00", "0.0"),
        ("DECIMAL(2,2)", "0.50", "0.5"),
        ("DECIMAL(32,0)", "12345678901234567890123456789012", "12345678901234567890123456789012.0"),
        ("DECIMAL(32,10)", "1234567890123456789012.3400000000", "1234567890123456789012.34"),
        ("DECIMAL(32,32)", "0.00000000000000000000000000000100", "0.000000000000000000000000000001"),
        ("DECIMAL(5,0)", "-10000", "-10000.0"),
        ("MONEY(8,2)", "250.00", "250.0"),
        ("MONEY(8,2)", "1.10", "1.1"),
    ],
)
def test_a_decimal_has_no_trailing_zeros_and_at_least_one_digit_behind_the_point(
    declared: str, number: str, field: str
) -> None:
    types = {"d": declared, "tail": "INTEGER"}
    schema = read_unl(io.BytesIO(b""), types).schema
    table = pa.table({"d": [Decimal(number), None], "tail": [1, 2]}, schema=schema)
    file = io.BytesIO()
    write_unl(table, file)
    assert file.getvalue() == f"{field}|1|\n|2|\n".encode()
    for text in (field, number):
        read = read_unl(io.BytesIO(f"{text}|1|\n|2|\n".encode()), types).read_all()
        assert read.equals(table)


@pytest.mark.parametrize(
    ("number", "field"),
    [("7747", "7747.0"), ("-5", "-5.0"), ("0", "0.0"), ("0.5", "0.5"), ("12.50", "12.5"), ("1000", "1000.0"),
     ("1.0e20", "1.0e20"), ("3.", "3.0"), ("0.000", "0.0")],
)  # fmt: skip
@pytest.mark.parametrize("kind", [pa.utf8(), pa.large_utf8()])
def test_a_floating_decimal_has_the_same_form(number: str, field: str, kind: pa.DataType) -> None:
    schema = pa.schema([pa.field("d", kind, metadata={"informix.type": "DECIMAL(16)"}), ("tail", pa.int32())])
    file = io.BytesIO()
    write_unl(pa.table({"d": [number, None], "tail": [1, 2]}, schema=schema), file)
    assert file.getvalue() == f"{field}|1|\n|2|\n".encode()


def test_a_floating_decimal_is_read_with_the_digits_that_the_driver_returns() -> None:
    schema = pa.schema(
        [pa.field("d", pa.utf8(), metadata={"informix.type": "DECIMAL(16)"}), ("n", pa.int32())]
    )
    data = b"7747.0|1|\n12.50|2|\n1.5e3|3|\n0.0|4|\n|5|\n-100|6|\n"
    table = read_unl(io.BytesIO(data), schema).read_all()
    assert table["d"].to_pylist() == ["7747", "12.5", "1500", "0", None, "-100"]


def test_a_blank_char_keeps_its_backslash_where_the_delimiter_is_a_blank() -> None:
    types = {"c": "CHAR(4)", "n": "INTEGER"}
    schema = read_unl(io.BytesIO(b""), types).schema
    table = pa.table({"c": ["", None], "n": [1, 2]}, schema=schema)
    file = io.BytesIO()
    write_unl(table, file, delimiter=" ")
    assert file.getvalue() == b"\\  1 \n 2 \n"
    assert read_unl(io.BytesIO(file.getvalue()), types, delimiter=" ").read_all().equals(table)
