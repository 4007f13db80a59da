"""File formats of commands: each is written and read in pieces, with NULL, empty, multi-byte and extreme values."""

from __future__ import annotations

import datetime as dt
import io
import json
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from informix_arrow.cli.exit_codes import Failure, UsageError
from informix_arrow.cli.files import new_file
from informix_arrow.cli.formats import (
    FORMATS,
    Options,
    csv_text,
    format_of,
    open_file,
    open_reader,
    open_writer,
    write_file,
)
from informix_arrow.cli.formats.file_rows import LINE, TEXT
from informix_arrow.cli.formats.write_behind import write_behind

INTERVAL = {b"informix.type": b"INTERVAL DAY(2) TO SECOND"}
FLOATING = {b"informix.type": b"DECIMAL(16)"}
TABLE = pa.table(
    {
        "id": pa.array([1, -(2**31) + 1, None], pa.int32()),
        "name": pa.array(['a,b"c\n|\\', "", None]),
        "price": pa.array([Decimal("1.50"), Decimal("-0.01"), None], pa.decimal128(10, 2)),
        "at": pa.array([dt.datetime(2026, 1, 2, 3, 4, 5), dt.datetime(1, 1, 1), None], pa.timestamp("s")),
        "long": pa.array([3 * 86_400_000_000 + 5_000_000, -5_000_000, None], pa.duration("us")),
        "raw": pa.array([b"\x00\xff", b"", None], pa.large_binary()),
        "digits": pa.array(["1.25E+20", ".5", None]),
        "yes": pa.array([True, False, None]),
        "tail": pa.array(["é漢", "\u0001\t", None]),
    }
).replace_schema_metadata(None)
TABLE = TABLE.cast(
    pa.schema(
        [
            each.with_metadata(
                INTERVAL if each.name == "long" else FLOATING if each.name == "digits" else None
            )
            for each in TABLE.schema
        ]
    )
)


def written(
    kind: str, table: pa.Table = TABLE, options: Options | None = None, *, stream: bool = False
) -> bytes:
    file = io.BytesIO()
    writer = open_writer(kind, file, table.schema, options or Options(), stream=stream)
    for batch in table.to_batches(max_chunksize=2):
        writer.write(batch)
    writer.close()
    return file.getvalue()


def read(kind: str, data: bytes, options: Options | None = None) -> pa.Table:
    return open_reader(kind, io.BytesIO(data), "a file", options or Options()).reader().read_all()


def test_csv_distinguishes_null_from_an_empty_text_and_keeps_what_a_load_needs() -> None:
    assert written("csv").decode().splitlines(keepends=True) == [
        '"id","name","price","at","long","raw","digits","yes","tail"\n',
        '1,"a,b""c\n',
        '|\\",1.50,2026-01-02 03:04:05,"3 00:00:05","00ff","1.25E+20",true,"é漢"\n',
        '-2147483647,"",-0.01,0001-01-01 00:00:00,"-0 00:00:05","",".5",false,"\u0001\t"\n',
        ",,,,,,,,\n",
    ]


def test_csv_that_was_written_is_read_as_the_same_texts() -> None:
    found = read("csv", written("csv"))
    assert found.schema.types == [pa.utf8()] * len(TABLE.schema)
    assert found.to_pylist() == [
        {
            "id": "1",
            "name": 'a,b"c\n|\\',
            "price": "1.50",
            "at": "2026-01-02 03:04:05",
            "long": "3 00:00:05",
            "raw": "00ff",
            "digits": "1.25E+20",
            "yes": "true",
            "tail": "é漢",
        },
        {
            "id": "-2147483647",
            "name": "",
            "price": "-0.01",
            "at": "0001-01-01 00:00:00",
            "long": "-0 00:00:05",
            "raw": "",
            "digits": ".5",
            "yes": "false",
            "tail": "\u0001\t",
        },
        dict.fromkeys(TABLE.schema.names),
    ]


@pytest.mark.parametrize("kind", ["json", "jsonl"])
def test_json_keeps_digits_and_quotes_what_is_no_json_number(kind: str) -> None:
    text = written(kind).decode()
    rows = json.loads(text, parse_float=str) if kind == "json" else [
        json.loads(line, parse_float=str) for line in text.splitlines()
    ]  # fmt: skip
    assert [row["price"] for row in rows] == ["1.50", "-0.01", None]
    assert [row["digits"] for row in rows] == ["1.25E+20", ".5", None]
    assert '"digits": 1.25E+20' in text
    assert '"digits": ".5"' in text
    assert [row["name"] for row in rows] == ['a,b"c\n|\\', "", None]
    assert [row["yes"] for row in rows] == [True, False, None]
    assert [row["tail"] for row in rows] == ["é漢", "\u0001\t", None]
    assert [row["raw"] for row in rows] == ["00ff", "", None]
    assert read(kind, text.encode()).column("price").to_pylist() == ["1.50", "-0.01", None]
    assert read(kind, text.encode()).column("tail").to_pylist() == ["é漢", "\u0001\t", None]


def test_json_refuses_two_columns_of_one_name_as_one_of_them_would_be_lost() -> None:
    twice = pa.table([[1], [2]], names=["id", "id"])
    with pytest.raises(Failure, match="'id'"):
        written("json", twice)


def test_an_empty_result_is_whole_in_every_format() -> None:
    nothing = TABLE.slice(0, 0)
    assert written("json", nothing) == b"[]\n"
    assert written("jsonl", nothing) == b""
    assert written("csv", nothing).count(b"\n") == 1
    assert read("csv", written("csv", nothing)).num_rows == 0
    assert read("parquet", written("parquet", nothing)).schema.names == TABLE.schema.names
    assert written("table", nothing).decode().splitlines()[-1] == "(0 rows)"


@pytest.mark.parametrize(("kind", "stream"), [("parquet", False), ("arrow", False), ("arrow", True)])
def test_columnar_files_come_back_as_they_were(kind: str, stream: bool) -> None:
    found = read(kind, written(kind, stream=stream))
    assert found.to_pylist() == TABLE.to_pylist()
    assert found.schema.field("digits").metadata == FLOATING


def test_tables_are_aligned_whatever_the_width_of_characters() -> None:
    table = pa.table({"n": pa.array([1, 22], pa.int32()), "text": ["漢字", None], "tail": ["a|b\nc", "d"]})
    assert written("table", table).decode() == (
        "  n | text | tail\n----+------+-------\n  1 | 漢字 | a|b\\nc\n 22 | NULL | d\n(2 rows)\n"
    )
    assert written("markdown", table).decode().splitlines()[2] == "|   1 | 漢字 | a\\|b\\nc |"


CSV = b'a,b\n1,x\n\n2,"y\n\nz"\n3\n,""\n\r\n4,5,6\n7,"8\n9"\n10,\n'


def test_each_row_of_a_csv_knows_its_line_whatever_lies_between() -> None:
    rows = open_reader("csv", io.BytesIO(CSV), "a file", Options(collect=True))
    table = pa.Table.from_batches(list(rows.batches))
    assert table.column("a").to_pylist() == ["1", "2", None, "7", "10"]
    assert table.column("b").to_pylist() == ["x", "y\n\nz", "", "8\n9", None]
    assert table.column(LINE).to_pylist() == [2, 4, 8, 11, 13]
    assert [(each.line, each.text, each.problem) for each in rows.broken] == [
        (7, "3", "The row has 1 field, but the header has 2"),
        (10, "4,5,6", "The row has 3 fields, but the header has 2"),
    ]


def test_lines_are_right_over_many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("informix_arrow.cli.formats.csv_text.BLOCK", 64)
    lines, expected, number = [b"a,b"], [], 2
    for row in range(500):
        if row % 7 == 3:
            lines.append(b"broken")
        elif row % 11 == 5:
            lines += [b'%d,"two' % row, b'lines"']
            expected.append(number)
            number += 1
        elif row % 13 == 0:
            lines.append(b"")
        else:
            lines.append(b"%d,x" % row)
            expected.append(number)
        number += 1
    rows = open_reader("csv", io.BytesIO(b"\n".join(lines)), "a file", Options(collect=True))
    table = pa.Table.from_batches(list(rows.batches))
    assert table.column(LINE).to_pylist() == expected
    assert [each.line for each in rows.broken][:2] == [5, 13]
    assert [lines[each.line - 1] for each in rows.broken] == [b"broken"] * len(rows.broken)


def test_a_line_with_too_few_fields_is_named() -> None:
    rows = open_reader("csv", io.BytesIO(b"a,b\n1,2\n3\n"), "x.csv", Options())
    with pytest.raises(Failure, match=r"^x.csv, line 3: The row has 1 field, but the header has 2: '3'\.$"):
        list(rows.batches)


def test_a_row_of_a_csv_may_be_longer_than_what_is_read_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: a row longer than 4 MiB made the whole load fail."""
    monkeypatch.setattr(csv_text, "BLOCK", 16)
    monkeypatch.setattr(csv_text, "LONGEST", 1000)
    for inside in ("y" * 500, '"' + "y\r\n" * 100 + '"'):
        found = read("csv", f"a,b\r\n1,x\r\n2,{inside}\r\n3,z".encode())
        assert found.column("a").to_pylist() == ["1", "2", "3"]
        assert len(found.column("b")[1].as_py()) >= 300
    with pytest.raises(Failure, match=r"line 4: The row is longer than .* or a quote is never closed"):
        read("csv", b"a,b\n\n1,x\n2," + b"y" * 3000 + b"\n3,z\n")


def test_a_quote_within_a_field_says_nothing_of_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Regression: with such a quote in the file, the last row could not span two lines, and blank lines were not
    counted."""
    data = b'id,b\n1,5" pipe\n\n2,"x\n"" y"\n\r\n3,a"b"c\n\n4,"z\n"\n'
    for block in (8, 11, 1000):
        monkeypatch.setattr(csv_text, "BLOCK", block)
        rows = open_reader("csv", io.BytesIO(data), "x.csv", Options())
        found = pa.Table.from_batches(rows.batches)
        assert found.column("b").to_pylist() == ['5" pipe', 'x\n" y', 'a"b"c', "z\n"]
        assert found.column(LINE).to_pylist() == [2, 4, 7, 9]


def test_lines_may_end_with_cr_alone() -> None:
    rows = open_reader("csv", io.BytesIO(b"id\r\r1\r\n2\r3\n\n4"), "x.csv", Options())
    found = pa.Table.from_batches(rows.batches)
    assert (found.column("id").to_pylist(), found.column(LINE).to_pylist()) == (list("1234"), [3, 4, 5, 7])


def test_what_stands_for_null_in_a_csv_can_be_said() -> None:
    found = read("csv", b'a,b\nNULL,\n"NULL",""\n', Options(null="NULL"))
    assert found.to_pylist() == [{"a": None, "b": ""}, {"a": None, "b": ""}]


def test_other_encodings_and_delimiters_are_read() -> None:
    found = read("csv", "a;b\nä;ö\n".encode("latin-1"), Options(encoding="latin-1", delimiter=";"))
    assert found.to_pylist() == [{"a": "ä", "b": "ö"}]
    with pytest.raises(Failure, match="with --encoding"):
        read("csv", b"a,b\n\xff\xfe,1\n", Options(encoding="ascii"))


@pytest.mark.parametrize("delimiter", ["7", "a", "\\", '"', "\n", ";;", "ä"])
def test_a_delimiter_that_cannot_be_one_is_refused(delimiter: str) -> None:
    with pytest.raises(UsageError, match="--delimiter"):
        read("csv", b"a\n1\n", Options(delimiter=delimiter))


@pytest.mark.parametrize(
    ("kind", "data", "says"),
    [
        ("csv", b"", "empty"),
        ("csv", b"\n\n", "empty"),
        ("parquet", b"PAR1 is not enough", "not a Parquet file"),
        ("parquet", b"", "not a Parquet file"),
        ("arrow", b"nonsense", "not an Arrow file"),
        ("jsonl", b"", "empty"),
        ("jsonl", b'{"a": 1}\n{"a": \n', "line 2: The text is not JSON"),
        ("jsonl", b"[1]", "The text is not an object"),
        ("json", b'[{"a": 1}, {"a"', "array is incomplete"),
    ],
)
def test_what_is_no_file_of_its_format_is_said_in_a_line(kind: str, data: bytes, says: str) -> None:
    with pytest.raises(Failure, match=says) as caught:
        read(kind, data)
    assert str(caught.value).startswith("a file")


def test_json_lines_know_their_lines_and_texts() -> None:
    data = b'{"a": 1.50, "b": "x"}\n\n{"b": null, "a": true}\nnonsense\n{"a": {"c": [1]}}\n'
    rows = open_reader("jsonl", io.BytesIO(data), "a file", Options(collect=True))
    table = pa.Table.from_batches(list(rows.batches))
    assert table.column("a").to_pylist() == ["1.50", "true", '{"c": ["1"]}']
    assert table.column("b").to_pylist() == ["x", None, None]
    assert table.column(LINE).to_pylist() == [1, 3, 5]
    assert table.column(TEXT)[0].as_py() == '{"a": 1.50, "b": "x"}'
    assert [(each.line, each.text) for each in rows.broken] == [(4, "nonsense")]


def test_elements_of_a_json_array_know_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("informix_arrow.cli.formats.json_text._CHUNK", 7)
    data = b'\n[\n{"a": 1},\n{"a":\n 2}, {"a": "]"}\n]\n'
    rows = open_reader("json", io.BytesIO(data), "a file", Options())
    table = pa.Table.from_batches(list(rows.batches))
    assert table.column("a").to_pylist() == ["1", "2", "]"]
    assert table.column(LINE).to_pylist() == [3, 4, 5]


def test_a_file_has_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"

    def half() -> None:
        with write_file(str(path), "parquet", TABLE.schema, Options()) as writer:
            writer.write(TABLE.to_batches()[0])
            assert not path.exists()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        half()
    assert list(tmp_path.iterdir()) == []
    with write_file(str(path), "parquet", TABLE.schema, Options(compression="zstd")) as writer:
        writer.write(TABLE.to_batches()[0])
    assert pq.read_table(path).num_rows == 3
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(UsageError, match="exists already"), new_file(str(path)):
        pass


def test_a_suffix_packs_text_and_unpacks_it(tmp_path: Path) -> None:
    path = str(tmp_path / "x.csv.gz")
    assert format_of(path, None) == "csv"
    with write_file(path, "csv", TABLE.schema, Options()) as writer:
        writer.write(TABLE.to_batches()[0])
    assert Path(path).read_bytes()[:2] == b"\x1f\x8b"
    with open_file(path, "csv", Options()) as rows:
        assert rows.reader().read_all().column("tail").to_pylist() == ["é漢", "\u0001\t", None]


def test_remote_paths_are_written_and_read_by_fsspec() -> None:
    with write_file("memory://cli/x.csv", "csv", TABLE.schema, Options()) as writer:
        writer.write(TABLE.to_batches()[0])
    with open_file("memory://cli/x.csv", "csv", Options()) as rows:
        assert rows.reader().read_all().num_rows == 3
    with pytest.raises(UsageError, match="exists already"), new_file("memory://cli/x.csv"):
        pass


def test_a_format_that_cannot_be_derived_has_to_be_named() -> None:
    assert format_of("x.PARQUET", None) == "parquet"
    assert format_of("x", "csv") == "csv"
    assert set(FORMATS) >= {"csv", "json", "jsonl", "parquet", "arrow", "table", "markdown"}
    with pytest.raises(UsageError, match="--format"):
        format_of("x.dat", None)


def test_what_writes_behind_the_reader_writes_all_and_reports_its_errors(tmp_path: Path) -> None:
    class Full:
        def __init__(self) -> None:
            self.rows = 0

        def write(self, batch: pa.RecordBatch) -> None:
            if self.rows >= 6:
                raise OSError(28, "No space left on device")
            self.rows += batch.num_rows

        def close(self) -> None:
            raise AssertionError("it is not its own")

    batch = TABLE.to_batches()[0]
    whole = Full()
    with write_behind(whole) as writer:
        for _ in range(2):
            writer.write(batch)
    assert whole.rows == 6
    full = Full()

    def too_much() -> None:
        with write_behind(full) as writer:
            for _ in range(20):
                writer.write(batch)

    with pytest.raises(OSError, match="No space left"):
        too_much()
    assert full.rows == 6
