"""Rows bound as columns have the values of bind_value, one by one. What cannot be bound so is left to it."""

from __future__ import annotations

import contextlib
import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import numpy as np
import pytest

from informix_arrow.operations.column_binding import ColumnBinder, ParameterBinding
from informix_arrow.operations.placeholder_targets import Check
from informix_arrow.wire import messages as m
from informix_arrow.wire.bind_values import bind_value, bound_to_python
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.errors import DataError, Error
from informix_arrow.wire.primitives import Reader
from informix_arrow.wire.types import FLAG_DISTINCT_BOOLEAN, ColumnType, TypeCode

FRAMING = Framing(encoding="latin-1")
HEAD, TAIL = m.Id(3).encode(FRAMING), m.Execute().encode(FRAMING) + m.EndOfTurn().encode(FRAMING)


def by_columns(
    rows: Sequence[Sequence[object]], encoding: str = "latin-1"
) -> list[tuple[object, ...]] | None:
    """Return the rows that a server reads when they are bound as columns; None if they cannot be bound so."""
    binder = ColumnBinder(ParameterBinding(encoding), len(rows[0]), HEAD, TAIL)
    if not binder.load(rows):
        return None
    data, count = b"", 0
    while (piece := binder.encode(100))[1]:
        data += piece[0]
        count += piece[1]
    assert count == len(rows)
    reader = Reader(data)
    seen = []
    while reader.remaining:
        messages = [m.parse_client_message(reader, FRAMING) for _ in range(4)]
        assert [type(message) for message in messages] == [m.Id, m.Bind, m.Execute, m.EndOfTurn]
        bind = messages[1]
        assert isinstance(bind, m.Bind)
        seen.append(tuple(bound_to_python(value, encoding) for value in bind.values))
    return seen


def by_values(rows: Sequence[Sequence[object]], encoding: str = "latin-1") -> list[tuple[object, ...]]:
    return [tuple(bound_to_python(bind_value(value, encoding), encoding) for value in row) for row in rows]


COLUMNS: dict[str, list[object]] = {
    "small integers": [0, 1, -1, None, 2**31 - 1, -(2**31) + 1],
    "integers beyond 32 bits": [0, 2**31, -(2**31), None, 2**63 - 1, -(2**63) + 1],
    "floats": [0.1, -0.0, None, 1e300, float("inf"), 5e-324],
    "text": ["", "a", None, "é" * 300, "'", "b"],
    "long text": ["x" * 32767, "x" * 32768, None, "x" * 70_001, "a", "b"],
    "booleans": [True, False, None, True, True, False],
    "decimals": [Decimal("1.50"), Decimal("-0.001"), None, Decimal("1234567890123456.5"), Decimal(0), Decimal("1E-5")],
    "dates": [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(1899, 12, 31), dt.date(2026, 1, 2), None],
    "moments": [dt.datetime(2026, 1, 2, 3, 4, 5), None, dt.datetime(1, 1, 1), None, dt.datetime(9999, 12, 31), None],
    "times": [dt.time(1, 2, 3), None, dt.time(0), dt.time(23, 59, 59), None, None],
    "spans": [dt.timedelta(days=5, microseconds=10), None, dt.timedelta(0), -dt.timedelta(days=999), None, None],
    "nothing but NULL": [None] * 6,
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_of_one_type_is_bound_as_its_values_would_be(name: str) -> None:
    rows = [(value, 12345) for value in COLUMNS[name]]
    assert by_columns(rows) == by_values(rows)


@pytest.mark.parametrize(
    "values",
    [[dt.datetime(2026, 1, 2, 3, 4, 5, 123450), dt.datetime(2026, 1, 2)], [dt.time(1, 2, 3, 10), dt.time(4)]],
    ids=["moments", "times"],
)
def test_fractions_of_one_value_give_all_of_a_chunk_the_finer_form(values: list[object]) -> None:
    """The server converts, and a fraction of zero equals none."""
    rows = [(value, 12345) for value in values]
    seen = by_columns(rows)
    assert seen is not None
    assert [plain(row[0]) for row in seen] == [plain(row[0]) for row in by_values(rows)]


def plain(moment: object) -> str:
    """Return the text of a moment without trailing zeros in the fraction."""
    whole, _, fraction = str(moment).partition(".")
    return f"{whole}.{fraction.rstrip('0')}"


@pytest.mark.parametrize(
    "values",
    [
        [1, 1.5], [1, "1"], [True, 1], [2**63, 1], [-(2**63), 1], [np.int64(5), np.int64(6)], [b"x", b"y"],
        [Decimal("NaN"), Decimal(1)], [Decimal("Infinity"), Decimal(1)], [Decimal(10) ** 33, Decimal(1)],
        [dt.datetime(2026, 1, 1, tzinfo=dt.timezone.utc), None],
        [dt.date(2026, 1, 1), dt.datetime(2026, 1, 1)], ["\ud800", "a"], [[1], [2]],
    ],
    ids=repr,
)  # fmt: skip
def test_columns_that_are_not_of_one_plain_type_are_left_to_bind_value(values: list[object]) -> None:
    assert by_columns([(value, 12345) for value in values]) is None


@pytest.mark.parametrize(
    ("bad", "text"),
    [("\u20ac", "20AC"), (dt.datetime(2026, 1, 1, 0, 0, 0, 1), "more precision")],
    ids=["code set", "sixth digit"],
)
def test_a_value_that_cannot_be_sent_ends_the_rows_before_it(bad: object, text: str) -> None:
    good = "a" if isinstance(bad, str) else dt.datetime(2026, 1, 1)
    binder = ColumnBinder(ParameterBinding("latin-1"), 2, HEAD, TAIL)
    assert binder.load([(good, 1), (good, 2), (bad, 3), (good, 4)])
    assert binder.encode(1 << 16)[1] == 2
    with pytest.raises(DataError, match=text) as caught:
        binder.encode(1 << 16)
    assert caught.value.row == 2


def test_statements_without_parameters_and_multi_byte_code_sets_do_not_go_as_columns() -> None:
    assert not ColumnBinder(ParameterBinding("latin-1"), 0, HEAD, TAIL).load([(), ()])
    assert not ColumnBinder(ParameterBinding("gbk"), 1, HEAD, TAIL).load([("a",)])


@pytest.mark.parametrize("code", [TypeCode.CHAR, TypeCode.VARCHAR, TypeCode.LVARCHAR])
def test_text_for_what_a_damaged_description_calls_text_and_boolean_goes_as_text(code: TypeCode) -> None:
    both = ColumnType(code, 40, FLAG_DISTINCT_BOOLEAN)
    binder = ColumnBinder(
        ParameterBinding("latin-1", check=Check((both, None), (), ("b", "after"))), 2, HEAD, TAIL
    )
    assert binder.load([("t", 77), ("no", 78)])
    data, count = binder.encode(1 << 20)
    assert count == 2
    reader = Reader(bytes(data))
    binds = [
        message
        for message in [m.parse_client_message(reader, FRAMING) for _ in range(8)]
        if isinstance(message, m.Bind)
    ]
    seen = [tuple(bound_to_python(value, "latin-1") for value in bind.values) for bind in binds]
    assert seen == [("t", 77), ("no", 78)]


@pytest.mark.parametrize("value", ["1.5", 7, 1.5, Decimal("1.5"), True, dt.date(2026, 1, 1)], ids=repr)
def test_values_for_a_decimal_that_no_server_has_go_one_by_one_or_are_refused(value: object) -> None:
    """Precision 0, a scale above the precision, more than 32 digits."""
    for length in (20, 0, 0x0510, 0x2100, 0xFFFF, 0x00FF):
        damaged = ColumnType(TypeCode.DECIMAL, length)
        binding = ParameterBinding("latin-1", check=Check((damaged, None), (), ("d", "after")))
        binder = ColumnBinder(binding, 2, HEAD, TAIL)
        with contextlib.suppress(Error):
            if binder.load([(value, 77)]):
                with contextlib.suppress(DataError):
                    assert binder.encode(1 << 20)[1] == 1
            else:
                assert len(binding.values((value, 77))) == 2
