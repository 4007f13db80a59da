"""Helpers for unloads: names of numbered files, their hashes, and how rows are read."""

from __future__ import annotations

import hashlib
import io
from typing import IO, Any, Literal

from ..connection import Connection
from ..result import Result
from . import output
from .files import open_input

BATCH_BYTES = 8 << 20  # bytes of Arrow data; a row group of Parquet


def numbered_path(path: str, number: int) -> str:
    """Return the name of one of several files, with its number before the suffixes."""
    directory, slash, name = path.rpartition("/")
    stem, dot, suffixes = name.partition(".")
    return f"{directory}{slash}{stem}-{number:05d}{dot}{suffixes}"


def read(connection: Connection, sql: str, values: Any, kind: str) -> Result:
    """Run a query with the options for a file format. No value is rounded."""
    nested: Literal["arrow", "text"] = "arrow" if kind in output.NESTED else "text"
    return connection.query(sql, values, batch_bytes=BATCH_BYTES, floating_decimals="string", nested=nested)


class HashingFile(io.RawIOBase):
    """A file that hashes what is written to it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._hash = hashlib.sha256()
        self.size = 0

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._hash.update(data)
        written = self._file.write(data)
        self.size += written
        return written

    def digest(self) -> str:
        """Return the sha256 of all that was written, in hexadecimal."""
        return self._hash.hexdigest()


def sha256_of(path: str) -> str:
    """Return the sha256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with open_input(path) as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
