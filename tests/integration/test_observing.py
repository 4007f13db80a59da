"""Observers, loggers and OpenTelemetry receive everything about calls, but no data."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
from collections.abc import Iterator
from typing import Any, Literal

import pyarrow as pa
import pytest
from opentelemetry.context import Context
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import Span, SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import Decision, Sampler, SamplingResult

import informix_arrow as ifx
from informix_arrow import aio, observing, otel
from informix_arrow.observing import Operation, without_values
from informix_arrow.server import Server

QUERY = "SELECT id, name, sentinel FROM observed WHERE id < ? AND name <> 'Geheimnis' ORDER BY id -- Geheimnis too"


@pytest.fixture(scope="module")
def shared_connection(server: Server) -> Iterator[ifx.Connection]:
    """A connection of the module that creates its table and deletes the rows of each test."""
    with ifx.connect(server.url("stores_demo"), autocommit=True, lock_wait=30) as conn:
        conn.execute("CREATE TABLE observed (id INT PRIMARY KEY, name VARCHAR(20), sentinel INT)")
        yield conn
        conn.execute("DROP TABLE observed")


@pytest.fixture
def url(server: Server, shared_connection: ifx.Connection) -> Iterator[str]:
    yield server.url("stores_demo")
    shared_connection.execute("DELETE FROM observed")


def database_in(url: str) -> str:
    return url.rpartition("/")[2].partition("?")[0]


def test_rows_that_came_at_once_are_reported(url: str) -> None:
    """The statement's observation has the rows, in the first run and later: there is no fetch for them."""
    with ifx.connect(url, autocommit=True) as conn:
        conn.cursor().executemany("INSERT INTO observed VALUES (?, 'x', 7)", [(n,) for n in range(5)])
        seen: list[Operation] = []
        conn.add_observer(seen.append)
        for _ in range(3):
            with conn.cursor() as cursor:
                assert len(cursor.execute(QUERY, (3,)).fetchall()) == 3
        assert [(each.kind, each.rows, each.round_trips) for each in seen] == [
            ("execute", 3, 2),
            ("execute", 3, 1),
            ("execute", 3, 1),
        ]
        assert len({(each.bytes_sent, each.bytes_received) for each in seen[1:]}) <= 2
        assert all(each.bytes_sent and each.bytes_received for each in seen)


@pytest.mark.parametrize(
    ("columns", "lobs"),
    [
        ("id", "inline"),
        ("id, floating", "inline"),
        *itertools.product(("id, b", "id, t", "id, blob", "id, floating, clob"), ("inline", "lazy", "skip")),
    ],
)
def test_each_row_of_a_query_is_reported_once(
    url: str, columns: str, lobs: Literal["inline", "lazy", "skip"]
) -> None:
    """The execute or the fetches report a row, in the first run and later, whether C or Python creates the rows."""
    with ifx.connect(url) as conn:
        conn.execute(
            "CREATE TEMP TABLE told (id INT, floating DECIMAL(6), b BYTE, t TEXT, blob BLOB, clob CLOB)"
        )
        row = {"floating": "1.5", "b": b"b", "t": "t", "blob": b"x", "clob": "y"}
        conn.write_arrow(
            "told", pa.table({"id": [1, 2, 3], **{name: [value] * 3 for name, value in row.items()}})
        )
        seen: list[Operation] = []
        conn.add_observer(seen.append)
        query = f"SELECT {columns} FROM told"
        cursors = [conn.cursor(), conn.cursor("by_name"), conn.cursor(scrollable=True), conn.cursor()]
        cursors[-1].floating_decimals = "decimal"
        for cursor in cursors * 3:
            seen.clear()
            cursor.lobs = lobs if not cursor.scrollable else "inline"
            assert len(cursor.execute(query + " FOR UPDATE" * bool(cursor.name)).fetchall()) == 3
            assert sum(each.rows or 0 for each in seen) == 3, (cursor, seen)
            assert {each.kind for each in seen} <= {"execute", "fetch", "close"}
        for _ in range(3):
            seen.clear()
            with conn.query(query, lobs="skip" if lobs == "skip" else "inline") as result:
                assert result.read_all().num_rows == 3
            assert sum(each.rows or 0 for each in seen) == 3, seen


def test_rows_that_came_while_another_query_began_are_reported(url: str) -> None:
    with ifx.connect(url) as conn:
        conn.execute("CREATE TEMP TABLE two_at_once (id INT)")
        conn.write_arrow("two_at_once", pa.table({"id": range(50_000)}))
        seen: list[Operation] = []
        conn.add_observer(seen.append)
        results = [conn.query("SELECT * FROM two_at_once", batch_bytes=4096 << n) for n in (0, 2, 4)]
        for result in results:
            assert result.read_all().num_rows == 50_000
        assert sum(each.rows or 0 for each in seen) == 150_000
        seen.clear()
        cursors = [conn.cursor().execute("SELECT * FROM two_at_once") for _ in range(2)]
        for _ in range(6):
            for cursor in cursors:
                cursor.fetchmany(10_000)
        assert sum(each.rows or 0 for each in seen) == 100_000


def everything(conn: ifx.Connection) -> None:
    conn.cursor().executemany("INSERT INTO observed VALUES (?, ?, 7)", [(n, "Geheimnis") for n in range(5)])
    conn.write_arrow("observed", pa.table({"id": [5, 6], "name": ["x", "y"], "sentinel": [7, 7]}))
    conn.execute("UPDATE observed SET name = 'Geheimnis2' WHERE id = ?", (3,))
    conn.commit()
    assert conn.read_arrow(QUERY, (99,)).num_rows == 3
    with conn.cursor("one_by_one") as cursor:
        assert cursor.execute(QUERY, (99,)).fetchone() == (3, "Geheimnis2", 7)
    with pytest.raises(ifx.IntegrityError):
        conn.execute("INSERT INTO observed VALUES (?, 'Geheimnis', 7)", (5,))
    conn.rollback()
    conn.ping()


WANTED = [
    ("executemany", "INSERT INTO observed VALUES (?, ?, ?)", 5, None),
    ("load", "observed", 2, None),
    ("execute", "UPDATE observed SET name = ? WHERE id = ?", 1, None),
    ("commit", None, None, None),
    ("execute", "SELECT id, name, sentinel FROM observed WHERE id < ? AND name <> ? ORDER BY id  ", 3, None),
    (
        "execute",
        "SELECT id, name, sentinel FROM observed WHERE id < ? AND name <> ? ORDER BY id  ",
        None,
        None,
    ),
    ("fetch", "SELECT id, name, sentinel FROM observed WHERE id < ? AND name <> ? ORDER BY id  ", 1, None),
    ("close", "SELECT id, name, sentinel FROM observed WHERE id < ? AND name <> ? ORDER BY id  ", None, None),
    ("execute", "INSERT INTO observed VALUES (?, ?, ?)", None, ifx.IntegrityError),
    ("rollback", None, None, None),
    ("ping", None, None, None),
]


def test_an_observer_is_notified_of_each_call(url: str, owner: str) -> None:
    seen: list[Operation] = []
    with ifx.connect(url) as conn:
        conn.add_observer(seen.append)
        everything(conn)
        conn.remove_observer(seen.append)
        conn.ping()
    assert [
        (each.kind, each.statement, each.rows, each.error and type(each.error)) for each in seen
    ] == WANTED
    for each in seen:
        assert each.seconds > 0
        assert each.began > 1_700_000_000
        assert each.database == database_in(url)
        assert each.parameters is None
        assert "Geheimnis" not in f"{each} {each!r}".replace(repr(each.error), "")
        assert each.target is not None
        assert each.target.user == owner
    by_kind = {each.kind: each for each in seen}
    assert by_kind["ping"].round_trips == by_kind["commit"].round_trips == 1
    assert by_kind["ping"].bytes_sent > 0
    assert by_kind["ping"].bytes_received > 0
    assert by_kind["load"].bytes_sent > by_kind["ping"].bytes_sent
    assert sum(each.round_trips for each in seen if each.kind == "fetch") <= 1


def test_values_are_reported_where_that_was_asked_for(url: str) -> None:
    seen: list[Operation] = []
    with ifx.connect(url, log_parameters=True) as conn:
        conn.add_observer(seen.append)
        conn.execute(QUERY, (5,)).fetchall()
        with pytest.raises(ifx.Error):
            conn.execute("SET ENCRYPTION PASSWORD 'Geheimnis3' nosuch")
    assert (seen[0].statement, seen[0].parameters) == (QUERY, (5,))
    assert "(5,)" in str(seen[0])
    assert "Geheimnis3" not in str(seen[-1])


def test_an_observer_is_notified_in_asyncio_too(url: str) -> None:
    seen: list[Operation] = []

    async def main() -> None:
        async with aio.connect(url) as conn:
            conn.add_observer(seen.append)
            await conn.execute("INSERT INTO observed VALUES (1, 'a', 7)")
            with pytest.raises(ifx.ProgrammingError):
                await conn.read_arrow("SELECT nosuch FROM observed")

    asyncio.run(main())
    assert [(each.kind, each.rows) for each in seen] == [("execute", 1), ("execute", None), ("commit", None)]
    assert isinstance(seen[1].error, ifx.ProgrammingError)


def test_an_observer_that_fails_harms_nothing(url: str, caplog: pytest.LogCaptureFixture) -> None:
    with ifx.connect(url) as conn:
        conn.add_observer(lambda operation: 1 // 0)
        conn.execute("INSERT INTO observed VALUES (1, 'a', 7)")
        assert conn.read_arrow("SELECT id, sentinel FROM observed").num_rows == 1
    assert "observer" in caplog.text


def test_observers_of_everything_see_logins_good_and_bad(url: str) -> None:
    seen: list[Operation] = []
    observing.add_observer(seen.append)
    try:
        ifx.connect(url).close()
        with pytest.raises(ifx.OperationalError):
            ifx.connect(url, password="Geheimnis")
    finally:
        observing.remove_observer(seen.append)
    assert [(each.kind, bool(each.error), each.database) for each in seen] == [
        ("connect", False, database_in(url)),
        ("connect", True, ""),
    ]
    assert seen[0].round_trips >= 2
    assert "Geheimnis" not in str(seen)


def test_the_logs_show_statements_without_values(
    url: str, caplog: pytest.LogCaptureFixture, password: str
) -> None:
    caplog.set_level(logging.DEBUG, "informix_arrow")
    with ifx.Pool(url, max_size=1) as pool:
        with pool.connection() as conn:
            everything(conn)
        with pytest.raises(ifx.OperationalError), pool.connection() as conn:
            pool.acquire(timeout=0.01)
    for name in ("connect", "statement", "load", "pool"):
        assert f"informix_arrow.{name}" in {record.name for record in caplog.records}
    assert "UPDATE observed SET name = ? WHERE id = ?" in caplog.text
    assert "IntegrityError (SQLCODE -268" in caplog.text or "IntegrityError (SQLCODE -239" in caplog.text
    assert "Geheimnis" not in caplog.text
    assert password not in caplog.text


def test_nothing_is_counted_when_nobody_looks(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("an operation was made")

    with ifx.connect(url) as conn:
        monkeypatch.setattr(observing.Operation, "__post_init__", never)
        everything(conn)


def test_open_telemetry_gets_spans_and_metrics(url: str) -> None:
    spans, reader = InMemorySpanExporter(), InMemoryMetricReader()
    tracers = TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(spans))
    meters = MeterProvider(metric_readers=[reader])
    otel.instrument(tracer_provider=tracers, meter_provider=meters)
    try:
        night = tracers.get_tracer("test").start_as_current_span("load of the night")
        with night as outer, ifx.Pool(url, max_size=2) as pool, pool.connection() as conn:
            otel.instrument_pool(pool, "night", meter_provider=meters)
            everything(conn)
            metrics = {
                metric.name: metric
                for resource in reader.get_metrics_data().resource_metrics  # type: ignore[union-attr]
                for scope in resource.scope_metrics
                for metric in scope.metrics
            }
    finally:
        otel.uninstrument()
    found = [span for span in spans.get_finished_spans() if span.name != "load of the night"]
    names = [span.name for span in found]
    assert names[:4] == [
        f"CONNECT {database_in(url)}",
        f"INSERT {database_in(url)}",
        f"LOAD {database_in(url)}",
        f"UPDATE {database_in(url)}",
    ]
    assert {f"FETCH {database_in(url)}", f"COMMIT {database_in(url)}", f"ROLLBACK {database_in(url)}"} <= set(
        names
    )
    for span in found:
        assert span.parent is not None
        assert span.parent.span_id == outer.get_span_context().span_id
        assert span.attributes is not None
        assert span.attributes["db.system.name"] == "ibm.informix"
        assert span.start_time is not None
        assert span.end_time is not None
        assert span.end_time >= span.start_time
        assert "Geheimnis" not in span.to_json()
    refused = next(span for span in found if span.status.status_code.name == "ERROR")
    assert refused.attributes is not None
    assert refused.attributes["error.type"] == "IntegrityError"
    assert refused.attributes["db.response.status_code"] in ("-268", "-239")
    update = next(span for span in found if span.name.startswith("UPDATE"))
    assert update.attributes is not None
    assert update.attributes["db.query.text"] == "UPDATE observed SET name = ? WHERE id = ?"
    assert {
        "db.client.operation.duration",
        "db.client.response.returned_rows",
        "informix_arrow.bytes.sent",
        "informix_arrow.bytes.received",
        "db.client.connection.count",
    } <= metrics.keys()
    used = {
        point.attributes["db.client.connection.state"]: point.value
        for point in metrics["db.client.connection.count"].data.data_points
    }
    assert used == {"idle": 0, "used": 1}


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        (
            "SELECT 'it''s', \"x\"\"y\", 1.5e-3, .5, c1, c_2, t1.c FROM t1",
            "SELECT ?, ?, ?, ?, c1, c_2, t1.c FROM t1",
        ),
        ("INSERT INTO t VALUES (SET{1, 'a'}, -5)", "INSERT INTO t VALUES (SET{?, ?}, -?)"),
        ("SELECT a /* secret */ FROM t { more } WHERE b = 1 -- secret", "SELECT a   FROM t   WHERE b = ?  "),
        ("SELECT 'unfinished", "SELECT ?"),
        ("SELECT $1, :name, ? FROM t", "SELECT $1, :name, ? FROM t"),
        ("SELECT '" + "x" * 9000 + "' FROM t", "SELECT ? ..."),
    ],
)
def test_literals_and_comments_are_not_shown(sql: str, shown: str) -> None:
    assert without_values(sql) == shown


def test_passwords_in_statements_are_not_shown_even_where_values_are(url: str) -> None:
    seen: list[Operation] = []
    with ifx.connect(url, log_parameters=True) as conn:
        conn.add_observer(seen.append)
        sql = "SELECT id AS password, 'Geheimnis6' FROM observed WHERE name = ?"
        conn.execute(sql, ("Geheimnis7",)).fetchall()
    assert seen[0].statement == "SELECT id AS password, ? FROM observed WHERE name = ?"
    assert "Geheimnis" not in repr([(each.statement, each.parameters, str(each)) for each in seen])


def test_a_sampler_sees_the_text_of_the_statement(url: str) -> None:
    class Remembering(Sampler):
        def should_sample(self, *args: object, **more: object) -> SamplingResult:
            seen.append(args[4] if len(args) > 4 else more.get("attributes"))
            return SamplingResult(Decision.DROP)

        def get_description(self) -> str:
            return "remembers what it was asked"

    seen: list[object] = []
    with ifx.connect(url) as conn:
        otel.instrument(tracer_provider=TracerProvider(sampler=Remembering()))
        try:
            conn.execute("SELECT name FROM observed WHERE id = 1").fetchall()
        finally:
            otel.uninstrument()
    [asked] = seen
    assert isinstance(asked, dict)
    assert asked["db.query.text"] == "SELECT name FROM observed WHERE id = ?"


def metrics_of(reader: InMemoryMetricReader) -> dict[str, list[Any]]:
    """Return the data points of each metric."""
    return {
        metric.name: list(metric.data.data_points)
        for resource in reader.get_metrics_data().resource_metrics  # type: ignore[union-attr]
        for scope in resource.scope_metrics
        for metric in scope.metrics
    }


@pytest.fixture
def spans() -> Iterator[tuple[TracerProvider, InMemorySpanExporter]]:
    tracers, exporter = TracerProvider(), InMemorySpanExporter()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    yield tracers, exporter
    otel.uninstrument()


def test_each_pool_has_its_numbers_as_long_as_it_is_there(url: str) -> None:
    reader = InMemoryMetricReader()
    meters = MeterProvider(metric_readers=[reader])

    def pools() -> dict[str, int]:
        return {
            point.attributes["db.client.connection.pool.name"]: point.value
            for point in metrics_of(reader).get("db.client.connection.count", [])
            if point.attributes["db.client.connection.state"] == "idle"
        }

    day, night = ifx.Pool(url, min_size=1, max_size=2), ifx.Pool(url, min_size=2, max_size=2)
    with day, night:
        otel.instrument_pool(day, "day", meter_provider=meters)
        otel.instrument_pool(night, "night", meter_provider=meters)
        assert pools() == {"day": 1, "night": 2}
    del night
    gc.collect()
    assert pools() == {"day": 0}


def test_bytes_are_counted_on_when_it_is_instrumented_again(url: str) -> None:
    reader = InMemoryMetricReader()
    meters = MeterProvider(metric_readers=[reader])

    def of_pings() -> tuple[int, int, Any]:
        found = metrics_of(reader)
        [sent], [received], [duration] = (
            [point for point in found[name] if point.attributes["db.operation.name"] == "PING"]
            for name in (
                "informix_arrow.bytes.sent",
                "informix_arrow.bytes.received",
                "db.client.operation.duration",
            )
        )
        return sent.value, received.value, duration

    with ifx.connect(url) as conn:
        try:
            otel.instrument(meter_provider=meters)
            conn.ping()
            once = of_pings()
            otel.instrument(meter_provider=meters)
            conn.ping()
            twice = of_pings()
        finally:
            otel.uninstrument()
        conn.ping()
    assert of_pings()[:2] == twice[:2] == (2 * once[0], 2 * once[1])
    assert min(once[:2]) > 0
    assert twice[2].count == 2
    assert twice[2].explicit_bounds[0] == 0.001  # OpenTelemetry's default begins at 5 s
    assert twice[2].attributes["db.namespace"] == database_in(url)


def test_a_span_is_made_while_the_server_works(
    url: str, spans: tuple[TracerProvider, InMemorySpanExporter]
) -> None:
    begun: list[tuple[str, int]] = []
    at: list[int] = []
    tracers, exporter = spans

    class Beginnings(SpanProcessor):
        def on_start(self, span: Span, parent_context: Context | None = None) -> None:
            begun.append((span.name, at[-1]))

    tracers.add_span_processor(Beginnings())
    with ifx.connect(url, autocommit=True) as conn:
        otel.instrument(tracer_provider=tracers)
        observing.waiting_observers.insert(0, lambda operation: at.append(operation.bytes_received))
        try:
            assert conn.execute("SELECT id, sentinel FROM observed").fetchall() == []
        finally:
            del observing.waiting_observers[0]
    assert begun[0] == (f"SELECT {database_in(url)}", 0)
    span = exporter.get_finished_spans()[0]
    assert span.attributes is not None
    assert span.attributes["db.response.returned_rows"] == 0
    assert span.start_time is not None
    assert span.end_time is not None
    assert span.end_time > span.start_time


def test_a_span_is_of_the_database_that_is_open_at_its_end(
    url: str, spans: tuple[TracerProvider, InMemorySpanExporter]
) -> None:
    with ifx.connect(url, autocommit=True) as conn:
        otel.instrument(tracer_provider=spans[0])
        conn.execute("DATABASE sysmaster")
        conn.execute("SELECT tabid FROM systables WHERE tabid = 1").fetchall()
    found = [(span.name, (span.attributes or {})["db.namespace"]) for span in spans[1].get_finished_spans()]
    assert found[:2] == [("DATABASE sysmaster", "sysmaster"), ("SELECT sysmaster", "sysmaster")]


def test_who_fails_while_the_server_works_harms_nothing(url: str, caplog: pytest.LogCaptureFixture) -> None:
    def fails(_: Operation) -> None:
        raise ValueError

    seen: list[Operation] = []
    with ifx.connect(url, autocommit=True) as conn:
        conn.add_observer(seen.append)
        observing.waiting_observers.append(fails)
        try:
            assert conn.execute("SELECT id, sentinel FROM observed").fetchall() == []
        finally:
            observing.waiting_observers.remove(fails)
    assert [(each.kind, each.error) for each in seen][:1] == [("execute", None)]
    assert "observer" in caplog.text


def test_texts_with_secrets_are_not_kept() -> None:
    observing._masked_statements.clear()
    for sql in (
        "CREATE USER u WITH PASSWORD 'Geheimnis8'",
        "SELECT 'Geheimnis9', ENCRYPT_AES('a', 'b') FROM t",
    ):
        operation = Operation()
        operation.describe("execute", sql)
        assert "Geheimnis" not in str(operation)
    assert not observing._masked_statements
    for number in range(observing._MAX_CACHED + 3):
        Operation().describe("execute", f"SELECT {number} FROM t")
    assert 0 < len(observing._masked_statements) <= observing._MAX_CACHED
