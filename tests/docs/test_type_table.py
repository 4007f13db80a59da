"""docs/types.md matches the code."""

from __future__ import annotations

from tests.cases import parametrize_in_one_test

from informix_arrow.wire.plan_ops import arrow_type
from informix_arrow.wire.types import ColumnType, TypeCode

from .type_table import BEGIN, DOCUMENT, END, READERS, ROWS, document, versions


def without_readers(text: str) -> str:
    """Return the table without the columns that depend on the versions of other libraries, and without those
    versions."""
    before, _, rest = text.partition(BEGIN)
    table, _, after = rest.partition(END)
    rows = [line.split(" | ") for line in table.splitlines() if line.startswith("|")]
    kept = [row[:3] + row[3 + len(READERS) :] if len(row) == 8 else row for row in rows]
    return before + "\n".join(" | ".join(row) for row in kept) + after


def test_the_table_of_types_is_the_one_that_the_code_makes() -> None:
    text = DOCUMENT.read_text()
    assert text.count(BEGIN) == 1
    made = document(text)
    if versions() in text:
        assert made == text, "make it anew: python -m tests.docs.type_table"
    else:
        assert without_readers(made) == without_readers(text), "make it anew: python -m tests.docs.type_table"


def test_what_other_libraries_make_of_a_type_is_compared_only_with_their_own_versions() -> None:
    text = DOCUMENT.read_text()
    assert without_readers(text.replace("| Int16 |", "| Int17 |")) == without_readers(text)
    assert without_readers(text.replace("| int16 |", "| int17 |")) != without_readers(text)


SOURCES = [
    ct
    for row in ROWS
    for ct in row.types
    if ct.code != TypeCode.NULL
    and (ct.code <= TypeCode.SERIAL8 or ct.code == TypeCode.BIGINT or ct.is_lvarchar or ct.is_boolean)
]


@parametrize_in_one_test("source", SOURCES, ids=lambda source: source.sql)
def test_a_distinct_type_is_read_as_its_source(source: ColumnType) -> None:
    distinct = ColumnType.distinct("mine", source, 3000, "informix")
    assert distinct.sql == "mine"
    assert arrow_type(distinct) == arrow_type(source)
