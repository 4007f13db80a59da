"""Known-good bytes for the wire tests: worked examples, and bytes that IBM's JDBC driver sent (JDBC "Files")."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from informix_arrow.wire.types import ColumnType

FOLDER = Path(__file__).parents[2] / "vectors"

_EXTENDED = {"LVARCHAR": "lvarchar", "BOOLEAN": "boolean", "BLOB": "blob", "CLOB": "clob"}


def load(name: str) -> list[dict[str, Any]]:
    """Return the entries of one vector file."""
    entries: list[dict[str, Any]] = json.loads((FOLDER / name).read_text(encoding="utf-8"))
    return entries


def column_type(vector: dict[str, Any]) -> ColumnType:
    """Return the described type of an entry of types.json or jdbc_tuples.json."""
    name = vector.get("extended_name") or _EXTENDED.get(str(vector.get("name", "")).split("(")[0], "")
    return ColumnType.from_word(vector["type"], vector["encoded_length"], extended_name=name)
