"""OpenTelemetry (extra ``[otel]``): spans and metrics of every call that talks to a server.

``informix_arrow.otel.instrument()`` once, when the program starts. Spans are of kind CLIENT, with the attributes of the
semantic conventions for databases (stable since 1.33): ``db.system.name``, ``db.namespace``, ``db.operation.name``,
``db.query.text`` (without literals, see :mod:`.observing`), ``db.response.returned_rows``, ``db.response.status_code``,
``error.type``, ``server.address``, ``server.port``. Each is a child of the span that is current where the call was
made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import observing
from .observing import Operation
from .wire.errors import Error

try:
    from opentelemetry import metrics, trace
except ImportError as missing:  # the extra
    raise ImportError(
        "informix_arrow.otel needs OpenTelemetry: pip install 'informix-arrow[otel]'"
    ) from missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
    from opentelemetry.trace import TracerProvider

    from .front.pool_core import PoolStatistics

    class AnyPool:
        """A pool of threads or of tasks."""

        statistics: PoolStatistics


__all__ = ["instrument", "instrument_pool", "uninstrument"]

SYSTEM = "ibm.informix"
_WORD = re.compile(r"\w+")
_installed: list[_Instrumentation] = []


class _Instrumentation:
    """Makes a span and measurements of each operation."""

    def __init__(self, tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None) -> None:
        self._tracer = trace.get_tracer("informix_arrow", tracer_provider=tracer_provider)
        meter = metrics.get_meter("informix_arrow", meter_provider=meter_provider)
        self._duration = meter.create_histogram(
            "db.client.operation.duration", "s", "Duration of calls that talk to the server"
        )
        self._rows = meter.create_histogram(
            "db.client.response.returned_rows", "{row}", "Rows received by a call"
        )
        self._sent = meter.create_counter("informix_arrow.bytes.sent", "By", "Bytes sent, before TLS")
        self._received = meter.create_counter(
            "informix_arrow.bytes.received", "By", "Bytes received, after TLS"
        )

    def __call__(self, operation: Operation) -> None:
        name = _name(operation)
        common: dict[str, str | int] = {"db.system.name": SYSTEM, "db.operation.name": name}
        if operation.database:
            common["db.namespace"] = operation.database
        if operation.target is not None:
            common["server.address"] = operation.target.host
            common["server.port"] = operation.target.port
        error = operation.error
        if error is not None:
            common["error.type"] = type(error).__name__
            if isinstance(error, Error) and error.sqlcode is not None:
                common["db.response.status_code"] = str(error.sqlcode)
        returned = operation.rows if operation.kind == "fetch" or name == "SELECT" else None
        began = int(operation.began * 1e9)
        told = dict(common)  # all at once, and for samplers to see: set_attribute takes a lock each time
        if operation.statement is not None:
            told["db.collection.name" if operation.kind == "load" else "db.query.text"] = operation.statement
        if returned is not None:
            told["db.response.returned_rows"] = returned
        span = self._tracer.start_span(
            f"{name} {operation.database}".strip(),
            kind=trace.SpanKind.CLIENT,
            attributes=told,
            start_time=began,
        )
        if error is not None and span.is_recording():
            span.set_status(trace.Status(trace.StatusCode.ERROR, observing.failure(error)))
        span.end(began + int(operation.seconds * 1e9))
        self._duration.record(operation.seconds, common)
        if returned is not None:
            self._rows.record(returned, common)
        self._sent.add(operation.bytes_sent, common)
        self._received.add(operation.bytes_received, common)


def instrument(
    *, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """Make spans and metrics of every operation from now on, of all connections of this process.

    The providers are the global ones by default. Called again, it replaces what was there.
    """
    uninstrument()
    made = _Instrumentation(tracer_provider, meter_provider)
    observing.add_observer(made)
    _installed.append(made)


def uninstrument() -> None:
    """The opposite; nothing where nothing was instrumented."""
    while _installed:
        observing.remove_observer(_installed.pop())


def instrument_pool(pool: AnyPool, name: str, *, meter_provider: MeterProvider | None = None) -> None:
    """Metrics of a :class:`Pool` or an :class:`AsyncPool` under ``name``: ``db.client.connection.count`` by state
    (idle, used), ``.pending_requests``, ``.timeouts``. They are asked for when metrics are collected.
    """
    meter = metrics.get_meter("informix_arrow", meter_provider=meter_provider)
    labels = {"db.client.connection.pool.name": name}

    def count(_: CallbackOptions) -> Iterable[Observation]:
        now = pool.statistics
        for state, number in (("idle", now.idle), ("used", now.in_use)):
            yield metrics.Observation(number, {**labels, "db.client.connection.state": state})

    def waiting(_: CallbackOptions) -> Iterable[Observation]:
        yield metrics.Observation(pool.statistics.waiting, labels)

    def timeouts(_: CallbackOptions) -> Iterable[Observation]:
        yield metrics.Observation(pool.statistics.timeouts, labels)

    meter.create_observable_up_down_counter("db.client.connection.count", [count], "{connection}")
    meter.create_observable_up_down_counter("db.client.connection.pending_requests", [waiting], "{request}")
    meter.create_observable_counter("db.client.connection.timeouts", [timeouts], "{timeout}")


def _name(operation: Operation) -> str:
    """SELECT, INSERT .. for a statement, else FETCH, COMMIT, CONNECT .."""
    if operation.kind in ("execute", "executemany") and operation.statement:
        word = _WORD.search(operation.statement)
        if word is not None:
            return word[0].upper()
    return operation.kind.upper()
