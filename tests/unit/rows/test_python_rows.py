"""Python values of a batch: the fast paths return the values and types of ``to_pylist``."""

from __future__ import annotations

import datetime as dt
import gc
import subprocess
import sys
from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.internals import batch_of
from tests.stress import examples

from informix_arrow._decode import rows
from informix_arrow.rows.python_rows import RowBuffer

DAYS = st.integers(-719162, 2932896)  # 0001-01-01 to 9999-12-31
MICROS = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "bool": (pa.bool_(), st.booleans()),
    "int16": (pa.int16(), st.integers(-(2**15), 2**15 - 1)),
    "int32": (pa.int32(), st.integers(-(2**31), 2**31 - 1)),
    "int64": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float32": (pa.float32(), st.floats(width=32, allow_nan=False)),
    "float64": (pa.float64(), st.floats(allow_nan=False)),
    "date32": (pa.date32(), DAYS),
    "timestamp[s]": (pa.timestamp("s"), MICROS.map(lambda n: n // 1_000_000)),
    "timestamp[ms]": (pa.timestamp("ms"), MICROS.map(lambda n: n // 1_000)),
    "timestamp[us]": (pa.timestamp("us"), MICROS),
    "time32[s]": (pa.time32("s"), st.integers(0, 86_399)),
    "time32[ms]": (pa.time32("ms"), st.integers(0, 86_399_999)),
    "time64[us]": (pa.time64("us"), st.integers(0, 86_399_999_999)),
    "duration[us]": (pa.duration("us"), st.integers(-(2**63) + 1, 2**63 - 1)),
    "decimal(16,2)": (pa.decimal128(16, 2), st.decimals(-(10**13), 10**13, places=2)),
    "decimal(38,30)": (pa.decimal128(38, 30), st.decimals(-(10**7), 10**7, places=30)),
    "decimal(32,0)": (pa.decimal128(32, 0), st.integers(-(10**31), 10**31).map(Decimal)),
    "decimal(38,38)": (pa.decimal128(38, 38), st.decimals(-1, 1, places=38).filter(lambda n: abs(n) < 1)),
    "decimal(38,0)": (pa.decimal128(38, 0), st.integers(-(10**38) + 1, 10**38 - 1).map(Decimal)),
    "string": (pa.string(), st.text(max_size=9)),
    "large_string": (pa.large_string(), st.text(max_size=9)),
    "string_view": (pa.string_view(), st.text(max_size=9)),
    "list": (pa.list_(pa.int32()), st.lists(st.integers(0, 9), max_size=3)),
    "binary": (pa.binary(), st.binary(max_size=9)),
}
NUMBERS = {
    pa.date32(): pa.int32(),
    pa.time32("s"): pa.int32(),
    pa.time32("ms"): pa.int32(),
}


def array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return an array. Dates and times are created from numbers, so that no conversion is shared with the tested
    code."""
    if pa.types.is_temporal(kind):
        return pa.array(values, NUMBERS.get(kind, pa.int64())).view(kind)
    return pa.array(values, kind)


def values_of(column: pa.Array) -> list[Any]:
    """Return a column's values as in rows, and check the sentinel column after it."""
    made = RowBuffer()
    made.add(pa.record_batch({"v": column, "after": pa.array(range(len(column)), pa.int32())}))
    pairs = made.fetch()
    assert [type(pair) for pair in pairs] == [tuple] * len(column)
    assert [after for _, after in pairs] == list(range(len(column)))
    return [value for value, _ in pairs]


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=examples(12), deadline=None)
@given(data=st.data())
def test_values_are_those_of_to_pylist(name: str, data: st.DataObject) -> None:
    kind, values = TYPES[name]
    drawn = data.draw(st.lists(st.none() | values, max_size=12))
    column = array(drawn, kind)
    long = pa.concat_arrays([column] * 120) if drawn else column  # other code, and several chunks
    for piece in (column, column.slice(1), column.slice(0, len(column) // 2), long, long.slice(3)):
        fast, plain = values_of(piece), piece.to_pylist()
        assert [(type(value), repr(value)) for value in fast] == [
            (type(value), repr(value)) for value in plain
        ]


def test_dates_and_times_are_those_of_the_calendar() -> None:
    """The expected values are from datetime's own arithmetic, including the ends of the ranges."""
    days = array([-719162, -1, 0, None, 2932896], pa.date32())
    assert values_of(days) == [
        dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), None, dt.date(9999, 12, 31)
    ]  # fmt: skip
    epoch = dt.datetime(1970, 1, 1)
    micros = [-62_135_596_800_000_000, -1, 0, 253_402_300_799_999_999]
    moments = array(micros, pa.timestamp("us"))
    assert values_of(moments) == [epoch + dt.timedelta(microseconds=n) for n in micros]
    span = 2**63 - 1
    spans = array([-span, -1, None, span], pa.duration("us"))
    assert values_of(spans) == [
        None if n is None else dt.timedelta(microseconds=n) for n in (-span, -1, None, span)
    ]
    times = array([0, 86_399_999_999], pa.time64("us"))
    assert values_of(times) == [dt.time(), dt.time(23, 59, 59, 999999)]


@pytest.mark.parametrize("count", [0, 1, 64, 65, 1024, 1025, 3000])
def test_rows_of_batches_of_every_size(count: int) -> None:
    """The sizes are around those at which other code is used, with NULLs in one column and a text after it."""
    numbers = [None if n % 7 == 3 else n for n in range(count)]
    batch = pa.record_batch(
        {
            "n": pa.array(numbers, pa.int32()),
            "d": array(numbers, pa.date32()),
            "t": pa.array([f"t{n}" for n in range(count)], pa.string()),
        }
    )
    rows = RowBuffer()
    rows.add(batch)
    epoch = dt.date(1970, 1, 1)
    expected = [
        (n, None if n is None else epoch + dt.timedelta(days=n), f"t{i}") for i, n in enumerate(numbers)
    ]
    assert rows.fetch() == expected


def test_pandas_is_not_needed() -> None:
    """pyarrow creates some objects with its code for pandas, but must not need the package."""
    code = (
        "import sys\n"
        "class NoPandas:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'pandas': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoPandas())\n"
        "import pyarrow as pa\n"
        "from informix_arrow.rows.python_rows import RowBuffer\n"
        "for kind in (pa.date32(), pa.timestamp('us'), pa.time64('us'), pa.duration('us'), pa.decimal128(9, 2)):\n"
        "    rows = RowBuffer()\n"
        "    rows.add(pa.record_batch({'v': pa.array([None] * 99, kind)}))\n"
        "    assert rows.fetch() == [(None,)] * 99\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("context", [{"prec": 2}, {"capitals": 0}], ids=repr)
def test_a_context_of_decimal_rounds_nothing(context: dict[str, int]) -> None:
    values = [Decimal("-123456789012345678901234567890.12"), Decimal("0.00"), Decimal("1.10")]
    with localcontext() as here:
        for name, value in context.items():
            setattr(here, name, value)
        assert list(map(str, values_of(pa.array(values, pa.decimal128(38, 2))))) == list(map(str, values))


def test_rows_of_atoms_are_nothing_for_the_collector() -> None:
    """If this fails: with a million rows in a list, each garbage collection would visit every row."""
    atoms = pa.record_batch({"n": pa.array([10**6], pa.int64()), "t": pa.array(["a"])})
    assert not gc.is_tracked(rows(*atoms.__arrow_c_array__(), 0, 1, (None, None))[0])
    lists = pa.record_batch({"n": pa.array([[1]])})
    assert gc.is_tracked(rows(*lists.__arrow_c_array__(), 0, 1, ([[1]],))[0])


BATCH = pa.record_batch({"n": pa.array([1, 2, 3], pa.int32()), "t": pa.array(["a", "b", None])})


@pytest.mark.parametrize(
    ("batch", "first", "count", "ready"),
    [
        (BATCH, 0, 4, (None, None)),
        (BATCH, 4, 0, (None, None)),
        (BATCH, -1, 1, (None, None)),
        (BATCH, 0, -1, (None, None)),
        (BATCH, 0, 3, (None,)),
        (BATCH, 0, 3, (None, [1, 2])),
        (BATCH, 0, 3, (None, (1, 2, 3))),
        (pa.record_batch({"v": pa.array([b"a"])}), 0, 1, (None,)),
        (pa.record_batch({"v": pa.array(["a"]).dictionary_encode()}), 0, 1, (None,)),
        (pa.record_batch({"v": pa.array([[1]])}), 0, 1, (None,)),
    ],
)
def test_columns_and_rows_that_are_not_there_are_refused(
    batch: pa.RecordBatch, first: int, count: int, ready: Any
) -> None:
    with pytest.raises(ValueError, match=r"rows|[Cc]olumn"):
        rows(*batch.__arrow_c_array__(), first, count, ready)


def test_a_batch_stays_as_it_is() -> None:
    capsules = BATCH.__arrow_c_array__()
    assert rows(*capsules, 1, 2, (None, None)) == [(2, "b"), (3, None)]
    assert rows(*capsules, 1, 2, (None, ["x", "y"])) == [(2, "x"), (3, "y")]
    assert rows(*capsules, 1, 2, None) == [(2, "b"), (3, None)]
    with pytest.raises(TypeError, match="None or a tuple"):
        rows(*capsules, 1, 2, [None, None])  # type: ignore[arg-type]
    again = batch_of(*capsules)
    assert again == BATCH
    with pytest.raises(ValueError, match="a batch that was not used before"):
        rows(*capsules, 0, 1, (None, None))


def test_no_reference_is_kept_or_lost() -> None:
    """References are counted before and after calls that succeed and that fail in the middle of a row."""
    value, batch = ["x"], pa.record_batch({"v": pa.array([[1]] * 3), "d": pa.array([0, 1, 0], pa.date32())})
    capsules = batch.__arrow_c_array__()
    watched = [value, None, dt.date, Decimal, *capsules]

    def once() -> None:
        rows(*capsules, 0, 3, ([value] * 3, None))
        with pytest.raises(ValueError, match="Column"):
            rows(*capsules, 0, 3, ([value] * 3, [1]))

    once()
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(50):
        once()
    after = [sys.getrefcount(each) for each in watched]
    assert after[0] == before[0]
    assert all(abs(new - old) < 25 for new, old in zip(after, before, strict=True))
