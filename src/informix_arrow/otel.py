"""OpenTelemetry (extra ``[otel]``): spans and metrics of every call that sends requests to a server.

Call ``informix_arrow.otel.instrument()`` once, when the program starts. Spans are of kind CLIENT, with the attributes
of the semantic conventions for databases (stable since 1.33): ``db.system.name``, ``db.namespace``,
``db.operation.name``, ``db.query.text`` (without literals, see :mod:`.observing`), ``db.response.returned_rows``,
``db.response.status_code``, ``error.type``, ``server.address``, ``server.port``. Each is a child of the span that is
current where the call is made.
"""

from __future__ import annotations

import os
import re
import threading
import weakref
from typing import TYPE_CHECKING

from . import observing
from .observing import Operation
from .wire.errors import Error

try:
    from opentelemetry import metrics, trace
except ImportError as missing:  # the extra
    raise ImportError(
        "informix_arrow.otel needs OpenTelemetry. Run pip install 'informix-arrow[otel]'"
    ) from missing

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.metrics import CallbackOptions, MeterProvider, Observation
    from opentelemetry.trace import TracerProvider

    from .core.pool_core import PoolStatistics

    class AnyPool:
        """A pool of threads or of tasks."""

        statistics: PoolStatistics


__all__ = ["instrument", "instrument_pool", "uninstrument"]

SYSTEM = "ibm.informix"
_WORD = re.compile(r"\w+")
_SECONDS = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0)  # bucket bounds, as the conventions require
_MAX_CACHED = 512  # kinds of operations whose attributes are cached
_installed: list[_Instrumentation] = []


class _Bytes:
    """The bytes that calls of one name have sent and received."""

    __slots__ = ("labels", "received", "sent")

    def __init__(self, labels: dict[str, str | int]) -> None:
        self.labels = labels
        self.sent = self.received = 0


class _Meter:
    """The instruments of one meter provider, which identifies each by its name and keeps the first one for ever.

    Bytes and pools are counted here and read when metrics are collected, because a measurement costs as much as half a
    span.
    """

    def __init__(self, provider: MeterProvider) -> None:
        self.lock = threading.Lock()
        self._bytes: dict[tuple[str, str, str, int], _Bytes] = {}
        self._pools: list[tuple[weakref.ref[AnyPool], dict[str, str]]] = []
        meter = provider.get_meter("informix_arrow")
        self.duration = meter.create_histogram(
            "db.client.operation.duration",
            "s",
            "Duration of calls that talk to the server",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )
        self.rows = meter.create_histogram(
            "db.client.response.returned_rows", "{row}", "Rows received by a call"
        )
        meter.create_observable_counter(
            "informix_arrow.bytes.sent", [self._sent], "By", "Bytes sent, before TLS"
        )
        meter.create_observable_counter(
            "informix_arrow.bytes.received", [self._received], "By", "Bytes received, after TLS"
        )
        meter.create_observable_up_down_counter(
            "db.client.connection.count", [self._connections], "{connection}"
        )
        meter.create_observable_up_down_counter(
            "db.client.connection.pending_requests", [self._waiting], "{request}"
        )
        meter.create_observable_counter("db.client.connection.timeouts", [self._timeouts], "{timeout}")

    def bytes_of(self, name: str, database: str, host: str, port: int) -> _Bytes:
        """Return the counter for the bytes of such calls. The caller holds ``lock``."""
        key = (name, database, host, port)
        with self.lock:
            if key not in self._bytes:
                self._bytes[key] = _Bytes(_labels(*key))
            return self._bytes[key]

    def add_pool(self, pool: AnyPool, name: str) -> None:
        """Report the numbers of a pool from now on, as long as it exists."""
        with self.lock:
            self._pools.append((weakref.ref(pool), {"db.client.connection.pool.name": name}))

    def _sent(self, _: CallbackOptions) -> Iterable[Observation]:
        return [metrics.Observation(each.sent, each.labels) for each in self._counted()]

    def _received(self, _: CallbackOptions) -> Iterable[Observation]:
        return [metrics.Observation(each.received, each.labels) for each in self._counted()]

    def _counted(self) -> list[_Bytes]:
        with self.lock:
            return list(self._bytes.values())

    def _connections(self, _: CallbackOptions) -> Iterable[Observation]:
        for now, labels in self._pool_statistics():
            for state, number in (("idle", now.idle), ("used", now.in_use)):
                yield metrics.Observation(number, {**labels, "db.client.connection.state": state})

    def _waiting(self, _: CallbackOptions) -> Iterable[Observation]:
        return [metrics.Observation(now.waiting, labels) for now, labels in self._pool_statistics()]

    def _timeouts(self, _: CallbackOptions) -> Iterable[Observation]:
        return [metrics.Observation(now.timeouts, labels) for now, labels in self._pool_statistics()]

    def _pool_statistics(self) -> list[tuple[PoolStatistics, dict[str, str]]]:
        with self.lock:
            self._pools = [each for each in self._pools if each[0]() is not None]
            alive = [(pool(), labels) for pool, labels in self._pools]
        return [(pool.statistics, labels) for pool, labels in alive if pool is not None]


_meters: weakref.WeakKeyDictionary[MeterProvider, _Meter] = weakref.WeakKeyDictionary()
_global_meters: list[_Meter] = []  # the one of the global provider, set or not
_meters_lock = threading.Lock()


def _meter_of(provider: MeterProvider | None) -> _Meter:
    global_provider = metrics.get_meter_provider()
    selected = global_provider if provider is None else provider
    with _meters_lock:
        meter = _meters.get(selected)
        if meter is None and selected is global_provider and _global_meters:
            meter = _global_meters[0]
        if meter is None:
            meter = _meters[selected] = _Meter(selected)
        if selected is global_provider and not _global_meters:
            _global_meters.append(meter)
        return meter


def _after_fork() -> None:
    """Replace locks after a fork: a thread that does not exist in the child may have held them."""
    global _meters_lock
    _meters_lock = threading.Lock()
    for meter in list(_meters.values()):
        meter.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


class _OperationAttributes:
    """The common attributes of all operations of one kind, statement and database."""

    __slots__ = ("bytes", "database", "labels", "name", "returns", "span_attributes", "title")

    def __init__(self, operation: Operation, host: str, port: int, meter: _Meter) -> None:
        self.database = operation.database
        self.name = name = _name(operation)
        self.title = f"{name} {operation.database}".strip()
        self.returns = operation.kind == "fetch" or name == "SELECT"
        self.bytes = meter.bytes_of(name, operation.database, host, port)
        self.labels = self.bytes.labels
        self.span_attributes = dict(self.labels)
        if operation.statement is not None:
            about = "db.collection.name" if operation.kind == "load" else "db.query.text"
            self.span_attributes[about] = operation.statement


class _Instrumentation:
    """An observer that makes a span and measurements of each operation.

    A span is created after the first request was sent, and begins when the operation began. Its creation takes no time
    while the server works. All attributes that are known by then are set at creation, so that samplers see them.
    """

    def __init__(self, tracer_provider: TracerProvider | None, meter_provider: MeterProvider | None) -> None:
        self._tracer = trace.get_tracer("informix_arrow", tracer_provider=tracer_provider)
        self._meter = _meter_of(meter_provider)
        self._attribute_cache: dict[tuple[str, str | None, str, str, int], _OperationAttributes] = {}

    def begin(self, operation: Operation) -> None:
        """Start the span while the operation waits for the server's first reply. The database of a login is not known
        yet.
        """
        if operation.kind != "connect":
            attributes = self._attributes_of(operation)
            operation.span = (attributes, self._start(operation, attributes, attributes.span_attributes))

    def __call__(self, operation: Operation) -> None:
        started: tuple[_OperationAttributes, trace.Span] | None = operation.span  # type: ignore[assignment]
        if started is not None and started[0].database == operation.database:
            attributes = started[0]
        else:
            attributes = self._attributes_of(operation)
        labels, returned = attributes.labels, operation.rows if attributes.returns else None
        if operation.error is not None:
            labels = {**labels, **_failure(operation.error)}
        if started is None:
            span = self._start(operation, attributes, {**attributes.span_attributes, **labels})
        else:
            span = started[1]
            if attributes is not started[0]:  # DATABASE
                span.update_name(attributes.title)
                span.set_attributes(attributes.span_attributes)
            if labels is not attributes.labels:
                span.set_attributes(labels)
        if returned is not None:
            span.set_attribute("db.response.returned_rows", returned)
        if operation.error is not None:
            span.set_status(trace.Status(trace.StatusCode.ERROR, observing.error_summary(operation.error)))
        span.end(int((operation.began + operation.seconds) * 1e9))
        operation.span = None
        meter, counted = self._meter, attributes.bytes
        meter.duration.record(operation.seconds, labels)
        if returned is not None:
            meter.rows.record(returned, labels)
        with meter.lock:
            counted.sent += operation.bytes_sent
            counted.received += operation.bytes_received

    def _start(
        self, operation: Operation, known: _OperationAttributes, attributes: dict[str, str | int]
    ) -> trace.Span:
        return self._tracer.start_span(
            known.title,
            kind=trace.SpanKind.CLIENT,
            attributes=attributes,
            start_time=int(operation.began * 1e9),
        )

    def _attributes_of(self, operation: Operation) -> _OperationAttributes:
        target = operation.target
        host, port = ("", 0) if target is None else (target.host, target.port)
        key = (operation.kind, operation.statement, operation.database, host, port)
        known = self._attribute_cache.get(key)
        if known is None:
            known = _OperationAttributes(operation, host, port, self._meter)
            if len(self._attribute_cache) >= _MAX_CACHED:
                self._attribute_cache.clear()
            self._attribute_cache[key] = known
        return known


def _failure(error: BaseException) -> dict[str, str | int]:
    attributes: dict[str, str | int] = {"error.type": type(error).__name__}
    if isinstance(error, Error) and error.sqlcode is not None:
        attributes["db.response.status_code"] = str(error.sqlcode)
    return attributes


def instrument(
    *, tracer_provider: TracerProvider | None = None, meter_provider: MeterProvider | None = None
) -> None:
    """From now on, make spans and metrics of every operation of all connections of this process.

    The providers are the global ones by default. A second call replaces the first one's providers.
    """
    uninstrument()
    instrumentation = _Instrumentation(tracer_provider, meter_provider)
    observing.add_observer(instrumentation)
    observing.waiting_observers.append(instrumentation.begin)
    _installed.append(instrumentation)


def uninstrument() -> None:
    """Stop making spans and metrics. Does nothing if nothing was instrumented."""
    while _installed:
        made = _installed.pop()
        observing.waiting_observers.remove(made.begin)
        observing.remove_observer(made)


def instrument_pool(pool: AnyPool, name: str, *, meter_provider: MeterProvider | None = None) -> None:
    """Report metrics of a :class:`Pool` or an :class:`AsyncPool` under ``name``.

    They are ``db.client.connection.count`` by state (idle, used), ``.pending_requests`` and ``.timeouts``, read when
    metrics are collected.
    """
    _meter_of(meter_provider).add_pool(pool, name)


def _labels(name: str, database: str, host: str, port: int) -> dict[str, str | int]:
    """Return the attributes of metrics, which spans have too."""
    attributes: dict[str, str | int] = {"db.system.name": SYSTEM, "db.operation.name": name}
    if database:
        attributes["db.namespace"] = database
    if host:
        attributes["server.address"] = host
        attributes["server.port"] = port
    return attributes


def _name(operation: Operation) -> str:
    """Return SELECT, INSERT and so on for a statement, else FETCH, COMMIT, CONNECT and so on."""
    if operation.kind in ("execute", "executemany") and operation.statement:
        word = _WORD.search(operation.statement)
        if word is not None:
            return word[0].upper()
    return operation.kind.upper()
