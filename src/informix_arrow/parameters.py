"""The ``?`` of a statement and the values for them, checked before anything is sent.

A statement's text is read as Informix reads it: strings in single or double quotes (a quote inside is
doubled, the backslash is an ordinary character) and the three kinds of comments, ``-- ...``, ``/* ... */``
and ``{ ... }``, hide what they hold. Braces after SET, MULTISET and LIST are collection literals, not
comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from .wire.errors import InterfaceError, ProgrammingError

#: A bind counts its values in a signed short (SQLI section 7).
MOST_PARAMETERS = 32767

# A doubled quote inside a string reads as two strings side by side: the same thing here.
_TOKENS = re.compile(
    r"""
      '[^']*'?
    | "[^"]*"?
    | --[^\n]*
    | /\*.*?(?:\*/|\Z)
    | \b(?:MULTISET|SET|LIST)\s*\{
    | \{[^}]*\}?
    | (?P<mark>\?)
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)

_WORDS = re.compile(_TOKENS.pattern.replace(r"(?P<mark>\?)", r"\w+"), _TOKENS.flags)


def count_placeholders(sql: str) -> int:
    """How many ``?`` of ``sql`` stand for parameters."""
    if "?" not in sql:
        return 0
    return sum(match.lastgroup == "mark" for match in _TOKENS.finditer(sql))


def placeholder_positions(sql: str) -> list[int]:
    """Where in ``sql`` the ``?`` stand that are parameters."""
    return [match.start() for match in _TOKENS.finditer(sql) if match.lastgroup == "mark"]


def sql_tokens(sql: str) -> list[str]:
    """The words and quoted strings of ``sql`` in order, without what comments hold."""
    return [match[0] for match in _WORDS.finditer(sql) if not match[0].startswith(("--", "/*", "{"))]


def check_parameters(sql: str, parameters: Sequence[object] | None) -> Sequence[object]:
    """The values for the ``?`` of ``sql``, one each.

    Raises
    ------
    InterfaceError
        ``parameters`` is no sequence of values. A lone string is refused too, being a sequence of characters.
    ProgrammingError
        Their number differs from that of the placeholders.
    """
    if parameters is None:
        parameters = ()
    _refuse_what_is_no_row(parameters)
    if not isinstance(parameters, Sequence):
        raise InterfaceError(
            f"parameters must be a sequence such as (value,), got {type(parameters).__name__}"
        )
    count = count_placeholders(sql)
    if count > MOST_PARAMETERS:
        raise ProgrammingError(
            f"the statement has {count} placeholders, the protocol counts to {MOST_PARAMETERS}",
            statement=sql,
        )
    if count != len(parameters):
        raise ProgrammingError(
            f"the statement has {count} placeholder{'' if count == 1 else 's'} (?), "
            f"but {len(parameters)} value{' was' if len(parameters) == 1 else 's were'} given",
            statement=sql,
        )
    return parameters


def check_row(sql: str, count: int, row: object) -> Sequence[object]:
    """One of many rows of values for the ``count`` placeholders of ``sql``.

    Raises as :func:`check_parameters`, but takes whatever has a length and an order: rows of a numpy array,
    too.
    """
    if type(row) is not tuple and type(row) is not list:  # a load has millions of rows
        _refuse_what_is_no_row(row)
        if not hasattr(row, "__len__") or not hasattr(row, "__getitem__"):
            raise InterfaceError(
                f"each row of parameters must be a sequence such as (value,), got {type(row).__name__}"
            )
    values: Sequence[object] = row  # type: ignore[assignment]
    if len(values) != count:
        raise ProgrammingError(
            f"{len(values)} values for {count} placeholders in a row of parameters", statement=sql
        )
    return values


def _refuse_what_is_no_row(parameters: object) -> None:
    """Refuse what can be iterated over but would bind something else than was meant."""
    if isinstance(parameters, Mapping):
        raise InterfaceError(
            "named parameters are not supported: write ? in the statement and pass a sequence"
        )
    if isinstance(parameters, str | bytes | bytearray | memoryview):
        raise InterfaceError(
            f"parameters must be a sequence such as (value,), got {type(parameters).__name__}"
        )
