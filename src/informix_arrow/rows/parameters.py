"""The placeholders of a statement and their values, checked before anything is sent.

The server knows only ``?``. ``:1`` and ``:name``, which :mod:`..wire.sql_text` finds, are rewritten, and values
sorted accordingly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias, cast

from ..wire.errors import Error, InterfaceError, ProgrammingError, database_error
from ..wire.sql_text import is_placeholder, tokens

#: Parameters for one execution: values in the order of ``?`` and ``:1``, or by the names of ``:name``.
Values: TypeAlias = Sequence[object] | Mapping[str, object]

#: A bind counts its values in a signed short (SQLI section 7).
MAX_PARAMETERS = 32767

_KEPT_TEXT = 1 << 16  # characters of the longest statement that is cached


@dataclass(frozen=True, slots=True)
class ParameterizedStatement:
    """A statement as the user wrote it and as it is sent to the server."""

    sql: str  # with the user's placeholders
    text: str  # with ? for each of them
    style: Literal["", "?", ":1", ":name"]
    keys: tuple[int | str, ...]  # of ``:1`` and ``:name``: the key of the value for each ? of ``text``
    marker_positions: tuple[
        tuple[int, int, int], ...
    ]  # of each ?: position in ``text``; position and length in ``sql``

    @property
    def count(self) -> int:
        """The number of ``?`` in the text for the server."""
        return len(self.marker_positions)

    def offset(self, offset: int) -> int:
        """Return the 1-based position in the user's text for one in the server's."""
        shift = 0
        for in_text, in_sql, length in self.marker_positions:
            if in_text == offset - 1:
                return in_sql + 1
            if in_text >= offset:
                break
            shift = in_sql + length - (in_text + 1)
        return offset + shift

    def values(self, parameters: object) -> Sequence[object]:
        """Return the values for the ``?`` of the text from the parameters for one execution.

        Raises
        ------
        InterfaceError
            ``parameters`` is not a sequence of values, or for ``:name`` not a mapping. A single string is refused too,
            because it is a sequence of characters.
        ProgrammingError
            Their number differs from that of the placeholders, or a name has no value.
        """
        if parameters is None and not self.marker_positions:
            return ()
        if self.style == ":name":
            return self._named(parameters)
        if parameters is None:
            parameters = ()
        if type(parameters) is not tuple and type(parameters) is not list:
            _refuse_what_is_no_row(parameters)
            if not isinstance(parameters, Sequence):
                raise InterfaceError(
                    f"parameters must be a sequence such as (value,), got {type(parameters).__name__}."
                )
        expected = max(map(int, self.keys), default=0) if self.style == ":1" else self.count
        if expected != len(parameters):
            raise ProgrammingError(
                f"The statement has {expected} placeholder{'' if expected == 1 else 's'} "
                f"({self.style or '?'}), but {len(parameters)} "
                f"value{' was' if len(parameters) == 1 else 's were'} given.",
                statement=self.sql,
            )
        if self.style != ":1":
            return parameters
        return self._once([parameters[int(key) - 1] for key in self.keys])

    def _named(self, parameters: object) -> Sequence[object]:
        if not isinstance(parameters, Mapping):
            got = "none were passed" if parameters is None else f"a {type(parameters).__name__} was passed"
            raise InterfaceError(
                f"The statement has named parameters (:{self.keys[0]}), but {got}. Pass a mapping such as "
                f"{{{self.keys[0]!r}: value}}. A colon that is part of a name has no blank before "
                "it: db:table."
            )
        missing = [key for key in dict.fromkeys(self.keys) if key not in parameters]
        if missing:
            raise ProgrammingError(
                "No value for " + ", ".join(f":{key}" for key in missing) + ".", statement=self.sql
            )
        return self._once([parameters[key] for key in self.keys])

    def _once(self, values: list[object]) -> list[object]:
        """Return the values, with duplicates copied: a file object is consumed by its first use."""
        if len(set(self.keys)) < len(self.keys):
            for key, value in zip(self.keys, values, strict=True):
                if hasattr(value, "read") and self.keys.count(key) > 1:
                    raise InterfaceError(
                        f":{key} occurs more than once in the statement, but a file object can be read only "
                        "once. Pass bytes."
                    )
        return values

    def explain(self, error: Error) -> None:
        """Make a server's error refer to the user's text instead of the text that was sent."""
        if error.sqlcode is None or error.statement != self.text or self.sql == self.text:
            return
        offset = self.offset(error.offset) if error.offset else 0
        rewritten = database_error(error.sqlcode, error.isamcode or 0, offset, error.near or "", self.sql)
        error.args, error.offset, error.statement = rewritten.args, rewritten.offset, rewritten.statement


def parse(sql: str) -> ParameterizedStatement:
    """Parse the placeholders of a statement.

    Raises ``ProgrammingError`` if ``?``, ``:1`` and ``:name`` are mixed, if numbers leave one out, or if there
    are more than the protocol allows, and ``InterfaceError`` if ``sql`` is not a str.
    """
    if not isinstance(sql, str):
        raise InterfaceError(f"A statement is a str, got {type(sql).__name__}.")
    return _remembered(sql) if len(sql) <= _KEPT_TEXT else _parse(sql)


def _parse(sql: str) -> ParameterizedStatement:
    if "?" not in sql and ":" not in sql:
        return ParameterizedStatement(sql, sql, "", (), ())
    pieces: list[str] = []
    keys: list[int | str] = []
    places: list[tuple[int, int, int]] = []
    styles: set[Literal["?", ":1", ":name"]] = set()
    server_offset = user_offset = 0  # offsets in the server's text and in the user's
    for token in tokens(sql):
        if token == "?":
            styles.add("?")
        elif token[0] != ":" or not is_placeholder(token):
            pieces.append(token)
            server_offset += len(token)
            user_offset += len(token)
            continue
        elif token[1].isdecimal():
            styles.add(":1")
            keys.append(int(token[1:]))
        else:
            styles.add(":name")
            keys.append(token[1:])
        places.append((server_offset, user_offset, len(token)))
        pieces.append("?")
        server_offset += 1
        user_offset += len(token)
    if not places:
        return ParameterizedStatement(sql, sql, "", (), ())
    if len(styles) > 1:
        raise ProgrammingError(
            f"The statement mixes placeholders of the styles {' and '.join(sorted(styles))}. Use one of "
            "them. A colon that is part of a name has no blank before it: db:table.",
            statement=sql,
        )
    if len(places) > MAX_PARAMETERS:
        raise ProgrammingError(
            f"The statement has {len(places)} placeholders, but the protocol supports at most "
            f"{MAX_PARAMETERS}.",
            statement=sql,
        )
    (style,) = styles
    if style == ":1":
        _check_numbers(sql, {int(key) for key in keys})
    text = sql if style == "?" else "".join(pieces)
    return ParameterizedStatement(sql, text, style, tuple(keys), tuple(places))


_remembered = lru_cache(maxsize=512)(_parse)


def _check_numbers(sql: str, numbers: set[int]) -> None:
    if 0 in numbers:
        raise ProgrammingError("Placeholders are numbered from :1, not from :0.", statement=sql)
    missing = next((number for number in range(1, len(numbers) + 1) if number not in numbers), None)
    if missing is not None:
        raise ProgrammingError(
            f"The statement has :{max(numbers)}, but no :{missing}. Number placeholders without gaps.",
            statement=sql,
        )


def count_placeholders(sql: str) -> int:
    """Return the number of values to be sent for ``sql``: one for each placeholder, repeated ones included."""
    return parse(sql).count


def placeholder_positions(sql: str) -> list[int]:
    """Return the positions of the parameters' ``?`` in ``sql``, a text for the server."""
    return [position for position, _, _ in parse(sql).marker_positions]


def check_parameters(sql: str, parameters: object) -> Sequence[object]:
    """Return the values for the placeholders of ``sql``, in the server's order.

    Raises as :func:`parse` and :meth:`ParameterizedStatement.values`.
    """
    return parse(sql).values(parameters)


_PLAIN_ROWS = {tuple, list}


class RowCheck:
    """Turns each of many rows of parameters into the ``count`` values for the server, or raises."""

    def __init__(self, statement: ParameterizedStatement, count: int) -> None:
        self.count = count
        self._statement = statement
        self._sorted = statement.style in (":1", ":name")

    def __call__(self, row: object) -> Sequence[object]:
        if self._sorted:
            return self._statement.values(row)
        return check_row(self._statement.sql, self.count, row)

    def check_rows(self, rows: list[object]) -> tuple[list[Sequence[object]], Exception | None]:
        """Return the values of the rows up to the first invalid one, and its error."""
        if not self._sorted and set(map(type, rows)) <= _PLAIN_ROWS:  # a load has millions of rows
            plain = cast("list[Sequence[object]]", rows)
            if set(map(len, plain)) <= {self.count}:
                return plain, None
        good: list[Sequence[object]] = []
        try:
            for row in rows:
                good.append(self(row))
        except Exception as error:  # noqa: BLE001  - raised after the rows before it were sent
            return good, error
        return good, None

    def sample(self, row: object) -> object:
        """Return the values of a row if it is valid, else the row: its error is raised when it is sent."""
        try:
            return self(row) if self._sorted else row
        except Error:
            return row


def check_row(sql: str, count: int, row: object) -> Sequence[object]:
    """Check one of many rows of values for the ``count`` ``?`` of ``sql``.

    Raises as :func:`check_parameters`, but accepts any object with a length and an order, also rows of a numpy
    array.
    """
    if type(row) is not tuple and type(row) is not list:  # a load has millions of rows
        _refuse_what_is_no_row(row)
        if not hasattr(row, "__len__") or not hasattr(row, "__getitem__"):
            raise InterfaceError(
                f"Each row of parameters must be a sequence such as (value,), got {type(row).__name__}."
            )
    values: Sequence[object] = row  # type: ignore[assignment]
    if len(values) != count:
        raise ProgrammingError(
            f"{len(values)} values for {count} placeholders in a row of parameters.", statement=sql
        )
    return values


def _refuse_what_is_no_row(parameters: object) -> None:
    """Refuse iterables that would bind other values than intended."""
    if isinstance(parameters, Mapping):
        raise InterfaceError(
            "A mapping was passed, but the statement has no named parameters. Write :name in it, or pass a "
            "sequence."
        )
    if isinstance(parameters, str | bytes | bytearray | memoryview):
        raise InterfaceError(
            f"parameters must be a sequence such as (value,), got {type(parameters).__name__}."
        )
