"""What it costs to be looked at: SELECT 1 of a recorded session, played back, while nobody looks, with an observer, and
with OpenTelemetry.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from informix_arrow import observing

from .conftest import Address
from .dialogue import Replay, record
from .measuring import measure
from .test_latency import one, opener

COUNT = 200


@contextmanager
def looking(how: str) -> Iterator[None]:
    if how == "an observer":
        observing.add_observer(len_of_nothing)
        yield
        observing.remove_observer(len_of_nothing)
    elif how == "OpenTelemetry":
        pytest.importorskip("opentelemetry.sdk")
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import SimpleSpanProcessor
        from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

        from informix_arrow import otel

        tracers = TracerProvider()
        tracers.add_span_processor(SimpleSpanProcessor(InMemorySpanExporter()))
        otel.instrument(tracer_provider=tracers)
        yield
        otel.uninstrument()
    else:
        yield


def len_of_nothing(operation: observing.Operation) -> None:
    """An observer that does nothing."""


@pytest.mark.parametrize("how", ["nobody", "an observer", "OpenTelemetry"])
def test_select_1_observed(benchmark: BenchmarkFixture, address: Address, how: str) -> None:
    def session(host: str, port: int) -> None:
        connection = opener(Address(host, port), "informix-arrow")(autocommit=True)
        for _ in range(COUNT):
            one(connection)
        connection.close()

    dialogue = record((address.host, address.port), session)
    with Replay(dialogue) as replay, looking(how):
        measure(
            benchmark,
            "SELECT 1, the client alone, seen by",
            how,
            lambda: session(*replay.address),
            rows=COUNT,
            rounds=15,
        )
