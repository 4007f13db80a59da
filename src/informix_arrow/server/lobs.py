"""Smart large objects: the contents of BLOB and CLOB columns, held apart from the rows that name them.

A column holds a locator of 72 bytes, opaque to clients (TYPES section 13). The bytes themselves are rows of a
hidden table of the same database, so that creating and writing them is part of the session's transaction and is
undone by its rollback. Copying a locator shares the object: a write through one is seen through all. The objects
that a table's rows name go when the table is dropped, unless another names them too (ddl.py). One whose row was
changed or deleted before is found by nobody and stays, taking room, until its database is dropped.

    locator     4 bytes "IFLO", 1 version, 1 kind (1 BLOB, 2 CLOB), 2 zero, 8 object id, 8 database, 48 zero
    hidden row  id, start (offset of its bytes), size, data; each object has one row with start -1; data is NULL
                where a client has left a gap: size zero bytes, of which no room is taken
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Literal, Protocol

from .catalog import Writer, attached, first_row
from .errors import SqlError

if TYPE_CHECKING:
    from .session_state import SessionState

LOCATOR_SIZE = 72
CHUNK = 1 << 20
"""Most bytes in one row of the hidden table."""

Kind = Literal["blob", "clob"]

_HEAD = struct.Struct(">4sBBHQ8s")
_MAGIC = b"IFLO"
_KINDS: dict[Kind, int] = {"blob": 1, "clob": 2}
_BAD_HANDLE = -9810
_MARK = -1
_HOLE = 1 << 30  # most zero bytes that one row stands for


class ClientFiles(Protocol):
    """The client's files, as the conversation reaches them (SQLI section 15, SQ_FILE)."""

    def read(self, name: str) -> Iterator[bytes]:
        """The contents of a file in chunks of any size."""

    def write(self, name: str, chunks: Iterable[bytes]) -> str:
        """Write a file; the name that it got."""


def bad_locator(detail: str) -> SqlError:
    """-9810: a handle that names no large object."""
    return SqlError(_BAD_HANDLE, 0, 0, "", detail)


def _tag(database: str) -> bytes:
    return hashlib.blake2b(database.encode(), digest_size=8).digest()


def make_locator(kind: Kind, number: int, database: str) -> bytes:
    """The locator of an object."""
    return _HEAD.pack(_MAGIC, 1, _KINDS[kind], 0, number, _tag(database)).ljust(LOCATOR_SIZE, b"\0")


def kind_of(locator: bytes) -> Kind:
    """ "blob" or "clob"; -9810 for bytes that were never a locator of this server."""
    if len(locator) != LOCATOR_SIZE or locator[:5] != _MAGIC + b"\x01" or locator[5] not in (1, 2):
        raise bad_locator(f"{len(locator)} bytes that are no locator")
    return "blob" if locator[5] == 1 else "clob"


def locator_number(locator: bytes) -> int:
    """The number of the object in its database; -9810 for bytes that were never a locator."""
    kind_of(locator)
    return int(_HEAD.unpack_from(locator)[4])


def as_locator(value: object, kind: Kind) -> bytes:
    """A locator from raw bytes or 144 hexadecimal digits: -9810 for anything else, -9634 for digits of the other
    kind."""
    if isinstance(value, str):
        try:
            raw = bytes.fromhex(value.strip())
        except ValueError:
            raise bad_locator("no hexadecimal text of a locator") from None
    elif isinstance(value, (bytes, bytearray, memoryview)):
        raw = bytes(value)
    else:
        raise SqlError(-9634, 0, 0, kind, f"a {type(value).__name__} is no {kind.upper()}")
    # JDBC creates the objects of CLOB columns as BLOBs (JDBC section 11): raw, either kind will do.
    if kind_of(raw) != kind and isinstance(value, str):
        raise SqlError(-9634, 0, 0, kind, f"the locator of another kind in place of a {kind.upper()}")
    return raw


class LargeObjects:
    """The large objects that a session can reach. Each call is atomic; outside a transaction it is committed."""

    def __init__(self, session: SessionState) -> None:
        self._session = session

    # ---- addressing -------------------------------------------------------------------------
    def _place(self, locator: bytes) -> tuple[str, int]:
        """Hidden table and id; -9810 for a foreign or malformed locator."""
        kind_of(locator)
        _, _, _, _, number, tag = _HEAD.unpack_from(locator)
        session = self._session
        names = [session.require_database(), *session.engine.databases.names()]
        for name in names:
            if _tag(name) == tag:
                return f"{attached(name)}._ifx.lob_chunks", number
        raise bad_locator("a locator of a database that is not here")

    def _known(self, locator: bytes) -> tuple[str, int]:
        table, number = self._place(locator)
        if not self._marked(table, number):
            raise bad_locator(f"no object {number}")
        return table, number

    def _marked(self, table: str, number: int) -> bool:
        sql = f"SELECT 1 FROM {table} WHERE id = ? AND start = {_MARK}"
        return self._session.read(lambda: first_row(self._session.con, sql, [number])) is not None

    # ---- reading ----------------------------------------------------------------------------
    def exists(self, locator: bytes) -> bool:
        """Whether the locator names an object; False for anything that is no locator."""
        try:
            return self._marked(*self._place(locator))
        except SqlError as e:
            if e.sqlcode != _BAD_HANDLE:
                raise
            return False

    def size(self, locator: bytes) -> int:
        """Bytes of the object. -9810 when there is none."""
        table, number = self._place(locator)
        sql = f"SELECT max(CASE WHEN start = {_MARK} THEN 0 ELSE start + size END) FROM {table} WHERE id = ?"
        row = self._session.read(lambda: first_row(self._session.con, sql, [number]))
        if row is None or row[0] is None:
            raise bad_locator(f"no object {number}")
        return int(row[0])

    def read(self, locator: bytes, offset: int, count: int) -> bytes:
        """At most `count` bytes from `offset`; fewer at the end, none behind it. -9810 without the object."""
        return self.part(locator, offset, count)[1]

    def part(self, locator: bytes, offset: int, count: int) -> tuple[int, bytes]:
        """The object's size and the bytes of `read`, by one statement: each costs DuckDB about a millisecond."""
        table, number = self._place(locator)
        if offset < 0 or count < 0:
            raise SqlError(-9812, 0, 0, "", f"offset {offset}, {count} bytes")
        end = offset + count
        wanted = "start >= 0 AND start < ? AND start + size > ?"
        sql = f"SELECT start, size, {wanted}, CASE WHEN {wanted} THEN data END FROM {table} WHERE id = ?"
        rows = self._session.read(
            lambda: self._session.con.execute(sql, [end, offset, end, offset, number]).fetchall()
        )
        if not rows:
            raise bad_locator(f"no object {number}")
        size = max(0, *(start + length for start, length, _, _ in rows))
        parts = sorted((start, length, data) for start, length, among, data in rows if among)
        return size, b"".join(
            [_slice(data, length, offset - start, end - start) for start, length, data in parts]
        )

    def chunks(self, locator: bytes) -> Iterator[bytes]:
        """The whole object in chunks of at most 1 MiB."""
        at, size = 0, self.size(locator)
        while at < size:
            data = self.read(locator, at, CHUNK)
            if not data:
                raise bad_locator("the object became shorter while it was read")
            yield data
            at += len(data)

    # ---- writing ----------------------------------------------------------------------------
    def create(self, kind: Kind) -> bytes:
        """A new, empty object in the open database; its locator."""
        session = self._session
        database = session.require_database()
        number = session.engine.new_lob(database)
        sql = f"INSERT INTO {attached(database)}._ifx.lob_chunks VALUES (?, {_MARK}, 0, NULL)"
        session.write(lambda: session.writer.execute(sql, [number]))
        return make_locator(kind, number, database)

    def write(self, locator: bytes, offset: int, data: bytes) -> int:
        """Put `data` at `offset`; bytes between the old end and `offset` become zero. The number written."""
        table, number = self._known(locator)
        if offset < 0:
            raise SqlError(-9812, 0, 0, "", f"offset {offset}")
        if data:
            self._session.write(lambda: self._write(table, number, locator, offset, bytes(data)))
        return len(data)

    def _write(self, table: str, number: int, locator: bytes, offset: int, data: bytes) -> None:
        size = self.size(locator)
        if size < offset:
            self._insert_hole(table, number, size, offset)
        if offset < size:
            self._cut_out(table, number, offset, offset + len(data))
        for at in range(0, len(data), CHUNK):
            self._insert(table, number, offset + at, data[at : at + CHUNK])

    def _insert(self, table: str, number: int, start: int, data: bytes) -> None:
        self._session.writer.execute(
            f"INSERT INTO {table} VALUES (?, ?, ?, ?)", [number, start, len(data), data]
        )

    def _insert_hole(self, table: str, number: int, start: int, end: int) -> None:
        """Rows for zero bytes: a client may seek to 4 TB and write one byte there."""
        self._session.writer.execute(
            f"INSERT INTO {table} SELECT ?, s, least(?, ? - s), NULL FROM range(?, ?, ?) holes(s)",
            [number, _HOLE, end, start, end, _HOLE],
        )

    def _cut_out(self, table: str, number: int, first: int, end: int) -> None:
        """Remove the bytes from `first` to `end`, keeping what the rows hold before and behind them."""
        writer = self._session.writer
        where = "id = ? AND start >= 0 AND start < ? AND start + size > ?"
        rows = writer.execute(
            f"SELECT start, size, data FROM {table} WHERE {where}", [number, end, first]
        ).fetchall()
        writer.execute(f"DELETE FROM {table} WHERE {where}", [number, end, first])
        for start, size, data in rows:
            for low, high in ((start, min(first, start + size)), (max(end, start), start + size)):
                if low < high and data is None:
                    self._insert_hole(table, number, low, high)
                elif low < high:
                    self._insert(table, number, low, bytes(data)[low - start : high - start])

    def load(self, kind: Kind, chunks: Iterable[bytes]) -> bytes:
        """A new object of these bytes; its locator. As `create` and `append`, by one statement for each MiB."""
        session = self._session
        database = session.require_database()
        number = session.engine.new_lob(database)
        table = f"{attached(database)}._ifx.lob_chunks"
        at, made = 0, False
        waiting = bytearray()

        def store(data: bytes) -> None:
            nonlocal at, made
            rows: list[object] = [] if made else [number, _MARK, 0, None]
            rows += [number, at, len(data), data] if data else []
            marks = ", ".join(["(?, ?, ?, ?)"] * (len(rows) // 4))
            session.write(lambda: session.writer.execute(f"INSERT INTO {table} VALUES {marks}", rows))
            at, made = at + len(data), True

        for chunk in chunks:
            waiting += chunk
            while len(waiting) >= CHUNK:
                store(bytes(waiting[:CHUNK]))
                del waiting[:CHUNK]
        if waiting or not made:
            store(bytes(waiting))
        return make_locator(kind, number, database)

    def append(self, locator: bytes, chunks: Iterable[bytes]) -> int:
        """Write chunks of any size behind the end, in rows of 1 MiB; the number of bytes."""
        at = start = self.size(locator)
        waiting = bytearray()
        for chunk in chunks:
            waiting += chunk
            while len(waiting) >= CHUNK:
                at += self.write(locator, at, bytes(waiting[:CHUNK]))
                del waiting[:CHUNK]
        at += self.write(locator, at, bytes(waiting))
        return at - start

    def truncate(self, locator: bytes, size: int) -> None:
        """Make the object `size` bytes long: cut, or filled with zeros. -9810 without the object."""
        table, number = self._known(locator)
        if size < 0:
            raise SqlError(-9812, 0, 0, "", f"size {size}")
        now = self.size(locator)
        if size < now:
            self._session.write(lambda: self._cut_out(table, number, size, now))
        elif size > now:
            self.write(locator, size - 1, b"\0")


def _slice(data: bytes | None, size: int, first: int, end: int) -> bytes:
    """The bytes from `first` to `end` of a row of `size` bytes, as far as it has them."""
    first, end = max(0, first), max(0, min(end, size))
    return bytes(max(0, end - first)) if data is None else bytes(data)[first:end]


def max_number(con: Writer, database: str) -> int:
    """The highest object id that a database holds."""
    row = first_row(con, f"SELECT coalesce(max(id), 0) FROM {attached(database)}._ifx.lob_chunks")
    return int(row[0]) if row else 0
