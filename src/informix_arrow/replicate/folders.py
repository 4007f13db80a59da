"""Helpers for targets on a local disk: one writer at a time, and files that are written completely or not at all."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

from ..core.disk import name_file_in_errors, sync_directory, sync_path
from ..wire.errors import InterfaceError, OperationalError

LOCK = "_informix_arrow.lock"


class FolderLock:
    """A lock on a folder, which is created. It lasts until ``release`` or the end of the process.

    Where files cannot be locked, it locks nobody out.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (FileExistsError, NotADirectoryError):
            raise OperationalError(
                f"{folder} is not a directory, and cannot be created as one. Choose another target."
            ) from None
        self._handle, self._released = -1, False
        if fcntl is None:
            return
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            raise OperationalError(
                f"{folder}: Another copy is writing to it. Wait until it has ended."
            ) from None
        self._handle = handle

    def require(self) -> None:
        """Raise ``OperationalError`` if the lock was released, or its file removed: another copy may be running."""
        if self._released:
            raise OperationalError(f"{self._folder}: The copy was ended before it was complete. Copy again.")
        if self._handle < 0:
            return
        try:
            same = os.path.samestat(os.stat(self._folder / LOCK), os.fstat(self._handle))
        except FileNotFoundError:
            same = False
        if not same:
            raise OperationalError(
                f"{self._folder}: {LOCK} or the directory was removed during the copy, so another copy may "
                "write to it. Make sure that only one copy runs, and copy again."
            )

    def release(self) -> None:
        """Release the lock."""
        handle, self._handle, self._released = self._handle, -1, True
        if handle >= 0:
            os.close(handle)


class Syncing:
    """New files, each of which a thread syncs to disk in the background."""

    def __init__(self) -> None:
        self._pending: list[Future[None]] = []

    @contextmanager
    def create(self, path: Path) -> Iterator[Any]:
        """Open a new file for writing. It is complete at the end of the block."""
        with name_file_in_errors(path), open(path, "wb") as file:
            yield file
        done: Future[None] = Future()
        self._pending.append(done)
        threading.Thread(target=_sync_in_thread, args=(path, done), name="copy-sync", daemon=True).start()

    def wait(self) -> None:
        """Wait until all files are on disk."""
        while self._pending:
            self._pending.pop().result()


def _sync_in_thread(path: Path, done: Future[None]) -> None:
    try:
        with name_file_in_errors(path):
            sync_path(path)
    except BaseException as error:  # noqa: BLE001 - raised by wait()
        done.set_exception(error)
    else:
        done.set_result(None)


#: The names of files that copies write. Nobody else uses such names.
OUR_FILE = re.compile(r"part-[0-9a-f]{12}-[0-9]{5,}\.parquet")


def folder_of(root: Path, table: str) -> Path:
    """Return the folder of a table.

    Raises ``InterfaceError`` for a name that would lead out of the place, or into another table.
    """
    if table in (".", "..") or any(each in table for each in ("/", "\0", os.sep, os.altsep or "/")):
        raise InterfaceError(
            f"{table!r} cannot be the name of a directory. Copy the table into a database, or copy a "
            "synonym of it."
        )
    return root / table


def write_whole(path: Path, text: str) -> None:
    """Write a small file atomically."""
    new = path.with_name(path.name + ".new")
    with name_file_in_errors(path):
        new.write_text(text, encoding="utf-8")
        sync_path(new)
    os.replace(new, path)
    sync_directory(path.parent)


def sync_folders(folder: Path, names: Sequence[str]) -> None:
    """Sync the subfolders that have new files to disk."""
    parents = {parent for name in names for parent in Path(name).parents if parent.name}
    for parent in sorted(parents, key=lambda each: len(each.parts), reverse=True):
        sync_directory(folder / parent)


def remove_empty(path: Path, folder: Path) -> None:
    """Remove a folder and its parents below another one, as long as they are empty."""
    while path != folder:
        try:
            path.rmdir()
        except OSError:  # something is in it, or it is gone
            return
        path = path.parent
