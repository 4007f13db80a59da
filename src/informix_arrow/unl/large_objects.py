"""Contents of BLOB and CLOB columns, which lie in files beside the .unl: ``start,length,file`` in hexadecimal."""

from __future__ import annotations

import hashlib
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from ..wire.errors import DataError, InterfaceError

_POINTER = re.compile(r"([0-9A-Fa-f]{1,16}),([0-9A-Fa-f]{1,16}),(.*)", re.DOTALL)
_MAX_FILE_BYTES = (2 << 30) - 1  # bytes of one file


def parse_pointer(text: str) -> tuple[int, int | None, str] | None:
    """Start, length and file of a field; a length of None is the whole file; None for a NULL (``0,0,0``)."""
    found = _POINTER.fullmatch(text)
    if found is None:
        return 0, None, text
    start, length, name = int(found[1], 16), int(found[2], 16), found[3]
    return None if (start, length, name) == (0, 0, "0") else (start, length, name)


class ObjectFiles:
    """Reads contents. Only files in ``directory`` are opened, whatever a field says: a .unl file may come from
    anywhere. A path that leads elsewhere is looked for by its last part, as directories are moved."""

    def __init__(self, directory: Path | None) -> None:
        self._directory = directory
        self._open: tuple[str, BinaryIO] | None = None

    def size(self, text: str) -> int:
        """Bytes of a content, as far as the field tells."""
        pointer = parse_pointer(text)
        if pointer is None:
            return 0
        if pointer[1] is not None:
            return pointer[1]
        path = self._find(pointer[2])
        return path.stat().st_size

    def content(self, text: str) -> bytes | None:
        """The bytes that a field points to; ``DataError`` for a file that is missing or too short."""
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
                f"the content is {length} bytes from {start} on of {name!r}, which has only {end}: the file is cut off"
            )
        file.seek(start)
        return file.read(length)

    def close(self) -> None:
        """Close what is open."""
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
                "the file has BLOB or CLOB columns, whose contents lie in files beside it: name their directory with "
                "lob_directory="
            )
        root = self._directory.resolve()
        for path in (root / name, root / re.split(r"[/\\]", name)[-1]):
            try:
                found = path.resolve()
                if found.is_file() and found.is_relative_to(root):
                    return found
            except (OSError, ValueError):  # a name that no file can have
                continue
        raise DataError(
            f"its content is in the file {name!r}, which is not in {self._directory}: put it there, or name its "
            "directory with lob_directory="
        )


class ObjectWriter:
    """Writes the contents of one column into files ``blob<hexid>`` or ``clob<hexid>``; another begins where one would
    have more than 2 GiB. They get their names when all is written (:meth:`finish`)."""

    def __init__(self, directory: Path, prefix: str, source: str, number: int) -> None:
        self._directory = directory
        self._prefix = prefix
        self._seed = f"{source}\0{number}"
        self._files: list[Path] = []
        self._file: BinaryIO | None = None
        self._size = 0

    def put(self, content: bytes) -> str:
        """Write a content; what the field says of it."""
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
        """Remove what was written."""
        if self._file is not None:
            with suppress(OSError):  # on a full disk it has more to write
                self._file.close()
            self._file = None
        for path in self._files:
            _temporary_path(path).unlink(missing_ok=True)
        self._files.clear()

    def _next(self) -> None:
        if self._file is not None:
            self._file.close()
        # The same for the same file, column and number, so that writing it again leaves nothing behind. A file
        # without a name brings one that nothing else has: it may be written in pieces, each with contents.
        made = hashlib.blake2s(f"{self._seed}\0{len(self._files)}".encode(), digest_size=8).hexdigest()
        path = self._directory / f"{self._prefix}{made}"
        self._file = _temporary_path(path).open("wb")
        self._files.append(path)
        self._size = 0


def directory_of(path: object) -> Path | None:
    """Where the contents of a file's large objects lie; None for a file that has no name."""
    return Path(path).absolute().parent if isinstance(path, str | os.PathLike) else None


def _temporary_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.part")
