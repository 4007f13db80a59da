"""The directory of a server's databases: a lock that keeps other servers out, and the version of its format."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import IO

try:
    import fcntl
except ModuleNotFoundError:  # not POSIX
    fcntl = None  # type: ignore[assignment]

_LOCK = "informix-arrow.lock"
_FORMAT_FILE = "informix-arrow.format"

FORMAT = 4
"""Version of the format of a directory. It increases when a server of the previous version could not use the files.

Release 0.1.0 wrote version 4. Servers before it, which were not released, wrote lower ones.
"""


class DirectoryInUse(RuntimeError):
    """Another server uses the directory."""


class DirectoryFormatUnknown(RuntimeError):
    """The directory was written by a newer server, by one before 0.1.0, or by something else."""


def check_format(directory: Path) -> None:
    """Raise DirectoryFormatUnknown for a format that this server cannot read.

    The file is missing in a new directory, and in one whose first server was killed as it started.
    """
    file = directory / _FORMAT_FILE
    try:
        version = file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return
    except UnicodeDecodeError:
        version = ""
    if not version.isdecimal():
        raise DirectoryFormatUnknown(
            f"The file {file} does not contain the number of a format. Restore it from a copy of the directory, or "
            "start with an empty directory."
        )
    if int(version) < FORMAT:
        raise DirectoryFormatUnknown(
            f"The directory {directory} has the format {version} of a server before informix-arrow 0.1.0. Start with "
            "an empty directory."
        )
    if int(version) > FORMAT:
        raise DirectoryFormatUnknown(
            f"The directory {directory} has the format {version} of a newer informix-arrow. This version knows "
            f"the format {FORMAT}. Use the newer version, or start with an empty directory."
        )


def write_format(directory: Path) -> None:
    """Record that everything in the directory now has this server's format."""
    file = directory / _FORMAT_FILE
    if file.exists() and file.read_text(encoding="ascii").strip() == str(FORMAT):
        return
    temporary = file.with_name(f"{file.name}.new")
    temporary.write_text(f"{FORMAT}\n", encoding="ascii")
    temporary.replace(file)


class DirectoryLock:
    """A lock on a directory, which is created if it is missing, until `release`.

    The kernel releases it when the process ends for any reason.
    """

    def __init__(self, directory: Path) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = open(directory / _LOCK, "a+")  # noqa: SIM115 (open as long as the server runs)
        try:
            if fcntl is not None:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = self._read_holder()
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

    def _read_holder(self) -> str:
        with contextlib.suppress(OSError, ValueError):
            self._file.seek(0)
            return f" (process {int(self._file.read())})"
        return ""

    def release(self) -> None:
        """Release the lock. The file stays: if it were removed, two servers could hold a lock."""
        if fcntl is not None:  # closing is not enough: a process forked from this one also has the file
            fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()
