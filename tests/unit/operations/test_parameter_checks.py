"""Counting placeholders like Informix, and the checks that need no server."""

from __future__ import annotations

import numpy as np
import pytest

from informix_arrow.rows.parameters import MAX_PARAMETERS, check_parameters, check_row, count_placeholders
from informix_arrow.wire.codepages import decoder_table
from informix_arrow.wire.errors import InterfaceError, NotSupportedError, ProgrammingError


@pytest.mark.parametrize(
    ("sql", "count"),
    [
        ("select 1 from t", 0),
        ("select ?::int from t where a = ?", 2),
        ("select '?' from t where b = ?", 1),
        ("select 'it''s ?' from t where b = ?", 1),
        (r"select '\' from t where b = ? and c = '?'", 1),
        ('select "a""?" from t where b = ?', 1),
        ("select a -- why?\nfrom t where b = ?", 1),
        ("select a /* why? ' */ from t where b = ?", 1),
        ("select a { why? } from t where b = ?", 1),
        ("select a from t where b in set{?, ?}", 2),
        ("select a from t where b in MULTISET {?}", 1),
        ("select '{' || ? || '}' from t", 1),
        ("select '--' || ? from t", 1),
        ("select a from t -- ? no line end", 0),
        ("select 'never closed ?", 0),
        ("select a /* never closed ?", 0),
    ],
)
def test_only_placeholders_count(sql: str, count: int) -> None:
    assert count_placeholders(sql) == count


def test_a_wrong_number_of_values_is_reported_in_plain_words() -> None:
    with pytest.raises(ProgrammingError, match=r"1 placeholder .*, but 2 values were given"):
        check_parameters("select ?::int from t", (1, 2))
    with pytest.raises(ProgrammingError, match=r"2 placeholders .*, but 1 value was given"):
        check_parameters("select ? + ? from t", [1])


@pytest.mark.parametrize("parameters", ["abc", b"abc", {"a": 1}, 5, {1}])
def test_what_is_no_sequence_of_values_is_refused(parameters: object) -> None:
    with pytest.raises(InterfaceError):
        check_parameters("select ?", parameters)


def test_none_means_no_parameters() -> None:
    assert check_parameters("select 1", None) == ()


def test_the_codepage_of_latin_1_maps_every_byte() -> None:
    table = decoder_table("latin-1")
    assert table is not None
    assert table[4 * 0x41 : 4 * 0x41 + 4] == b"\x01A\0\0"
    assert table[4 * 0xE9 : 4 * 0xE9 + 4] == b"\x02\xc3\xa9\0"


def test_undefined_bytes_of_a_codepage_have_length_zero() -> None:
    table = decoder_table("cp1252")
    assert table is not None
    assert table[4 * 0x80 : 4 * 0x80 + 4] == b"\x03\xe2\x82\xac"
    assert table[4 * 0x81] == 0


def test_utf8_needs_no_codepage() -> None:
    assert decoder_table("UTF8") is None


def test_code_sets_of_several_bytes_are_refused() -> None:
    with pytest.raises(NotSupportedError, match="shift"):
        decoder_table("shift-jis")


def test_more_placeholders_than_a_bind_counts_are_refused_by_number() -> None:
    count = MAX_PARAMETERS + 1
    sql = f"SELECT a, sentinel FROM t WHERE a IN ({', '.join('?' * count)})"
    with pytest.raises(ProgrammingError, match="32768 placeholders"):
        check_parameters(sql, [0] * count)


@pytest.mark.parametrize(
    "row",
    [
        {"a": 1, "b": 2},
        "ab",
        b"ab",
        bytearray(b"ab"),
        {1, 2},
        pytest.param(iter((1, 2)), id="iterator"),
        None,
        7,
    ],
    ids=repr,
)
def test_a_row_that_is_no_sequence_is_refused_instead_of_bound_by_its_parts(row: object) -> None:
    with pytest.raises(InterfaceError, match="sequence"):
        check_row("INSERT INTO t VALUES (?, ?)", 2, row)


@pytest.mark.parametrize("row", [(1, 2), [1, 2], np.array([1, 2]), range(1, 3)], ids=repr)
def test_a_row_may_be_any_sequence(row: object) -> None:
    assert list(check_row("INSERT INTO t VALUES (?, ?)", 2, row)) == [1, 2]


def test_a_row_of_a_wrong_length_is_refused() -> None:
    with pytest.raises(ProgrammingError, match="3 values for 2 placeholders"):
        check_row("INSERT INTO t VALUES (?, ?)", 2, (1, 2, 3))
