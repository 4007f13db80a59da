"""Generates the tables of docs/metadata.md from the schemas that they describe.

python -m tests.docs.metadata_table        writes the tables into docs/metadata.md
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from informix_arrow.metadata.schemas import ALL

DOCUMENT = Path(__file__).parents[2] / "docs" / "metadata.md"
BEGIN, END = "<!-- made by tests/docs/metadata_table.py: begin -->", "<!-- end -->"


def lines() -> Iterator[str]:
    """Yield the lines of the tables."""
    for method, fields in ALL.items():
        yield f"### `{method}`"
        yield ""
        yield "| column | Arrow type | |"
        yield "|---|---|---|"
        for name, arrow, meaning in fields:
            yield f"| `{name}` | {arrow} | {meaning} |"
        yield ""


def document(text: str) -> str:
    """Return ``text`` with its tables replaced by new ones."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n" + "\n".join(lines()) + f"{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text()))
