"""Hidden tables are used in one package only: no SQL over them outside of server/catalog."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import informix_arrow.server

ROOT = Path(informix_arrow.server.__file__).parent
HIDDEN = re.compile(r"\b_ifx\b")
"""DuckDB schema of the hidden tables. `_ifx_add` and similar names are functions."""


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield line and text of the string literals of a module, without docstrings."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    said = {node.value for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in said:
            yield node.lineno, node.value


def used_in(files: Iterator[Path]) -> list[str]:
    return [
        f"{file.relative_to(ROOT)}:{line}"
        for file in files
        for line, text in texts(file)
        if HIDDEN.search(text)
    ]


@pytest.mark.slow
def test_sql_over_hidden_tables_stands_in_catalog_only() -> None:
    """If this fails: write a function in catalog (like stored_names, stored_triggers, stored_objects) that the other
    layer calls.

    Then all readers of a hidden table are in one folder.
    """
    everywhere = sorted(ROOT.rglob("*.py"))
    catalog = [file for file in everywhere if file.is_relative_to(ROOT / "catalog")]
    assert len(used_in(iter(catalog))) > 50
    assert used_in(file for file in everywhere if file not in catalog) == []
