"""The table's name in the errors of copies."""

from __future__ import annotations

import pytest

from informix_arrow.replicate.copy import TableCopy
from informix_arrow.wire.errors import DataError, error_at


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (error_at(DataError, "orders", "Two rows have the key 1."), "orders: Two rows have the key 1."),
        (error_at(DataError, "items", "Two rows have the key 1."), "orders: items: Two rows have the key 1."),
        (DataError("The disk is full."), "orders: The disk is full."),
        (OSError("The disk is full."), "orders: The disk is full."),
    ],
)
def test_the_table_is_named_once_at_the_beginning(error: Exception, text: str) -> None:
    assert TableCopy("orders", "full", error=error).error_text(str(error)) == text
