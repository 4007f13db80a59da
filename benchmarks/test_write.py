"""Loading 100,000 rows of INT, VARCHAR(64), INT, FLOAT, DATE, side by side in one run.

Ours by insert cursor, by pipeline and by executemany, informix-driver's executemany, JDBC's addBatch with and without
IFX_USEPUT where Java and the driver's jar are there, and the floor: the same PUT bytes into a socket that discards
them. The embedded server is the other end for all of them, and part of every figure but the floor's. In `extra_info`:
rows per second, and the CPU that the client's process took per row.
"""

from __future__ import annotations

import datetime
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from informix_arrow._encode import Encoder
from informix_arrow.wire.types import ColumnType, plan_op

from .conftest import Address

ROWS = 100_000
DAY = datetime.date(2026, 1, 1)
SQL = "INSERT INTO bench_write VALUES (?, ?, ?, ?, ?)"
CREATE = "CREATE TABLE bench_write (k INT, name VARCHAR(64), n INT, x FLOAT, d DATE)"
TYPES = [
    ColumnType.integer(),
    ColumnType.varchar(64),
    ColumnType.integer(),
    ColumnType.float_(),
    ColumnType.date(),
]
VALUES = [(i, f"customer number {i}", -i, i / 8, DAY) for i in range(ROWS)]
TABLE = pa.table(
    [
        pa.array(column, kind)
        for column, kind in zip(
            zip(*VALUES, strict=True),
            (pa.int32(), pa.utf8(), pa.int32(), pa.float64(), pa.date32()),
            strict=True,
        )
    ],
    ["k", "name", "n", "x", "d"],
)


def put_rows() -> list[bytes]:
    """The load's SQ_PUT messages, in groups of about 1 MiB."""
    encoder = Encoder([plan_op(ct).as_tuple() for ct in TYPES], TABLE.schema.names)
    encoder.load(*TABLE.to_batches()[0].__arrow_c_array__())
    groups = []
    while encoder.remaining:
        groups.append(encoder.encode(1 << 20, 1)[0])
    return groups


@pytest.fixture
def table(address: Address) -> Iterator[Any]:
    """Our connection, and a fresh table; what was loaded is checked."""
    with address.ours(autocommit=True) as conn:
        conn.execute(CREATE)
        yield conn
        found = conn.read_arrow(
            "SELECT COUNT(*)::INT c, MIN(k) low, MAX(k) high FROM bench_write"
        ).to_pylist()[0]
        assert found["c"] % ROWS == 0
        assert found["c"]
        assert (found["low"], found["high"]) == (0, ROWS - 1)
        conn.execute("DROP TABLE bench_write")


def measure(benchmark: BenchmarkFixture, load: Callable[[], object], rounds: int = 7) -> None:
    cpu: list[float] = []

    def timed() -> None:
        began = time.process_time()
        load()
        cpu.append(time.process_time() - began)

    benchmark.pedantic(timed, rounds=rounds, warmup_rounds=1)
    stats: Any = benchmark.stats
    benchmark.extra_info["rows_per_second"] = round(ROWS / stats.stats.median)
    benchmark.extra_info["client_cpu_ns_per_row"] = round(sorted(cpu)[len(cpu) // 2] / ROWS * 1e9)


@pytest.mark.parametrize("method", ["put", "pipeline"])
def test_write_arrow(benchmark: BenchmarkFixture, table: Any, method: str) -> None:
    measure(benchmark, lambda: table.write_arrow("bench_write", TABLE, method=method))


def test_our_executemany(benchmark: BenchmarkFixture, address: Address, table: Any) -> None:
    with address.ours() as conn:
        cursor = conn.cursor()

        def load() -> None:
            cursor.executemany(SQL, VALUES)
            conn.commit()

        measure(benchmark, load, rounds=5)


def test_informix_driver_executemany(benchmark: BenchmarkFixture, address: Address, table: Any) -> None:
    conn = address.informix_driver()
    try:
        cursor = conn.cursor()

        def load() -> None:
            cursor.executemany(SQL, VALUES)
            conn.commit()

        measure(benchmark, load, rounds=3)
    finally:
        conn.close()


def test_floor_the_same_bytes_discarded(benchmark: BenchmarkFixture) -> None:
    """The PUT groups, encoded beforehand, through loopback to a thread that throws them away."""
    groups = put_rows()
    listener = socket.create_server(("127.0.0.1", 0))

    def discard() -> None:
        sink, _ = listener.accept()
        with sink:
            hole = bytearray(1 << 20)
            while sink.recv_into(hole):
                pass

    thread = threading.Thread(target=discard, daemon=True)
    thread.start()
    with socket.create_connection(listener.getsockname()) as link:

        def load() -> None:
            for group in groups:
                link.sendall(group)

        measure(benchmark, load, rounds=15)
    thread.join()
    listener.close()


def test_encoding_alone(benchmark: BenchmarkFixture) -> None:
    measure(benchmark, put_rows, rounds=15)


JAVA = """
import java.io.*;
import java.sql.*;

public class LoadBatch {
    public static void main(String[] args) throws Exception {
        int rows = Integer.parseInt(args[1]);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        try (Connection c = DriverManager.getConnection(args[0])) {
            c.setAutoCommit(false);
            while (in.readLine() != null) {
                try (PreparedStatement s = c.prepareStatement("INSERT INTO bench_write VALUES (?, ?, ?, ?, ?)")) {
                    Date day = Date.valueOf("2026-01-01");
                    for (int i = 0; i < rows; i++) {
                        s.setInt(1, i);
                        s.setString(2, "customer number " + i);
                        s.setInt(3, -i);
                        s.setDouble(4, i / 8.0);
                        s.setDate(5, day);
                        s.addBatch();
                        if ((i + 1) % 5000 == 0) s.executeBatch();
                    }
                    s.executeBatch();
                }
                c.commit();
                System.out.println("loaded");
            }
        }
    }
}
"""


@pytest.fixture(scope="module")
def java(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command of the JDBC program, before its arguments."""
    toolchain = pytest.importorskip("tests.interop.jdbc.toolchain")
    directory = tmp_path_factory.mktemp("java")
    try:
        jars = [str(jar) for jar in toolchain.fetch_jars(toolchain.cache_directory())]
        java, javac = toolchain.program("java", ""), toolchain.program("javac", "")
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    source = Path(directory) / "LoadBatch.java"
    source.write_text(JAVA)
    path = ":".join([*jars, str(directory)])
    subprocess.run([javac, "-cp", path, "-d", str(directory), str(source)], check=True)
    return [java, "-cp", path, "LoadBatch"]


@pytest.mark.parametrize("use_put", [0, 1], ids=["default", "IFX_USEPUT"])
def test_jdbc_add_batch(
    benchmark: BenchmarkFixture, address: Address, table: Any, java: list[str], use_put: int
) -> None:
    """One JVM for all rounds, so that its compiler is warm; it loads once for each line it is given."""
    url = (
        f"jdbc:informix-sqli://{address.host}:{address.port}/stores_demo:INFORMIXSERVER=informix;user=informix;"
        f"password=in4mix;DB_LOCALE=en_US.utf8;IFX_USEPUT={use_put}"
    )
    pipe = subprocess.PIPE
    with subprocess.Popen([*java, url, str(ROWS)], stdin=pipe, stdout=pipe, text=True) as jvm:
        assert jvm.stdin is not None
        assert jvm.stdout is not None
        to, back = jvm.stdin, jvm.stdout

        def load() -> None:
            to.write("load\n")
            to.flush()
            assert back.readline() == "loaded\n"

        benchmark.pedantic(load, rounds=5, warmup_rounds=2)
        to.close()
    stats: Any = benchmark.stats
    benchmark.extra_info["rows_per_second"] = round(ROWS / stats.stats.median)
