"""Contents of BLOB and CLOB columns. They are in files next to the .unl, which has ``start,length,file`` in
hexadecimal."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ..wire.errors import DataError, InterfaceError

_POINTER = re.compile(r"([0-9A-Fa-f]{1,16}),([0-9A-Fa-f]{1,16}),(.*)", re.DOTALL)
_MAX_FILE_BYTES = (2 << 30) - 1  # maximum size of one file


def parse_pointer(text: str) -> tuple[int, int | None, str] | None:
    """Parse a field into start, length and file. A length of None is the whole file. None for NULL (``0,0,0``)."""
    match = _POINTER.fullmatch(text)
    if match is None:
        return 0, None, text
    start, length, name = int(match[1], 16), int(match[2], 16), match[3]
    return None if (start, length, name) == (0, 0, "0") else (start, length, name)


class ObjectFiles:
    """Reads contents from files.

    Only files in ``directory`` are opened, because a .unl file may come from an untrusted source. If a path leads
    elsewhere, its last part is looked up in ``directory``, because directories get moved.
    """

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._open: tuple[str, BinaryIO] | None = None

    def size(self, text: str) -> int:
        """Return the size of a content in bytes, without reading it."""
        pointer = parse_pointer(text)
        if pointer is None:
            return 0
        if pointer[1] is not None:
            return pointer[1]
        path = self._find(pointer[2])
        return path.stat().st_size

    def content(self, text: str) -> bytes | None:
        """Return the bytes that a field points to. Raises ``DataError`` for a file that is missing or too short."""
        pointer = parse_pointer(text)
        if pointer is None:
            return None
        start, length, name = pointer
        if length == 0:
            return b""
        file = self._file(name)
        if length is None:
            file.seek(0)
            return file.read()
        end = file.seek(0, os.SEEK_END)
        if end < start + length:
            raise DataError(
                f"The content is {length} bytes from position {start} of {name!r}, which has only {end} bytes. "
                "The file is truncated."
            )
        file.seek(start)
        return file.read(length)

    def close(self) -> None:
        """Close the open file."""
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def _file(self, name: str) -> BinaryIO:
        if self._open is None or self._open[0] != name:
            path = self._find(name)
            self.close()
            self._open = name, path.open("rb")
        return self._open[1]

    def _find(self, name: str) -> Path:
        if self._directory is None:
            raise InterfaceError(
                "The file has BLOB or CLOB columns, whose contents are in separate files. Name their "
                "directory with lob_directory=."
            )
        root = self._directory.resolve()
        for path in (root / name, root / re.split(r"[/\\]", name)[-1]):
            try:
                resolved = path.resolve()
                if resolved.is_file() and resolved.is_relative_to(root):
                    return resolved
            except (OSError, ValueError):  # not a valid file name
                continue
        raise DataError(
            f"The content is in the file {name!r}, which is not in {self._directory}. Put it there, or name "
            "its directory with lob_directory=."
        )


class ObjectWriter:
    """Writes the contents of one column to files ``blob<hexid>`` or ``clob<hexid>``.

    A new file begins where one would exceed 2 GiB. The files get their names when all is written (:meth:`finish`).
    """

    def __init__(self, directory: Path, prefix: str, source: str, number: int) -> None:
        self._directory = directory
        self._prefix = prefix
        self._seed = f"{source}\0{number}"
        self._files: list[Path] = []
        self._file: BinaryIO | None = None
        self._size = 0

    def put(self, content: bytes) -> str:
        """Write a content and return the text of its field."""
        if self._file is None or (self._size and self._size + len(content) > _MAX_FILE_BYTES):
            self._next()
        assert self._file is not None
        start = self._size
        self._file.write(content)
        self._size += len(content)
        return f"{start:x},{len(content):x},{self._files[-1].name}"

    def finish(self) -> None:
        """Close the files and give them their names."""
        if self._file is not None:
            self._file.close()
            self._file = None
        for path in self._files:
            os.replace(_temporary_path(path), path)
        self._files.clear()

    def abandon(self) -> None:
        """Remove the files written so far."""
        if self._file is not None:
            with suppress(OSError):  # closing flushes, which fails on a full disk
                self._file.close()
            self._file = None
        for path in self._files:
            _temporary_path(path).unlink(missing_ok=True)
        self._files.clear()

    def _next(self) -> None:
        if self._file is not None:
            self._file.close()
        # The name depends on file, column and number only, so that writing the same file again replaces it. For a
        # file object the seed is unique, because several of them may be parts of one file.
        digest = hashlib.blake2s(f"{self._seed}\0{len(self._files)}".encode(), digest_size=8).hexdigest()
        path = self._directory / f"{self._prefix}{digest}"
        self._file = _temporary_path(path).open("wb")
        self._files.append(path)
        self._size = 0


def directory_of(path: object) -> Path | None:
    """Return the directory for a file's large objects. None for a file object."""
    return Path(path).absolute().parent if isinstance(path, str | os.PathLike) else None


def _temporary_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")
