"""Copies into targets whose packages the test environment lacks, replication to them, and killed copies: runs tests of
tests/integration and tests/cli in an environment with these packages."""

from __future__ import annotations

import os
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
from tests import postgres
from tests.ecosystem.environments import environment

ROOT = Path(__file__).parents[2]
EXTRAS = ("postgresql", "delta", "iceberg")  # kinds of targets, and extras of pyproject.toml


INTEGRATION = tuple(
    f"tests/integration/{name}.py"
    for name in (
        "test_copy",
        "test_copy_cancel",
        "test_copy_forms",
        "test_copy_full_disk",
        "test_apply_changes",
        "test_apply_delta",
    )
)


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_copies_into_each_target_keep_their_promises() -> None:
    run_tests(*INTEGRATION, "-k", " or ".join(EXTRAS))


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_copies_into_each_target_that_are_killed_add_their_rows_once() -> None:
    which = f"every_step and ({' or '.join(EXTRAS)})"
    run_tests("tests/cli/test_killed_jobs.py", "-k", which, soak=60)


def run_tests(*what: str, soak: int = 0) -> None:
    """Run tests with the packages of all targets installed. None may be skipped."""
    postgres.programs()  # skips if PostgreSQL is not installed
    needed = (each.partition(";") for each in requires("informix-arrow") or ())
    mine = {
        name.strip()
        for name, _, when in needed
        if any(f"'{each}'" in when.replace('"', "'") for each in EXTRAS)
    }
    python = environment("copies", *sorted(mine))
    quiet = ("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:benchmark", "-p", "no:xdist")
    done = subprocess.run(
        [str(python), "-m", "pytest", *quiet, *what],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={
            **os.environ,
            "INFORMIX_ARROW_COPY_TARGETS": " ".join(EXTRAS),
            "INFORMIX_ARROW_SOAK_SECONDS": str(soak),
        },
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    last = done.stdout.strip().splitlines()[-1]
    assert "passed" in last
    assert "skipped" not in last
