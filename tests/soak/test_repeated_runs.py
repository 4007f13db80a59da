"""Repeats tests that depend on timing or random values with other seeds: a fault may appear once in a hundred runs. Two
workers run at a time, so that they disturb each other."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stress import LONG, any_seed, rounds

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(not LONG, reason="`make test` has run them once; a long soak repeats them"),
]

RACING = {
    "cancels": ["tests/integration/test_client_cancel.py", "tests/integration/test_aio_cancel.py"],
    "pools": ["tests/integration/test_pool_resilience.py", "tests/unit/transport/test_blocking.py"],
    "locks": [
        "tests/unit/server/session/test_isolation.py",
        "tests/unit/server/session/test_transaction_replay.py",
    ],
    "asyncio": ["tests/integration/test_aio.py", "tests/unit/transport/test_aio.py"],
    "faults": ["tests/integration/test_client_network_faults.py", "tests/integration/test_server_urgent.py"],
}
DRAWING = sorted(
    str(file.relative_to(ROOT))
    for folder in ("unit", "cli", "integration")
    for file in (ROOT / "tests" / folder).rglob("test_*.py")
    if "from hypothesis import" in file.read_text(encoding="utf-8")
)


def run_once(tests: list[str], seed: int, **more: str) -> None:
    """Run pytest once in a separate process, without the soak's duration, so that each test takes its usual time."""
    of_this_run = ("INFORMIX_ARROW_SOAK_SECONDS", "PYTEST_")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(of_this_run)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:benchmark"]
    options = ["--numprocesses=2", "--dist=loadfile", f"--hypothesis-seed={seed}"]
    run = subprocess.run(
        [*command, *options, *tests],
        cwd=ROOT,
        env={**environment, **more, "PYTHONHASHSEED": str(seed)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, f"seed {seed}\n{run.stdout[-20_000:]}{run.stderr[-2_000:]}"


@pytest.mark.parametrize("subject", RACING)
def test_what_races_passes_every_time(subject: str) -> None:
    for _ in rounds(1):
        run_once(RACING[subject], any_seed(), INFORMIX_ARROW_EXAMPLES="5")


def test_what_draws_its_values_passes_with_every_seed() -> None:
    assert len(DRAWING) > 5
    for _ in rounds(1):
        run_once(DRAWING, any_seed(), INFORMIX_ARROW_EXAMPLES="10")
