"""The directory that one server keeps its databases in, and no other server at the same time."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO

try:
    import fcntl
except ModuleNotFoundError:  # no POSIX
    fcntl = None  # type: ignore[assignment]

_LOCK = "informix-arrow.lock"


class DirectoryInUse(RuntimeError):
    """Another server has the directory."""


class DirectoryLock:
    """Holds a directory, which is made where there is none, until `release`. The kernel gives it back when the process
    ends, however it does."""

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = open(directory / _LOCK, "a+")  # noqa: SIM115 (open as long as the server runs)
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._holder()
            self._file.close()
            raise DirectoryInUse(
                f"the directory {directory} is in use by another server{holder}: stop that one, or give this one a "
                "directory of its own"
            ) from None
        except OSError:
            self._file.close()
            raise
        self._file.truncate(0)
        self._file.write(f"{os.getpid()}\n")
        self._file.flush()

    def _holder(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            self._file.seek(0)
            return f" (process {int(self._file.read())})"
        return ""

    def release(self) -> None:
        """Let others have it. The file stays: to remove it would let two have the same."""
        if fcntl is not None:  # closing is not enough: a process forked from this one has the file as well
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()
