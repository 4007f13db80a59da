"""docs/metadata.md matches the schemas."""

from __future__ import annotations

from informix_arrow.connection import Connection
from informix_arrow.metadata.schemas import ALL

from .metadata_table import BEGIN, DOCUMENT, document


def test_the_tables_of_metadata_are_those_of_the_schemas() -> None:
    text = DOCUMENT.read_text()
    assert text.count(BEGIN) == 1
    assert document(text) == text, "make it anew: python -m tests.docs.metadata_table"


def test_every_schema_belongs_to_a_method_of_the_connection() -> None:
    for method in ALL:
        assert callable(getattr(Connection, method))
