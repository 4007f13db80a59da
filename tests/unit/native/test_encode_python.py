"""Lists of Python values become the same Arrow columns as in pyarrow, or are left to it."""

from __future__ import annotations

import contextlib
import datetime as dt
import gc
import subprocess
import sys
import weakref
from collections import namedtuple
from decimal import Decimal, localcontext
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.stress import examples

from informix_arrow._encode import columns, fixed, texts

Kind = Literal["i", "f", "b", "n", "D", "M", "T", "S"]

TYPES: dict[Kind, Any] = {
    "i": pa.int64(),
    "f": pa.float64(),
    "b": pa.bool_(),
    "n": None,
    "D": pa.date32(),
    "M": pa.timestamp("us"),
    "T": pa.time64("us"),
    "S": pa.duration("us"),
}
VALUES: dict[Kind, st.SearchStrategy[Any]] = {
    "i": st.integers() | st.integers(-(2**64), 2**64) | st.sampled_from([2**63 - 1, 2**63, -(2**63), -(2**63) - 1]),
    "f": st.floats(),
    "b": st.booleans(),
    "n": st.decimals(allow_nan=False, allow_infinity=False)
    | st.decimals(-(10**20), 10**20, places=4)
    | st.builds(
        lambda sign, digits, exponent: Decimal((sign, digits, exponent)),
        st.integers(0, 1),
        st.lists(st.integers(0, 9), min_size=1, max_size=34).map(tuple),
        st.integers(-36, 36),
    ),
    "D": st.dates(),
    "M": st.datetimes(),
    "T": st.times(),
    "S": st.timedeltas(),
}  # fmt: skip


def lists(values: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.none() | values, max_size=20)


def by_pyarrow(kind: Kind, values: list[Any]) -> pa.Array | None:
    """Return pyarrow's array of the values; None if it raises an error, or for a decimal of more than 32 digits."""
    try:
        array = pa.array(values, TYPES[kind])
    except (pa.ArrowException, OverflowError, TypeError):  # a TypeError for Decimal("Infinity")
        return None
    if kind == "n":
        found: Any = array.type
        if not pa.types.is_decimal128(found) or not 0 <= found.scale <= found.precision <= 32:
            return None
    return array


def made(kind: Kind, values: list[Any]) -> pa.Array | None:
    found = fixed(kind, values)
    if found is None:
        return None
    nulls, valid, data, precision, scale = found
    assert nulls == values.count(None)
    assert len(valid) == (len(values) + 7) // 8
    kind_of_array = pa.decimal128(precision, scale) if kind == "n" else TYPES[kind]
    array = pa.Array.from_buffers(
        kind_of_array, len(values), [pa.py_buffer(valid), pa.py_buffer(data)], nulls
    )
    array.validate(full=True)
    return array


def bits(array: pa.Array | None) -> object:
    """Return an array in a form in which NaN equals NaN and 0.0 does not equal -0.0."""
    if array is None or not pa.types.is_floating(array.type):
        return array
    return [None if value is None else np.float64(value).tobytes() for value in array.to_pylist()]


@given(st.sampled_from(get_args(Kind)).flatmap(lambda kind: st.tuples(st.just(kind), lists(VALUES[kind]))))
@settings(max_examples=examples(120), deadline=None)
@example(("n", [Decimal("0.00"), None, Decimal("-0"), Decimal("0E+5"), Decimal("0E-7")]))
@example(("n", [Decimal("9" * 32), Decimal("-" + "9" * 32)]))
@example(("n", [Decimal("9" * 32), Decimal("0.1")]))
@example(("n", [Decimal("1E-32"), None]))
@example(("n", [Decimal("1E+31")]))
@example(("n", [Decimal("1E+32")]))
@example(("n", [Decimal("1E+999999"), Decimal("1E-999999")]))
@example(("n", [None, None]))
@example(("n", [Decimal("NaN"), Decimal(1)]))
@example(("n", [Decimal("sNaN")]))
@example(("n", [Decimal("Infinity")]))
@example(("n", [Decimal("-Infinity"), None]))
@example(("M", [dt.datetime.min, None, dt.datetime.max]))
@example(("T", [dt.time.min, None, dt.time.max]))
@example(("D", [dt.date.min, None, dt.date.max]))
@example(("S", [dt.timedelta.min]))
@example(("S", [dt.timedelta.max]))
@example(("S", [dt.timedelta(microseconds=-1), dt.timedelta(days=-106751991, seconds=71946)]))
def test_values_of_fixed_width_are_what_pyarrow_makes_of_them(case: tuple[Kind, list[Any]]) -> None:
    kind, values = case
    expected = by_pyarrow(kind, values)
    if kind == "n" and not [value for value in values if value is not None]:
        expected = None  # pyarrow's null type
    array = made(kind, values)
    assert bits(array) == bits(expected)
    if array is not None:
        assert array.type == (expected.type if expected is not None else None)
    if array is not None and kind in "MT":
        found = fixed(kind, values)
        assert found is not None
        assert found[4] == (6 if any(value is not None and value.microsecond for value in values) else 0)


@given(lists(st.text() | st.text(st.characters()) | st.just("\ud800") | st.just("\0")))
@settings(max_examples=examples(40), deadline=None)
@example(["", None, "a", "é" * 70, "\U0001f600", "\0"])
@example(["a", "\udfff", "b"])
@example([])
def test_texts_are_what_pyarrow_makes_of_them(values: list[Any]) -> None:
    try:
        expected = pa.array(values, pa.utf8())
    except UnicodeEncodeError:
        expected = None
    found = texts(values)
    if found is None:
        assert expected is None
        return
    nulls, valid, offsets, data = found
    buffers = [pa.py_buffer(valid), pa.py_buffer(offsets), pa.py_buffer(data)]
    array = pa.Array.from_buffers(pa.utf8(), len(values), buffers, nulls)
    array.validate(full=True)
    assert array == expected


def test_a_context_of_decimal_changes_nothing() -> None:
    """If this fails: str() formats an exponent as the context says, but all digits whatever the context says."""
    values = [Decimal("1E+3"), Decimal("-0E-9"), Decimal("123456789012345678901.5")]
    expected = made("n", values)
    with localcontext() as context:
        context.prec, context.capitals = 3, 0
        assert made("n", values) == expected
    assert expected is not None


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("M", dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc)),
        ("T", dt.time(1, tzinfo=dt.timezone.utc)),
        ("b", 1),
    ],
    ids=repr,
)  # fmt: skip
def test_what_a_column_cannot_say_makes_none(kind: Kind, value: object) -> None:
    assert fixed(kind, [None, value]) is None


Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "row",
    [(1, "a"), [1, "a"], Point(1, "a"), np.array([1, "a"], object), iter([1, "a"])],
    ids=["tuple", "list", "namedtuple", "numpy", "iterator"],
)
def test_rows_of_any_kind_are_turned_into_columns(row: Any) -> None:
    assert columns([(None, None), row, (2, "b")], 2) == ((int, [None, 1, 2]), (str, [None, "a", "b"]))


def test_columns_of_two_types_are_none_and_of_no_value_of_the_type_of_none() -> None:
    assert columns([(1, None), (1.5, None)], 2) is None
    assert columns([(True, None), (1, None)], 2) is None
    assert columns([(None, 1), (None, 2)], 2) == ((type(None), [None, None]), (int, [1, 2]))
    assert columns([], 2) == ((type(None), []), (type(None), []))
    assert columns([(), ()], 0) == ()


@pytest.mark.parametrize(
    "rows", [[(1,), (1, 2)], [(1,), ()], [(1,), [1, 2, 3]], [(1,), 5], 7, ((1,),)], ids=repr
)
def test_rows_of_another_length_and_what_is_no_row_are_errors(rows: Any) -> None:
    with pytest.raises((ValueError, TypeError)):
        columns(rows, 1)


class Shortens:
    """A row that removes the other rows while it is read."""

    def __init__(self, rows: list[Any]) -> None:
        self.rows = rows

    def __iter__(self) -> Any:
        self.rows.clear()
        return iter((1,))

    def __str__(self) -> str:
        self.rows.clear()
        return "1.5"


def test_rows_that_vanish_while_they_are_read_are_an_error() -> None:
    rows: list[Any] = []
    rows += [Shortens(rows), (2,), (3,)]
    with pytest.raises(IndexError):
        columns(rows, 1)
    values: list[Any] = []
    values += [Shortens(values), None, None]
    with pytest.raises(IndexError):
        fixed("n", values)


def test_a_type_that_goes_away_while_rows_are_read_is_still_reported() -> None:
    """A row's method changes the class of a value that was read before. Then no object refers to the first class any
    more."""

    class Before:
        pass

    class Behind:
        pass

    value, seen = Before(), weakref.ref(Before)
    del Before

    class Changes:
        def __iter__(self) -> Any:
            value.__class__ = Behind  # type: ignore[assignment]
            gc.collect()
            return iter((None,))

    found = columns([(value,), Changes()], 1)
    assert found is not None
    ((kind, values),) = found
    assert kind is seen()
    assert (kind.__name__, values) == ("Before", [value, None])


def test_no_reference_is_kept_or_lost() -> None:
    """References are counted before and after calls that succeed, that return None and that fail."""
    number, text, day, row = 10**15 + 7, "x" * 99, dt.date(2026, 1, 2), [10**17 + 9, "a" * 77]
    amount, broken = Decimal("1.25"), Decimal("NaN")
    watched = [number, text, day, row, amount, broken, *row]

    def once() -> None:
        columns([(number, text), row, (None, None)], 2)
        columns([(number,), (text,)], 1)
        for values in ([number, number], [number, text]):
            attempt("i", values)
        attempt("D", [day, day])
        attempt("D", [day, number])
        attempt("n", [amount, None])
        attempt("n", [amount, broken])
        texts([text, None])
        for bad in ([text, number], [text, "\ud800"]):
            with contextlib.suppress(TypeError):
                texts(bad)
        with contextlib.suppress(ValueError):
            columns([row, (number,)], 2)

    def attempt(kind: Kind, values: list[Any]) -> None:
        with contextlib.suppress(TypeError, AttributeError):
            fixed(kind, values)

    once()
    before = [sys.getrefcount(each) for each in watched]
    for _ in range(50):
        once()
    assert [sys.getrefcount(each) for each in watched] == before


def test_no_column_makes_pyarrow_import_pandas() -> None:
    """If this fails: ``pyarrow.array(list)`` imports pandas if it is installed, which takes a fifth of a second.
    connect() then assumes a program that uses pandas, and returns another class of connection."""
    code = """if True:
        import datetime as dt, sys
        from decimal import Decimal
        from informix_arrow.operations.column_binding import ColumnBinder, ParameterBinding
        day, moment = dt.date(2026, 1, 1), dt.datetime(2026, 1, 1)
        row = (1, 1.5, "a", True, Decimal("1.5"), day, moment, dt.time(1), dt.timedelta(1), None)
        binder = ColumnBinder(ParameterBinding("utf-8"), len(row), b"", b"")
        assert binder.load([row, row])
        assert binder.encode(1 << 16)[1] == 2
        assert "pandas" not in sys.modules
    """
    subprocess.run([sys.executable, "-c", code], check=True)
