"""Change records as bytes: their content, splits at any byte, and refused records (CDC section 4)."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cdc import change_records as w

from informix_arrow.wire import changes as c
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import NotSupportedError, ProtocolError
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.types import ColumnType

VECTORS: dict[str, Any] = json.loads(
    (Path(__file__).parent.parent.parent / "vectors" / "changes.json").read_text(encoding="utf-8")
)
LSN = 69 << 32 | 0x1000


def only(data: bytes) -> c.Record | None:
    """Return the only record of ``data``. It must not be found in any part of it."""
    for cut in range(len(data)):
        assert c.parse_record(data, 0, cut) is None
    shifted = b"\xff" * 3 + data + b"\xff"
    found = c.parse_record(shifted, 3, 3 + len(data))
    assert found is not None
    assert found[1] == 3 + len(data)
    return found[0]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (w.begin(LSN, -30, 1_731_228_224, 200), c.BeginRecord(LSN, -30, 1_731_228_224, 200)),
        (w.commit(LSN + 1, 30, 1_731_228_225), c.CommitRecord(LSN + 1, 30, 1_731_228_225)),
        (w.rollback(LSN, 30), c.RollbackRecord(LSN, 30)),
        (w.row(40, LSN, 30, b"abcd", b"\0", label=7), c.RowRecord(40, LSN, 30, 7)),
        (w.row(43, LSN, 30, b"", label=7), c.RowRecord(43, LSN, 30, 7)),
        (w.discard(LSN, 30), c.DiscardRecord(LSN, 30)),
        (w.truncate(LSN, 30, 2), c.TruncateRecord(LSN, 30, 2)),
        (w.timeout(LSN), c.TimeoutRecord(LSN)),
        (w.error(-83713), c.ErrorRecord(-83713, True)),
        (w.error(-83790, 0), c.ErrorRecord(-83790, False)),
        (w.record(202, struct.pack(">ii", 1, -83790), (), b"a text"), c.ErrorRecord(-83790, True)),
        (w.record(77, b"unheard of", (), b"at all"), None),
    ],
)
def test_a_record_holds_what_was_written_wherever_it_is_cut(data: bytes, expected: c.Record | None) -> None:
    assert only(data) == expected


def test_the_worked_stream_is_read() -> None:
    records = [bytes.fromhex(text) for text in VECTORS["stream"]["records"]]
    schema, begin, insert, commit = [only(data) for data in records]
    assert isinstance(schema, c.TableSchemaRecord)
    assert (schema.label, schema.fixed_bytes, schema.variable) == (1, 14, 1)
    assert [(column.name, column.type.sql) for column in schema.columns] == [
        ("id", "INTEGER"),
        ("qty", "INTEGER"),
        ("price", "DECIMAL(10,2)"),
        ("name", ColumnType.varchar(40).sql),
    ]
    assert begin == c.BeginRecord(LSN, 30, 0x67407240, 200)
    assert insert == c.RowRecord(40, LSN + 0x40, 30, 1)
    assert commit == c.CommitRecord(LSN + 0x100, 30, 0x67407241)


def test_the_column_text_of_informix_15_is_read() -> None:
    vector = VECTORS["informix15"]
    found = only(w.schema(vector["columns"], vector["fixed_bytes"], vector["fixed"], vector["variable"]))
    assert isinstance(found, c.TableSchemaRecord)
    assert len(found.columns) == 22
    assert sum(c.image_width(column) for column in found.columns[:19]) == 111
    assert found.columns[8].type == ColumnType.decimal(10)
    assert found.columns[13].type == ColumnType.interval("DAY(3) TO SECOND")


@pytest.mark.parametrize(
    ("text", "fixed", "variable", "name"),
    [
        ("id int", 1, 0, "id"),
        ('"a, b" integer', 1, 0, "a, b"),
        ('"a ""b" integer', 1, 0, 'a "b'),
        ("Größe INTEGER not null", 1, 0, "Größe"),
    ],
)
def test_forms_of_column_texts(text: str, fixed: int, variable: int, name: str) -> None:
    found = only(w.schema(text, 4, fixed, variable))
    assert isinstance(found, c.TableSchemaRecord)
    assert [column.name for column in found.columns] == [name]


@pytest.mark.parametrize(
    ("text", "sizes", "message"),
    [
        ("a integer, b varchar(5,0)", (4, 1, 0), "1 fixed and 0 variable"),
        ("a integer, b varchar(5,0)", (5, 1, 1), "5 bytes of fixed columns, but they take 4"),
        ("b varchar(5,0), a integer", (4, 1, 1), "1 fixed and 1 variable"),
        ("a strange", (4, 1, 0), "not an Informix type"),
        ("a", (4, 1, 0), "'a' is not a column name with a type"),
        ("", (0, 0, 0), "is not a column name with a type"),
        ("a decimal(5", (4, 1, 0), "Parentheses"),
        ("a integer, b set(integer not null)", (4, 2, 0), "'b' has the type"),
        ("a datetime hour to year", (4, 1, 0), "cannot be read"),
        ("a integer", (4, -1, 2), "-1 fixed and 2 variable"),
    ],
)
def test_column_texts_that_cannot_be(text: str, sizes: tuple[int, int, int], message: str) -> None:
    data = w.schema(text, *sizes)
    with pytest.raises(ProtocolError, match=message):
        c.parse_record(data, 0, len(data))


def test_a_column_text_that_is_no_utf_8_is_refused() -> None:
    data = w.record(200, struct.pack(">iiiii", 1, 0, 4, 1, 0), (), b"\xff integer\0")
    with pytest.raises(ProtocolError, match="TABSCHEMA"):
        c.parse_record(data, 0, len(data))


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ((16, 0, 65, 1), "packet scheme 65"),
        ((15, 0, 66, 1), r"BEGINTX\) has a header of 15"),
        ((-1, 0, 66, 99), "number 99"),
        ((40, -1, 66, 1), "-1 bytes after it"),
        ((40, 0x7FFFFFFF, 66, 40), "2147483647 bytes after it"),
        ((41, 0, 66, 1), "header of 41 bytes, but needs 40"),
        ((38, 0, 66, 40), "header of 38 bytes"),
        ((32, 0, 66, 40), "header of 32 bytes"),
        ((40, 4, 66, 1), "4 bytes after its header"),
    ],
)
def test_sizes_that_cannot_be_are_refused(header: tuple[int, int, int, int], message: str) -> None:
    data = struct.pack(">iiii", *header) + b"\0" * 60
    with pytest.raises(ProtocolError, match=message):
        c.parse_record(data, 0, len(data))


@pytest.mark.parametrize(
    "ct",
    [
        ColumnType.text(),
        ColumnType.byte(),
        ColumnType.blob(),
        ColumnType.clob(),
        ColumnType.parse_sql("SET(INTEGER NOT NULL)"),
        ColumnType.parse_sql("ROW(a INTEGER)"),
        ColumnType.parse_sql("JSON"),
        ColumnType.parse_sql("BSON"),
    ],
    ids=lambda ct: ct.sql,
)
def test_types_whose_values_are_not_in_the_log_are_refused_by_name(ct: ColumnType) -> None:
    with pytest.raises(NotSupportedError, match="Column 'doc'"):
        c.image_plan([Column("id", ColumnType.integer()), Column("doc", ct)], TypeOptions(), raw_text=False)
