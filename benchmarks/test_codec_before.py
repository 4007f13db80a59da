"""Today's codecs beside those of another commit: both modules in one process, in turns, and a memcpy of the same bytes.

Every plan that test_codec.py and test_encode.py measure, decoded and encoded, and the rows of the yardstick, of 100
columns and of 20 INTEGERs. Each round runs one module and then the other, so both find the machine in the same state;
both have to give the same values. The least of many rounds says most on a machine that others use, too. The other
commit needs a checkout with a venv:

    git worktree add ../before fdc02b2 && make -C ../before venv
    INFORMIX_ARROW_BENCH_BEFORE=../before python -m pytest benchmarks/test_codec_before.py -s --benchmark-only
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from informix_arrow import _decode, _encode
from informix_arrow.wire.describe import Column, compile_plan
from informix_arrow.wire.plan_ops import DEFAULT_OPTIONS, Kind, TypeOptions, plan_op
from informix_arrow.wire.types import ColumnType

from . import test_codec, test_encode

BEFORE = os.environ.get("INFORMIX_ARROW_BENCH_BEFORE", "")
ROUNDS = int(os.environ.get("INFORMIX_ARROW_BENCH_ROUNDS", "60"))
WARM_UP = 4
INTEGERS = 20


@cache
def other(name: str) -> ModuleType:
    """The other commit's module, under a name of its own."""
    if not BEFORE:
        pytest.skip("INFORMIX_ARROW_BENCH_BEFORE names no checkout of another commit")
    folder = Path(BEFORE).resolve() / ".venv" / "lib"
    tag = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    found = sorted((folder / tag / "site-packages" / "informix_arrow").glob(f"{name}.*.so"))
    assert found, f"no {name} for Python {tag} in {folder}"
    spec = spec_from_file_location(
        f"before.{name}", found[0], loader=ExtensionFileLoader(name, str(found[0]))
    )
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@cache
def commits() -> list[str]:
    """The other one's, and today's."""
    return [
        subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=root, capture_output=True, text=True, check=True
        ).stdout.strip()
        for root in (BEFORE, Path(__file__).parents[1])
    ]


@dataclass(frozen=True)
class Measured:
    """A plan: values in a round, their bytes, and how a module does the work and says what came of it."""

    values: int
    wire: bytes
    work: Callable[[ModuleType], Callable[[], object]]
    result: Callable[[ModuleType], object]


def decoding(columns: list[Column], wire: bytes, rows: int, per_row: int, options: TypeOptions) -> Measured:
    """As the client decodes: whole receive buffers, each batch dropped before the next."""
    plan = compile_plan(columns, options)

    def new(module: ModuleType) -> Any:
        return module.Decoder(
            [op.as_tuple() for op in plan.ops],
            [column.name for column in columns],
            batch_rows=1 << 30,
            batch_bytes=test_codec.BATCH_BYTES,
            max_tuple=plan.max_tuple,
        )

    def all_of(decoder: Any, take: Callable[[Any], object]) -> None:
        position, end = 0, 0
        while end < len(wire):
            end = min(position + test_codec.RECEIVE_BUFFER, len(wire))
            position = test_codec.feed(decoder, wire, position, end, take)
        take(decoder)

    def work(module: ModuleType) -> Callable[[], object]:
        decoder = new(module)
        return lambda: all_of(decoder, lambda decoder: decoder.take())

    def result(module: ModuleType) -> object:
        batches: list[pa.RecordBatch] = []
        # The decoder gives descriptors; the contents, which the plan's schema has, are read later.
        types = [
            pa.binary(op.width) if op.kind == Kind.LOB else field.type
            for op, field in zip(plan.ops, plan.schema, strict=True)
        ]
        schema = pa.schema(zip(plan.schema.names, types, strict=True))

        def take(decoder: Any) -> None:
            batches.append(pa.RecordBatch._import_from_c_capsule(schema.__arrow_c_schema__(), decoder.take()))

        all_of(new(module), take)
        table = pa.Table.from_batches(batches, schema)
        assert table.num_rows == rows
        return table

    return Measured(rows * per_row, wire, work, result)


def encoding(
    types: list[ColumnType], batch: pa.RecordBatch, per_row: int, framing: int, options: TypeOptions
) -> Measured:
    """As a load encodes: a piece is given away before the next is made."""
    ops = [plan_op(ct, options).as_tuple() for ct in types]

    def new(module: ModuleType) -> Any:
        return module.Encoder(ops, batch.schema.names)

    def work(module: ModuleType) -> Callable[[], object]:
        encoder = new(module)
        return lambda: test_encode.encode_all(encoder, batch, framing)

    def result(module: ModuleType) -> object:
        return b"".join(test_encode.pieces_of(new(module), batch, framing))

    return Measured(
        batch.num_rows * per_row, b"".join(test_encode.pieces_of(new(_encode), batch, framing)), work, result
    )


# ---- the plans ---------------------------------------------------------------------------------------------------

ROW = "rows of INT, VARCHAR(64), INT, FLOAT, DATE"
HUNDRED, TWENTY = "rows of 100 mixed columns", f"rows of {INTEGERS} INTEGER columns"
DECODED = [ROW, HUNDRED, TWENTY, *test_codec.TYPE_CASES]
ENCODED = [ROW, HUNDRED, TWENTY, *test_encode.KINDS]


def decoded(name: str) -> Measured:
    """The plan of this name; a figure is one of a row for the rows, else of a value."""
    if name == ROW:
        rows = 100_000
        return decoding(test_codec.COLUMNS, test_codec.tuples(rows), rows, 1, DEFAULT_OPTIONS)
    if name == HUNDRED:
        columns = [Column(f"c{number}", test_codec.COLUMNS[number % 5].type) for number in range(100)]
        payload = b"".join(test_codec.payloads_of(test_codec.tuples(20)))
        return decoding(columns, test_codec.wire_of([payload]) * 5000, 5000, 1, DEFAULT_OPTIONS)
    if name == TWENTY:
        columns = [Column(f"c{number}", ColumnType.integer()) for number in range(INTEGERS)]
        wire = test_codec.wire_of([bytes(range(4 * INTEGERS))]) * 20_000
        return decoding(columns, wire, 20_000, 1, DEFAULT_OPTIONS)
    case = test_codec.TYPE_CASES[name]
    columns, wire = test_codec.type_columns(name), test_codec.type_wire(name)
    return decoding(columns, wire, test_codec.TYPE_ROWS, test_codec.TYPE_COLUMNS, case.options)


def encoded(name: str, framing: int) -> Measured:
    """The same of the encoder, a column of each type by itself."""
    yardstick = test_encode.yardstick()
    if name == ROW:
        return encoding(test_encode.ROW_TYPES, yardstick, 1, framing, DEFAULT_OPTIONS)
    if name == HUNDRED:
        columns = yardstick.slice(0, 5000).columns * 20
        wide = pa.record_batch(columns, [f"c{number}" for number in range(100)])
        return encoding(test_encode.ROW_TYPES * 20, wide, 1, framing, DEFAULT_OPTIONS)
    if name == TWENTY:
        wide = pa.record_batch(
            [yardstick.column("a").slice(0, 20_000)] * INTEGERS, [f"c{number}" for number in range(INTEGERS)]
        )
        return encoding([ColumnType.integer()] * INTEGERS, wide, 1, framing, DEFAULT_OPTIONS)
    ct, options = test_encode.KINDS[name]
    return encoding([ct], test_encode.single(ct, options)[1], 1, framing, options)


# ---- in turns ----------------------------------------------------------------------------------------------------


def timed(work: Callable[[], object]) -> float:
    began = time.thread_time()  # no other thread works here
    work()
    return time.thread_time() - began


def pairs(
    benchmark: BenchmarkFixture, subject: str, plan: Measured, then: ModuleType, now: ModuleType
) -> None:
    assert plan.result(then) == plan.result(now)
    works, target = (plan.work(then), plan.work(now)), memoryview(bytearray(len(plan.wire)))
    figures: list[tuple[float, float, float]] = []

    def copy() -> None:
        target[:] = plan.wire

    def one_round() -> None:
        turn = 1 if len(figures) % 2 else -1  # each is the first as often as the other
        before, today = [timed(work) for work in works[::turn]][::turn]
        figures.append((before, today, timed(copy)))

    benchmark.group = "codecs beside another commit's"
    gc.disable()
    try:
        benchmark.pedantic(one_round, rounds=ROUNDS, warmup_rounds=WARM_UP)
    finally:
        gc.enable()
    measured = figures[WARM_UP:] or figures  # with --benchmark-disable there is one round
    nanoseconds = [[value / plan.values * 1e9 for value in side] for side in zip(*measured, strict=True)]
    before, today, copied = (statistics.median(side) for side in nanoseconds)
    least_before, least_today, least_copied = (min(side) for side in nanoseconds)
    benchmark.extra_info.update(
        subject=f"codecs beside another commit's: {subject}",
        who="today",
        rows=plan.values,
        commits=commits(),
        before=before * 1e-9,
        today=today * 1e-9,
        least_before=least_before * 1e-9,
        least_today=least_today * 1e-9,
        least_memcpy=least_copied * 1e-9,
        faster=least_before / least_today,
    )
    print(
        f"\n{subject}: {least_before / least_today:.2f} times as fast by the least of {len(measured)} "
        f"({least_before:.2f} ns then, {least_today:.2f} today, memcpy {least_copied:.2f}), "
        f"{before / today:.2f} by medians ({before:.2f}, {today:.2f}, {copied:.2f})"
    )


@pytest.mark.parametrize("name", DECODED)
def test_decode_beside_another_commit_s(benchmark: BenchmarkFixture, name: str) -> None:
    pairs(benchmark, f"decode {name}", decoded(name), other("_decode"), _decode)


@pytest.mark.parametrize("name", ENCODED)
def test_encode_beside_another_commit_s(benchmark: BenchmarkFixture, name: str) -> None:
    pairs(benchmark, f"encode {name}", encoded(name, test_encode.TUPLE), other("_encode"), _encode)


@pytest.mark.parametrize("name", [name for name in ENCODED if not name.startswith(("BLOB", "BYTE"))])
def test_bind_beside_another_commit_s(benchmark: BenchmarkFixture, name: str) -> None:
    pairs(benchmark, f"bind {name}", encoded(name, test_encode.BIND), other("_encode"), _encode)
