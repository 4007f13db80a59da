"""The cost of observers: SELECT 1 without one, with one, and with OpenTelemetry, sampled and not.

It is measured twice: the client's CPU with a recorded session that is played back, and the time that a caller waits for
the embedded server. The variants take turns, so that all meet the same load, and the least time of each is reported.
"a bare span" is the lower bound: an observer that creates a span of the SDK with the same attributes and does nothing
else.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from informix_arrow import observing

from .conftest import Address
from .dialogue import Replay, record
from .measuring import PAIRS
from .test_latency import one, opener

COUNT, ROUNDS = 200, 15
SOME, TURNS = 20, 150

WAYS = (
    "nobody",
    "an observer",
    "a bare span",
    "OpenTelemetry",
    "OpenTelemetry, in batches",
    "OpenTelemetry, sampled out",
    "OpenTelemetry, no SDK",
    "OpenTelemetry, with metrics",
)


class Looking:
    """The ways of looking; the SDK's providers are made once."""

    def __init__(self) -> None:
        pytest.importorskip("opentelemetry.sdk")
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import InMemoryMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import (
            BatchSpanProcessor,
            ConsoleSpanExporter,
            SimpleSpanProcessor,
        )
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased

        self.spans = InMemorySpanExporter()
        self.simple, self.batches = TracerProvider(), TracerProvider()
        self.out = TracerProvider(sampler=ParentBased(TraceIdRatioBased(0)))
        self.simple.add_span_processor(SimpleSpanProcessor(self.spans))
        self._nowhere = open("/dev/null", "w")  # noqa: SIM115 (as long as the benchmark runs)
        exporter = ConsoleSpanExporter(out=self._nowhere, formatter=lambda span: span.name)
        self.batches.add_span_processor(BatchSpanProcessor(exporter))
        self.meters = MeterProvider(metric_readers=[InMemoryMetricReader()])

    @contextmanager
    def __call__(self, how: str) -> Iterator[None]:
        from informix_arrow import otel

        if how in ("an observer", "a bare span"):
            observer = nothing if how == "an observer" else self.bare_span()
            observing.add_observer(observer)
            yield
            observing.remove_observer(observer)
        elif how == "nobody":
            yield
        else:
            tracers = {"batches": self.batches, "out": self.out, "SDK": None}
            tracers.update(OpenTelemetry=self.simple, metrics=self.simple)
            meters = self.meters if how.endswith("metrics") else None
            otel.instrument(tracer_provider=tracers[how.rpartition(" ")[2]], meter_provider=meters)
            yield
            otel.uninstrument()
        self.spans.clear()

    def bare_span(self) -> observing.Observer:
        from opentelemetry.trace import SpanKind

        tracer = self.simple.get_tracer("bare")
        attributes = {
            "db.system.name": "ibm.informix",
            "db.operation.name": "SELECT",
            "db.namespace": "stores_demo",
            "server.address": "127.0.0.1",
            "server.port": 9088,
            "db.query.text": "SELECT ? FROM systables WHERE tabid = ?",
            "db.response.returned_rows": 1,
        }

        def observer(_: observing.Operation) -> None:
            tracer.start_span("SELECT stores_demo", kind=SpanKind.CLIENT, attributes=attributes).end()

        return observer


def nothing(operation: observing.Operation) -> None:
    """An observer that does nothing."""


def report(benchmark: BenchmarkFixture, subject: str, least: dict[str, float]) -> None:
    """Keep microseconds for each SELECT 1, and say them at the end of the run."""
    base = least["nobody"]
    for how, taken in least.items():
        PAIRS.append(f"{subject}: {how} {taken * 1e6:.1f} µs ({(taken / base - 1) * 100:+.0f} %)")
    benchmark.extra_info.update(subject=subject, least_us={how: taken * 1e6 for how, taken in least.items()})


def test_cpu_of_the_client(benchmark: BenchmarkFixture, address: Address) -> None:
    """Of a whole session of ``COUNT`` SELECT 1, the other end being a recording."""
    looking = Looking()

    def session(host: str, port: int) -> None:
        connection = opener(Address(host, port), "informix-arrow")(autocommit=True)
        for _ in range(COUNT):
            one(connection)
        connection.close()

    dialogue = record((address.host, address.port), session)
    least = dict.fromkeys(WAYS, float("inf"))
    with Replay(dialogue, count=True) as replay:

        def turn() -> None:
            for how in WAYS:
                with looking(how):
                    began = time.process_time()
                    session(*replay.address)
                    least[how] = min(least[how], (time.process_time() - began) / COUNT)

        benchmark.pedantic(turn, rounds=ROUNDS, warmup_rounds=1)
    report(benchmark, "SELECT 1, CPU of the client alone, looked at by", least)


def test_wall_of_the_caller(benchmark: BenchmarkFixture, address: Address) -> None:
    """Of one SELECT 1 after the other, ``SOME`` for each way in each turn; the median and the least tenth."""
    looking = Looking()
    connection = opener(address, "informix-arrow")(autocommit=True)
    took: dict[str, list[float]] = {how: [] for how in WAYS}

    def turn() -> None:
        for how in WAYS:
            with looking(how):
                one(connection)
                for _ in range(SOME):
                    began = time.perf_counter()
                    one(connection)
                    took[how].append(time.perf_counter() - began)

    benchmark.pedantic(turn, rounds=TURNS, warmup_rounds=1)
    connection.close()
    tenth = at(took, lambda ordered: ordered[len(ordered) // 10])
    report(benchmark, "SELECT 1, wall, the fastest tenth, looked at by", tenth)
    middle = at(took, lambda ordered: ordered[len(ordered) // 2])
    report(benchmark, "SELECT 1, wall, median, looked at by", middle)


def at(took: dict[str, list[float]], chosen: Callable[[list[float]], float]) -> dict[str, float]:
    return {how: chosen(sorted(times)) for how, times in took.items()}
