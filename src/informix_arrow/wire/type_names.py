"""Split declared types, which are text, into words. :mod:`.types` knows what the words mean."""

from __future__ import annotations

import re

_NOT_NULL = re.compile(r"\s+NOT\s+NULL\s*$", re.IGNORECASE)
_CALL = re.compile(r"([A-Z0-9 ]+?)\s*(?:\(\s*([0-9]+)\s*(?:,\s*([0-9]+)\s*)?\))?", re.IGNORECASE)
_COMPLEX = re.compile(r"\s*(SET|MULTISET|LIST|COLLECTION|ROW)\s*\((.+)\)\s*", re.IGNORECASE | re.DOTALL)
_FIELD = re.compile(r'\s*("(?:[^"]|"")+"|[^\W\d][\w$]*)\s+(\S.*)', re.DOTALL)
_TYPE_NAME = re.compile(r"(?:[^\W\d][\w$]*\s*\.\s*)?[^\W\d][\w$]*")


def without_not_null(text: str) -> tuple[str, bool]:
    """Return the declaration without a NOT NULL at its end, and whether there was one."""
    body, count = _NOT_NULL.subn("", text.strip())
    return body, count > 0


def word_and_sizes(text: str) -> tuple[str, list[int]] | None:
    """Return ``("VARCHAR", [20, 5])`` for ``varchar (20,5)``. None for a text of another form."""
    match = _CALL.fullmatch(text)
    if match is None:
        return None
    return match.group(1).upper(), [int(number) for number in match.groups()[1:] if number is not None]


def kind_and_members(text: str) -> tuple[str, list[str]] | None:
    """Return ``("ROW", ["a INTEGER", "b VARCHAR(20)"])``. None for anything but a collection or an unnamed ROW.

    Raises ``ValueError`` if parentheses or quotes do not match.
    """
    match = _COMPLEX.fullmatch(text)
    return None if match is None else (match.group(1).upper(), _split(match.group(2), text))


def name_and_type(member: str) -> tuple[str, str] | None:
    """Return a field's name and its declared type. None for a text that is not a field of a ROW."""
    field = _FIELD.fullmatch(member)
    return None if field is None else (field.group(1), field.group(2))


def is_name(text: str) -> bool:
    """Return whether a text can be the name of a type, with an owner or without."""
    return _TYPE_NAME.fullmatch(text) is not None


def cut_at_commas(text: str) -> list[str]:
    """Return the members of ``a integer, b decimal(5,2)``. Raises ``ValueError`` if parentheses or quotes do not
    match."""
    return _split(text, text)


def _split(inner: str, text: str) -> list[str]:
    """Split at the commas outside parentheses and quoted names."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, character in enumerate(inner):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character == "(":
            depth += 1
        elif character == ")":
            depth -= 1
            if depth < 0:
                break
        elif character == "," and depth == 0:
            parts.append(inner[start:at])
            start = at + 1
    if depth or quoted:
        raise ValueError(f"Parentheses or quotes do not match in {text!r}.")
    return [*parts, inner[start:]]
