"""Are two tables, databases, exports or files the same? Checksums find where they differ, then rows are compared.

Each side is read once; only where checksums differ are rows read again. See docs/compare.md.
"""

from __future__ import annotations

from .compare import Difference, TableResult, compare_tables
from .sources import DatabaseSide, DirectorySide, FileSide, Side

__all__ = [
    "DatabaseSide",
    "Difference",
    "DirectorySide",
    "FileSide",
    "Side",
    "TableResult",
    "compare_tables",
]
