"""Copies into targets whose packages are not among ours, and copies that are kept equal there: the tests of
tests/integration, with these installed."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
from tests import postgres
from tests.ecosystem.environments import environment

ROOT = Path(__file__).parents[2]
EXTRAS = ("postgresql", "delta", "iceberg")  # as they are called there, and in pyproject.toml


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_copies_into_each_target_keep_their_promises() -> None:
    postgres.programs()  # skips without
    needed = (each.partition(";") for each in requires("informix-arrow") or ())
    mine = {
        what.strip()
        for what, _, when in needed
        if any(f"'{each}'" in when.replace('"', "'") for each in EXTRAS)
    }
    python = environment("copies", *sorted(mine))
    quiet = ("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:benchmark", "-p", "no:xdist")
    tests = [
        f"tests/integration/{name}.py"
        for name in (
            "test_copy",
            "test_copy_forms",
            "test_copy_full_disk",
            "test_apply_changes",
            "test_apply_delta",
        )
    ]
    done = subprocess.run(
        [str(python), "-m", "pytest", *quiet, *tests, "-k", " or ".join(EXTRAS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={
            **os.environ,
            "INFORMIX_ARROW_COPY_TARGETS": " ".join(EXTRAS),
        },
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    last = done.stdout.strip().splitlines()[-1]
    assert "passed" in last
    assert "skipped" not in last
