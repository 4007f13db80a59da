"""Files written by hand from the rules of LOAD and UNLOAD, byte for byte, without any of our code."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow.unl import raw_rows, read_unl, write_unl


def read(data: bytes, types: dict[str, str], **options: Any) -> dict[str, list[Any]]:
    table = read_unl(io.BytesIO(data), types, **options).read_all()
    table.validate(full=True)
    return table.to_pydict()


def written(values: dict[str, list[Any]], types: dict[str, str], **options: Any) -> bytes:
    schema = read_unl(io.BytesIO(b""), types).schema
    file = io.BytesIO()
    write_unl(pa.table(values, schema=schema), file, **options)
    return file.getvalue()


def both_ways(data: bytes, types: dict[str, str], values: dict[str, list[Any]], **options: Any) -> None:
    assert read(data, types, **options) == values
    assert written(values, types, **options) == data


CUSTOMERS = {"customer_num": "SERIAL", "fname": "CHAR(15)", "lname": "VARCHAR(15)", "since": "DATE"}


def test_a_delimiter_stands_behind_every_field_and_a_line_behind_every_row() -> None:
    both_ways(
        b"101|Ludwig|Pauli|12/24/2020|\n102|Carole|Sadler|01/05/1998|\n",
        CUSTOMERS,
        {
            "customer_num": [101, 102],
            "fname": ["Ludwig", "Carole"],
            "lname": ["Pauli", "Sadler"],
            "since": [dt.date(2020, 12, 24), dt.date(1998, 1, 5)],
        },
    )


def test_nothing_is_null_a_backslash_with_a_blank_the_empty_text_and_a_blank_an_empty_char() -> None:
    types = {
        "a": "CHAR(5)",
        "b": "VARCHAR(5)",
        "c": "LVARCHAR(5)",
        "d": "TEXT",
        "e": "NCHAR(5)",
        "n": "INTEGER",
    }
    both_ways(
        b"||||||\n |\\ |\\ |\\ | |7|\n",
        types,
        {"a": [None, ""], "b": [None, ""], "c": [None, ""], "d": [None, ""], "e": [None, ""], "n": [None, 7]},
    )


def test_very_old_files_say_nothing_for_the_empty_text_too() -> None:
    types = {"a": "CHAR(5)", "b": "VARCHAR(5)", "n": "INTEGER"}
    assert read(b"|||\n", types, empty_text=True) == {"a": [""], "b": [""], "n": [None]}


def test_delimiters_backslashes_and_ends_of_lines_in_texts_have_a_backslash_before_them() -> None:
    both_ways(
        b"a\\|b|c\\\\|\\\\\\||x\\\ny|1|\n|\\\n|\\\\\\\n|\\|\\||2|\n",
        {"a": "VARCHAR(9)", "b": "LVARCHAR(9)", "c": "TEXT", "d": "CHAR(9)", "n": "INTEGER"},
        {
            "a": ["a|b", None],
            "b": ["c\\", "\n"],
            "c": ["\\|", "\\\n"],
            "d": ["x\ny", "||"],
            "n": [1, 2],
        },
    )


def test_trailing_blanks_are_kept_in_varchar_and_dropped_in_char() -> None:
    types = {"c": "CHAR(5)", "n": "NCHAR(5)", "v": "VARCHAR(5)", "l": "LVARCHAR(5)", "k": "INTEGER"}
    assert read(b"ab  |cd |ab  | |1|\n", types) == {
        "c": ["ab"], "n": ["cd"], "v": ["ab  "], "l": [" "], "k": [1],
    }  # fmt: skip
    values = {"c": ["ab  ", "  "], "n": ["cd ", None], "v": ["ab  ", " "], "l": [" ", "  "], "k": [1, 2]}
    assert written(values, types) == b"ab|cd|ab  | |1|\n || |  |2|\n"


def test_numbers_are_as_they_are_declared() -> None:
    both_ways(
        b"-32767|2147483647|-9223372036854775807|9223372036854775807|0.5|-12.5|0.05|3.0|100.0|0.001|t|\n",
        {
            "s": "SMALLINT", "i": "INTEGER", "b": "BIGINT", "e": "INT8", "f": "FLOAT", "d": "DECIMAL(8,2)",
            "p": "DECIMAL(2,2)", "m": "MONEY(6,2)", "w": "DECIMAL(5,0)", "x": "SMALLFLOAT", "t": "BOOLEAN",
        },
        {
            "s": [-32767], "i": [2147483647], "b": [-9223372036854775807], "e": [9223372036854775807], "f": [0.5],
            "d": [Decimal("-12.50")], "p": [Decimal("0.05")], "m": [Decimal("3.00")], "w": [Decimal(100)],
            "x": [pa.scalar(0.001, pa.float32()).as_py()], "t": [True],
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("text", "digits"),
    [(b"1.5", "1.50"), (b" 12", "12.00"), (b"+7.", "7.00"), (b".25", "0.25"), (b"1.2e2", "120.00"),
     (b"-250E-2", "-2.50"), (b"1.500", "1.50"), (b"$3.10", "3.10"),
     (b"-$3.10", "-3.10"), (b"$-3.10", "-3.10"), (b"000012345.6", "12345.60")],
)  # fmt: skip
def test_a_decimal_may_be_written_in_more_ways_than_one(text: bytes, digits: str) -> None:
    assert read(text + b"|5|\n", {"m": "MONEY(10,2)", "n": "INTEGER"}) == {"m": [Decimal(digits)], "n": [5]}


@pytest.mark.parametrize("form", ["string", "exact", "double"])
def test_a_floating_decimal_is_read_with_all_its_digits(form: str) -> None:
    wanted = {"string": pa.utf8(), "exact": pa.decimal128(38, 10), "double": pa.float64()}[form]
    metadata = {"informix.type": "DECIMAL(20)"}
    schema = pa.schema([pa.field("d", wanted, metadata=metadata), pa.field("n", pa.int32())])
    table = read_unl(io.BytesIO(b"12345678901234.0123456789|1|\n1.5e3|2|\n|3|\n"), schema).read_all()
    assert table.schema.equals(schema, check_metadata=True)
    assert (
        table["d"].to_pylist()
        == {
            "string": ["12345678901234.0123456789", "1500", None],
            "exact": [Decimal("12345678901234.0123456789"), Decimal(1500), None],
            "double": [12345678901234.0123456789, 1500.0, None],
        }[form]
    )
    assert table["n"].to_pylist() == [1, 2, 3]
    if form != "double":
        file = io.BytesIO()
        write_unl(table, file)
        assert read_unl(io.BytesIO(file.getvalue()), schema).read_all().equals(table)


DAY = dt.date(2021, 3, 4)


@pytest.mark.parametrize(
    ("dbdate", "text"),
    [("MDY4/", b"03/04/2021"), ("DMY4.", b"04.03.2021"), ("Y4MD-", b"2021-03-04"), ("DMY2-", b"04-03-21"),
     ("Y2DM/", b"21/04/03"), ("MDY40", b"03042021"), ("Y4MD0", b"20210304"), ("Y2MD0", b"210304"),
     ("DMY4*", b"04/03/2021"), ("MDY4", b"03/04/2021"),
     ("%d.%m.%iY", b"04.03.2021"), ("%Y-%m-%d", b"2021-03-04"), ("%m/%d/%y", b"03/04/21")],
)  # fmt: skip
def test_dates_are_in_the_order_of_dbdate(dbdate: str, text: bytes) -> None:
    both_ways(text + b"|7|\n", {"d": "DATE", "n": "INTEGER"}, {"d": [DAY], "n": [7]}, dbdate=dbdate)


def test_dbdate_is_taken_from_the_environment_unless_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    types = {"d": "DATE", "n": "INTEGER"}
    monkeypatch.setenv("DBDATE", "Y4MD-")
    monkeypatch.setenv("DBDELIMITER", ";")
    assert read(b"2021-03-04;1;\n", types) == {"d": [DAY], "n": [1]}
    assert read(b"03.04.2021|1|\n", types, dbdate="MDY4.", delimiter="|") == {"d": [DAY], "n": [1]}
    monkeypatch.setenv("GL_DATE", "%d.%m.%iY")
    assert read(b"04.03.2021;1;\n", types) == {"d": [DAY], "n": [1]}


@pytest.mark.parametrize("name", ["GL_DATETIME", "DBTIME"])
def test_datetimes_of_another_form_are_refused_where_the_environment_asks_for_them(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    types = {"d": "DATETIME YEAR TO MINUTE", "n": "INTEGER"}
    monkeypatch.setenv(name, "%d.%m.%iY %H:%M")
    assert read(b"2021-03-04 05:06|1|\n", types)["n"] == [1]  # only used with USE_DTENV
    monkeypatch.setenv("USE_DTENV", "1")
    with pytest.raises(ifx.InterfaceError, match=rf"USE_DTENV=1 and {name} set the DATETIME format '%d.%m"):
        read(b"04.03.2021 05:06|1|\n", types)


def test_two_digits_of_a_year_mean_what_dbcentury_says() -> None:
    types = {"d": "DATE", "n": "INTEGER"}
    today = dt.date.today()
    century = today.year // 100 * 100
    ago, ahead = today.replace(day=1, year=today.year - 2), today.replace(day=1, year=today.year + 2)

    def year(day: dt.date, dbcentury: str) -> int:
        text = f"{day:%m/%d/%y}|1|\n".encode()
        found: dt.date = read(text, types, dbcentury=dbcentury)["d"][0]
        return found.year

    assert year(ago, "R") == century + ago.year % 100
    assert year(ago, "P") == ago.year
    assert year(ahead, "P") == ahead.year - 100
    assert year(ahead, "F") == ahead.year
    assert year(ago, "F") == ago.year + 100
    assert year(ago, "C") == ago.year
    assert year(ahead, "C") == ahead.year


def test_a_datetime_and_an_interval_have_the_fields_of_their_qualifier() -> None:
    types = {
        "a": "DATETIME YEAR TO FRACTION(3)", "b": "DATETIME YEAR TO DAY", "c": "DATETIME HOUR TO MINUTE",
        "d": "DATETIME MONTH TO DAY", "e": "DATETIME HOUR TO FRACTION(5)", "f": "DATETIME YEAR TO MINUTE",
        "g": "INTERVAL YEAR(4) TO MONTH", "h": "INTERVAL DAY(3) TO SECOND", "i": "INTERVAL HOUR(4) TO MINUTE",
        "j": "INTERVAL SECOND(5) TO FRACTION(2)", "k": "INTERVAL MONTH(3) TO MONTH", "n": "INTEGER",
    }  # fmt: skip
    both_ways(
        b"2020-12-24 10:11:12.120|0001-01-01|23:59|02-29|00:00:00.00001|1969-12-31 23:59|"
        b"-5-03|-3 04:05:06|1200:30|12345.07|-100|8|\n",
        types,
        {
            "a": [dt.datetime(2020, 12, 24, 10, 11, 12, 120000)], "b": [dt.date(1, 1, 1)], "c": [dt.time(23, 59)],
            "d": ["02-29"], "e": [dt.time(0, 0, 0, 10)], "f": [dt.datetime(1969, 12, 31, 23, 59)], "g": [-63],
            "h": [-dt.timedelta(days=3, hours=4, minutes=5, seconds=6)], "i": [dt.timedelta(hours=1200, minutes=30)],
            "j": [dt.timedelta(seconds=12345.07)], "k": [-100], "n": [8],
        },
    )  # fmt: skip


def test_money_has_the_currency_and_the_decimal_comma_of_dbmoney() -> None:
    types = {"m": "MONEY(8,2)", "d": "DECIMAL(8,2)", "f": "FLOAT", "n": "INTEGER"}
    values = {"m": [Decimal("-12.50")], "d": [Decimal("1.25")], "f": [2.5], "n": [1]}
    both_ways(b"-$12.5|1.25|2.5|1|\n", types, values, dbmoney="$.")
    both_ways(b"-12,5EUR|1,25|2,5|1|\n", types, values, dbmoney=",EUR")
    both_ways(b"-12.5|1.25|2.5|1|\n", types, values)


def test_bytes_are_hexadecimal() -> None:
    both_ways(
        b"00ff7c0a|1|\n|2|\n\\ |3|\n",
        {"b": "BYTE", "n": "INTEGER"},
        {"b": [b"\x00\xff|\n", None, b""], "n": [1, 2, 3]},
    )
    assert read(b"00FFaB|1|\n", {"b": "BYTE", "n": "INTEGER"})["b"] == [b"\x00\xff\xab"]


def test_contents_of_large_objects_lie_beside_the_file_at_hexadecimal_places(tmp_path: Path) -> None:
    (tmp_path / "blob24c").write_bytes(bytes(range(32)))
    (tmp_path / "clobff01").write_text("whole é", encoding="utf-8")
    (tmp_path / "t.unl").write_bytes(
        b"a,10,blob24c|clobff01|1|\n0,0,0|0,5,clobff01|2|\n||3|\n0,0,blob24c|/other/place/clobff01|4|\n"
    )
    table = read_unl(tmp_path / "t.unl", {"b": "BLOB", "c": "CLOB", "n": "INTEGER"}).read_all()
    assert table.to_pydict() == {
        "b": [bytes(range(10, 26)), None, None, b""],
        "c": ["whole é", "whole", None, "whole é"],
        "n": [1, 2, 3, 4],
    }
    assert write_unl(table, tmp_path / "again.unl") == 4
    text = (tmp_path / "again.unl").read_text().splitlines()
    assert text[0].startswith("0,10,blob")
    assert text[0].endswith("|1|")
    assert text[2] == "||3|"
    again = read_unl(tmp_path / "again.unl", {"b": "BLOB", "c": "CLOB", "n": "INTEGER"}).read_all()
    assert again.equals(table)
    assert not list(tmp_path.glob("*.part"))


def test_a_file_that_is_written_in_pieces_keeps_the_contents_of_all(tmp_path: Path) -> None:
    types = {"b": "BLOB", "c": "CLOB", "n": "INTEGER"}
    schema = read_unl(io.BytesIO(b""), types).schema
    file = io.BytesIO()
    for n in range(3):
        piece = pa.table({"b": [bytes([n]) * 4], "c": [f"text {n}"], "n": [n]}, schema=schema)
        write_unl(piece, file, lob_directory=tmp_path)
    found = read_unl(io.BytesIO(file.getvalue()), types, lob_directory=tmp_path).read_all().to_pydict()
    assert found == {
        "b": [b"\0\0\0\0", b"\1\1\1\1", b"\2\2\2\2"],
        "c": ["text 0", "text 1", "text 2"],
        "n": [0, 1, 2],
    }


def test_a_large_object_outside_of_its_directory_is_not_opened(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "t.unl").write_bytes(b"1|../secret|\n")
    with pytest.raises(
        Exception, match=r"t\.unl, line 1, column 'b' \(field 2, BLOB\): .*'\.\./secret'.*lob_directory"
    ):
        read_unl(tmp_path / "in" / "t.unl", {"n": "INTEGER", "b": "BLOB"}).read_all()


def test_collections_and_rows_are_literals() -> None:
    types = {"s": "SET(INTEGER NOT NULL)", "r": "ROW(a INTEGER, b VARCHAR(9))", "n": "INTEGER"}
    values = {
        "s": [[1, 3], None, []],
        "r": [{"a": 1, "b": "abc"}, None, {"a": None, "b": "x|y"}],
        "n": [1, 2, 3],
    }
    assert read(b"SET{1 ,3}|ROW(1 ,'abc')|1|\n||2|\nSET{}|ROW(NULL ,'x\\|y')|3|\n", types) == values
    assert read(written(values, types), types) == values


def test_a_missing_last_delimiter_and_other_ends_of_lines_are_read() -> None:
    types = {"n": "INTEGER", "v": "VARCHAR(9)", "z": "INTEGER"}
    expected = {"n": [1, 2], "v": ["a", "b"], "z": [3, None]}
    assert read(b"1|a|3\n2|b|\n", types) == expected
    assert read(b"1|a|3\r\n2|b|", types) == expected
    assert read(b"1|a|3|\r\n2|b||\r\n", types) == expected
    assert read(b"1|a|3|\n2|b||", types) == expected
    assert read(b"\xef\xbb\xbf1|a|3|\n2|b||\n", types) == expected


def test_an_end_of_a_line_inside_a_text_is_kept_whatever_ends_the_lines() -> None:
    types = {"v": "LVARCHAR(9)", "n": "INTEGER"}
    assert read(b"a\\\r\nb|1|\r\n", types) == {"v": ["a\nb"], "n": [1]}
    both_ways(b"a\r\\\nb|1|\n", types, {"v": ["a\r\nb"], "n": [1]})
    both_ways(b"a\r|1|\n", types, {"v": ["a\r"], "n": [1]})


def test_lines_are_joined_until_the_row_has_its_fields() -> None:
    types = {"n": "INTEGER", "t": "TEXT", "v": "VARCHAR(20)", "z": "INTEGER"}
    data = b"1|first\n\nthird\\|x|a\nb|7|\n2||c|8|\n"
    assert read(data, types, join_lines=True) == {
        "n": [1, 2], "t": ["first\n\nthird|x", None], "v": ["a\nb", "c"], "z": [7, 8],
    }  # fmt: skip
    with pytest.raises(
        Exception, match=r"line 1: The row has 2 fields, but the schema has 4.*join_lines=True"
    ):
        read(data, types)


@pytest.mark.parametrize(
    "encoding", ["latin-1", "de_DE.8859-1", "shift_jis", "gb18030", "cp1252", "ja_JP.sjis"]
)
def test_texts_are_in_the_code_set_of_the_file(encoding: str) -> None:
    codec = {"de_DE.8859-1": "latin-1", "ja_JP.sjis": "shift_jis"}.get(encoding, encoding)
    word = "表ソ|ー" if "jis" in codec else "中|文" if codec == "gb18030" else "Müller|é"
    types = {"v": "VARCHAR(40)", "t": "TEXT", "n": "INTEGER"}
    text = word.replace("|", "\\|")
    both_ways(
        f"{text}|{text}|1|\n".encode(codec), types, {"v": [word], "t": [word], "n": [1]}, encoding=encoding
    )


@pytest.mark.parametrize("delimiter", ["\t", " ", ";", "-", ".", ":", "/", "t", ",", "!", "$"])
def test_any_delimiter_that_is_allowed_may_stand_in_any_value(delimiter: str) -> None:
    types = {
        "v": "VARCHAR(20)", "d": "DATE", "m": "MONEY(8,2)", "t": "DATETIME YEAR TO SECOND",
        "i": "INTERVAL DAY TO SECOND", "b": "BOOLEAN", "f": "FLOAT", "n": "INTEGER", "o": "DATETIME MONTH TO DAY",
    }  # fmt: skip
    values = {
        "v": [f"a{delimiter}b\\", ""], "d": [DAY, None], "m": [Decimal("-1.50"), None],
        "t": [dt.datetime(2020, 1, 2, 3, 4, 5), None], "i": [-dt.timedelta(days=1, seconds=5), None],
        "b": [True, False], "f": [-1.5e300, None], "n": [-7, 8], "o": ["12-24", None],
    }  # fmt: skip
    data = written(values, types, delimiter=delimiter, dbmoney="$.")
    assert data.endswith(f"{delimiter}\n".encode())
    assert read(data, types, delimiter=delimiter, dbmoney="$.") == values


def test_rows_are_given_back_as_they_stand_in_the_file_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.unl"
    path.write_bytes(b"1|a\\\nb|\n2|c|\n3|d\\\n\\\ne|\n4|f|")
    found = list(raw_rows(path, {"n": "INTEGER", "v": "TEXT"}, [0, 2, 3]))
    assert [(row.row, row.line, row.text) for row in found] == [
        (0, 1, "1|a\\\nb|\n"), (2, 4, "3|d\\\n\\\ne|\n"), (3, 7, "4|f|"),
    ]  # fmt: skip
    with pytest.raises(IndexError, match="has 4 rows, but no row with the number 4"):
        list(raw_rows(path, {"n": "INTEGER", "v": "TEXT"}, [4]))


def test_types_of_the_fields_metadata_are_written_and_types_overrule_them() -> None:
    schema = pa.schema(
        [
            pa.field("d", pa.utf8(), metadata={"informix.type": "CHAR(9)"}),
            pa.field("n", pa.int64(), metadata={"informix.type": "INTEGER"}),
            pa.field("t", pa.timestamp("us")),
        ]
    )
    table = pa.table({"d": ["x  "], "n": [7], "t": [dt.datetime(2020, 1, 2)]}, schema=schema)
    file = io.BytesIO()
    assert write_unl(table, file) == 1
    assert file.getvalue() == b"x|7|2020-01-02 00:00:00.00000|\n"
    file = io.BytesIO()
    write_unl(table, file, {"d": "VARCHAR(9)", "T": "DATE"})
    assert file.getvalue() == b"x  |7|01/02/2020|\n"
