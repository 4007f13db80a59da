"""Row images become Arrow columns: recorded bytes, comparison with the Python reference, splits at every byte,
refusals."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from tests.internals import batch_of
from tests.unit.cdc import change_records as w
from tests.unit.wire.test_changes import VECTORS

from informix_arrow._changes import FULL, NEED_MORE, OTHER, ImageDecoder
from informix_arrow.wire import changes as c
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.plan_ops import Kind, PlanOp, TypeOptions
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.value_decoders import DECODERS
from informix_arrow.wire.value_encoders import ENCODERS

SMALL = "id integer, ok boolean, v varchar(20,0), t lvarchar(100)"


def columns_of(text: str) -> tuple[Column, ...]:
    widths, variable = 0, 0
    parsed = [c._column(part) for part in c.cut_at_commas(text)]
    for column in parsed:
        if c._varies(column.type):
            variable += 1
        else:
            widths += c.image_width(column)
    data = w.schema(text, widths, len(parsed) - variable, variable)
    found = c.parse_record(data, 0, len(data))
    assert found is not None
    assert isinstance(found[0], c.TableSchemaRecord)
    return found[0].columns


class Images:
    """A decoder with the schema of its batches."""

    def __init__(
        self,
        text: str,
        tx: int = 30,
        *,
        batch_rows: int = 1 << 20,
        batch_bytes: int = 1 << 24,
        **options: Any,
    ) -> None:
        self.columns = columns_of(text)
        self.plan = c.image_plan(self.columns, TypeOptions(**options), raw_text=False)
        self.decoder = ImageDecoder(
            "orders",
            1,
            self.plan.ops,
            self.plan.names,
            variable=sum(c._varies(column.type) for column in self.columns),
            batch_rows=batch_rows,
            batch_bytes=batch_bytes,
            max_image=self.plan.max_image,
        )
        self.decoder.begin(tx)

    def take(self) -> tuple[pa.RecordBatch, pa.RecordBatch | None]:
        after, before = self.decoder.take()
        return self.batch(after), None if before is None else self.batch(before)

    def batch(self, capsule: Any) -> pa.RecordBatch:
        batch = batch_of(self.plan.decoded.__arrow_c_schema__(), capsule)
        batch.validate(full=True)
        return batch

    def feed(self, data: bytes) -> tuple[int, int]:
        return self.decoder.feed(data, 0, len(data))


def rows(batch: pa.RecordBatch | None) -> list[list[Any]]:
    assert batch is not None
    return [list(found) for found in zip(*(column.to_pylist() for column in batch.columns), strict=True)]


def test_images_of_informix_15_byte_for_byte() -> None:
    vector = VECTORS["informix15"]
    images = Images(vector["columns"])
    raws = [bytes.fromhex(one["image"]) for one in vector["images"]]
    data = b""
    for number, (one, raw) in enumerate(zip(vector["images"], raws, strict=True)):
        assert len(raw) == 111 + sum(one["lengths"])
        data += w.record(40, struct.pack(">qiii", 500 + number, 30, 1, 0), one["lengths"], raw)
    assert images.feed(data) == (len(data), NEED_MORE)
    after, before = images.take()
    assert before is None
    assert after.column("record").to_pylist() == [40] * 3
    assert after.column("lsn").to_pylist() == [500, 501, 502]
    found = rows(after)
    for one, raw, got in zip(vector["images"], raws, found, strict=True):
        assert [None if value is None else str(value) for value in got[2:]] == one["row"]
        assert w.read_image(raw, one["lengths"], images.columns)[-7:] == got[-7:]


def test_the_worked_stream_and_the_guides_dump() -> None:
    stream = VECTORS["stream"]
    images = Images("id integer, qty integer, price decimal(10,2), name varchar(40,0)")
    insert, commit = (bytes.fromhex(text) for text in stream["records"][2:])
    assert images.feed(insert + commit) == (len(insert), OTHER)
    assert [str(value) if i == 2 else value for i, value in enumerate(rows(images.take()[0])[0][2:])] == (
        stream["row"]
    )
    guide = VECTORS["guide"]
    images = Images(guide["columns"])
    assert len(w.row(40, 1, 30, bytes.fromhex(guide["image"]))) == 58
    images.feed(w.row(40, 0x1C00AA5050, 30, bytes.fromhex(guide["image"])))
    assert rows(images.take()[0]) == [[40, 0x1C00AA5050, *guide["row"]]]


def small(
    number: int, lsn: int, key: int | None, ok: bool | None, v: str | None, t: str | None, **kw: Any
) -> bytes:
    fixed = struct.pack(">i", -(2**31) if key is None else key)
    fixed += b"\1\0" if ok is None else bytes((0, ok))
    return w.row(number, lsn, kw.pop("tx", 30), fixed, w.varchar(v), w.lvarchar(t), **kw)


STREAM: list[tuple[int, int, int | None, bool | None, str | None, str | None]] = [
    (40, 10, 1, True, "a", "long"),
    (40, 11, None, None, None, None),
    (42, 12, 1, True, "a", "long"),
    (43, 13, 2, False, "", ""),
    (41, 14, 2**31 - 1, False, "é" * 9, "日本" * 16),
    (42, 15, -7, None, "x" * 20, None),
    (43, 16, -8, True, None, "y" * 100),
]


def test_a_stream_cut_at_every_byte_gives_the_same_batches() -> None:
    data = b"".join(small(*one) for one in STREAM)
    images = Images(SMALL)
    for cut in range(len(data) + 1):
        first = images.decoder.feed(data[:cut], 0, cut)
        assert first[1] == NEED_MORE
        assert images.decoder.feed(data, first[0], len(data)) == (len(data), NEED_MORE)
        after, before = images.take()
        assert rows(after) == [list(one) for one in STREAM if one[0] != 42]
        assert rows(before) == [list(one) for one in STREAM if one[0] == 42]


def test_rows_of_another_transaction_or_table_and_other_records_end_a_run() -> None:
    images = Images(SMALL)
    mine = small(*STREAM[0])
    for other in (
        small(*STREAM[0], tx=31),
        small(*STREAM[0], label=2),
        w.commit(20, 30),
        w.discard(20, 30),
        w.timeout(1),
        w.record(40, b""),
    ):
        assert images.feed(mine + other + mine) == (len(mine), OTHER)
        assert images.decoder.rows == 1
        images.take()


def test_a_batch_is_full_at_its_rows_but_never_between_the_images_of_an_update() -> None:
    images = Images(SMALL, batch_rows=2)
    pair = small(*STREAM[2]) + small(*STREAM[3])
    data = pair * 5
    at, taken = 0, []
    while True:
        at, status = images.decoder.feed(data, at, len(data))
        assert not images.decoder.expects_after_image
        after, before = images.take()
        assert before is not None
        assert after.num_rows == before.num_rows
        taken.append(after.num_rows)
        if status != FULL:
            break
    assert taken == [2, 2, 1]
    assert at == len(data)


def test_bytes_fill_a_batch_too() -> None:
    images = Images(SMALL, batch_bytes=1)
    data = small(*STREAM[0]) * 3
    assert images.feed(data) == (len(data) // 3, FULL)


def test_another_transaction_begins_when_everything_was_taken() -> None:
    images = Images(SMALL)
    images.feed(small(*STREAM[0]))
    with pytest.raises(ValueError, match="not taken"):
        images.decoder.begin(31)
    images.take()
    images.decoder.begin(31)
    assert images.feed(small(*STREAM[0]))[1] == OTHER
    assert images.feed(small(*STREAM[2], tx=31))[1] == NEED_MORE
    assert images.decoder.expects_after_image
    images.take()
    images.decoder.begin(30)
    assert not images.decoder.expects_after_image


def changed(data: bytes, at: int, to: bytes) -> bytes:
    return data[:at] + to + data[at + len(to) :]


GOOD = small(40, 10, 1, True, "ab", "cd")  # header 44; image: 4, 2, then 3 and 5 bytes
INT = struct.Struct(">i")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (changed(GOOD, 0, INT.pack(40)), "header of 40"),
        (changed(GOOD, 4, INT.pack(-1)), "and -1 bytes"),
        (changed(GOOD, 4, INT.pack(1 << 20)), "and 1048576 bytes"),
        (changed(GOOD, 4, INT.pack(5)), "row image has 5 bytes, but its fixed columns need 6"),
        (changed(GOOD, 4, INT.pack(13)), "Variable column 2 has 5 bytes, but only 4 bytes are left"),
        (changed(GOOD, 4, INT.pack(15)) + b"\0", "1 bytes are left after the last column"),
        (changed(GOOD, 36, INT.pack(0)), "Variable column 1 has 0 bytes"),
        (changed(GOOD, 36, INT.pack(-3)), "Variable column 1 has -3 bytes"),
        (changed(GOOD, 36, INT.pack(4)), "4 bytes according to the header, but its own length is 3"),
        (changed(GOOD, 40, INT.pack(4)), "4 bytes according to the header, but its own length is 5"),
        (changed(GOOD, 40, INT.pack(2)), "Variable column 2 has 2 bytes"),
        (changed(GOOD, 48, b"\2\0"), "A BOOLEAN has the bytes 0200"),
        (changed(GOOD, 48, b"\0\5"), "A BOOLEAN has the bytes 0005"),
        (changed(GOOD, 55, b"\2"), "NULL flag 02"),
        (changed(GOOD, 55, b"\1"), "NULL flag 01"),
        (small(*STREAM[3]), "is an UPDAFT without an UPDBEF"),
        (small(*STREAM[2]) + small(*STREAM[0]), "Record 40 follows an UPDBEF"),
        (small(*STREAM[2]) * 2, "Record 42 follows an UPDBEF"),
    ],
)
def test_bytes_that_break_the_format_are_refused_for_good(data: bytes, message: str) -> None:
    images = Images(SMALL)
    for _ in range(2):
        with pytest.raises(ProtocolError, match=message) as caught:
            images.feed(data)
        assert "A change of orders" in str(caught.value)
    with pytest.raises(ProtocolError, match=message):
        images.feed(b"")


def test_a_text_that_is_none_names_its_column_and_keeps_the_rows_before() -> None:
    images = Images(SMALL)
    bad = GOOD.replace(b"ab", b"\xffb")
    with pytest.raises(DataError, match=r"column 'v', offset 6 .* not UTF-8") as caught:
        images.feed(GOOD + bad)
    assert caught.value.column == "v"
    assert rows(images.take()[0]) == [[40, 10, 1, True, "ab", "cd"]]
    assert Images(SMALL, encoding_errors="replace").feed(bad)[1] == NEED_MORE


EVERY = (
    "a smallint, b integer, d bigint, e int8, f float, g smallfloat, h decimal(12,3), i decimal(9), j date, "
    "k datetime year to fraction(5), l interval day(3) to second, m boolean, n char(7), o nchar(3), "
    "p varchar(30,0), q nvarchar(255,0), r lvarchar(3000)"
)


def drawn(rng: random.Random, columns: Sequence[Column]) -> tuple[bytes, list[bytes]]:
    """Return one image with values of all kinds and NULLs. Packed values come from the recorded ones."""
    packed = {
        "h": ["c301172d43500000", "3f32000000000000", "0000000000000000"],
        "i": ["bf0117000000", "3c6250000000", "000000000000"],
        "k": ["c71418030f0a141e0c3200", "0000000000000000000000"],
        "l": ["c40c03040500", "000000000000"],
    }
    fixed, variable = b"", []
    for column in columns:
        text = "".join(rng.choice("ab é日") for _ in range(rng.choice((0, 1, 2, 9))))
        width = 0 if c._varies(column.type) else c.image_width(column)
        if column.name in packed:
            value = bytes.fromhex(rng.choice(packed[column.name]))
        elif column.name in "fg":
            value = struct.pack(">d" if column.name == "f" else ">f", rng.choice((0.0, -1.5, 3.25)))
            value = rng.choice((value, b"\xff" * width))
        elif column.name == "e":
            sign = rng.choice((0, 1, -1))
            value = (
                struct.pack(">hII", sign, rng.randrange(1, 2**32), rng.randrange(2**31))
                if sign
                else bytes(10)
            )
        elif column.name == "j":
            value = struct.pack(">i", rng.choice((-(2**31), 0, -693594, 2958464, 45365)))
        elif column.name == "m":
            value = rng.choice((b"\0\0", b"\0\1", b"\1\0"))
        elif column.name in "no":
            raw = text.encode()[:width].decode(errors="ignore").encode()
            value = rng.choice((raw.ljust(width), b"\0".ljust(width)))
        elif column.name in "pq":
            variable.append(w.varchar(rng.choice((text, None))))
            continue
        elif column.name == "r":
            variable.append(w.lvarchar(rng.choice((text * 40, text, None))))
            continue
        else:
            value = rng.randbytes(width)
            value = rng.choice((value, b"\x80" + bytes(width - 1)))
        assert len(value) == width, column
        fixed += value
    return fixed, variable


@pytest.mark.parametrize(
    ("kind", "sql", "value", "raw"),
    [
        (Kind.CHANGE_BOOL, "BOOLEAN", True, b"\0\1"),
        (Kind.CHANGE_BOOL, "BOOLEAN", False, b"\0\0"),
        (Kind.CHANGE_BOOL, "BOOLEAN", None, b"\1\0"),
        (Kind.CHANGE_LVARCHAR, "LVARCHAR(20)", "é", b"\0\3\0\xc3\xa9"),
        (Kind.CHANGE_LVARCHAR, "LVARCHAR(20)", "", b"\0\1\0"),
        (Kind.CHANGE_LVARCHAR, "LVARCHAR(20)", None, b"\0\1\1"),
    ],
)
def test_the_plain_twins_of_the_two_forms_of_row_images(
    kind: Kind, sql: str, value: object, raw: bytes
) -> None:
    op = PlanOp(kind, 20, 0, 0)
    assert ENCODERS[kind](value, ColumnType.parse_sql(sql), op, "utf-8") == raw
    reader = Reader(bytearray(raw + b"x"), 0, len(raw) + 1)
    assert DECODERS[kind](reader, op, "utf-8") == value
    assert reader.pos == len(raw)


def test_drawn_images_decode_as_by_the_plain_reference() -> None:
    rng = random.Random(18)
    images = Images(EVERY)
    data, expected = b"", []
    for number in range(300):
        fixed, variable = drawn(rng, images.columns)
        data += w.row(rng.choice((40, 41)), number, 30, fixed, *variable)
        lengths = [len(value) for value in variable]
        expected.append(w.read_image(fixed + b"".join(variable), lengths, images.columns))
    at = 0
    while at < len(data):  # pieces of any size
        end = min(len(data), at + rng.randrange(1, 4000))
        behind, status = images.decoder.feed(data, at, end)
        assert status == NEED_MORE
        if behind == at and end - at > 3999:
            raise AssertionError("stuck")
        at = behind
        if end == len(data):
            break
    after, _ = images.take()
    assert after.num_rows == 300
    assert after.column("lsn").to_pylist() == list(range(300))
    columns = {name: after.column(name).to_pylist() for name in (column.name for column in images.columns)}
    for number, values in enumerate(expected):
        for column, value in zip(images.columns, values, strict=True):
            found = columns[column.name][number]
            assert str(found) == str(value) or found == value, (number, column.name)


def test_wrong_plans_are_refused() -> None:
    plan = Images(SMALL).plan

    def make(
        ops: Sequence[Any] = plan.ops, names: Sequence[str] = plan.names, variable: int = 2, **kw: int
    ) -> None:
        sizes = {"batch_rows": 1, "batch_bytes": 1, "max_image": 100, **kw}
        ImageDecoder("t", 1, ops, names, variable=variable, **sizes)

    make()
    for wrong, message in (
        ({"variable": 1}, "fixed columns come first"),
        ({"variable": 3}, "fixed columns come first"),
        ({"variable": 9}, "no more variable ones"),
        ({"variable": -1}, "no more variable ones"),
        ({"ops": plan.ops[:2], "names": plan.names[:2], "variable": 0}, "there must be columns"),
        ({"ops": plan.ops[1:], "names": plan.names[1:]}, "the first two columns"),
        ({"names": plan.names[1:]}, "6 ops, but 5 names"),
        ({"ops": (*plan.ops[:2], (11, 100, 0, 0), *plan.ops[3:])}, "in the forms of row images"),
        ({"batch_rows": 0}, "must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            make(**wrong)  # type: ignore[arg-type]
