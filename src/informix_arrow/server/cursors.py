"""Open cursors: rows on their way to the client as SQ_TUPLE messages, or from it as SQ_PUT rows."""

from __future__ import annotations

import codecs
import itertools
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

from .._encode import Encoder
from ..wire.describe import Column
from ..wire.errors import DataError, NotSupportedError, ProtocolError
from ..wire.types import TypeOptions, plan_op
from ..wire.values import decode_tuple
from .engine import Prepared, QueryResult
from .errors import SqlError
from .sql.result_types import RESULT_OPTIONS

MAX_FETCH = 16 << 20
"""Most bytes of tuples in one reply, whatever the client allows: the reply is built in memory."""

TUPLE_HEADER = 8
"""SQ_TUPLE's tag, warnings and size, before its payload."""

DECODE_OPTIONS = TypeOptions(floating_decimals="string")


@lru_cache(maxsize=32)
def codepage(encoding: str) -> bytes | None:
    """The encoder's table for a Python codec: None for UTF-8, else one byte per code point of the basic
    plane."""
    if codecs.lookup(encoding).name == "utf-8":
        return None
    table = bytearray(65536)
    for byte in range(1, 256):
        try:
            character = bytes([byte]).decode(encoding)
        except UnicodeDecodeError:
            continue
        table[ord(character)] = byte
    return bytes(table)


def tuple_encoder(columns: Sequence[Column], encoding: str, binary_booleans: frozenset[int]) -> Encoder:
    """The C encoder of these columns; `binary_booleans` holds the positions asked for as type 45 (JDBC
    section 5)."""
    ops = [
        plan_op(column.type, RESULT_OPTIONS, bool_binary=position in binary_booleans)
        for position, column in enumerate(columns)
    ]
    return Encoder(
        [op.as_tuple() for op in ops], [column.name for column in columns], codepage=codepage(encoding)
    )


def check_columns(columns: Sequence[Column]) -> None:
    """-9628 with the type's name for the first column that cannot be sent (yet)."""
    for column in columns:
        try:
            plan_op(column.type, RESULT_OPTIONS, column=column.name)
        except NotSupportedError as problem:
            raise SqlError(_NO_SUCH_TYPE, near=column.type.sql, detail=str(problem)) from problem


# What the encoder's complaints begin with -> SQLCODE (SERVER-BEHAVIOUR section 1).
_COMPLAINTS = (
    ("the database's code set has no character", -23103),
    ("text of", -1279),
    ("the number", -1226),
    ("NaN and infinity", -1226),
    ("the date", -1218),
    ("the time", -1263),
)
_CONVERSION = -415
_NO_SUCH_TYPE = -9628


def refusal(problem: DataError | NotSupportedError) -> SqlError:
    """The SQ_ERR for a value or a type that the wire cannot carry.

    -9628 with the column for a type that is not supported; for a value the code of its kind: -23103 a
    character that the database's code set lacks, -1279 a text that is too long, -1226 a number that is too
    large, -415 the rest. The token is the column.
    """
    text = str(problem)
    if isinstance(problem, NotSupportedError):
        code = _NO_SUCH_TYPE
    elif problem.sqlcode is not None:
        code = problem.sqlcode
    else:
        code = next((code for start, code in _COMPLAINTS if start in text), _CONVERSION)
    return SqlError(code, near=problem.column or "", detail=text)


class SelectCursor:
    """A forward cursor over a query's batches.

    The encoder is made at the first fetch: SQ_RETTYPE, which comes after SQ_OPEN, has a say in it.

    Attributes
    ----------
    rows
        Rows handed out so far.
    exhausted
        Every row has been handed out.
    failure
        What stopped the query after the rows handed out; the cursor gives nothing more.
    """

    def __init__(self, result: QueryResult) -> None:
        self.rows = 0
        self.exhausted = False
        self.failure: SqlError | None = None
        self._columns = result.columns
        self._batches = iter(result.batches())
        self._encoder: Encoder | None = None
        self._widest = TUPLE_HEADER + 1 + sum(column.type.max_width for column in result.columns)

    def fetch(self, budget: int, encoding: str, binary_booleans: frozenset[int]) -> bytes:
        """SQ_TUPLE messages of at most `budget` bytes, but at least one row while there is one."""
        budget = min(max(budget, 1), MAX_FETCH)
        parts: list[bytes] = []
        size = 0
        try:
            if self._encoder is None:
                self._encoder = tuple_encoder(self._columns, encoding, binary_booleans)
            while not self.exhausted and self.failure is None:
                if not self._encoder.remaining and not self._load(self._encoder):
                    break
                if parts and size + self._widest > budget:
                    break
                data, rows = self._encoder.encode(budget - size)
                parts.append(data)
                size += len(data)
                self.rows += rows
                if self._encoder.remaining:
                    break
        except SqlError as problem:
            self.failure = problem
        except (DataError, NotSupportedError) as problem:
            self.failure = refusal(problem)
        return b"".join(parts)

    def _load(self, encoder: Encoder) -> bool:
        """Hand the next batch that has rows to the encoder; False when there is none."""
        for batch in self._batches:
            if batch.num_rows:
                encoder.load(*batch.__arrow_c_array__())
                return True
        self.exhausted = True
        return False


class ScrollCursor:
    """A cursor that goes anywhere: the whole result is held (SQLI section 13, JDBC section 10)."""

    def __init__(self, result: QueryResult) -> None:
        self._columns = result.columns
        self._batches = [batch for batch in result.batches() if batch.num_rows]
        self._starts: list[int] = list(
            itertools.accumulate((batch.num_rows for batch in self._batches), initial=0)
        )
        self._encoder: Encoder | None = None
        self.position = 0

    @property
    def rows(self) -> int:
        """Rows of the result."""
        return self._starts[-1]

    def target(self, how: int, row: int) -> int:
        """The 1-based position that an SQ_SFETCH means. -285 for an unknown way of moving.

        1 next carries the absolute number wanted, and 0 there was read as "to the last" by a real server; 4
        is last, 6 absolute (JDBC section 10, SQLI section 13). 2, 3, 5 and 7 go by the numbering of ESQL/C.
        """
        ways = {1: row or self.rows, 2: self.position - 1, 3: 1, 4: self.rows, 5: self.position + row, 6: row}
        ways[7] = self.position
        if how not in ways:
            raise SqlError(-285)
        return ways[how]

    def fetch(self, position: int, encoding: str, binary_booleans: frozenset[int]) -> bytes:
        """One SQ_TUPLE for the row at 1-based `position`, empty when there is no such row. SqlError as
        `refusal`."""
        if not 1 <= position <= self.rows:
            return b""
        index = bisect_right(self._starts, position - 1) - 1
        row = self._batches[index].slice(position - 1 - self._starts[index], 1)
        try:
            if self._encoder is None:
                self._encoder = tuple_encoder(self._columns, encoding, binary_booleans)
            self._encoder.load(*row.__arrow_c_array__())
            data, _ = self._encoder.encode(MAX_FETCH)
        except (DataError, NotSupportedError) as problem:
            raise refusal(problem) from problem
        self.position = position
        return data


class InsertCursor:
    """Rows put by the client that have not reached the engine yet (JDBC section 8)."""

    def __init__(self, prepared: Prepared) -> None:
        self.rows: list[Sequence[object]] = []
        self._columns: Sequence[Column] = prepared.columns
        if len(prepared.columns) != len(
            prepared.parameters
        ):  # VALUES (?, 0, ?): the row holds what the marks stand for
            self._columns = [Column(f"parameter {n}", ct) for n, ct in enumerate(prepared.parameters, 1)]

    def put(self, payload: bytes, encoding: str) -> None:
        """Decode one row; SqlError when a value is none of its type."""
        try:
            self.rows.append(decode_tuple(payload, self._columns, encoding, DECODE_OPTIONS))
        except (DataError, NotSupportedError) as problem:
            raise refusal(problem) from problem
        except ProtocolError as problem:  # the message's own length was right, so the conversation can go on
            raise SqlError(_CONVERSION, near=problem.column or "", detail=str(problem)) from problem

    def take(self) -> list[Sequence[object]]:
        """The waiting rows, which are then no longer waiting."""
        rows, self.rows = self.rows, []
        return rows
