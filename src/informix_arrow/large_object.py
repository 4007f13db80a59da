"""LargeObject: one BYTE, TEXT, BLOB or CLOB value as a readable file."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from typing import Any, cast

from .core.connection_protocol import ConnectionProtocol
from .operations.fetch import ServerCursor
from .operations.large_objects import read_blob
from .operations.object_streams import discard_content
from .operations.result_description import ObjectColumn
from .operations.smart_objects import read_object
from .wire.errors import DataError, InterfaceError

_READ_AHEAD = 256 << 10  # bytes requested if fewer are wanted
_SPOOL = 1 << 20  # bytes of a BYTE or TEXT value kept in memory; the rest is in a temporary file


def open_objects(
    connection: ConnectionProtocol,
    cursor: ServerCursor,
    column: ObjectColumn,
    handles: Sequence[bytes | None],
    result: object = None,
) -> list[LargeObject | None]:
    """Return files for the values of a column of a result with ``lobs = "lazy"``; they keep ``result`` alive."""
    return [
        None if handle is None else LargeObject(connection, cursor, column, handle, result)
        for handle in handles
    ]


class LargeObject(io.BufferedIOBase):
    """One large object of a row, read on demand. Created by cursors with ``lobs = "lazy"``.

    A binary file object: ``read``, ``readinto``, ``seek``, ``tell``, ``close``, context manager. :meth:`text`
    returns a TEXT or CLOB as a text file.

    BLOB and CLOB are streamed: every read requests the wanted bytes from the server (256 KiB at least), opens
    the object for that and closes it again, so nothing stays open on the server. They can be read as long as
    the object exists and the connection is open, also after the cursor has moved on.

    BYTE and TEXT are fetched completely on the first read, into a temporary file beyond 1 MiB. The first read must
    happen while the cursor is on the result that they belong to, and before COMMIT or ROLLBACK. A first read after
    that raises ``InterfaceError``.

    Errors are those of the connection. After an error you can read the object again.
    """

    def __init__(
        self,
        connection: ConnectionProtocol,
        cursor: ServerCursor,
        column: ObjectColumn,
        handle: bytes,
        result: object = None,
    ) -> None:
        self._result = result  # kept alive: its end would close the server's cursor
        self._connection = connection
        self._cursor = cursor
        self._column = column
        self._handle = handle
        self._position = 0
        self._read_ahead = b""  # bytes of a BLOB or CLOB from _read_ahead_start on
        self._read_ahead_start = 0
        self._spool: Any = None  # of a BYTE or TEXT, once it was read

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Read ``size`` bytes, or fewer at the end. If ``size`` is negative or None, read all remaining bytes."""
        self._require_open()
        count = None if size is None or size < 0 else size
        if not self._column.smart:
            return bytes(self._spooled_file().read(-1 if count is None else count))
        data = self._read_smart(count)
        self._position += len(data)
        return data

    def read1(self, size: int = -1, /) -> bytes:
        """Read at most ``size`` bytes with at most one request. If ``size`` is negative, read at most 256 KiB."""
        return self.read(_READ_AHEAD if size < 0 else min(size, _READ_AHEAD))

    def readinto(self, buffer: Any, /) -> int:
        """Read into a writable buffer. Return the number of bytes read. The buffer is filled except at the end."""
        with memoryview(buffer).cast("B") as view:
            data = self.read(len(view))
            view[: len(data)] = data
            return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        """Set the position, in bytes, and return it.

        From the end (``io.SEEK_END``) requires reading a BLOB or CLOB to its end, because the server does not
        report its size.
        """
        self._require_open()
        if not self._column.smart:
            return int(self._spooled_file().seek(offset, whence))
        if whence == io.SEEK_CUR:
            offset += self._position
        elif whence == io.SEEK_END:
            offset += self._size()
        elif whence != io.SEEK_SET:
            raise ValueError(f"whence must be 0, 1 or 2, got {whence!r}.")
        if offset < 0:
            raise ValueError(f"The position {offset} is before the beginning.")
        self._position = offset
        return offset

    def tell(self) -> int:
        """Return the position, in bytes from the beginning."""
        self._require_open()
        if not self._column.smart:
            return 0 if self._spool is None else int(self._spool.tell())
        return self._position

    def text(self) -> io.TextIOWrapper:
        """Return this TEXT or CLOB as a text file, from its position; line ends are kept.

        Bytes that are not valid text of the database's code set raise ``UnicodeDecodeError``, or become U+FFFD
        if the cursor's ``encoding_errors`` is ``"replace"``. Raises ``DataError`` for BYTE and BLOB.
        """
        self._require_open()
        if not self._column.text:
            raise DataError(f"Column {self._column.name!r} holds bytes, not text.", column=self._column.name)
        errors = "replace" if self._cursor.shape.types.encoding_errors == "replace" else "strict"
        return io.TextIOWrapper(
            cast("io.BufferedReader", self), encoding=self._cursor.shape.encoding, errors=errors, newline=""
        )

    def close(self) -> None:
        """Drop the data that was read. Later use raises ``ValueError``, as with every file."""
        if not self.closed:
            if self._spool is not None:
                self._spool.close()
            self._spool, self._result, self._read_ahead = None, None, b""
        super().close()

    def _require_open(self) -> None:
        if self.closed:
            raise ValueError("The large object is closed.")

    def _read_smart(self, count: int | None) -> bytes:
        """Return ``wanted`` bytes from the position on, from the bytes read ahead as far as possible."""
        at = self._position - self._read_ahead_start
        have = self._read_ahead[at:] if 0 <= at <= len(self._read_ahead) else b""
        if count is not None and len(have) >= count:
            return have[:count]
        start = self._position + len(have)
        limit = None if count is None else max(count - len(have), _READ_AHEAD)
        data = bytearray()
        self._run(start, limit, data.extend)
        if count is None:
            self._read_ahead, self._read_ahead_start = b"", 0
            return have + bytes(data)
        split = count - len(have)
        self._read_ahead, self._read_ahead_start = bytes(data[split:]), start + min(split, len(data))
        return have + bytes(memoryview(data)[:split])

    def _size(self) -> int:
        """Return the object's size, by reading to its end; from the beginning if the position is after that."""
        left = self._run(self._position, None, discard_content)
        return self._position + left if left else self._run(0, None, discard_content)

    def _run(self, offset: int, limit: int | None, sink: Any) -> int:
        connection = self._connection
        return connection._run(
            read_object(connection._session, self._handle, self._column.text, offset, limit, sink)
        )

    def _spooled_file(self) -> Any:
        """Return the temporary file with the whole BYTE or TEXT value."""
        if self._spool is None:
            cursor, connection = self._cursor, self._connection
            if cursor.released:
                raise InterfaceError(
                    f"The value of column {self._column.name!r} can no longer be fetched. A BYTE or TEXT "
                    "must be read before the cursor's next execute() or close()."
                )
            spool = tempfile.SpooledTemporaryFile(_SPOOL)  # noqa: SIM115 - closed by close()
            try:
                connection._run(
                    read_blob(connection._session, cursor.statement_id, self._handle, spool.write)
                )
            except BaseException:
                spool.close()
                raise
            spool.seek(0)
            self._spool = spool
        return self._spool

    def __repr__(self) -> str:
        kind = (
            ("CLOB" if self._column.text else "BLOB")
            if self._column.smart
            else ("TEXT" if self._column.text else "BYTE")
        )
        return f"<informix_arrow.LargeObject {kind} of column {self._column.name!r}>"
