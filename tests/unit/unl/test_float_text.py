"""Floats as text and back in .unl files: repr()'s digits in Arrow's format, and the float nearest to any digits.

native/float_shortest.h makes the text, and Arrow's cast the float (fast_float). The references are repr() and float()
(David Gay's algorithm), Arrow's cast to text (double-conversion), and integer arithmetic.
"""

from __future__ import annotations

import io
import math
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from tests.stress import seeds

from informix_arrow import DataError
from informix_arrow.unl import read_unl, write_unl

FORMS = {"FLOAT": (np.float64, np.uint64, 52, 0x7FF), "SMALLFLOAT": (np.float32, np.uint32, 23, 0xFF)}


def written(declared: str, values: npt.NDArray[np.floating]) -> list[str]:
    file = io.BytesIO()
    rows = pa.table({"value": values, "after": np.arange(len(values), dtype=np.int32)})
    assert write_unl(rows, file, {"value": declared}, delimiter="|") == len(values)
    fields = [line.split("|") for line in file.getvalue().decode().splitlines()]
    assert [int(after) for _, after, _ in fields] == list(range(len(values)))
    return [text for text, _, _ in fields]


def read(declared: str, texts: Sequence[str]) -> npt.NDArray[np.floating]:
    lines = "".join(f"{text}|{number}|\n" for number, text in enumerate(texts))
    types = {"value": declared, "after": "INTEGER"}
    table = read_unl(io.BytesIO(lines.encode()), types, delimiter="|", dbmoney=".").read_all()
    assert table["after"].to_pylist() == list(range(len(texts)))
    made: npt.NDArray[np.floating] = table["value"].to_numpy()
    return made


def digits_of(text: str) -> tuple[str, int]:
    """Return the digits of a number without zeros at either end, and the power of ten of the last digit."""
    mantissa, _, exponent = text.lstrip("-").lower().partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits, power = (whole + fraction).lstrip("0"), int(exponent or 0) - len(fraction)
    kept = digits.rstrip("0")
    return kept, power + len(digits) - len(kept) if kept else 0


def every_exponent(declared: str, seed: int, each: int) -> npt.NDArray[np.floating]:
    """Return floats of each exponent, including subnormals: the least and greatest fractions, and random ones."""
    number, bits, fraction_bits, infinite = FORMS[declared]
    chosen = random.Random(seed)
    top = 1 << fraction_bits
    found = [
        sign << (fraction_bits + infinite.bit_length()) | exponent << fraction_bits | fraction
        for exponent in range(infinite)
        for fraction in (0, 1, 2, 3, top - 2, top - 1, *(chosen.randrange(top) for _ in range(each)))
        for sign in (0, 1)
    ]
    return np.array(found, bits).view(number)


def drawn(declared: str, seed: int, count: int) -> npt.NDArray[np.floating]:
    """Return floats of random bits, and typical numbers."""
    number, bits, _, _ = FORMS[declared]
    rng = np.random.default_rng(seed)
    with np.errstate(over="ignore"):
        kinds = [
            rng.integers(0, np.iinfo(bits).max, count, bits, endpoint=True).view(number),
            np.round(rng.normal(size=count) * 1000, 3).astype(number),
            (rng.integers(-(10**9), 10**9, count) / 100).astype(number),
            rng.integers(0, 2**62, count).astype(number),
            (10.0 ** rng.integers(-40, 39, count)).astype(number),
        ]
    values = np.concatenate(kinds)
    return values[np.isfinite(values)]


def check(declared: str, values: npt.NDArray[np.floating]) -> None:
    _, bits, _, _ = FORMS[declared]
    texts = written(declared, values)
    assert texts == pa.array(values).cast(pa.utf8()).to_pylist()  # in Arrow's format
    if declared == "FLOAT":
        for text, value in zip(texts, values.tolist(), strict=True):
            assert digits_of(text) == digits_of(repr(value)), (text, value)
    np.testing.assert_array_equal(read(declared, texts).view(bits), values.view(bits))


@pytest.mark.parametrize("declared", FORMS)
def test_floats_of_each_exponent_are_written_as_repr_has_them_and_read_again(declared: str) -> None:
    check(declared, every_exponent(declared, 1, 6))


@pytest.mark.soak
@pytest.mark.parametrize("declared", FORMS)
def test_drawn_floats_are_written_as_repr_has_them_and_read_again(declared: str) -> None:
    for seed in seeds(1):
        check(declared, drawn(declared, seed, 10_000))
        check(declared, every_exponent(declared, seed, 3))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"), (-0.0, "-0"), (1.0, "1"), (100.0, "100"), (0.1, "0.1"), (1e-6, "0.000001"), (1e-7, "1e-7"),
        (-1.25e-7, "-1.25e-7"), (9999999999.0, "9999999999"), (1e10, "1e+10"), (12345678901.5, "1.23456789015e+10"),
        (5e-324, "5e-324"), (2.2250738585072014e-308, "2.2250738585072014e-308"), (2.0**-44, "5.684341886080802e-14"),
        (1.7976931348623157e308, "1.7976931348623157e+308"), (9007199254740993.0, "9.007199254740992e+15"),
        (2.0**60, "1.152921504606847e+18"), (5e22, "5e+22"), (9.5367431640625e-7, "9.5367431640625e-7"),
    ],
)  # fmt: skip
def test_a_float_is_written_as(value: float, text: str) -> None:
    assert written("FLOAT", np.array([value])) == [text]


def test_the_decimal_separator_of_dbmoney_is_that_of_floats_too() -> None:
    file = io.BytesIO()
    values = pa.table({"d": [1.5, 1.5e300, 0.25], "after": ["x", "y", "z"]})
    write_unl(values, file, {"d": "FLOAT"}, delimiter="|", dbmoney=",")
    assert file.getvalue() == b"1,5|x|\n1,5e+300|y|\n0,25|z|\n"
    types = {"d": "FLOAT", "after": "VARCHAR(3)"}
    again = read_unl(io.BytesIO(file.getvalue()), types, delimiter="|", dbmoney=",").read_all()
    assert again.to_pydict() == values.to_pydict()


def middles(declared: str, seed: int, count: int) -> list[str]:
    """Return texts of numbers exactly between two floats, with all digits, and numbers slightly to either side."""
    number, bits, fraction_bits, infinite = FORMS[declared]
    chosen = random.Random(seed)
    texts = []
    for _ in range(count):
        below = chosen.randrange((infinite - 1) << fraction_bits)
        two = np.array([below, below + 1], bits).view(number)
        middle = (Fraction(float(two[0])) + Fraction(float(two[1]))) / 2
        scale = chosen.choice([0, 30, 60, 120, 200])  # fraction digits: the larger scales hold all of them
        scaled = middle * 10**scale
        if not 10 <= scaled < 10**240:
            continue
        whole = int(scaled)
        texts += [f"{whole + step}e-{scale}" for step in (-1, 0, 1)]
        texts += [f"{whole}.{'0' * 9}1e-{scale}", f"{whole}{'0' * 5}e{-scale - 5}"]
    return texts


@pytest.mark.parametrize("declared", FORMS)
def test_a_number_is_read_as_the_float_nearest_to_all_its_digits(declared: str) -> None:
    """Exactly between two floats the even one is correct. Numbers with one digit more or less are tested, too."""
    number, bits, _, _ = FORMS[declared]
    texts = middles(declared, 7, 400)
    assert len(texts) > 500
    made = read(declared, texts)
    if declared == "FLOAT":
        wanted = np.array([float(text) for text in texts], number)
    else:
        wanted = pa.array(texts).cast(pa.float32()).to_numpy()
    np.testing.assert_array_equal(made.view(bits), wanted.view(bits))
    odd = [text for text, value in zip(texts, made, strict=True) if not nearest(text, value)]
    assert odd == []


def nearest(text: str, value: np.floating) -> bool:
    """Return whether the float is the nearest, by exact fractions; between two floats its last bit must be 0."""
    exact, here = Fraction(text), Fraction(float(value))
    for side in (-math.inf, math.inf):
        beside = np.nextafter(value, type(value)(side))
        if not np.isfinite(beside):
            continue
        there = abs(Fraction(float(beside)) - exact)
        if there < abs(here - exact):
            return False
        if there == abs(here - exact) and value.view(np.uint32 if value.itemsize == 4 else np.uint64) & 1:
            return False
    return True


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", 0.0), ("-0", -0.0), ("+1", 1.0), (".5", 0.5), ("5.", 5.0), (" 7 ", 7.0), ("1E5", 1e5), ("1e+05", 1e5),
        ("0" * 100 + "1", 1.0), ("0." + "0" * 200 + "1e201", 1.0), ("1" + "0" * 200 + "e-200", 1.0),
        ("9007199254740993", 9007199254740992.0), ("9007199254740993." + "0" * 20 + "1", 9007199254740994.0),
        ("2.4703282292062327e-324", 0.0), ("2.4703282292062328e-324", 5e-324), ("1e-400", 0.0), ("0e99999", 0.0),
        ("2.2250738585072011e-308", 2.225073858507201e-308), ("2.2250738585072012e-308", 2.2250738585072014e-308),
        ("1.7976931348623158e308", 1.7976931348623157e308), ("123456789012345678901234567890", 1.2345678901234568e29),
    ],
)  # fmt: skip
def test_a_float_is_read_from(text: str, value: float) -> None:
    (made,) = read("FLOAT", [text])
    assert (made, math.copysign(1, made)) == (value, math.copysign(1, value))


@pytest.mark.parametrize(
    ("declared", "text"),
    [("FLOAT", "1.7976931348623159e308"), ("FLOAT", "-1e309"), ("FLOAT", "1e99999999999"),
     ("SMALLFLOAT", "3.4028236e38")],
)  # fmt: skip
def test_a_number_beyond_the_range_is_an_error(declared: str, text: str, tmp_path: Path) -> None:
    """The error occurs when the column is converted. For a file that can be read again it names the line, for a stream
    the row."""
    file = tmp_path / "floats.unl"
    file.write_text(f"0|\n{text}|\n")
    with pytest.raises(DataError, match=r"line 2, column 'value'.*is outside the range of"):
        read_unl(file, {"value": declared}, delimiter="|", dbmoney=".").read_all()
    with pytest.raises(DataError, match=r"row 0, column 'value'.*is outside the range of"):
        read(declared, [text])
