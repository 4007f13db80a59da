"""Generates the drawings of docs/architecture.md from the contracts in pyproject.toml that `make lint` checks.

python -m tests.docs.layer_drawing      writes them into docs/architecture.md
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCUMENT = ROOT / "docs" / "architecture.md"
MARK = "<!-- drawn by tests/docs/layer_drawing.py: {} -->"
END = "<!-- end of drawing -->"

_CONTRACT = re.compile(r'^id = "([\w-]+)"\n(?:(?!\[\[).*\n)*?layers = \[\n((?:    .*\n)+)\]', re.MULTILINE)
_LAYER = re.compile(r'    "([^"]+)",?(?: # (.*))?\n')


def layers(contract: str) -> list[tuple[str, str]]:
    """Return the layers of a contract from the top down: their names, and the comment of each."""
    found = dict(_CONTRACT.findall((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
    return [(names.replace(" | ", ", "), note) for names, note in _LAYER.findall(found[contract])]


def lines(contract: str) -> Iterator[str]:
    """Yield the lines of one drawing."""
    drawn_layers = layers(contract)
    width = max(len(names) for names, _ in drawn_layers)
    yield "```text"
    for names, note in drawn_layers:
        yield f"{names:{width}}   {note}".rstrip()
    yield "```"


def document(text: str) -> str:
    """Return the document with its drawings replaced by new ones."""
    pattern = re.escape(MARK).replace(r"\{\}", r"([\w-]+)") + r"\n.*?" + re.escape(END)

    def drawn(found: re.Match[str]) -> str:
        return "\n".join((MARK.format(found[1]), *lines(found[1]), END))

    return re.sub(pattern, drawn, text, flags=re.DOTALL)


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
