"""Python values of a batch: the fast ways give what ``to_pylist`` gives, value for value and type for type."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.soaking import examples

from informix_arrow.shaping.rows import Rows, values_maker

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
    "string": (pa.string(), st.text(max_size=9)),
    "binary": (pa.binary(), st.binary(max_size=9)),
}
NUMBERS = {
    pa.date32(): pa.int32(),
    pa.time32("s"): pa.int32(),
    pa.time32("ms"): pa.int32(),
}


def array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Dates and times are given as their numbers, so that no conversion is shared with what is tested."""
    if pa.types.is_temporal(kind):
        return pa.array(values, NUMBERS.get(kind, pa.int64())).view(kind)
    return pa.array(values, kind)


@pytest.mark.parametrize("name", TYPES)
@settings(max_examples=examples(20), deadline=None)
@given(data=st.data())
def test_values_are_those_of_to_pylist(name: str, data: st.DataObject) -> None:
    kind, values = TYPES[name]
    drawn = data.draw(st.lists(st.none() | values, max_size=12))
    column = array(drawn, kind)
    for piece in (column, column.slice(1), column.slice(0, len(column) // 2)):
        fast, plain = values_maker(piece)(piece), piece.to_pylist()
        assert [(type(value), repr(value)) for value in fast] == [
            (type(value), repr(value)) for value in plain
        ]


def test_dates_and_times_are_those_of_the_calendar() -> None:
    """Against datetime's own arithmetic, the ends of the ranges among it."""
    days = array([-719162, -1, 0, None, 2932896], pa.date32())
    assert values_maker(days)(days) == [
        dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(1970, 1, 1), None, dt.date(9999, 12, 31)
    ]  # fmt: skip
    epoch = dt.datetime(1970, 1, 1)
    micros = [-62_135_596_800_000_000, -1, 0, 253_402_300_799_999_999]
    moments = array(micros, pa.timestamp("us"))
    assert values_maker(moments)(moments) == [epoch + dt.timedelta(microseconds=n) for n in micros]
    span = 2**63 - 1
    spans = array([-span, -1, None, span], pa.duration("us"))
    assert values_maker(spans)(spans) == [
        None if n is None else dt.timedelta(microseconds=n) for n in (-span, -1, None, span)
    ]
    times = array([0, 86_399_999_999], pa.time64("us"))
    assert values_maker(times)(times) == [dt.time(), dt.time(23, 59, 59, 999999)]


@pytest.mark.parametrize("count", [0, 1, 64, 65, 1024, 1025, 3000])
def test_rows_of_batches_of_every_size(count: int) -> None:
    """The borders where another way of making values is taken; NULLs in one column, a text behind it."""
    numbers = [None if n % 7 == 3 else n for n in range(count)]
    batch = pa.record_batch(
        {
            "n": pa.array(numbers, pa.int32()),
            "d": array(numbers, pa.date32()),
            "t": pa.array([f"t{n}" for n in range(count)], pa.string()),
        }
    )
    rows = Rows()
    rows.add(batch)
    epoch = dt.date(1970, 1, 1)
    expected = [
        (n, None if n is None else epoch + dt.timedelta(days=n), f"t{i}") for i, n in enumerate(numbers)
    ]
    assert rows.take() == expected


def test_pandas_is_not_needed() -> None:
    """pyarrow makes some objects with its code for pandas; it must not want the package."""
    code = (
        "import sys\n"
        "class NoPandas:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'pandas': raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, NoPandas())\n"
        "import pyarrow as pa\n"
        "from informix_arrow.shaping.rows import values_maker\n"
        "for kind in (pa.date32(), pa.timestamp('us'), pa.time64('us'), pa.duration('us'), pa.decimal128(9, 2)):\n"
        "    column = pa.array([None, None], kind)\n"
        "    assert values_maker(column)(column) == [None, None]\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
