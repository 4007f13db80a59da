"""Formats of values that LOAD accepts besides those that UNLOAD writes."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from informix_arrow.unl import read_unl
from informix_arrow.wire.errors import DataError


def read(tmp_path: Path, field: str, declared: str, dbdate: str = "MDY4/") -> object:
    file = tmp_path / "a.unl"
    file.write_text(f"{field}|tail|\n")
    (row,) = read_unl(file, {"a": declared, "tail": "CHAR(4)"}, dbdate=dbdate).read_all().to_pylist()
    assert row["tail"] == "tail"
    return row["a"]


@pytest.mark.parametrize(
    ("field", "dbdate", "day"),
    [
        ("12242004", "MDY4/", dt.date(2004, 12, 24)),
        ("24122004", "DMY4.", dt.date(2004, 12, 24)),
        ("20041224", "Y4MD-", dt.date(2004, 12, 24)),
        ("122404", "MDY4/", dt.date(2004, 12, 24)),
        ("241204", "DMY2.", dt.date(2004, 12, 24)),
        ("041224", "Y2MD-", dt.date(2004, 12, 24)),
        ("12/24/2004", "MDY4/", dt.date(2004, 12, 24)),
    ],
)
def test_dates_may_lack_their_separators(tmp_path: Path, field: str, dbdate: str, day: dt.date) -> None:
    assert read(tmp_path, field, "DATE", dbdate) == day


@pytest.mark.parametrize("field", ["1224200", "12240", "13242004", "02302005", "122420045", "12/242004"])
def test_other_digits_are_no_date(tmp_path: Path, field: str) -> None:
    with pytest.raises(DataError, match="line 1, column 'a'"):
        read(tmp_path, field, "DATE")


@pytest.mark.parametrize(
    ("field", "declared", "number"),
    [
        ("1.0", "INTEGER", 1),
        ("7747.0", "SMALLINT", 7747),
        ("-32767.000", "SMALLINT", -32767),
        ("1e2", "INTEGER", 100),
        ("1.50E+2", "INTEGER", 150),
        ("12000e-3", "INTEGER", 12),
        ("0.0", "BIGINT", 0),
        ("0e99999999", "BIGINT", 0),
        ("9223372036854775807.0", "BIGINT", 2**63 - 1),
        ("-9223372036854775807.0000000000000000000000000", "INT8", -(2**63) + 1),
        ("5.", "INTEGER", 5),
    ],
)
def test_whole_numbers_may_have_a_point_or_an_exponent(
    tmp_path: Path, field: str, declared: str, number: int
) -> None:
    assert read(tmp_path, field, declared) == number


@pytest.mark.parametrize(
    "field",
    ["12.5", "1e-1", "1.0x", "1e", "1..0", "1.0.0", "40000.0", "4e4", "1e30", "99999999999999999999.0"],
)
def test_a_fraction_or_a_number_beyond_the_column_is_refused(tmp_path: Path, field: str) -> None:
    with pytest.raises(DataError, match="line 1, column 'a'"):
        read(tmp_path, field, "SMALLINT")
