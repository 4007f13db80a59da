"""Files that commands read and write: local ones, standard input and output, and those that fsspec supports.

A new file gets its name when it is complete. Until then it is ``NAME.part`` in the same directory.
"""

from __future__ import annotations

import contextlib
import glob
import importlib
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import IO, Any

from ..core.disk import name_file_in_errors
from .exit_codes import Failure, UsageError
from .pipe_input import ReadLimit, waiting_input

STDIO = "-"
PART_SUFFIX = ".part"
_REMOTE = re.compile(r"(?!file:)[a-z][a-z0-9+.-]+://")


def is_remote(path: str) -> bool:
    """Return whether a path is for fsspec: ``s3://bucket/key`` and the like."""
    return _REMOTE.match(path) is not None


def file_system(path: str) -> tuple[Any, str]:
    """Return fsspec's file system for a remote path, and the path in it."""
    try:
        core: Any = importlib.import_module("fsspec.core")
    except ImportError:
        raise Failure(f"{path}: Remote paths need fsspec. Run pip install 'informix-arrow[remote]'") from None
    try:
        return core.url_to_fs(path)  # type: ignore[no-any-return]
    except (ImportError, ValueError) as problem:
        raise Failure(f"{path}: {problem}") from None


def exists(path: str) -> bool:
    """Return whether a file or directory of this name exists."""
    if is_remote(path):
        system, name = file_system(path)
        return bool(system.exists(name))
    return os.path.lexists(path)


def remove(path: str) -> None:
    """Remove a file, if it exists."""
    if is_remote(path):
        system, name = file_system(path)
        if system.exists(name):
            system.rm(name)
        return
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def rename(path: str, to: str) -> None:
    """Rename a file, in place of one that has the new name."""
    if is_remote(path):
        system, name = file_system(path)
        system.mv(name, file_system(to)[1])
        return
    os.replace(path, to)


def open_input(path: str, limit: ReadLimit | None = None) -> IO[bytes]:
    """Open a file for reading, ``-`` for standard input. ``limit`` ends the wait for the data of a pipe."""
    if path == STDIO:
        return waiting_input(sys.stdin.buffer, limit, closes=False)
    if is_remote(path):
        system, name = file_system(path)
        opened: IO[bytes] = system.open(name, "rb")
        return opened
    if os.path.isdir(path):
        raise Failure(f"{path} is a directory. Name its files, for example {path.rstrip('/')}/*.parquet")
    return waiting_input(open(path, "rb"), limit)


def _open_output(path: str) -> IO[bytes]:
    if is_remote(path):
        system, name = file_system(path)
        opened: IO[bytes] = system.open(name, "wb")
        return opened
    return open(path, "wb")


@contextlib.contextmanager
def new_file(path: str, *, overwrite: bool = False) -> Iterator[IO[bytes]]:
    """Open a file for writing, which gets its name only if the block ends without an error.

    ``-`` is standard output. Raises ``UsageError`` if the file exists, unless ``overwrite``.
    """
    if path == STDIO:
        with name_file_in_errors("standard output"):
            yield sys.stdout.buffer
            sys.stdout.buffer.flush()
        return
    refuse_existing(path, overwrite=overwrite)
    part = path + PART_SUFFIX
    try:
        with name_file_in_errors(path), _open_output(part) as file:
            yield file
            if not is_remote(path):
                file.flush()
                os.fsync(file.fileno())
        rename(part, path)
    except BaseException:
        with contextlib.suppress(OSError):
            remove(part)
        raise


def refuse_existing(path: str, *, overwrite: bool = False) -> None:
    """Raise ``UsageError`` if writing to a path would replace a file. A directory is never replaced."""
    if not is_remote(path):
        if os.path.isdir(path):
            raise UsageError(f"{path} is a directory. Name the file in it.")
        parent = os.path.dirname(path) or "."
        if not os.path.isdir(parent):
            raise UsageError(f"{path}: There is no directory {parent}. Create it first.")
    if not overwrite and exists(path):
        raise UsageError(f"{path} exists already. Choose another name, or use --overwrite.")


def expand_paths(paths: Sequence[str]) -> list[str]:
    """Return the files that paths and patterns stand for, in order. Raises ``UsageError`` for one without files."""
    matches: list[str] = []
    for path in paths:
        if path == STDIO:
            matches.append(path)
        elif is_remote(path):
            system, name = file_system(path)
            if glob.has_magic(name):
                matches += [system.unstrip_protocol(each) for each in sorted(system.glob(name))] or _none(
                    path
                )
            else:
                matches.append(path)
        elif glob.has_magic(path) and not os.path.lexists(path):
            matches += sorted(glob.glob(path, recursive=True)) or _none(path)
        else:
            matches.append(path)
    return matches


def _none(path: str) -> list[str]:
    raise UsageError(f"{path}: No file matches.")
