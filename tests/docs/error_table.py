"""Generates the tables of docs/errors.md from the catalogue of errors.

python -m tests.docs.error_table        writes the tables into docs/errors.md
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from informix_arrow.wire.error_catalogue import ISAM, ISAM_ADVICE, TABLES, read
from informix_arrow.wire.errors import error_info

DOCUMENT = Path(__file__).parents[2] / "docs" / "errors.md"
BEGIN, END = "<!-- made by tests/docs/error_table.py: begin -->", "<!-- end -->"


def _cell(text: str) -> str:
    """Escape text for a cell of a Markdown table."""
    return text.replace("{near}", "...").replace("|", "\\|").replace("*", "\\*").replace("<", "&lt;")


def lines() -> Iterator[str]:
    """Yield the lines of the tables."""
    for title, table in TABLES:
        yield f"### {title.rstrip('.')}"
        yield ""
        yield "| code | class | SQLSTATE | cause | next step |"
        yield "|---|---|---|---|---|"
        for code, (_, state, text, advice) in read(table).items():
            name = error_info(code).error_class.__name__
            yield f"| {code} | {name} | {state} | {_cell(text)} | {_cell(advice)} |"
        yield ""
    yield "### ISAM codes"
    yield ""
    yield "| code | cause | next step |"
    yield "|---|---|---|"
    for code, text in ISAM.items():
        yield f"| {code} | {_cell(text)} | {_cell(ISAM_ADVICE.get(code, ''))} |"


def document(text: str) -> str:
    """Return ``text`` with its tables replaced by new ones."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n" + "\n".join(lines()) + f"\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text()))
