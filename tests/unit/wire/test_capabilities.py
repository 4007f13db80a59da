"""Capability bits and locales (SQLI section 5.1, JDBC section 2)."""

from __future__ import annotations

import pytest
from tests.cases import parametrize_in_one_test

from informix_arrow.wire.capabilities import (
    CLIENT_OFFER,
    SERVER_ANSWER,
    Bit,
    Framing,
    bits_of,
    codec_of_locale,
    is_multibyte,
    locale_code,
    mask_of,
    server_answer,
)
from informix_arrow.wire.code_sets import _CODE_SETS

JDBC_15_OFFER = bytes.fromhex("fffc7ffc3c8caa9706")


def test_bits_are_numbered_from_the_top_of_the_first_byte() -> None:
    assert bits_of(bytes.fromhex("8001")) == {0, 15}
    assert mask_of({0, 15, 99}, 2) == bytes.fromhex("8001")
    assert mask_of(bits_of(CLIENT_OFFER), 8) == CLIENT_OFFER


def test_our_offer_with_every_known_server_gives_the_modern_framing() -> None:
    for answer in ("bdbe9ffe7fb7ffefff", "bdbe9ffe7fb7ffeff8", "bdbe9ffe7fb7ffeff0"):
        assert Framing.negotiate(CLIENT_OFFER, bytes.fromhex(answer)) == Framing()


def test_long_rows_need_both_ends() -> None:
    answer = bytes.fromhex("bdbe9ffe7fb7ffefff")
    both = Framing.negotiate(JDBC_15_OFFER, answer)
    assert (both.large_tuple, both.long_rowid, both.descriptor_size) == (True, True, 68)
    ours = Framing.negotiate(CLIENT_OFFER, answer)
    assert (ours.large_tuple, ours.long_rowid, ours.descriptor_size) == (False, False, 56)


@pytest.mark.parametrize(
    ("bit", "name"),
    [
        (Bit.FOUR_BYTE_OFFSET, "four_byte_offset"),
        (Bit.NAMED_PARAMETERS, "named_parameters"),
        (Bit.BIGINT, "bigint"),
        (Bit.SAVEPOINTS, "savepoints"),
        (Bit.NO_64K_LIMIT, "no_64k_limit"),
        (Bit.LARGE_FETCH, "large_fetch"),
    ],
)
def test_a_bit_that_the_server_lacks_turns_its_framing_off(bit: Bit, name: str) -> None:
    answer = mask_of(bits_of(SERVER_ANSWER) - {bit}, 9)
    framing = Framing.negotiate(CLIENT_OFFER, answer)
    assert getattr(framing, name) is False
    assert [field for field in Framing.__slots__ if getattr(framing, field) != getattr(Framing(), field)] == [
        name
    ]


def test_the_long_describe_holds_without_negotiation() -> None:
    assert Framing.negotiate(CLIENT_OFFER, mask_of(bits_of(SERVER_ANSWER) - {Bit.USVER}, 9)).usver


@pytest.mark.parametrize("offer", [CLIENT_OFFER, JDBC_15_OFFER])
def test_our_server_never_claims_the_long_row_bits(offer: bytes) -> None:
    answer = server_answer(offer)
    assert len(answer) == 9
    assert answer[:8] == SERVER_ANSWER[:8]
    assert not bits_of(answer) & {Bit.LARGE_TUPLE, Bit.LONG_ROWID, Bit.PAM, Bit.PRIVATE_SERVER}
    assert {bit for bit in bits_of(answer) if bit >= 64} <= bits_of(offer)


@parametrize_in_one_test(
    ("locale", "codec", "code"),
    [
        ("en_US.8859-1", "latin-1", "en_US.819"),
        ("en_us.819", "latin-1", "en_US.819"),
        ("de_DE.utf8", "utf-8", "de_DE.57372"),
        ("en_US.57372", "utf-8", "en_US.57372"),
        ("pl_PL.CP1250@dict", "cp1250", "pl_PL.1250"),
        ("ru_RU.8859-5", "iso8859-5", "ru_RU.915"),
        ("en_us.0333", "latin-1", "en_US.819"),
        ("de_de.iso8859-15", "iso8859-15", "de_DE.923"),
        ("de_de.8859-15@euro", "iso8859-15", "de_DE.923"),
        ("lt_LT.8859-13", "iso8859-13", "lt_LT.921"),
        ("de_DE.1252", "cp1252", "de_DE.1252"),
        ("ru_RU.koi8-r", "koi8-r", "ru_RU.878"),
        ("cy_GB.8859-14", "iso8859-14", "cy_GB.8859-14"),
        ("zh_cn.GB18030-2000", "gb18030", "zh_CN.5488"),
        ("zh_CN.5488", "gb18030", "zh_CN.5488"),
        ("zh_cn.1570", "gb18030", "zh_CN.5488"),
        ("zh_cn.gb", "gbk", "zh_CN.57357"),
        ("zh_TW.big5", "big5", "zh_TW.57352"),
        ("ja_JP.sjis", "shift_jis", "ja_JP.57350"),
        ("ja_JP.sjis-s", "cp932", "ja_JP.932"),
        ("ja_jp.ujis", "euc_jp", "ja_JP.57351"),
        ("ja_jp.eucjp", "euc_jp", "ja_JP.57351"),
        ("ko_kr.ksc", "cp949", "ko_KR.57356"),
        ("ko_kr.euckr", "cp949", "ko_KR.57356"),
        ("en_us.e01c", "utf-8", "en_US.57372"),
        ("de_DE.PC-Latin-1", "cp850", "de_DE.850"),
        ("cs_cz.pc-latin-2", "cp852", "cs_CZ.852"),
        ("cs_CZ.latin-2", "iso8859-2", "cs_CZ.912"),
        ("ar_EG.ASMO-708", "iso8859-6", "ar_EG.1089"),
        ("tr_TR.Latin-5", "iso8859-9", "tr_TR.920"),
    ],
)
def test_a_locale_gives_its_codec_and_its_number_form(locale: str, codec: str, code: str) -> None:
    assert codec_of_locale(locale) == codec
    assert locale_code(locale) == code


@pytest.mark.parametrize("locale", ["", "C", "en_US", "en_US.0819", "en_US.nonsense"])
def test_an_unknown_locale_is_named(locale: str) -> None:
    with pytest.raises(ValueError, match="locale"):
        codec_of_locale(locale)


@pytest.mark.parametrize(
    ("locale", "name"), [("pl_PL.Mazovia", "Mazovia"), ("zh_TW.euctw", "EUC-TW"), ("en_US.unicode", "UCS-2")]
)
def test_a_code_set_without_a_codec_is_refused_by_its_name(locale: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"no codec for the code set {name}.*encoding="):
        codec_of_locale(locale)


def test_every_code_set_has_a_codec_that_leaves_ascii_alone() -> None:
    """The protocol's own texts, names and numbers are ASCII in every code set, so no codec may change ASCII."""
    ascii_text = bytes(range(32, 127)).decode("ascii")
    for code_set in _CODE_SETS:
        assert ascii_text.encode(code_set.codec) == ascii_text.encode("ascii"), code_set
        for name in code_set.names:
            assert codec_of_locale(f"xx_YY.{name.upper()}") == code_set.codec
        if code_set.number is not None:
            assert codec_of_locale(f"xx_YY.{code_set.number}") == code_set.codec


def test_names_and_numbers_belong_to_one_code_set_only() -> None:
    names = [name for code_set in _CODE_SETS for name in code_set.names]
    numbers = [code_set.number for code_set in _CODE_SETS if code_set.number is not None]
    assert len(names) == len(set(names))
    assert len(numbers) == len(set(numbers))


@pytest.mark.parametrize(
    "codec", ["big5", "gb18030", "gbk", "cp932", "shift_jis", "euc_jp", "cp949", "utf-16-le"]
)
def test_a_code_set_of_several_bytes_is_known_as_one(codec: str) -> None:
    assert is_multibyte(codec)


@pytest.mark.parametrize("codec", ["utf-8", "UTF8", "latin-1", "cp1252", "koi8-r", "ascii", "cp437"])
def test_single_byte_code_sets_and_utf8_need_no_transcoding_by_python(codec: str) -> None:
    assert not is_multibyte(codec)
