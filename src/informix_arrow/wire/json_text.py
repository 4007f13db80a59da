"""Python values as the text of a JSON column."""

from __future__ import annotations

import json

from .errors import DataError


def json_text(value: object, encoding: str = "utf-8") -> str:
    """Return a dict, list or tuple as JSON without blanks.

    Characters that ``encoding`` lacks are written as ``\\uXXXX``. Raises ``DataError`` for a value that JSON does not
    have: NaN, infinity, a set, a time, a Decimal, a key that is not str.
    """
    try:
        _check_keys(value)
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(f"The {type(value).__name__} is not JSON: {error}.") from None
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text


def _check_keys(value: object) -> None:
    """Raise ``TypeError`` for a key that ``json`` would change to a str, so that two keys could become one."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if not isinstance(key, str):
                raise TypeError(f"the key {key!r} is not a str")
            _check_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            _check_keys(inner)
