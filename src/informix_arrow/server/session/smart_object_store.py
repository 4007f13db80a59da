"""Smart large objects: the contents of BLOB and CLOB columns, stored separately from the rows that refer to them.

A column holds a locator (types/locators.py). The bytes are rows of a hidden table of the same database, so that
creating and writing them is part of the session's transaction and is undone by its rollback. Copying a locator shares
the object: a write through one is visible through all.

Objects that a table's rows refer to are deleted when the table is dropped, unless another table refers to them, too
(ddl/dropped_objects.py). Those whose row was refused are deleted with the session that created them
(unreferenced_objects.py). An object whose row was updated or deleted before that stays, and uses space, until its
database is dropped.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from typing import Protocol

from ..catalog.stored_objects import MARKER_START, LobSql
from ..errors import SqlError
from ..types.locators import (
    BAD_LOCATOR,
    Kind,
    bad_locator,
    database_tag,
    locator_number,
    make_locator,
    tag_of,
)
from .current_database import CurrentDatabase
from .numbers import ObjectNumbers
from .transaction import SessionTransaction

CHUNK = 1 << 20
"""Largest number of bytes in one row of the hidden table."""

_HOLE = 1 << 30  # largest number of zero bytes that one row represents


class ClientFileAccess(Protocol):
    """Access to the client's files by means of the protocol (SQLI section 15, SQ_FILE)."""

    def read(self, name: str) -> Iterator[bytes]:
        """Return the contents of a file in chunks of any size."""

    def write(self, name: str, chunks: Iterable[bytes]) -> str:
        """Write a file; return its final name."""


class SmartObjectStore:
    """The large objects that a session can reach. Each call is atomic; outside a transaction it is committed.

    Attributes
    ----------
    created_objects
        The numbers of the objects that `create` has created, by database and kind.
    """

    def __init__(
        self, transaction: SessionTransaction, database: CurrentDatabase, numbers: ObjectNumbers
    ) -> None:
        self._transaction = transaction
        self._database = database
        self._numbers = numbers
        self.created_objects: dict[tuple[str, Kind], array[int]] = {}

    # ---- addressing -------------------------------------------------------------------------
    def _resolve_locator(self, locator: bytes) -> tuple[LobSql, int]:
        """Return the SQL for the objects of a locator's database, and its id; -9810 for a foreign or malformed
        locator.
        """
        number, tag = locator_number(locator), tag_of(locator)
        names = [self._database.require(), *self._database.databases.names()]
        for name in names:
            if database_tag(name) == tag:
                return LobSql(name), number
        raise bad_locator("a locator of a database that is not here")

    def _require_object(self, locator: bytes) -> tuple[LobSql, int]:
        sql, number = self._resolve_locator(locator)
        if not self._object_exists(sql, number):
            raise bad_locator(f"no object {number}")
        return sql, number

    def _object_exists(self, sql: LobSql, number: int) -> bool:
        return bool(self._transaction.fetch_rows(sql.exists, [number]))

    # ---- reading ----------------------------------------------------------------------------
    def exists(self, locator: bytes) -> bool:
        """Return whether the locator refers to an object; False for an invalid locator."""
        try:
            return self._object_exists(*self._resolve_locator(locator))
        except SqlError as e:
            if e.sqlcode != BAD_LOCATOR:
                raise
            return False

    def require(self, locator: bytes) -> None:
        """Raise -9810 for a locator without an object."""
        if not self.exists(locator):
            raise SqlError(BAD_LOCATOR, detail="No smart large object has this locator.")

    def size(self, locator: bytes) -> int:
        """Return the size of the object in bytes. -9810 if there is none."""
        sql, number = self._resolve_locator(locator)
        ((size,),) = self._transaction.fetch_rows(sql.size, [number])
        if size is None:
            raise bad_locator(f"no object {number}")
        return int(size)

    def read(self, locator: bytes, offset: int, count: int) -> bytes:
        """Return at most `count` bytes from `offset`; fewer at the end, none after it. -9810 if there is no object."""
        return self.read_with_size(locator, offset, count)[1]

    def read_with_size(self, locator: bytes, offset: int, count: int) -> tuple[int, bytes]:
        """Return the object's size and the bytes of `read` with one statement.

        Each costs DuckDB about half a millisecond.
        """
        sql, number = self._resolve_locator(locator)
        if offset < 0 or count < 0:
            raise SqlError(-9812, 0, 0, "", f"{count} bytes at offset {offset} cannot be read.")
        end = offset + count
        rows = self._transaction.fetch_rows(sql.select_range, [end, offset, number])
        if not rows:
            raise bad_locator(f"no object {number}")
        size = max(0, *(start + length for start, length, _ in rows))
        parts = sorted(row for row in rows if 0 <= row[0] < end and row[0] + row[1] > offset)
        return size, b"".join(
            [_slice(data, length, offset - start, end - start) for start, length, data in parts]
        )

    def chunks(self, locator: bytes) -> Iterator[bytes]:
        """Return the whole object in chunks of at most 1 MiB."""
        at, size = 0, self.size(locator)
        while at < size:
            data = self.read(locator, at, CHUNK)
            if not data:
                raise bad_locator("the object became shorter while it was read")
            yield data
            at += len(data)

    # ---- writing ----------------------------------------------------------------------------
    def create(self, kind: Kind) -> bytes:
        """Create an empty object in the open database and return its locator."""
        transaction, database = self._transaction, self._database.require()
        number = self._numbers.new_lob(database)
        sql = LobSql(database)
        transaction.write(lambda: transaction.recorder.execute_cached(sql.create, [number]))
        self.created_objects.setdefault((database, kind), array("q")).append(number)
        return make_locator(kind, number, database)

    def write(self, locator: bytes, offset: int, data: bytes) -> int:
        """Write `data` at `offset` and return the number of bytes written.

        Bytes between the old end and `offset` become zero.
        """
        if offset < 0:
            raise SqlError(-9812, 0, 0, "", f"The offset {offset} is not valid.")
        if not data:
            self._require_object(locator)
        else:
            sql, number = self._resolve_locator(locator)
            self._transaction.write(lambda: self._write(sql, number, locator, offset, bytes(data)))
        return len(data)

    def _write(self, sql: LobSql, number: int, locator: bytes, offset: int, data: bytes) -> None:
        size = self.size(locator)
        if size < offset:
            self._insert_hole(sql, number, size, offset)
        if offset < size:
            self._delete_range(sql, number, offset, offset + len(data))
        for at in range(0, len(data), CHUNK):
            self._insert(sql, number, offset + at, data[at : at + CHUNK])

    def _insert(self, sql: LobSql, number: int, start: int, data: bytes) -> None:
        self._transaction.recorder.execute_cached(sql.insert(1), [number, start, len(data), data])

    def _insert_hole(self, sql: LobSql, number: int, start: int, end: int) -> None:
        """Insert rows for zero bytes: a client may seek to 4 TB and write one byte there."""
        self._transaction.recorder.execute(sql.insert_hole, [number, _HOLE, end, start, end, _HOLE])

    def _delete_range(self, sql: LobSql, number: int, first: int, end: int) -> None:
        """Remove the bytes from `first` to `end`. The rows' bytes before and after them are kept."""
        writer = self._transaction.recorder
        rows = writer.execute(sql.select_overlapping, [number, end, first]).fetchall()
        writer.execute(sql.delete_overlapping, [number, end, first])
        for start, size, data in rows:
            for low, high in ((start, min(first, start + size)), (max(end, start), start + size)):
                if low < high and data is None:
                    self._insert_hole(sql, number, low, high)
                elif low < high:
                    self._insert(sql, number, low, bytes(data)[low - start : high - start])

    def load(self, kind: Kind, chunks: Iterable[bytes]) -> bytes:
        """Create an object of these bytes and return its locator: `create` and `append` with one statement for each
        MiB.
        """
        transaction, database = self._transaction, self._database.require()
        number = self._numbers.new_lob(database)
        sql = LobSql(database)
        at, has_rows = 0, False

        def store(data: bytes) -> None:
            nonlocal at, has_rows
            rows: list[object] = [] if has_rows else [number, MARKER_START, 0, None]
            rows += [number, at, len(data), data] if data else []
            transaction.write(lambda: transaction.recorder.execute_cached(sql.insert(len(rows) // 4), rows))
            at, has_rows = at + len(data), True

        for piece in _pieces(chunks):
            store(piece)
        if not has_rows:
            store(b"")
        return make_locator(kind, number, database)

    def append(self, locator: bytes, chunks: Iterable[bytes]) -> int:
        """Append chunks of any size in rows of 1 MiB; return the number of bytes."""
        at = start = self.size(locator)
        for piece in _pieces(chunks):
            at += self.write(locator, at, piece)
        return at - start

    def truncate(self, locator: bytes, size: int) -> None:
        """Make the object `size` bytes long: truncated, or filled with zeros. -9810 if there is no object."""
        sql, number = self._require_object(locator)
        if size < 0:
            raise SqlError(-9812, 0, 0, "", f"The size {size} is not valid.")
        current = self.size(locator)
        if size < current:
            self._transaction.write(lambda: self._delete_range(sql, number, size, current))
        elif size > current:
            self.write(locator, size - 1, b"\0")


def _pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Return the bytes of chunks of any size in pieces of 1 MiB; only the last one is shorter."""
    buffer = bytearray()
    for chunk in chunks:
        buffer += chunk
        while len(buffer) >= CHUNK:
            yield bytes(buffer[:CHUNK])
            del buffer[:CHUNK]
    if buffer:
        yield bytes(buffer)


def _slice(data: bytes | None, size: int, first: int, end: int) -> bytes:
    """Return the bytes from `first` to `end` of a row of `size` bytes, as far as it has them."""
    first, end = max(0, first), max(0, min(end, size))
    return bytes(max(0, end - first)) if data is None else bytes(data)[first:end]
