"""Files on disk: errors that name the file, and waits until files and the names in directories are stored."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_OF_THE_DISK = frozenset({errno.ENOSPC, errno.EIO, errno.EFBIG, getattr(errno, "EDQUOT", errno.ENOSPC)})


@contextmanager
def name_file_in_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Name the file ``path`` in an ``OSError`` of its disk (``filename``) that is raised in the block."""
    try:
        yield
    except OSError as error:
        number = error.errno
        if number is None or number not in _OF_THE_DISK or error.filename is not None:
            raise
        raise OSError(number, os.strerror(number), os.fsdecode(path)) from error


def sync_path(path: Path) -> None:
    """Wait until the contents of a file, or the names in a directory, are on disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_directory(path: Path) -> None:
    """Wait until the names in a directory are on disk. Does nothing on Windows, which has no way to do this."""
    if os.name == "posix":
        sync_path(path)
