"""Errors in .unl files, and in data to be written to one, name the place and say what to do."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.unl import read_unl, write_unl

GOOD = "alpha|"


@pytest.mark.parametrize(
    ("declared", "text", "reason"),
    [
        ("INTEGER", "x1", "'x1' is not a whole number"),
        ("INTEGER", "1.5", "'1.5' is not a whole number"),
        ("INTEGER", "   ", "'' is not a whole number"),
        ("SMALLINT", "32768", "'32768' is outside the range of the column's type"),
        ("BIGINT", "9223372036854775808", "is outside the range of the column's type"),
        ("BIGINT", "99999999999999999999999", "is outside the range of the column's type"),
        ("DECIMAL(5,2)", "1.234", "has more decimal places than the column can store"),
        ("DECIMAL(5,2)", "1234.5", "has more digits than the column can store"),
        ("DECIMAL(5,2)", "1e99999999999", "has more digits than the column can store"),
        ("DECIMAL(5,2)", "1,5", "'1,5' is not a number. Use dbmoney=\",\" to read decimal commas"),
        ("DECIMAL(5,2)", "$1.5", "'$1.5' is not a number"),
        ("DECIMAL(5,2)", "", None),
        ("FLOAT", "1e", "'1e' is not a number"),
        ("FLOAT", "1e400", "is outside the range of double"),
        ("FLOAT", "NaN", "'NaN' is not a number"),
        ("BOOLEAN", "yes", "is not a BOOLEAN (expected t or f)"),
        ("DATE", "24/12/2020", "'24/12/2020' is not a date (expected MM/DD/YYYY)."),
        ("DATE", "02/29/2021", "is not a date"),
        ("DATE", "1/1/202", "is not a date"),
        ("DATETIME YEAR TO SECOND", "2020-13-01 00:00:00", "is not a DATETIME (expected YYYY-MM-DD HH:MM:SS)."),
        ("DATETIME YEAR TO FRACTION(3)", "2020-12-01 00:00", "is not a DATETIME (expected YYYY-MM-DD HH:MM:SS.FFF)."),
        ("DATETIME YEAR TO FRACTION(2)", "2020-12-01 00:00:00.123", "has more digits of a second"),
        ("DATETIME MONTH TO DAY", "02-30", "'02-30' is not a DATETIME (expected MM-DD)."),
        ("INTERVAL DAY(2) TO SECOND", "100 00:00:00", "has more digits in its first field"),
        ("INTERVAL DAY(2) TO SECOND", "1 24:00:00", "is not an INTERVAL (expected days hours:minutes:seconds)."),
        ("INTERVAL YEAR(9) TO MONTH", "999999999-00", "is too long for int32 months"),
        ("INTERVAL DAY(9) TO DAY", "999999999", "Read it as month_day_nano_interval."),
        ("BYTE", "0g", "Byte 1 of the field is not a hexadecimal digit"),
        ("BYTE", "012", "3 hexadecimal digits. A BYTE needs two digits for each byte"),
        ("SET(INTEGER NOT NULL)", "SET{1", "A comma or } was expected"),
        ("BLOB", "0,5,missing", "The content is in the file 'missing'"),
        ("INTEGER", "7" * 300, "is too long for the column's type"),
    ],
)  # fmt: skip
def test_a_field_that_is_not_of_its_type_is_named_with_its_line(
    tmp_path: Path, declared: str, text: str, reason: str | None
) -> None:
    path = tmp_path / "t.unl"
    path.write_text(f"a\\\nb|||\nc|{text}|7|\nd||8|\n")
    reader = read_unl(path, {"v": "VARCHAR(9)", "x": declared, "n": "INTEGER"}, batch_rows=1)
    assert reader.read_next_batch().to_pydict() == {"v": ["a\nb"], "x": [None], "n": [None]}
    if reason is None:
        assert reader.read_all()["n"].to_pylist() == [7, 8]
        return
    with pytest.raises(ifx.DataError) as caught:
        reader.read_next_batch()
    message = str(caught.value)
    assert message.startswith(f"{path}, line 3, column 'x' (field 2, {declared}): ")
    assert reason in message
    assert (caught.value.row, caught.value.column) == (1, "x")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"1|a|2|\n1|b|2|3|4|\n", "line 2: The row has 5 fields, but the schema has 3. A delimiter inside a text"),
        (b"1|a|2|\n1|b|2|3\n", "line 2: The row has 4 fields, but the schema has 3. A delimiter inside a text"),
        (b"1|a|2|\n1|b\n", "line 2: The row has 2 fields, but the schema has 3. A line break inside a text"),
        (b"1|a|2|\n\n", "line 2: The line is empty. Remove it."),
        (b"1|a|2|\n1|b", "line 2: The row has 2 fields, but the schema has 3. The file ends here. It is truncated."),
        (b"1|a|2|\n1|b|2", "line 2: The file ends inside the row. It is truncated."),
        (b"1|a|2|\n1|b\\", "line 2: The file ends after a backslash. It is truncated."),
        (b"1|a|2|\n1|\xff|2|\n", r"line 2, column 'v' \(field 2, VARCHAR.9.\): Byte 0 .* not UTF-8.*encoding="),
        (b"1|a|2|\n1|\\|\xff|2|\n", r"line 2, column 'v' .*: Byte 1 of the text \(ff\) is not UTF-8.*encoding="),
    ],
)  # fmt: skip
def test_a_row_that_is_none_is_named_with_its_line(data: bytes, reason: str) -> None:
    with pytest.raises(ifx.DataError, match=f"^the file, {reason}"):
        read_unl(io.BytesIO(data), {"n": "INTEGER", "v": "VARCHAR(9)", "k": "INTEGER"}).read_all()


@pytest.mark.parametrize(
    ("data", "types", "argument", "hint"),
    [
        (b"24/12/2020|\n", {"d": "DATE"}, "dbdate", "Name the order of the file's dates with dbdate=."),
        (b"1,5|\n", {"n": "DECIMAL(5,2)"}, "dbmoney", 'Use dbmoney="," to read decimal commas.'),
        (
            b"a\nb|1|\n",
            {"t": "VARCHAR(9)", "n": "INT"},
            "join_lines",
            "Use join_lines=True to read texts without one.",
        ),
        (b"a\xff|\n", {"t": "VARCHAR(9)"}, "encoding", "Name the file's code set with encoding=."),
        (b"one|\n", {"n": "INTEGER"}, "", ""),
    ],
)
def test_an_error_carries_its_hint_and_the_argument_that_it_names(
    data: bytes, types: dict[str, str], argument: str, hint: str
) -> None:
    with pytest.raises(ifx.DataError) as caught:
        read_unl(io.BytesIO(data), types).read_all()
    assert (caught.value.hint_argument, caught.value.hint) == (argument, hint)
    assert str(caught.value).endswith(f" {hint}" if hint else " is not a whole number.")


def test_bytes_that_are_no_text_in_the_code_set_are_named_with_their_line() -> None:
    with pytest.raises(ifx.DataError, match=r"line 3: The byte ff is not text in shift_jis.*encoding="):
        read_unl(
            io.BytesIO(b"1|a|\n2|b|\n3|\xff|\n"), {"n": "INTEGER", "v": "TEXT"}, encoding="shift_jis"
        ).read_all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"delimiter": "a"}, "must not be a hexadecimal digit"),
        ({"delimiter": "5"}, "must not be a hexadecimal digit"),
        ({"delimiter": "\\"}, "one ASCII character"),
        ({"delimiter": "\n"}, "one ASCII character"),
        ({"delimiter": "||"}, "one ASCII character"),
        ({"delimiter": "é"}, "one ASCII character"),
        ({"dbdate": "MYD4/"}, "dbdate='MYD4/': It must be the order"),
        ({"dbdate": "MDY3/"}, "It must be the order"),
        ({"dbdate": "%d/%m"}, "It must be the order"),
        ({"dbcentury": "X"}, "It must be R"),
        ({"dbmoney": "$"}, "It must be a decimal separator"),
        ({"dbmoney": "1."}, "It must be a decimal separator"),
        ({"encoding": "klingon"}, "encoding='klingon' is neither"),
    ],
)
def test_a_choice_that_cannot_be_is_refused_with_those_that_can(
    options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ifx.InterfaceError, match=message):
        read_unl(io.BytesIO(b""), {"n": "INTEGER"}, **options)


def test_a_file_that_is_not_there_is_reported_at_once(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_unl(tmp_path / "none.unl", {"n": "INTEGER"})


def test_a_type_that_is_none_or_has_no_form_is_refused() -> None:
    with pytest.raises(ifx.ProgrammingError, match="Column 'n': 'NUMBR' is not an Informix type"):
        read_unl(io.BytesIO(b""), {"n": "NUMBR"})
    with pytest.raises(
        ifx.NotSupportedError, match=r"Column 'n' is a BSON column, which a \.unl file cannot represent"
    ):
        read_unl(io.BytesIO(b""), {"n": "BSON"})


REFUSED: list[tuple[str, pa.Array, str]] = [
    ("DATE", pa.array([0, 3_000_000], pa.int32()).cast(pa.date32()), "outside the range of DATE, 0001"),
    ("DATETIME YEAR TO MINUTE", pa.array([0, 61], pa.timestamp("s")), "has more precision than"),
    ("DATETIME YEAR TO FRACTION(2)", pa.array([0, 1], pa.timestamp("ms")), "has more precision than"),
    ("DATETIME YEAR TO SECOND", pa.array([0, 1], pa.timestamp("us")), "would lose data"),
    ("DATETIME HOUR TO MINUTE", pa.array([0, 61], pa.time32("s")), "has more precision than"),
    ("DATETIME MONTH TO DAY", pa.array(["12-24", "13-01"]), "MONTH is 13"),
    ("INTERVAL DAY(1) TO DAY", pa.array([0, 86_400_000_000 * 10], pa.duration("us")), "first field .* has more digits"),
    ("INTERVAL DAY(1) TO DAY", pa.array([0, 3_600_000_000], pa.duration("us")), "has more precision than"),
    ("INTERVAL YEAR TO YEAR", pa.array([0, 5], pa.int32()), "has more precision than"),
    ("SMALLINT", pa.array([1, 70000], pa.int64()), "out of bounds|not in range"),
    ("INTEGER", pa.array([1.0, 1.5]), "truncated|was truncated"),
    ("DECIMAL(5,2)", pa.array([1.5, 1.234]), "data loss|precision|rescal"),
    ("DECIMAL(5,2)", pa.array([Decimal("1.5"), Decimal("1234.5")]), "does not fit|precision"),
    ("FLOAT", pa.array([1.0, float("nan")]), "NaN and infinity"),
    ("DATE", pa.array([dt.datetime(2020, 1, 1), dt.datetime(2020, 1, 1, 5)]), "more precision than date32"),
    ("BOOLEAN", pa.array(["true", "maybe"]), "maybe"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("declared", "values", "reason"), REFUSED, ids=[each[0] + str(i) for i, each in enumerate(REFUSED)]
)
def test_a_value_that_cannot_be_said_is_refused_and_leaves_no_file(
    tmp_path: Path, declared: str, values: pa.Array, reason: str
) -> None:
    table = pa.table({"b": [b"x", b"y"], "x": values, "n": [1, 2]})
    with pytest.raises(ifx.DataError, match=f"Column 'x', row 1: .*({reason})") as caught:
        write_unl(table, tmp_path / "t.unl", {"x": declared, "b": "BLOB"})
    assert (caught.value.row, caught.value.column) == (1, "x")
    assert list(tmp_path.iterdir()) == []


def test_a_year_that_two_digits_would_change_is_refused() -> None:
    table = pa.table({"d": [dt.date.today(), dt.date(1886, 5, 1)], "n": [1, 2]})
    with pytest.raises(
        ifx.DataError, match="Column 'd', row 1: The two digits of the year would be read as another century"
    ):
        write_unl(table, io.BytesIO(), dbdate="DMY2.")


def test_a_character_that_the_code_set_lacks_is_named_with_its_column() -> None:
    table = pa.table({"v": ["plain", "a€b"], "n": [1, 2]})
    with pytest.raises(
        ifx.DataError, match=r"Column 'v', row 1: The character U\+20AC does not exist in iso8859-1"
    ):
        write_unl(table, io.BytesIO(), encoding="latin-1")


def test_a_blank_delimiter_makes_blanks_and_empty_texts_the_same() -> None:
    table = pa.table({"v": ["", " "], "n": [1, 2]})
    with pytest.raises(ifx.DataError, match="Column 'v', row 1: A text of one blank"):
        write_unl(table, io.BytesIO(), delimiter=" ")


def test_a_zone_is_not_dropped() -> None:
    table = pa.table({"t": pa.array([0], pa.timestamp("s", "UTC")), "n": [1]})
    with pytest.raises(ifx.ProgrammingError, match="timestamp with the zone UTC"):
        write_unl(table, io.BytesIO())


def test_what_was_there_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "t.unl"
    path.write_text("old\n")
    with pytest.raises(ifx.DataError):
        write_unl(pa.table({"d": [float("inf")]}), path)
    assert path.read_text() == "old\n"
    assert [each.name for each in tmp_path.iterdir()] == ["t.unl"]
