"""The check of single values compared with the encoder of whole columns: for random values and types, both refuse or
both accept, with the same bytes."""

from __future__ import annotations

import datetime as dt
import os
import random
import time
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

import pyarrow as pa
import pytest

from informix_arrow._encode import Encoder
from informix_arrow.ingest.convert import converter
from informix_arrow.wire.assignment import INEXACT, Inexact, assigner
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, ProgrammingError
from informix_arrow.wire.types import ColumnType
from informix_arrow.wire.values import encode_tuple

SECONDS = float(os.environ.get("INFORMIX_ARROW_SOAK_SECONDS", "1"))

EPOCH = dt.datetime(1, 1, 1)


def a_type(rng: random.Random) -> ColumnType:
    precision = rng.randint(1, 32)
    fraction = rng.choice(
        ["SECOND", "MINUTE", "HOUR", "DAY", *(f"FRACTION({digits})" for digits in range(1, 6))]
    )
    return rng.choice(
        [
            ColumnType.smallint(),
            ColumnType.integer(),
            ColumnType.bigint(),
            ColumnType.int8(),
            ColumnType.decimal(precision, rng.randint(0, precision)),
            ColumnType.decimal(precision),
            ColumnType.varchar(rng.randint(1, 12)),
            ColumnType.char(rng.randint(1, 12)),
            ColumnType.datetime(f"YEAR TO {fraction}"),
            ColumnType.interval(f"DAY({rng.randint(1, 9)}) TO {fraction}"),
        ]
    )


def a_value(rng: random.Random, ct: ColumnType) -> Any:
    if ct.sql.startswith("DATETIME"):
        ticks = rng.randrange(3_155_378_975_999) * 100_000
        moment = EPOCH + dt.timedelta(microseconds=ticks + rng.choice([0, 0, rng.randrange(10**6)]))
        return rng.choice(
            [moment, moment.replace(second=0, microsecond=0), moment.replace(microsecond=999_999)]
        )
    if ct.sql.startswith("INTERVAL"):
        return dt.timedelta(
            days=rng.randint(-9, 9) * 10 ** rng.randint(0, 5),
            minutes=rng.choice([0, rng.randrange(1440)]),
            microseconds=rng.choice([0, rng.randrange(10**6), 10 * rng.randrange(10**5)]),
        )
    if ct.content_width:
        return "".join(rng.choice("aé€\0 x") for _ in range(rng.randint(0, 14)))
    number = Decimal(rng.randrange(10 ** rng.randint(1, 24)) * rng.choice((-1, 1))).scaleb(
        rng.randint(-12, 4)
    )
    return rng.choice([number, float(number), int(number) % 2**63, str(number), f"+{abs(number)}"])


def by_column(ct: ColumnType, value: Any, inexact: Inexact) -> bytes | None:
    """Return the bytes that write_arrow would send; None if it refuses the value."""
    try:
        array = pa.array([value])
    except (pa.ArrowException, OverflowError):
        return b""  # outside the range of Arrow's types
    way = converter(Column("c", ct), "c", array.type, "utf-8", inexact=inexact)
    try:
        batch = pa.RecordBatch.from_arrays([way.convert(array)], ["c"])
    except DataError:
        return None
    encoder = Encoder([way.op.as_tuple()], ["c"])
    encoder.load(*batch.__arrow_c_array__())
    try:
        return encoder.encode(1 << 16)[0]
    except DataError:
        return None


def by_value(ct: ColumnType, value: Any, inexact: Inexact) -> bytes | None:
    assign = assigner(ct, inexact, "utf-8")
    assert assign is not None
    try:
        made = assign(value)
    except DataError:
        return None
    if isinstance(made, str | float | Decimal) and not ct.content_width and ct.precision is None:
        made = int(Decimal(made))
    elif isinstance(made, str) and not ct.content_width:
        made = Decimal(made)
    payload = encode_tuple((made,), (Column("c", ct),), "utf-8")
    return b"\0\x0e\0\0" + len(payload).to_bytes(4, "big") + payload + bytes(len(payload) & 1)


def test_values_are_taken_as_columns_are() -> None:
    rng = random.Random(20)
    until = time.monotonic() + SECONDS
    taken = refused = 0
    while time.monotonic() < until:
        ct, inexact = a_type(rng), rng.choice(INEXACT)
        value = a_value(rng, ct)
        try:
            column = by_column(ct, value, inexact)
        except ProgrammingError:
            continue
        if column == b"":
            continue
        assert by_value(ct, value, inexact) == column, (ct.sql, value, inexact)
        taken += column is not None
        refused += column is None
    assert min(taken, refused) > 100


@pytest.mark.parametrize("inexact", INEXACT)
def test_halves_go_away_from_zero(inexact: Inexact) -> None:
    assign = assigner(ColumnType.decimal(8, 2), inexact, "utf-8")
    assert assign is not None
    if inexact == "error":
        with pytest.raises(DataError, match="inexact='round'"):
            assign(Decimal("-0.005"))
    else:
        assert assign(Decimal("-0.005")) == (Decimal("-0.01") if inexact == "round" else 0)


def test_a_text_for_an_interval_is_read_or_refused_as_its_value_is() -> None:
    """Texts with one digit too many, compared with a Decimal's own rounding. write_arrow does the same."""
    rng = random.Random(21)
    seen = dict.fromkeys(("kept", "changed", "refused"), 0)
    for _ in range(1500):
        digits = rng.randrange(6)
        ct = ColumnType.interval(
            f"DAY({rng.randint(1, 9)}) TO " + (f"FRACTION({digits})" if digits else "SECOND")
        )
        inexact, sign = rng.choice(INEXACT), rng.choice(["", "-"])
        days, second = rng.choice([0, 3, 9]), rng.choice([0, 4, 59])
        fraction = "".join(rng.choice("059") for _ in range(rng.randint(1, 7)))
        text = f"{sign}{days} 23:59:{second:02}.{fraction}"
        exact = Decimal(days * 86400 + 86340 + second) + Decimal(f"0.{fraction}")
        rounding = ROUND_HALF_UP if inexact == "round" else ROUND_DOWN
        wanted = exact.quantize(Decimal(1).scaleb(-digits), rounding)
        limit = 10 ** (ct.qualifier.leading if ct.qualifier else 0) * 86400
        assign = assigner(ct, inexact, "utf-8")
        assert assign is not None
        column = by_column(ct, text, inexact)
        if wanted >= limit or (wanted != exact and inexact == "error"):
            with pytest.raises(DataError):
                assign(text)
            assert column is None
            seen["refused"] += 1
            continue
        micros = int(wanted * 10**6) * (-1 if sign else 1)
        assert column == by_column(ct, dt.timedelta(microseconds=micros), "error")
        made = assign(text)
        if wanted == exact:
            assert made is text
            seen["kept"] += 1
        else:
            assert made.microseconds == micros
            seen["changed"] += 1
    assert min(seen.values()) > 100
