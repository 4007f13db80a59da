"""BatchPostprocessor, which converts decoded batches to final ones (informix_arrow.rows.postprocess)."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from informix_arrow.rows.postprocess import BatchPostprocessor, Content, as_text
from informix_arrow.wire.describe import Column, compile_plan
from informix_arrow.wire.errors import DataError
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.types import ColumnType

ID = Column("id", ColumnType.integer(not_null=True))
NAME = Column("name", ColumnType.varchar(20))
CODE = Column("code", ColumnType.char(8))
LONG = Column("long", ColumnType.lvarchar(500))
PHOTO = Column("photo", ColumnType.byte())
NOTE = Column("note", ColumnType.text())
FILM = Column("film", ColumnType.parse_sql("BLOB"))
STORY = Column("story", ColumnType.parse_sql("CLOB"))
SENTINEL = Column("sentinel", ColumnType.integer())


def finisher(
    *columns: Column, encoding: str = "utf-8", raw_text: bool = False, **options: Any
) -> BatchPostprocessor:
    chosen = TypeOptions(**options)
    return BatchPostprocessor(columns, compile_plan(columns, chosen, raw_text=raw_text), chosen, encoding)


def decoded(made: BatchPostprocessor, *columns: list[Any]) -> pa.RecordBatch:
    """Return a batch like that of the C decoder."""
    arrays = [
        pa.array(values, field.type) for values, field in zip(columns, made.decoded_schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=made.decoded_schema)


def content(*values: bytes | None) -> Content:
    made = Content()
    for value in values:
        made.data += value or b""
        made.end_value(valid=value is not None)
    return made


def test_plain_columns_pass_untouched() -> None:
    made = finisher(ID, NAME, SENTINEL)
    assert made.is_identity
    batch = decoded(made, [1], ["a"], [12345])
    assert made.process(batch, 0) is batch


TEXTS = ["", None, "a", "bb", "größe", "日本", "a", None, "x" * 20]


@pytest.mark.parametrize(
    ("strings", "kind"),
    [
        ("utf8", pa.utf8()),
        ("large", pa.large_utf8()),
        ("view", pa.string_view()),
        ("dictionary", pa.dictionary(pa.int32(), pa.utf8())),
    ],
)
@pytest.mark.parametrize("rows", [0, 1, 9])
def test_strings_in_every_form(strings: str, kind: pa.DataType, rows: int) -> None:
    made = finisher(ID, NAME, SENTINEL, strings=strings)
    batch = made.process(decoded(made, list(range(rows)), TEXTS[:rows], [12345] * rows), 0)
    batch.validate(full=True)
    assert batch.schema == made.schema
    assert batch.schema.field("name").type == kind
    assert batch["name"].to_pylist() == TEXTS[:rows]
    assert batch["sentinel"].to_pylist() == [12345] * rows


def test_every_batch_has_a_dictionary_of_its_own_and_the_stream_holds() -> None:
    made = finisher(NAME, strings="dictionary")
    batches = [made.process(decoded(made, values), 0) for values in (["a", "b", "a"], ["c", None], [], ["a"])]
    reader = pa.RecordBatchReader.from_batches(made.schema, batches)
    table = pa.RecordBatchReader.from_stream(reader).read_all()
    assert table["name"].to_pylist() == ["a", "b", "a", "c", None, "a"]
    assert [len(batch["name"].dictionary) for batch in batches] == [2, 1, 0, 1]


JAPANESE = ["", None, "日本語", "ascii", "ﾊﾝｶｸ", "表\\予", None, "～"]


@pytest.mark.parametrize("encoding", ["cp932", "euc_jp", "gb18030", "big5", "cp949"])
@pytest.mark.parametrize("strings", ["utf8", "large", "view", "dictionary"])
def test_multi_byte_code_sets_are_decoded_by_python(encoding: str, strings: str) -> None:
    texts = [t for t in JAPANESE if t is None or t.encode(encoding, "ignore").decode(encoding) == t]
    raw = [None if text is None else text.encode(encoding) for text in texts]
    made = finisher(NAME, CODE, LONG, SENTINEL, encoding=encoding, raw_text=True, strings=strings)
    batch = made.process(decoded(made, raw, raw, raw, [12345] * len(raw)), 0)
    batch.validate(full=True)
    assert batch.schema == made.schema
    for name in ("name", "code", "long"):
        assert batch[name].to_pylist() == texts


TOGETHER = ["big5", "cp950", "cp932", "shift_jis", "euc_jp", "cp949", "gbk", "gb18030"]


@pytest.mark.parametrize("encoding", TOGETHER)
def test_a_zero_byte_ends_no_character_of_a_code_set_whose_values_are_decoded_together(encoding: str) -> None:
    leads = [bytes((first,)) for first in range(0x80, 0x100)]
    twos = [lead + bytes((second,)) for lead in leads for second in range(0x100)]
    threes = [lead + bytes((digit, lead[0])) for lead in leads for digit in (0x30, 0x39, 0xA1)]
    wholes = 0
    for begun in (*leads, *twos, *threes):
        try:
            found = (begun + b"\0a").decode(encoding)
        except UnicodeDecodeError:
            continue
        wholes += 1
        assert found == begun.decode(encoding) + "\0a"
    assert wholes > 5000


@pytest.mark.parametrize("encoding", TOGETHER)
@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()])
def test_values_decoded_together_are_those_decoded_one_by_one(encoding: str, kind: pa.DataType) -> None:
    signs = "".join(
        sign for sign in map(chr, range(0x3000, 0x9000, 37)) if sign.encode(encoding, "ignore") != b""
    )
    texts = [
        None,
        "",
        "\0",
        signs[:1],
        "a\0b",
        *(signs[n % 50 : n % 50 + n % 23] for n in range(900)),
        "",
        None,
    ]
    raws = [None if text is None else text.encode(encoding) for text in texts]
    plain = [text if text is None or "\0" not in text else "zero" for text in texts]
    for wanted in (texts, plain, plain * 40):  # more than one run
        values = pa.array([None if each is None else each.encode(encoding) for each in wanted], kind)
        for final in (pa.utf8(), pa.large_utf8()):
            assert as_text(values, final, encoding, "strict", "n", 0).to_pylist() == wanted
        assert as_text(values[3:-1], pa.utf8(), encoding, "strict", "n", 0).to_pylist() == wanted[3:-1]
    cut = signs[-1].encode(encoding)[:-1]
    broken = pa.array([*raws, b"a" + cut, "tail".encode(encoding)], kind)
    replaced = as_text(broken, pa.utf8(), encoding, "replace", "n", 0).to_pylist()
    assert replaced == [*texts, (b"a" + cut).decode(encoding, "replace"), "tail"]
    with pytest.raises(DataError, match=f"row {len(raws) + 100}") as caught:
        as_text(broken, pa.utf8(), encoding, "strict", "n", 100)
    assert caught.value.row == len(raws) + 100


def test_ascii_in_a_multi_byte_code_set_is_not_copied() -> None:
    made = finisher(NAME, encoding="cp932", raw_text=True)
    batch = decoded(made, [b"abc", None, b"", b"defg"])
    done = made.process(batch, 0)
    assert done["name"].to_pylist() == ["abc", None, "", "defg"]
    assert done["name"].buffers()[2].address == batch.column(0).buffers()[2].address


def test_a_slice_is_read_by_its_offset() -> None:
    """The rows before a bad one are processed as a slice of the decoded batch."""
    made = finisher(NAME, SENTINEL, encoding="cp932", raw_text=True)
    raw = [b"\xff\xff", "日".encode("cp932"), None, b"abc", b"\x81"]
    batch = decoded(made, raw, [1, 2, 3, 4, 5]).slice(1, 3)
    assert made.process(batch, 1).to_pylist() == [
        {"name": "日", "sentinel": 2},
        {"name": None, "sentinel": 3},
        {"name": "abc", "sentinel": 4},
    ]


@pytest.mark.parametrize("bad", [0, 2, 3])
def test_a_bad_byte_is_named_by_the_row_of_the_whole_result(bad: int) -> None:
    raw: list[bytes | None] = ["日本".encode("cp932"), None, b"abc", b"de", b"\x81\x41"]
    raw[bad] = b"ok\x81"
    made = finisher(ID, NAME, encoding="cp932", raw_text=True)
    with pytest.raises(DataError, match="0x81 at position 3") as caught:
        made.process(decoded(made, [1] * 5, raw), 1000)
    assert (caught.value.row, caught.value.column) == (1000 + bad, "name")


def test_replacing_bad_bytes() -> None:
    made = finisher(NAME, encoding="cp932", raw_text=True, encoding_errors="replace")
    assert made.process(decoded(made, [b"ok\x81", b"abc"]), 0)["name"].to_pylist() == ["ok\ufffd", "abc"]


@pytest.mark.parametrize("strings", ["utf8", "large", "view", "dictionary"])
def test_binary_text_is_handed_over_as_it_is(strings: str) -> None:
    made = finisher(NAME, NOTE, encoding="cp932", raw_text=True, encoding_errors="binary", strings=strings)
    raw = [b"ok\x81", None, b"", b"ok\x81"]
    batch = made.process(decoded(made, raw, [None] * 4), 0, {1: content(*raw)})
    assert batch.schema == made.schema
    assert batch["name"].to_pylist() == raw
    assert batch["note"].to_pylist() == raw
    assert batch.schema.field("note").type == pa.large_binary()


VALUES: tuple[bytes | None, ...] = (b"abc", None, b"", "gröÿe".encode("latin-1"), None, b"\x00\xff" * 1000)


def test_contents_fill_large_object_columns() -> None:
    made = finisher(ID, PHOTO, NOTE, FILM, STORY, SENTINEL, encoding="latin-1")
    empty = [None] * len(VALUES)
    batch = decoded(made, list(range(6)), empty, empty, empty, empty, [12345] * 6)
    done = made.process(batch, 0, {index: content(*VALUES) for index in (1, 2, 3, 4)})
    done.validate(full=True)
    assert done.schema == made.schema
    texts = [None if value is None else value.decode("latin-1") for value in VALUES]
    assert done["photo"].to_pylist() == list(VALUES)
    assert done["film"].to_pylist() == list(VALUES)
    assert done["note"].to_pylist() == texts
    assert done["story"].to_pylist() == texts
    assert done["sentinel"].to_pylist() == [12345] * 6
    assert done.schema.types[1:5] == [pa.large_binary(), pa.large_utf8()] * 2


def test_contents_are_not_copied_when_they_need_no_change() -> None:
    for column, encoding in ((PHOTO, "latin-1"), (NOTE, "latin-1"), (NOTE, "utf-8")):
        made = finisher(column, encoding=encoding)
        filled = content(b"abc", b"d" * 1000)
        done = made.process(decoded(made, [None, None]), 0, {0: filled})
        buffer = done.column(0).buffers()[2]
        assert buffer.address == pa.py_buffer(filled.data).address


def test_more_contents_than_rows_are_left_alone() -> None:
    """Contents of rows after a failed one exist and are not used."""
    made = finisher(PHOTO, SENTINEL)
    done = made.process(decoded(made, [None, None], [1, 2]), 0, {0: content(b"a", b"b", b"c")})
    assert done.to_pylist() == [{"photo": b"a", "sentinel": 1}, {"photo": b"b", "sentinel": 2}]


def test_text_content_that_is_no_text_is_named_by_row_and_column() -> None:
    made = finisher(ID, NOTE)
    good, bad = "größe".encode(), b"gr\xf6\xdfe"
    with pytest.raises(DataError, match="0xf6") as caught:
        made.process(decoded(made, [1] * 3, [None] * 3), 7, {1: content(good, None, bad)})
    assert (caught.value.row, caught.value.column) == (9, "note")
    made = finisher(ID, NOTE, encoding_errors="replace")
    done = made.process(decoded(made, [1] * 3, [None] * 3), 7, {1: content(good, None, bad)})
    assert done["note"].to_pylist() == ["größe", None, bad.decode("utf-8", "replace")]


def test_skipped_objects_are_missing_from_schema_and_batches() -> None:
    made = finisher(ID, PHOTO, FILM, SENTINEL, lobs="skip")
    assert made.schema.names == ["id", "sentinel"]
    done = made.process(decoded(made, [1], [None], [None], [12345]), 0)
    assert done.to_pylist() == [{"id": 1, "sentinel": 12345}]


NUMBERS = Column("numbers", ColumnType.parse_sql("SET(INTEGER NOT NULL)"))
WORDS = Column("words", ColumnType.parse_sql("LIST(VARCHAR(20) NOT NULL)"))
PERSON = Column("person", ColumnType.parse_sql("ROW(name VARCHAR(20), age INTEGER)"))


def test_collections_and_rows_become_lists_and_structs() -> None:
    made = finisher(ID, NUMBERS, WORDS, PERSON, SENTINEL)
    batch = decoded(
        made,
        [1, 2, 3],
        ["SET{1          ,-2         }", None, "SET{}"],
        ["LIST{'a','it''s','größe'}", "LIST{}", None],
        ["ROW('Alice',30         )", None, "ROW('Bob',-1)"],
        [12345] * 3,
    )
    done = made.process(batch, 0)
    assert done.schema == made.schema
    assert done["numbers"].to_pylist() == [[1, -2], None, []]
    assert done["words"].to_pylist() == [["a", "it's", "größe"], [], None]
    assert done["person"].to_pylist() == [{"name": "Alice", "age": 30}, None, {"name": "Bob", "age": -1}]
    assert pa.types.is_list(done.schema.field("numbers").type)
    assert pa.types.is_struct(done.schema.field("person").type)


def test_collections_in_a_multi_byte_code_set() -> None:
    made = finisher(WORDS, encoding="cp932", raw_text=True)
    done = made.process(decoded(made, ["LIST{'日本','表'}".encode("cp932")]), 0)
    assert done["words"].to_pylist() == [["日本", "表"]]


def test_a_literal_that_does_not_parse_is_named_by_row_and_column() -> None:
    made = finisher(ID, NUMBERS)
    with pytest.raises(DataError) as caught:
        made.process(decoded(made, [1, 2], ["SET{1}", "SET{1"]), 40)
    assert (caught.value.row, caught.value.column) == (41, "numbers")


def test_an_element_that_its_type_cannot_hold_is_named_by_row_and_column() -> None:
    made = finisher(ID, NUMBERS)
    with pytest.raises(DataError) as caught:
        made.process(decoded(made, [1, 2, 3], ["SET{1}", None, "SET{99999999999}"]), 40)
    assert (caught.value.row, caught.value.column) == (42, "numbers")


@pytest.mark.parametrize("strings", ["utf8", "large", "view", "dictionary"])
def test_nested_as_text_is_the_literal(strings: str) -> None:
    made = finisher(NUMBERS, PERSON, nested="text", strings=strings)
    done = made.process(decoded(made, ["SET{1}", None], ["ROW('a',1)", None]), 0)
    assert done.schema == made.schema
    assert done.to_pylist() == [
        {"numbers": "SET{1}", "person": "ROW('a',1)"},
        {"numbers": None, "person": None},
    ]


def test_the_schema_is_the_same_for_zero_rows() -> None:
    columns = (ID, NAME, PHOTO, NOTE, FILM, STORY, NUMBERS, PERSON, SENTINEL)
    for strings in ("utf8", "large", "view", "dictionary"):
        made = finisher(*columns, strings=strings)
        batch = pa.RecordBatch.from_arrays(
            [pa.array([], f.type) for f in made.decoded_schema], schema=made.decoded_schema
        )
        assert made.process(batch, 0, {index: Content() for index in (2, 3, 4, 5)}).schema == made.schema


def test_a_code_set_that_is_no_superset_of_ascii_is_decoded_all_the_same() -> None:
    values = pa.array(["abc".encode("utf-16-be")], pa.binary())
    assert as_text(values, pa.utf8(), "utf-16-be", "strict", "c", 0).to_pylist() == ["abc"]
