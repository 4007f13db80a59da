"""Parameters compared with loads: ``execute`` and ``executemany`` insert random values into one table and
``write_arrow`` inserts them into another of the same type. Both refuse the same rows, and store the others alike."""

from __future__ import annotations

import datetime as dt
import random
import struct
import time
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.stress import any_seed, seconds

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.wire.assignment import INEXACT, Inexact

ROWS = 300

Maker = Callable[[random.Random], Any]


def a_qualifier(rng: random.Random) -> str:
    return rng.choice(["HOUR", "MINUTE", "SECOND", *(f"FRACTION({digits})" for digits in range(1, 6))])


def a_type(rng: random.Random) -> str:
    precision = rng.randint(1, 32)
    return rng.choice(
        [
            "SMALLINT",
            "INT",
            "BIGINT",
            "INT8",
            "FLOAT",
            "SMALLFLOAT",
            f"DECIMAL({precision},{rng.randint(0, precision)})",
            f"MONEY({precision},{rng.randint(0, precision)})",
            f"DECIMAL({precision})",
            f"VARCHAR({rng.randint(1, 12)})",
            f"CHAR({rng.randint(1, 12)})",
            f"LVARCHAR({rng.randint(1, 12)})",
            "DATE",
            "DATETIME YEAR TO DAY",
            f"DATETIME YEAR TO {a_qualifier(rng)}",
            f"DATETIME HOUR TO {a_qualifier(rng)}",
            f"INTERVAL DAY({rng.randint(1, 9)}) TO {a_qualifier(rng)}",
            f"INTERVAL HOUR({rng.randint(2, 9)}) TO {a_qualifier(rng)}",
            f"INTERVAL YEAR({rng.randint(1, 9)}) TO MONTH",
            "BOOLEAN",
        ]
    )


def a_number(rng: random.Random) -> Decimal:
    digits = rng.randint(1, 18)
    number = Decimal(rng.randrange(10**digits) * rng.choice((-1, 1)))
    return number.scaleb(-rng.choice([0, 0, 1, 2, 3, rng.randint(0, 20)]))


def an_integer(rng: random.Random) -> int:
    edge = rng.choice([0, 2**15, 2**24, 2**31, 2**53, 2**63 - 3])
    near = edge + rng.randint(-3, 2)
    return rng.choice([near, -near, rng.randrange(10 ** rng.randint(1, 18)), rng.randint(-99, 99)])


def a_float(rng: random.Random) -> float:
    if rng.random() < 0.1:
        return rng.choice([0.5, -0.5, 1e300, -1e300, 3.5e38, 1e-300, float("inf"), float("nan"), -0.0])
    if rng.random() < 0.1:
        made: float = struct.unpack("d", rng.randbytes(8))[0]
        return made
    return float(a_number(rng))


def a_moment(rng: random.Random) -> dt.datetime:
    moment = dt.datetime(1, 1, 1) + dt.timedelta(microseconds=rng.randrange(315_537_897_600_000_000))
    return rng.choice(
        [
            moment,
            moment.replace(microsecond=0),
            moment.replace(second=0, microsecond=0),
            moment.replace(minute=0, second=0, microsecond=0),
            moment.replace(hour=0, minute=0, second=0, microsecond=0),
            moment.replace(microsecond=rng.randrange(100) * 10_000),
            moment.replace(second=59, microsecond=999_999 - rng.randrange(2) * 4),
            dt.datetime(9999, 12, 31, 23, 59, 59, 999_999),
        ]
    )


def a_span(rng: random.Random) -> dt.timedelta:
    return dt.timedelta(
        days=rng.randint(-9, 9) * 10 ** rng.randint(0, 6),
        hours=rng.randint(0, 23),
        minutes=rng.choice([0, rng.randrange(60)]),
        seconds=rng.choice([0, rng.randrange(60)]),
        microseconds=rng.choice([0, rng.randrange(10**6), 10_000 * rng.randrange(100), 999_999]),
    )


def a_text(rng: random.Random) -> str:
    return "".join(rng.choice("aé€z\0 x") for _ in range(rng.randint(0, 14)))


def a_number_text(rng: random.Random) -> str:
    number = a_number(rng)
    return rng.choice([str(number), f"{number:f}", f"+{abs(number)}"])


def a_moment_text(rng: random.Random) -> str:
    """Return a text without zeros in the fields that the column lacks. With zeros no digits are lost, which only the
    server notices."""
    return a_moment(rng).replace(second=rng.randint(1, 59), microsecond=rng.randrange(10**6)).isoformat(" ")


NUMBERS: list[Maker] = [a_number, an_integer, a_float, a_number_text, lambda rng: rng.random() < 0.5]
TEXTS: list[Maker] = [a_text, a_text, an_integer, lambda rng: a_moment(rng).date()]
MOMENTS: list[Maker] = [a_moment, a_moment, lambda rng: a_moment(rng).date(), a_moment_text]
TIMES: list[Maker] = [lambda rng: a_moment(rng).time(), lambda rng: a_moment_text(rng)[11:]]
#: Within the 32 bits that the embedded server stores.
MONTHS: list[Maker] = [lambda rng: rng.randint(-9, 9) * 10 ** rng.randint(0, 8) + rng.randint(0, 11)]


def makers(declared: str) -> list[Maker]:
    """Return functions that create values for a column of this type."""
    if declared.startswith("DATETIME HOUR"):
        return TIMES
    if declared == "DATE" or declared.startswith("DATETIME"):
        return MOMENTS
    if declared.startswith("INTERVAL"):
        return MONTHS if declared.endswith("MONTH") else [a_span]
    if "CHAR" in declared:
        return TEXTS
    return [lambda rng: rng.random() < 0.5] if declared == "BOOLEAN" else NUMBERS


def stored(conn: ifx.Connection, table: str) -> list[str]:
    found = conn.read_arrow(f"SELECT k, v, tail FROM {table} ORDER BY k", floating_decimals="string")
    return [repr(tuple(row.values())) for row in found.to_pylist()]


def loaded(conn: ifx.Connection, values: list[Any], inexact: Inexact) -> set[int] | None:
    """Return the rows that ``write_arrow`` refuses, or None if it cannot convert such values to the column's type."""
    try:
        columns = {"k": pa.array(range(len(values)), pa.int32()), "v": pa.array(values)}
    except (pa.ArrowException, OverflowError):
        return None  # outside the range of Arrow's types
    columns["tail"] = pa.array([7] * len(values), pa.int32())
    try:
        report = conn.write_arrow("loaded", pa.table(columns), on_error="collect", inexact=inexact)
    except ifx.ProgrammingError:
        return None
    return set(report.rejected["k"].to_pylist())


def is_refused(call: Callable[[], object]) -> bool:
    try:
        call()
    except ifx.DatabaseError:
        return True
    return False


def compare(rng: random.Random, conn: ifx.Connection, declared: str, inexact: Inexact) -> tuple[int, int]:
    """Compare some hundred values of one type. Return the numbers of accepted and refused values."""
    make = rng.choice(makers(declared))
    values = [None if rng.random() < 0.05 else make(rng) for _ in range(ROWS)]
    for table in ("loaded", "bound"):
        conn.execute(f"CREATE TEMP TABLE {table} (k INT, v {declared}, tail INT)")
    insert = "INSERT INTO bound VALUES (?, ?, 7)"
    cursor = conn.cursor()
    refused = loaded(conn, values, inexact)
    if refused is not None:
        rows = list(enumerate(values))
        reported = f"{declared}, inexact={inexact!r}"
        good = [row for row in rows if row[0] not in refused]
        try:
            cursor.executemany(insert, good, inexact=inexact)
        except ifx.Error as error:
            at = error.row if error.row is not None else 0
            raise AssertionError(f"{reported}: {good[at]!r} is loaded, but no parameter: {error}") from error
        for row in rng.sample(good, min(3, len(good))):
            cursor.execute("DELETE FROM bound WHERE k = ?", row[:1])
            cursor.execute(insert, row, inexact=inexact)
        for number in rng.sample(sorted(refused), min(12, len(refused))):
            row = rows[number]
            assert is_refused(lambda: cursor.execute(insert, row, inexact=inexact)), f"{reported}: {row!r}"  # noqa: B023
            where = f"{reported}: {row!r}"
            assert is_refused(lambda: cursor.executemany(insert, [row], inexact=inexact)), where  # noqa: B023
        assert stored(conn, "bound") == stored(conn, "loaded"), reported
        if refused and good:  # refused among other rows, too, which are bound as whole columns
            cursor.execute("DELETE FROM bound")
            assert is_refused(lambda: cursor.executemany(insert, rows, inexact=inexact)), reported
    cursor.close()
    for table in ("loaded", "bound"):
        conn.execute(f"DROP TABLE {table}")
    return (0, 0) if refused is None else (ROWS - len(refused), len(refused))


def compare_for(server: Server, seed: int, duration: float) -> None:
    print(f"seed {seed}")
    rng = random.Random(seed)
    until = time.monotonic() + duration
    taken = refused = 0
    with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
        while time.monotonic() < until or min(taken, refused) == 0:
            one = compare(rng, conn, a_type(rng), rng.choice(INEXACT))
            taken, refused = taken + one[0], refused + one[1]
    print(f"{taken:,} parameters taken, {refused:,} refused")


def test_parameters_are_stored_and_refused_as_loads_are(server: Server) -> None:
    compare_for(server, 13, 4)


@pytest.mark.soak
def test_parameters_are_stored_and_refused_as_loads_are_with_any_seed(server: Server) -> None:
    """A million parameters take about seven minutes."""
    compare_for(server, any_seed(), seconds(4))
