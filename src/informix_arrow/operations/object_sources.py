"""Sources of large-object contents to be written, and targets of contents to be unloaded.

A *source* has a size and can return any part of its contents any number of times: bytes in memory, as they are,
or a file. Files that cannot be read twice or whose size is unknown, and text files, which have to be encoded
first, are copied to a temporary file. Contents are never held in memory as a whole.
"""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from ..wire.errors import DataError, InterfaceError
from ..wire.primitives import encode_strictly

SPOOL_BYTES = 1 << 20  # bytes of a temporary file that stay in memory
_BLOCK = 256 << 10


class ContentSource(Protocol):
    """Bytes of a known number that can be read at any offset, any number of times."""

    @property
    def size(self) -> int:
        """The number of bytes."""

    def read(self, offset: int, count: int) -> bytes | memoryview:
        """Return exactly ``count`` bytes from ``offset`` on. Raises ``DataError`` if there are fewer."""

    def close(self) -> None:
        """Release temporary data; the user's own objects stay as they are."""


@dataclass(frozen=True, slots=True)
class MemorySource:
    """Bytes in memory, never copied as a whole."""

    view: memoryview

    @property
    def size(self) -> int:
        return len(self.view)

    def read(self, offset: int, count: int) -> bytes | memoryview:
        return self.view[offset : offset + count]

    def close(self) -> None:
        pass


@dataclass(frozen=True, slots=True)
class FileSource:
    """A seekable file object, read from its position at the time it was passed in."""

    file: Any
    start: int
    size: int
    temporary: bool = False  # created here

    def close(self) -> None:
        if self.temporary:
            self.file.close()

    def read(self, offset: int, count: int) -> bytes | memoryview:
        self.file.seek(self.start + offset)
        blocks: list[bytes] = []
        while count:
            part = _check_bytes(self.file.read(count))
            if not part:
                raise DataError(
                    f"The file object ended {count} bytes before its announced size of {self.size} bytes."
                )
            if len(part) > count:
                raise DataError(f"The file object returned {len(part)} bytes where {count} were requested.")
            blocks.append(part)
            count -= len(part)
        return blocks[0] if len(blocks) == 1 else b"".join(blocks)


def is_readable(value: object) -> bool:
    """Return whether a value is a file object to read from."""
    return callable(getattr(value, "read", None)) and not isinstance(value, type)


def is_object_value(value: object) -> bool:
    """Return whether a parameter can only be the content of a large object: any bytes, or a file object."""
    return isinstance(value, bytes | bytearray | memoryview) or is_readable(value)


def content_source(value: object, encoding: str) -> ContentSource:
    """Return the source for a parameter: bytes-like, str, or a binary or text file object.

    str, and the contents of a text file, are encoded in ``encoding``, the database's code set. ``DataError``
    names a character that it lacks. Errors of the file object itself pass through.
    """
    if isinstance(value, str):
        return MemorySource(memoryview(encode_strictly(value, encoding, "the text")))
    if isinstance(value, bytes | bytearray | memoryview):
        view = memoryview(value)
        if not view.c_contiguous:
            view = memoryview(view.tobytes())
        return MemorySource(view.cast("B"))
    if not is_readable(value):
        raise InterfaceError(
            f"A {type(value).__name__} is neither bytes, str nor a file object to read from."
        )
    file: Any = value
    if isinstance(file, io.TextIOBase) or isinstance(file.read(0), str):
        return _spool(file, encoding)
    if not _can_seek(file):
        return _spool(file)
    start = file.tell()
    size = file.seek(0, io.SEEK_END)
    size = (file.tell() if size is None else size) - start
    file.seek(start)
    return FileSource(file, start, size)


def _check_bytes(part: object) -> bytes:
    """Return ``part``, the result of a ``read`` of a binary file.

    Raises ``DataError`` for anything but bytes, and for None, which a non-blocking file returns before its end.
    """
    if isinstance(part, bytes):
        return part
    if isinstance(part, bytearray | memoryview):
        return bytes(part)
    if part is None:
        raise DataError(
            "The file object has no bytes yet (its read() returned None). It must block until it has."
        )
    raise DataError(f"The file object's read() returned a {type(part).__name__}, not bytes.")


def _can_seek(file: Any) -> bool:
    seekable = getattr(file, "seekable", None)
    if callable(seekable):
        return bool(seekable())
    return callable(getattr(file, "seek", None)) and callable(getattr(file, "tell", None))


def _spool(file: Any, encoding: str | None = None) -> ContentSource:
    """Return a temporary file with all contents of a file, text encoded."""
    spool = tempfile.SpooledTemporaryFile(SPOOL_BYTES)  # noqa: SIM115 - closed with the source
    try:
        while part := _encode_part(file.read(_BLOCK), encoding):
            spool.write(part)
        size = spool.tell()
        spool.seek(0)
    except BaseException:
        spool.close()
        raise
    return FileSource(spool, 0, size, temporary=True)


def _encode_part(part: object, encoding: str | None) -> bytes:
    """Return ``part``, the result of a ``read``, encoded if ``encoding`` is given; ``b""`` at the end."""
    if encoding is None:
        return _check_bytes(part)
    if not isinstance(part, str):
        raise DataError(f"The text file's read() returned a {type(part).__name__}, not str.")
    return encode_strictly(part, encoding, "a text file")


@dataclass(slots=True)
class ClientFiles:
    """The files that a server may open by name while a statement runs. It can reach no others.

    ``sources`` can be read. ``sinks`` can be written: a mapping receives each file as bytes under the name that
    the server gave it, an object with ``write()`` receives the bytes of one file. A server adds a suffix to the
    names of the files that it creates, so a sink's name is a prefix.
    """

    sources: dict[str, ContentSource] = field(default_factory=dict)
    sinks: dict[str, Any] = field(default_factory=dict)
    used: set[str] = field(default_factory=set)  # sinks that have received their only file
    opened: OpenFile | None = None  # by the server
    refused: Exception | None = None  # why a request was refused, raised after the reply was read
    failed: Exception | None = None  # error of a source, if that is the reason

    def __bool__(self) -> bool:
        return bool(self.sources or self.sinks)

    def register(self, files: Mapping[str, object], encoding: str) -> None:
        """Add files: readable objects become sources, writable objects and mappings become sinks.

        Raises ``InterfaceError`` for a name that is in use, and for an object that is neither.
        """
        for name, value in files.items():
            if not name.removesuffix("!") or name in self.sources or name in self.sinks:
                raise InterfaceError(f"The client file name {name!r} is empty or in use.")
            if isinstance(value, MutableMapping) or (
                callable(getattr(value, "write", None)) and not _readable(value)
            ):
                self.sinks[name] = value
            else:
                self.sources[name] = content_source(value, encoding)

    def forget(self, names: Mapping[str, object] | list[str]) -> None:
        """Remove files."""
        for name in names:
            source = self.sources.pop(name, None)
            sink = self.sinks.pop(name, None)
            opened = self.opened
            if opened is not None and (
                opened.source is source if source is not None else opened.sink is sink
            ):
                self.opened = None
            if source is not None:
                source.close()
            self.used.discard(name)


@dataclass(slots=True)
class OpenFile:
    """The file that the server has open."""

    name: str  # as the server names it
    source: ContentSource | None = None
    sink: Any = None
    position: int = 0
    collected: bytearray = field(default_factory=bytearray)  # for a sink that is a mapping


def _readable(value: Any) -> bool:
    """Return whether an object that can be written is meant to be read.

    A file open for both is a sink only if it is empty.
    """
    readable = getattr(value, "readable", None)
    if not is_readable(value) or (callable(readable) and not readable()):
        return False
    if not _can_seek(value):
        return True
    position = value.tell()
    end = value.seek(0, io.SEEK_END)
    value.seek(position)
    return bool(end)
