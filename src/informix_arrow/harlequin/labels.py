"""Short labels of types for Harlequin."""

from __future__ import annotations

#: By the beginning of the Arrow type's name; the first match counts.
_SIGNS = (
    ("int64", "##"),
    ("int", "#"),
    ("decimal", "#.#"),
    ("double", "#.#"),
    ("float", "#.#"),
    ("bool", "t/f"),
    ("date", "d"),
    ("timestamp", "dt"),
    ("time", "tm"),
    ("duration", "|-|"),
    ("string", "s"),
    ("large_string", "s"),
    ("binary", "b"),
    ("large_binary", "b"),
    ("list", "[]"),
    ("struct", "{}"),
)


def of_type(arrow: str | None) -> str:
    """Return the label of the Arrow type that a column is read as; "?" for one that cannot be read."""
    return next((sign for prefix, sign in _SIGNS if arrow is not None and arrow.startswith(prefix)), "?")
