"""Texts too long for 32-bit offsets: a batch ends before them, and a single value is refused with its real size.

The limit of two gigabytes is a parameter of the decoder and of ``as_text``, so that tests need not reach it.
"""

from __future__ import annotations

import struct

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.internals import batch_of
from tests.unit.native.decoder_support import INTEGER, SENTINEL, SENTINEL_BYTES, stream

from informix_arrow._decode import FULL, OTHER, Decoder
from informix_arrow.rows.postprocess import as_text
from informix_arrow.wire.codepages import decoder_table
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.plan_ops import FLAG_LARGE, FLAG_RAW, FLAG_REPLACE, Kind, PlanOp, arrow_type_of_op

LIMIT = 9000
EURO = "€".encode("cp1252")  # one byte in cp1252, three in UTF-8


def text(flags: int = 0) -> PlanOp:
    return PlanOp(Kind.LVARCHAR, 32000, 0, flags)


def row(value: bytes) -> bytes:
    return struct.pack(">bi", 0, len(value)) + value + SENTINEL_BYTES


def read(
    values: list[bytes], op: PlanOp, codepage: str | None, before: list[pa.RecordBatch] | None = None
) -> list[pa.RecordBatch]:
    """Return batches of the values, each with a sentinel column. Batches before a refused value are added to
    ``before``."""
    ops = [op, INTEGER]
    decoder = Decoder(
        [each.as_tuple() for each in ops],
        ["words", "sentinel"],
        batch_rows=1 << 20,
        batch_bytes=1 << 30,
        max_tuple=1 << 20,
        codepage=decoder_table(codepage) if codepage else None,
        text_limit=LIMIT,
    )
    schema = pa.schema([pa.field("words", arrow_type_of_op(op)), pa.field("sentinel", pa.int32())])
    data, position, batches = stream(map(row, values)), 0, [] if before is None else before
    while True:
        status = -1
        try:
            position, status = decoder.feed(data, position, len(data))
            assert status in (FULL, OTHER)
        finally:
            batch = batch_of(schema.__arrow_c_schema__(), decoder.take())
            batch.validate(full=True)
            assert set(batch.column("sentinel").to_pylist()) <= {SENTINEL}
            batches.append(batch)
        if status == OTHER:
            return batches


@pytest.mark.parametrize(
    ("unit", "shown", "codepage", "flags"),
    [
        (b"a", "a", "latin-1", 0),
        (b"\xe9", "é", "latin-1", 0),
        (EURO, "€", "cp1252", 0),
        (b"a", "a", None, 0),
        ("€".encode(), "€", None, 0),
        (b"\xff", "\ufffd", None, FLAG_REPLACE),
        (b"a", "a", None, FLAG_REPLACE),
    ],
)
@pytest.mark.parametrize("fraction", [0.34, 0.5, 1.0])
def test_a_text_that_fits_is_read_however_much_it_might_have_become(
    unit: bytes, shown: str, codepage: str | None, flags: int, fraction: float
) -> None:
    count = int(LIMIT * fraction) // len(shown.encode())
    batches = read([b"x", unit * count, b"", unit * count], text(flags), codepage)
    assert [value for batch in batches for value in batch.column("words").to_pylist()] == [
        "x",
        shown * count,
        "",
        shown * count,
    ]
    assert all(pc.sum(pc.binary_length(batch.column("words"))).as_py() <= LIMIT for batch in batches)


@pytest.mark.parametrize(
    ("unit", "codepage", "flags", "becomes"),
    [
        (EURO, "cp1252", 0, 3),
        (b"\xe9", "latin-1", 0, 2),
        (b"\xff", None, FLAG_REPLACE, 3),
        (b"a", None, 0, 1),
    ],
)
def test_a_text_that_does_not_fit_is_refused_with_its_own_numbers_and_its_place(
    unit: bytes, codepage: str | None, flags: int, becomes: int
) -> None:
    count, before = LIMIT // becomes + 1, list[pa.RecordBatch]()
    with pytest.raises(
        DataError,
        match=rf"Column 'words', row 2, .*The value of {count * becomes} bytes \({count} on the wire\) is too long for "
        rf"32-bit offsets, which end at {LIMIT}",
    ) as caught:
        read([b"one", b"two", unit * count, b"four"], text(flags), codepage, before)
    assert (caught.value.row, caught.value.column) == (2, "words")
    assert [value for batch in before for value in batch.column("words").to_pylist()] == ["one", "two"]


def test_64_bit_offsets_know_no_such_limit() -> None:
    (batch,) = read([EURO * LIMIT, b"", EURO], text(FLAG_LARGE), "cp1252")
    assert batch.column("words").to_pylist() == ["€" * LIMIT, "", "€"]


def test_batches_of_raw_text_end_where_its_utf8_still_fits() -> None:
    values = [b"\xb1" * 1000] * 20  # half-width katakana of Shift JIS: one byte becomes three
    batches = read(values, text(FLAG_RAW), None)
    found = []
    for batch in batches:
        done = as_text(batch.column("words"), pa.utf8(), "shift_jis", "strict", "words", 0, LIMIT)
        assert pc.sum(pc.binary_length(done)).as_py() <= LIMIT
        found += done.to_pylist()
    assert found == [value.decode("shift_jis") for value in values]


def test_a_multi_byte_text_that_does_not_fit_is_refused_with_its_own_numbers_and_its_place() -> None:
    long = b"\xb1" * (LIMIT // 3 + 1)
    values = pa.array([b"a", None, long, b"b"], pa.binary())
    with pytest.raises(
        DataError, match=f"Column 'words', row 12: A value of {len(long) * 3:,} bytes"
    ) as caught:
        as_text(values, pa.utf8(), "shift_jis", "strict", "words", 10, LIMIT)
    assert (caught.value.row, caught.value.column) == (12, "words")
    large = as_text(
        values.cast(pa.large_binary()), pa.large_utf8(), "shift_jis", "strict", "words", 10, LIMIT
    )
    assert large.to_pylist() == ["a", None, long.decode("shift_jis"), "b"]


def test_the_limit_must_be_positive() -> None:
    with pytest.raises(ValueError, match="text_limit must be positive, not 0"):
        Decoder([], [], batch_rows=1, batch_bytes=1, max_tuple=1, text_limit=0)
