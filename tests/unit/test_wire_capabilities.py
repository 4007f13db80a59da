"""Capability bits and locales (SQLI section 5.1, JDBC section 2)."""

from __future__ import annotations

import pytest

from informix_arrow.wire.capabilities import (
    CLIENT_OFFER,
    SERVER_ANSWER,
    Bit,
    Framing,
    bits_of,
    codec_of_locale,
    locale_code,
    mask_of,
    server_answer,
)

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


@pytest.mark.parametrize(
    ("locale", "codec", "code"),
    [
        ("en_US.8859-1", "latin-1", "en_US.819"),
        ("en_us.819", "latin-1", "en_US.819"),
        ("de_DE.utf8", "utf-8", "de_DE.57372"),
        ("en_US.57372", "utf-8", "en_US.57372"),
        ("pl_PL.CP1250@dict", "cp1250", "pl_PL.1250"),
        ("ru_RU.8859-5", "iso8859-5", "ru_RU.915"),
    ],
)
def test_a_locale_gives_its_codec_and_its_number_form(locale: str, codec: str, code: str) -> None:
    assert codec_of_locale(locale) == codec
    assert locale_code(locale) == code


@pytest.mark.parametrize("locale", ["", "C", "en_US", "ja_JP.sjis-s", "en_US.nonsense"])
def test_an_unknown_locale_is_named(locale: str) -> None:
    with pytest.raises(ValueError, match="locale"):
        codec_of_locale(locale)
