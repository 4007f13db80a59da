"""Results that the workers of pytest-xdist share: the first worker computes one, the others wait for it."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")


def once_per_run(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], T]) -> T:
    """Return what ``make`` returns for an empty folder, which must be representable in JSON. One worker calls it; if
    that fails, the next worker tries again."""
    base = factory.getbasetemp()
    if os.environ.get("PYTEST_XDIST_WORKER"):
        base = base.parent  # of the whole run
    with (base / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made = base / f"{name}.json"
        if not made.exists():
            folder = base / f"{name}-{os.getpid()}"
            folder.mkdir(exist_ok=True)
            found = make(folder)
            made.write_text(json.dumps(found), encoding="utf-8")
        given: T = json.loads(made.read_text(encoding="utf-8"))
        return given
