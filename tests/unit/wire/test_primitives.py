"""The primitives of messages: integers and counted strings (SQLI section 1)."""

from __future__ import annotations

import pytest
from tests.cases import parametrize_in_one_test

from informix_arrow.wire.errors import DataError, ProtocolError
from informix_arrow.wire.primitives import NeedMoreData, Reader, Writer, decode_text, encode_text


def everything() -> bytes:
    w = Writer().byte(255).short(-2).ushort(65534).int(-3).uint(0xFFFF_FFFD).long(-4).raw(b"raw")
    return w.pstr(b"odd").pstr(b"even").astr(b"nul").lstr(b"sql", True).lstr(b"sq", False).getvalue()


def read_everything(reader: Reader) -> list[object]:
    values: list[object] = [reader.byte(), reader.short(), reader.ushort(), reader.int(), reader.uint()]
    values += [reader.long(), reader.read_bytes(3), reader.pstr(), reader.pstr(), reader.astr()]
    return [*values, reader.lstr(True), reader.lstr(False)]


def test_what_the_writer_writes_the_reader_reads() -> None:
    reader = Reader(everything())
    assert read_everything(reader) == [
        255, -2, 65534, -3, 0xFFFF_FFFD, -4, b"raw", b"odd", b"even", b"nul", b"sql", b"sq",
    ]  # fmt: skip
    assert reader.remaining == 0


@parametrize_in_one_test("cut", range(len(everything())))
def test_a_missing_byte_asks_for_more_data_and_for_no_more_than_is_missing(cut: int) -> None:
    whole = everything()
    with pytest.raises(NeedMoreData) as caught:
        read_everything(Reader(whole[:cut]))
    assert 1 <= caught.value.missing <= len(whole) - cut


def test_the_reader_stays_inside_its_window() -> None:
    reader = Reader(b"\0\1\0\2\0\3", 2, 4)
    assert reader.short() == 2
    with pytest.raises(NeedMoreData):
        reader.byte()


def test_reading_leaves_a_bytearray_free_to_be_resized() -> None:
    data = bytearray(b"\0\3abc\0")
    assert Reader(data).pstr() == b"abc"
    data += b"more"


@pytest.mark.parametrize(
    ("data", "method"), [(b"\xff\xff", "pstr"), (b"\xff\xff", "astr"), (b"\xff\xff\xff\xff", "lstr")]
)
def test_a_negative_length_is_a_protocol_error_naming_field_and_offset(data: bytes, method: str) -> None:
    reader = Reader(b"\0" + data + bytes(8), 1)
    with pytest.raises(ProtocolError, match="user: The length -1 at offset 1 is negative"):
        reader.lstr(True, "user") if method == "lstr" else getattr(reader, method)("user")


def test_sql_text_without_bit_62_is_counted_by_an_unsigned_short() -> None:
    data = Writer().lstr(b"x" * 65535, False).getvalue()
    assert Reader(data).lstr(False) == b"x" * 65535


def test_lengths_and_numbers_outside_their_fields_are_refused() -> None:
    with pytest.raises(ValueError, match="cursor: 32768 bytes"):
        Writer().pstr(bytes(32768), "cursor")
    with pytest.raises(ValueError, match="65536 bytes"):
        Writer().lstr(bytes(65536), False)
    with pytest.raises(ValueError, match="NUL byte is not allowed"):
        Writer().astr(b"a\0b")
    for refused in (Writer().short, Writer().int, Writer().long):
        with pytest.raises(ValueError, match="does not fit"):
            refused(2**64)
    with pytest.raises(ValueError, match="does not fit"):
        Writer().byte(256)


def test_a_character_outside_the_code_set_is_named() -> None:
    with pytest.raises(DataError, match=r"The character '€' \(U\+20AC\) at position 3 of the statement"):
        encode_text("ab€", "latin-1", "the statement")


def test_bytes_that_are_no_text_survive_decoding_and_encoding() -> None:
    text = decode_text(b"caf\xe9", "utf-8")
    assert encode_text(text, "utf-8", "text") == b"caf\xe9"
