"""Replication to PostgreSQL and Delta, whose packages the test environment lacks: runs some tests of tests/integration
in an environment with these packages. `make weekly` runs all of them."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib.metadata import requires
from pathlib import Path

import pytest
from tests.ecosystem.environments import environment

ROOT = Path(__file__).parents[2]
TESTS = ("applied_once", "passed_on", "truncate", "lacks_a_row", "overlaps", "one_commit")


@pytest.mark.ecosystem
@pytest.mark.slow
@pytest.mark.timeout(300)
def test_copies_are_kept_equal_in_postgresql_and_delta() -> None:
    there = bool(shutil.which("initdb") or list(Path("/usr/lib/postgresql").glob("*/bin/initdb")))
    targets = ("postgresql", "delta") if there else ("delta",)
    needed = (each.partition(";") for each in requires("informix-arrow") or ())
    mine = {
        what.strip()
        for what, _, when in needed
        if any(f"'{each}'" in when.replace('"', "'") for each in ("postgresql", "delta"))
    }
    python = environment("applying", *sorted(mine))
    quiet = ("-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:benchmark", "-p", "no:xdist")
    files = [f"tests/integration/{name}.py" for name in ("test_apply_changes", "test_apply_delta")]
    chosen = f"({' or '.join(targets)}) and ({' or '.join(TESTS)})"
    done = subprocess.run(
        [str(python), "-m", "pytest", *quiet, *files, "-k", chosen],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "INFORMIX_ARROW_COPY_TARGETS": " ".join(targets)},
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    last = done.stdout.strip().splitlines()[-1]
    assert "passed" in last
    assert "skipped" not in last
    if not there:
        pytest.skip("PostgreSQL is not installed: only Delta was tried")
