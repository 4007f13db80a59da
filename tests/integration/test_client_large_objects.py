"""BYTE, TEXT, BLOB and CLOB through the client and the embedded server, in both directions."""

from __future__ import annotations

import gc
import io
import random
import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pyarrow as pa
import pytest
from tests.subprocess_server import ForkedCommand

import informix_arrow as ifx
from informix_arrow import dbapi
from informix_arrow.server import Server

SIZES = (0, 1, 2, 255, 256, 1023, 1024, 1025, 32766, 32767, 32768, 100_001)
COLUMNS = "id INT NOT NULL, y BYTE IN TABLE, x TEXT IN TABLE, b BLOB, c CLOB, sentinel INT"
#: Each size occurs twice, and there is one more row, so that NULLs are next to objects of other sizes each time.
ROWS = 2 * len(SIZES) + 1
INSERT = "VALUES (?, ?, ?, ?, ?, 12345)"


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(server.url("stores_demo")) as connection:
        yield connection
        if not connection.closed:
            connection.rollback()


def content(number: int) -> bytes:
    return random.Random(number).randbytes(SIZES[number % len(SIZES)])


def text(number: int) -> str:
    return f"größe 日本 {number}\r\n" * (SIZES[number % len(SIZES)] // 16)


@cache
def row(number: int) -> tuple[int, bytes | None, str | None, bytes | None, str | None]:
    """Return a row. Every fifth value is NULL, in each column at another row."""

    def unless_null(column: int) -> bool:
        return number % 5 != column

    return (
        number,
        content(number) if unless_null(1) else None,
        text(number) if unless_null(2) else None,
        content(number + 1) if unless_null(3) else None,
        text(number + 1) if unless_null(4) else None,
    )


@pytest.fixture(scope="module")
def table(server: Server) -> str:
    """Create rows with objects of all sizes and NULLs, and commit them."""
    with ifx.connect(server.url("stores_demo")) as connection:
        connection.execute("DROP TABLE IF EXISTS client_lobs")
        connection.execute(f"CREATE TABLE client_lobs ({COLUMNS})")
        cursor = connection.cursor()
        cursor.executemany(f"INSERT INTO client_lobs {INSERT}", map(row, range(ROWS)))
        assert cursor.rowcount == ROWS
    return "client_lobs"


def expected(*numbers: int) -> list[tuple[object, ...]]:
    return [(*row(number), 12345) for number in numbers]


def rows_of(data: pa.Table | pa.RecordBatch) -> list[tuple[object, ...]]:
    return [tuple(entry.values()) for entry in data.to_pylist()]


def test_what_was_stored_comes_back(conn: ifx.Connection, table: str) -> None:
    found = conn.read_arrow(f"SELECT * FROM {table} ORDER BY id")
    assert rows_of(found) == expected(*range(ROWS))
    assert found.schema.types[1:5] == [pa.large_binary(), pa.large_utf8(), pa.large_binary(), pa.large_utf8()]
    assert [found.schema.field(name).metadata[b"informix.type"] for name in "yxbc"] == [
        b"BYTE", b"TEXT", b"BLOB", b"CLOB",
    ]  # fmt: skip


def test_rows_of_a_cursor_hold_bytes_and_str(conn: ifx.Connection, table: str) -> None:
    cursor = conn.execute(f"SELECT * FROM {table} WHERE id < 20 ORDER BY id")
    assert cursor.fetchall() == expected(*range(20))
    assert cursor.description is not None
    kinds = [item[1] for item in cursor.description]
    assert [kind == dbapi.BINARY for kind in kinds] == [False, True, False, True, False, False]
    assert [kind == dbapi.STRING for kind in kinds] == [False, False, True, False, True, False]


@pytest.mark.parametrize("batch_bytes", [4096, 50_000, 1 << 20])
def test_batches_end_where_their_contents_do(conn: ifx.Connection, table: str, batch_bytes: int) -> None:
    with conn.query(f"SELECT * FROM {table} ORDER BY id", batch_bytes=batch_bytes) as result:
        batches = list(result.batches())
    assert rows_of(pa.Table.from_batches(batches)) == expected(*range(ROWS))
    largest = max(SIZES) * 4 * 2  # a row of the largest values, UTF-8 included
    assert max(batch.nbytes for batch in batches) < batch_bytes + largest
    assert len(batches) > 1 or batch_bytes > 100_000


def test_any_fetch_size_gives_the_same(server: Server, table: str) -> None:
    """Small fetches: several replies with descriptors, and contents in between."""
    with ifx.connect(server.url("stores_demo"), fetch_buffer_size=4096) as connection:
        found = connection.read_arrow(f"SELECT * FROM {table} ORDER BY id", batch_rows=7)
    assert rows_of(found) == expected(*range(ROWS))


def test_a_result_without_rows_has_its_schema(conn: ifx.Connection, table: str) -> None:
    found = conn.read_arrow(f"SELECT * FROM {table} WHERE id < 0")
    assert found.num_rows == 0
    assert found.schema.types[1:5] == [pa.large_binary(), pa.large_utf8(), pa.large_binary(), pa.large_utf8()]


def test_skipping_large_objects(conn: ifx.Connection, table: str) -> None:
    found = conn.read_arrow(f"SELECT * FROM {table} ORDER BY id", lobs="skip")
    assert found.column_names == ["id", "sentinel"]
    assert found.to_pylist() == [{"id": number, "sentinel": 12345} for number in range(ROWS)]
    cursor = conn.cursor()
    cursor.lobs = "skip"
    assert cursor.execute(f"SELECT * FROM {table} WHERE id = 3").fetchall() == [(3, 12345)]
    assert cursor.description is not None
    assert [item[0] for item in cursor.description] == ["id", "sentinel"]
    with pytest.raises(ifx.InterfaceError, match="leaves no column"):
        conn.query(f"SELECT b, y FROM {table}", lobs="skip")
    assert conn.read_arrow(f"SELECT id FROM {table} WHERE id = 3").num_rows == 1


def test_two_results_are_read_alternately(conn: ifx.Connection, table: str) -> None:
    up = conn.query(f"SELECT * FROM {table} ORDER BY id", batch_bytes=4096).batches()
    down = conn.query(f"SELECT * FROM {table} ORDER BY id DESC", batch_bytes=30_000).batches()
    found: dict[str, list[tuple[object, ...]]] = {"up": [], "down": []}
    for first in up:
        found["up"] += rows_of(first)
        if (second := next(down, None)) is not None:
            found["down"] += rows_of(second)
        assert conn.read_arrow(f"SELECT c FROM {table} WHERE id = 7")["c"].to_pylist() == [row(7)[4]]
    for second in down:
        found["down"] += rows_of(second)
    assert found == {"up": expected(*range(ROWS)), "down": expected(*reversed(range(ROWS)))}


def test_a_result_can_be_closed_in_the_middle(conn: ifx.Connection, table: str) -> None:
    for _ in range(3):
        with conn.query(f"SELECT * FROM {table} ORDER BY id", batch_bytes=4096) as result:
            batches = result.batches()
            assert rows_of(next(batches))[0] == expected(0)[0]
    dropped = conn.query(f"SELECT * FROM {table} ORDER BY id", batch_bytes=4096).batches()
    next(dropped)
    del dropped
    gc.collect()
    assert rows_of(conn.read_arrow(f"SELECT * FROM {table} WHERE id = 1")) == expected(1)


def test_reading_on_after_a_commit_is_an_error_and_nothing_is_lost(conn: ifx.Connection, table: str) -> None:
    """The commit closes the cursor, and with it the descriptors of rows that have already arrived."""
    conn.execute(f"UPDATE {table} SET sentinel = 12345 WHERE id = 0")
    batches = conn.query(f"SELECT id, y FROM {table} ORDER BY id", batch_bytes=4096).batches()
    first = next(batches)
    conn.commit()
    with pytest.raises(ifx.Error):
        list(batches)
    assert first["id"].to_pylist()[0] == 0
    assert rows_of(conn.read_arrow(f"SELECT * FROM {table} WHERE id = 1")) == expected(1)


@pytest.mark.parametrize(
    ("kind", "megabytes"),
    [(bytes, 20), (bytearray, 5), (memoryview, 5), (io.BytesIO, 5)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_megabytes_there_and_back(conn: ifx.Connection, kind: type, megabytes: int) -> None:
    """4 MiB and 16 MiB are more than a window of large objects, and more than a batch."""
    data = random.Random(20).randbytes(megabytes << 20) + b"odd"
    conn.execute(f"CREATE TEMP TABLE client_big ({COLUMNS})")
    try:
        cursor = conn.cursor()
        values = (1, kind(data), "tëxt", kind(data), "clöb")
        cursor.execute(f"INSERT INTO client_big {INSERT}", values)
        assert cursor.rowcount == 1
        found = conn.read_arrow("SELECT * FROM client_big")
        assert rows_of(found) == [(1, data, "tëxt", data, "clöb", 12345)]
    finally:
        conn.execute("DROP TABLE client_big")


def test_values_can_be_updated_and_nulled(conn: ifx.Connection) -> None:
    conn.execute(f"CREATE TEMP TABLE client_update ({COLUMNS})")
    try:
        cursor = conn.cursor()
        cursor.executemany(f"INSERT INTO client_update {INSERT}", map(row, range(10)))
        cursor.execute(
            "UPDATE client_update SET y = ?, x = ?, b = ?, c = ? WHERE id IN (?, ?)",
            (b"new", "neü", io.BytesIO(b"film"), io.StringIO("störy"), 3, 4),
        )
        assert cursor.rowcount == 2
        cursor.execute("UPDATE client_update SET y = ?, x = ?, b = ?, c = ? WHERE id = ?", (None,) * 4 + (5,))
        found = rows_of(conn.read_arrow("SELECT * FROM client_update ORDER BY id"))
        changed = [(number, b"new", "neü", b"film", "störy", 12345) for number in (3, 4)]
        nulled = [(5, None, None, None, None, 12345)]
        assert found == expected(0, 1, 2) + changed + nulled + expected(6, 7, 8, 9)
    finally:
        conn.execute("DROP TABLE client_update")


def test_one_row_that_is_refused_leaves_the_others(conn: ifx.Connection) -> None:
    conn.execute("CREATE TABLE client_refused (id INT PRIMARY KEY, b BLOB, y BYTE IN TABLE, sentinel INT)")
    try:
        cursor = conn.cursor()
        rows = [(number % 4, content(number), content(number + 1)) for number in range(5)]
        with pytest.raises(ifx.IntegrityError) as caught:
            cursor.executemany("INSERT INTO client_refused VALUES (?, ?, ?, 12345)", rows)
        assert caught.value.row == 4
        assert cursor.rowcount == 4
        found = rows_of(conn.read_arrow("SELECT * FROM client_refused ORDER BY id"))
        assert found == [(number, content(number), content(number + 1), 12345) for number in range(4)]
        conn.commit()
    finally:
        conn.execute("DROP TABLE client_refused")


def test_a_rollback_takes_objects_away(conn: ifx.Connection, table: str) -> None:
    conn.commit()
    cursor = conn.cursor()
    cursor.execute(f"INSERT INTO {table} {INSERT}", (99, b"y", "x", b"b", "c"))
    assert conn.read_arrow(f"SELECT b FROM {table} WHERE id = 99")["b"].to_pylist() == [b"b"]
    conn.rollback()
    assert conn.read_arrow(f"SELECT b FROM {table} WHERE id = 99").num_rows == 0


READING = """
import resource, sys
import informix_arrow as ifx

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB

with ifx.connect(sys.argv[1], autocommit=True) as connection:
    connection.read_arrow("SELECT FIRST 1 * FROM client_memory")
    before, rows, total, largest = peak(), 0, 0, 0
    for batch in connection.query("SELECT * FROM client_memory", batch_bytes=1 << 20).batches():
        rows, total, largest = rows + batch.num_rows, total + batch.nbytes, max(largest, batch.nbytes)
print(rows, total, largest, peak() - before)
"""


def test_memory_is_bounded_by_the_batch_not_by_the_result(server_process: str, tmp_path: Path) -> None:
    """Read 70 MB of objects in batches of 1 MB. The process's peak memory stays far below their sum. It is a separate
    process, as the peak of this one includes earlier tests."""
    size, count = 500_000, 70
    with ifx.connect(server_process, autocommit=True) as connection:
        connection.execute("CREATE TABLE client_memory (id INT, y BYTE IN TABLE, b BLOB, sentinel INT)")
        try:
            data = random.Random(1).randbytes(size)
            connection.cursor().executemany(
                "INSERT INTO client_memory VALUES (?, ?, ?, 12345)",
                ((number, memoryview(data), memoryview(data)) for number in range(count)),
            )
            program = tmp_path / "reading.py"
            program.write_text(READING)
            with ForkedCommand(server_process, program=program) as process:
                rows, total, largest, grown = map(int, process.stdout.read().split())
                assert process.wait(60) == 0
            assert rows == count
            assert total > 2 * size * count
            assert largest < (1 << 20) + 3 * size
            assert grown < 40 << 10, f"{grown} KiB"
        finally:
            connection.execute("DROP TABLE client_memory")


def lazily(conn: ifx.Connection, sql: str) -> ifx.Cursor:
    cursor = conn.cursor()
    cursor.lobs = "lazy"
    return cursor.execute(sql)


def test_lazy_objects_are_files(conn: ifx.Connection, table: str, tmp_path: Path) -> None:
    cursor = lazily(conn, f"SELECT * FROM {table} ORDER BY id")
    for number, found in enumerate(cursor):
        _, y, x, b, c = row(number)
        assert (found[0], found[5]) == (number, 12345)
        for value, file in ((y, found[1]), (b, found[3])):
            assert (file is None) == (value is None)
            if value is not None:
                with (tmp_path / "copy").open("wb") as copy, file:
                    shutil.copyfileobj(file, copy, 10_000)
                assert (tmp_path / "copy").read_bytes() == value
        for string, file in ((x, found[2]), (c, found[4])):
            assert (None if file is None else file.text().read()) == string
    assert number == ROWS - 1


def test_lazy_objects_can_be_read_in_any_order_and_seeked(conn: ifx.Connection, table: str) -> None:
    rows = lazily(conn, f"SELECT id, y, b FROM {table} WHERE id >= 20 AND id < 40 ORDER BY id").fetchall()
    random.Random(2).shuffle(rows)
    for number, y, b in rows:
        for file, value in ((y, row(number)[1]), (b, row(number)[3])):
            if value is not None:
                assert file.read(100) == value[:100]
                assert file.seek(50) == 50
                assert file.tell() == 50
                assert file.read() == value[50:]
                assert file.seek(-1 if value else 0, io.SEEK_END) == max(len(value) - 1, 0)
                assert file.read() == value[-1:]


def test_lazy_byte_values_end_with_their_result_and_blobs_do_not(conn: ifx.Connection, table: str) -> None:
    cursor = lazily(conn, f"SELECT y, b FROM {table} WHERE id IN (12, 17) ORDER BY id")
    (early, film), (late, other) = cursor.fetchall()
    assert early.read(3) == content(12)[:3]
    cursor.execute(f"SELECT y FROM {table} WHERE id = 0")
    assert early.read() == content(12)[3:]
    assert film.read() == content(13)
    with pytest.raises(ifx.InterfaceError, match="before the cursor's next execute"):
        late.read()
    cursor.close()
    assert other.read() == content(18)


def test_lazy_has_no_place_in_arrow(conn: ifx.Connection, table: str) -> None:
    with pytest.raises(ifx.InterfaceError, match=r"cursor\.lobs"):
        conn.query(f"SELECT b FROM {table}", lobs="lazy")  # type: ignore[arg-type]
    cursor = lazily(conn, f"SELECT b FROM {table}")
    for fetch in (cursor.fetch_arrow, cursor.fetch_arrow_table, cursor.fetch_record_batch):
        with pytest.raises(ifx.NotSupportedError, match='"inline"'):
            fetch()
    without = lazily(conn, f"SELECT id FROM {table} WHERE id = 4")
    assert without.fetch_arrow_table().to_pylist() == [{"id": 4}]


def test_client_files_in_sql(conn: ifx.Connection) -> None:
    conn.execute("CREATE TABLE client_files_t (id INT, b BLOB, c CLOB, sentinel INT)")
    try:
        sql = "INSERT INTO client_files_t VALUES (1, filetoblob('in', 'client'), filetoclob('in2', 'client'), 12345)"
        with pytest.raises(ifx.NotSupportedError, match="client_files"):
            conn.execute(sql)
        made: dict[str, bytes] = {}
        with conn.client_files({"in": b"film" * 10_000, "in2": io.BytesIO(b"story"), "out": made}):
            conn.execute(sql)
            names = conn.read_arrow("SELECT lotofile(b, 'out', 'client') AS n, sentinel FROM client_files_t")
        assert rows_of(conn.read_arrow("SELECT * FROM client_files_t")) == [
            (1, b"film" * 10_000, "story", 12345)
        ]
        assert made == {names["n"][0].as_py(): b"film" * 10_000}
        assert names["n"][0].as_py().startswith("out")
        with (
            conn.client_files({"other": b""}),
            pytest.raises(ifx.OperationalError, match="no such name was registered"),
        ):
            conn.execute(sql)
        assert not conn.closed
        assert conn.read_arrow("SELECT COUNT(*) AS n FROM client_files_t")["n"].to_pylist() == [1]
        conn.commit()
    finally:
        conn.execute("DROP TABLE client_files_t")
