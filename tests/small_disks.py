"""File systems of a few megabytes, for tests of full disks."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, megabytes: int) -> Iterator[tuple[Path, Callable[[], None]]]:
    """Mount a small file system at ``place`` and return a function that frees space on it. Skips the test if none can
    be mounted."""
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip(f"a file system cannot be mounted here: {mounted.stderr.decode().strip()}")

    def make_room() -> None:
        subprocess.run(["mount", "-o", "remount,size=200m", place], check=True)

    try:
        yield place, make_room
    finally:
        subprocess.run(["umount", "--lazy", place], check=True)
