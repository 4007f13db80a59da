"""Texts of a result are truncated to their columns by the number of bytes in the database's code set."""

from __future__ import annotations

import pyarrow as pa
import pytest

from informix_arrow.server.types.result_cast import cast_column
from informix_arrow.wire.types import ColumnType


@pytest.mark.parametrize(
    ("text", "codec", "found"),
    [
        ("abcde", "utf-8", "abcde"),
        ("abcdef", "utf-8", "abcde"),
        ("äöü", "utf-8", "äö"),  # six bytes, and no half character
        ("äöüäö", "iso8859-1", "äöüäö"),  # ten bytes in Arrow, five in the database
        ("äöüäöü", "iso8859-1", "äöüäö"),
        ("日本", "shift_jis", "日本"),  # six bytes in Arrow, four in the database
        ("日本語", "shift_jis", "日本"),
        ("", "iso8859-1", ""),
        (None, "iso8859-1", None),
    ],
)
def test_what_fits_is_whole_and_what_does_not_is_cut(text: str | None, codec: str, found: str | None) -> None:
    array = pa.chunked_array([pa.array([text, "tail"], pa.string())])
    cast = cast_column(array, ColumnType.varchar(5), pa.string(), codec)
    assert cast.to_pylist() == [found, "tail"]


def test_nothing_but_null() -> None:
    array = pa.chunked_array([pa.array([None, None], pa.string())])
    assert cast_column(array, ColumnType.varchar(5), pa.string(), "iso8859-1").to_pylist() == [None, None]
