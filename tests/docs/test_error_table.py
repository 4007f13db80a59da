"""docs/errors.md matches the catalogue of errors."""

from __future__ import annotations

from informix_arrow.wire.error_catalogue import ERRORS, ISAM

from .error_table import BEGIN, DOCUMENT, document


def test_the_tables_of_errors_are_those_that_the_catalogue_makes() -> None:
    text = DOCUMENT.read_text()
    assert text.count(BEGIN) == 1
    assert document(text) == text, "make it anew: python -m tests.docs.error_table"


def test_every_code_has_a_line() -> None:
    text = DOCUMENT.read_text()
    assert all(f"\n| {code} | " in text for code in (*ERRORS, *ISAM))
