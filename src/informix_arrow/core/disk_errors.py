"""Errors of a full or broken disk that name the file being written, which the operating system does not."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager

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
