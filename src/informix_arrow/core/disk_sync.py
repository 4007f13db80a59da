"""Wait until files and the names in directories are on disk, so that a crash does not undo them."""

from __future__ import annotations

import os
from pathlib import Path


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
