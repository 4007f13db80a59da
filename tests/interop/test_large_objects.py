"""BYTE, TEXT, BLOB and CLOB, written by each of the clients and read by each of the others.

Every way of writing and reading uses other messages: descriptors and pieces (SQLI section 14), the fast path with
SQ_LODATA (JDBC section 11), files of the client (SQLI section 15).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from .jdbc.driver import Jdbc
from .values import UTF8, sentinel

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = pytest.mark.reference_client

ConnectJdbc = Callable[..., Jdbc]
ConnectPeer = Callable[[str], Any]
ConnectOurs = Callable[[str], "Connection"]
NewTable = Callable[[str, str], str]
Rows = list[tuple[int, "bytes | None", int]]

SIZES = (0, 1, 2, 255, 256, 1023, 1024, 1025, 31999, 32000, 32001, 100_001)
TYPES = ("BYTE", "TEXT", "BLOB", "CLOB")
FIELDS = "id INTEGER, v {}, tail INTEGER"


def binary(size: int) -> bytes:
    return bytes((k * 7 + k // 251) & 0xFF for k in range(size))


def text(size: int) -> bytes:
    """Return UTF-8 of about this many bytes, with characters of one to three bytes."""
    return ("aé€ z" * (size // 8 + 1)).encode()[:size].decode("utf-8", "ignore").encode()


def is_text(kind: str) -> bool:
    return kind in ("TEXT", "CLOB")


def rows_of(kind: str) -> Rows:
    contents: list[bytes | None] = [(text if is_text(kind) else binary)(size) for size in SIZES]
    return [(n, v, sentinel(n)) for n, v in enumerate([*contents, None])]


# ---- writers ---------------------------------------------------------------------------------------------------


def by_jdbc(jdbc: Jdbc, kind: str, table: str, rows: Rows, setter: str = "", batch: bool = False) -> None:
    def given(value: bytes | None) -> str | None:
        if value is None:
            return None
        return value.decode() if setter == "String" else value.hex()

    setter = setter or ("String" if is_text(kind) else "Bytes")
    texts = [[str(n), given(v), str(tail)] for n, v, tail in rows]
    sql = f"INSERT INTO {table} VALUES (?, ?, ?)"
    assert jdbc.insert(sql, ("Int", setter, "Int"), texts, batch=batch) == [1] * len(rows)


def by_peer(peer: Any, kind: str, table: str, rows: Rows) -> None:
    cursor = peer.cursor()
    for n, value, tail in rows:
        if kind in ("BYTE", "TEXT") or value is None:
            cursor.execute(f"INSERT INTO {table} VALUES (?, ?, ?)", (n, value, tail))
        else:
            sql = f"INSERT INTO {table} VALUES (?, BLOB_PLACEHOLDER, ?)"
            cursor.write_blob_column(sql, value, (n, tail), clob=kind == "CLOB")


def by_ours(ours: Connection, kind: str, table: str, rows: Rows) -> None:
    values = [
        (n, value.decode() if is_text(kind) and value is not None else value, tail) for n, value, tail in rows
    ]
    ours.cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", values)


# ---- readers ---------------------------------------------------------------------------------------------------


def with_jdbc(jdbc: Jdbc, table: str, getter: str = "Bytes") -> Rows:
    _, rows = jdbc.query(f"SELECT id, v, tail FROM {table} ORDER BY id", ("Int", getter, "Int"))
    return [(int(n or ""), None if v is None else bytes.fromhex(v), int(tail or "")) for n, v, tail in rows]


def with_peer(peer: Any, kind: str, table: str, keys: Sequence[int]) -> Rows:
    cursor = peer.cursor()
    if kind in ("BYTE", "TEXT"):
        cursor.execute(f"SELECT id, v, tail FROM {table} ORDER BY id")
        # It decodes TEXT as Latin-1, whatever the locale. The bytes are those that the server sent.
        return [
            (n, v.encode(peer.encoding) if isinstance(v, str) else v, tail)
            for n, v, tail in cursor.fetchall()
        ]
    found = []
    for key in keys:
        value = cursor.read_blob_column(f"SELECT v FROM {table} WHERE id = ?", (key,))
        cursor.execute(f"SELECT tail FROM {table} WHERE id = ?", (key,))
        found.append((key, value, cursor.fetchone()[0]))
    return found


def with_ours(ours: Connection, table: str) -> Rows:
    found = ours.read_arrow(f"SELECT id, v, tail FROM {table} ORDER BY id").to_pylist()
    return [
        (row["id"], row["v"].encode() if isinstance(row["v"], str) else row["v"], row["tail"])
        for row in found
    ]


# ---- each writer with each reader ------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("batch", [False, True])
def test_what_jdbc_writes_all_read(
    kind: str,
    batch: bool,
    jdbc: ConnectJdbc,
    kept_peer: ConnectPeer,
    kept_ours: ConnectOurs,
    new_table: NewTable,
) -> None:
    table, rows = new_table(UTF8, FIELDS.format(kind)), rows_of(kind)
    other = jdbc(UTF8)
    by_jdbc(other, kind, table, rows, batch=batch)
    assert with_jdbc(other, table) == rows
    assert with_peer(kept_peer(UTF8), kind, table, [n for n, _, _ in rows]) == rows
    assert with_ours(kept_ours(UTF8), table) == rows


@pytest.mark.parametrize("kind", TYPES)
def test_what_informix_driver_writes_all_read(
    kind: str, jdbc: ConnectJdbc, kept_peer: ConnectPeer, kept_ours: ConnectOurs, new_table: NewTable
) -> None:
    table, rows = new_table(UTF8, FIELDS.format(kind)), rows_of(kind)
    other = kept_peer(UTF8)
    by_peer(other, kind, table, rows)
    assert with_peer(other, kind, table, [n for n, _, _ in rows]) == rows
    assert with_jdbc(jdbc(UTF8), table) == rows
    assert with_ours(kept_ours(UTF8), table) == rows


@pytest.mark.parametrize("kind", TYPES)
def test_what_we_write_all_read(
    kind: str, jdbc: ConnectJdbc, kept_peer: ConnectPeer, kept_ours: ConnectOurs, new_table: NewTable
) -> None:
    table, rows = new_table(UTF8, FIELDS.format(kind)), rows_of(kind)
    by_ours(kept_ours(UTF8), kind, table, rows)
    assert with_jdbc(jdbc(UTF8), table) == rows
    assert with_peer(kept_peer(UTF8), kind, table, [n for n, _, _ in rows]) == rows
    assert with_ours(kept_ours(UTF8), table) == rows


@pytest.mark.parametrize("kind", ["BYTE", "BLOB"])
@pytest.mark.parametrize("setter", ["BinaryStream", "OpenStream"])
def test_jdbc_streams_both_ways(
    kind: str,
    setter: str,
    jdbc: ConnectJdbc,
    kept_ours: ConnectOurs,
    new_table: NewTable,
    jdbc_release: str,
) -> None:
    if jdbc_release.startswith("4.10.") and (setter, kind) == ("OpenStream", "BYTE"):
        pytest.skip("4.10 binds no stream without a length to BYTE")
    table, rows = new_table(UTF8, FIELDS.format(kind)), rows_of(kind)
    other = jdbc(UTF8)
    by_jdbc(other, kind, table, rows, setter)
    assert with_jdbc(other, table, "BinaryStream") == rows
    if kind == "BLOB":
        assert with_jdbc(other, table, "BlobTwice") == rows
    assert with_ours(kept_ours(UTF8), table) == rows


def test_informix_driver_binds_contents_in_a_pipelined_executemany(
    kept_peer: ConnectPeer, jdbc: ConnectJdbc, new_table: NewTable
) -> None:
    """All descriptors and pieces are written before the first reply is read."""
    table = new_table(UTF8, FIELDS.format("BYTE"))
    rows: Rows = [(n, None if n % 7 == 6 else binary(n * 11), sentinel(n)) for n in range(300)]
    kept_peer(UTF8).cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?)", rows)
    assert with_jdbc(jdbc(UTF8), table) == rows


def test_all_four_types_side_by_side_stay_aligned(
    jdbc: ConnectJdbc, kept_ours: ConnectOurs, new_table: NewTable
) -> None:
    table = new_table(UTF8, "id INTEGER, a BYTE, b TEXT, s1 INTEGER, c BLOB, d CLOB, s2 INTEGER")
    rows: list[tuple[object, ...]] = []
    for n in range(8):
        a, b, c, d = (None if n >> k & 1 else binary(n * 1000 + k) for k in range(4))
        named = [None if v is None else text(len(v)).decode() for v in (b, d)]
        rows.append((n, a, named[0], sentinel(n), c, named[1], -n))
    kept_ours(UTF8).cursor().executemany(f"INSERT INTO {table} VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
    read = kept_ours(UTF8).read_arrow(f"SELECT * FROM {table} ORDER BY id").to_pylist()
    assert [tuple(row.values()) for row in read] == rows
    getters = ("Int", "Bytes", "Bytes", "Int", "Bytes", "Bytes", "Int")
    _, answers = jdbc(UTF8).query(f"SELECT * FROM {table} ORDER BY id", getters)
    expected = [
        [
            None
            if v is None
            else str(v)
            if isinstance(v, int)
            else (v.encode() if isinstance(v, str) else v).hex()  # type: ignore[attr-defined]
            for v in row
        ]
        for row in rows
    ]
    assert answers == expected


def test_what_is_written_in_a_transaction_goes_with_its_rollback(
    jdbc: ConnectJdbc, kept_ours: ConnectOurs, new_table: NewTable
) -> None:
    """JDBC creates the object before the row that refers to it (JDBC section 11)."""
    table = new_table(UTF8, FIELDS.format("BLOB"))
    other = jdbc(UTF8)
    by_jdbc(other, "BLOB", table, [(1, b"kept", 1)])
    other.ask("autocommit", on=False)
    by_jdbc(other, "BLOB", table, [(2, b"gone", 2)])
    assert with_jdbc(other, table) == [(1, b"kept", 1), (2, b"gone", 2)]
    other.ask("rollback")
    other.ask("autocommit", on=True)
    assert with_jdbc(other, table) == [(1, b"kept", 1)]
    assert with_ours(kept_ours(UTF8), table) == [(1, b"kept", 1)]
