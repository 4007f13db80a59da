"""Compare two tables, databases, exports or files.

Checksums of groups of rows show where the two sides differ. Only the rows of those groups are read again and
compared one by one. See docs/compare.md.
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
