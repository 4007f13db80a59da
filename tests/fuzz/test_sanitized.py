"""Decodes every prefix and thousands of corruptions of recorded replies under AddressSanitizer and UBSan."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.stress import LONG, seeds

#: Percentage of the iterations: all in ``make fuzz`` and in a long ``make soak``, which repeats them with other seeds
#: while there is time; a tenth in ``make test`` and in the short soak of ``.ci/run``.
SHARE = int(os.environ.get("FUZZ_SHARE") or (100 if LONG else 10))
#: Seed of the first round for run_sanitized.py: `make fuzz FUZZ_SEED=7`.
SEED = int(os.environ.get("FUZZ_SEED", "20260831"))


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(900)
def test_no_prefix_and_no_corruption_of_a_reply_is_answered_by_a_crash(tmp_path: Path) -> None:
    """If this fails: the sanitizer's output names the line in the C sources. The number of the corruption is in the
    assertion of hostile.py, and the seed was printed."""
    script = Path(__file__).with_name("run_sanitized.py")
    for seed in seeds(SEED):
        done = subprocess.run(
            [sys.executable, str(script), str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "FUZZ_SEED": str(seed), "FUZZ_SHARE": str(SHARE)},
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "prefixes of a reply" in done.stdout
        assert f"{100 * SHARE} corruptions" in done.stdout
        assert re.search(r" failing allocations, digest [0-9a-f]{16}: ok", done.stdout)
        assert f"encoder: {500 * SHARE} batches" in done.stdout
        assert f"encoder: {50 * SHARE} batches" in done.stdout  # with narrow vectors
        assert ".unl: " in done.stdout
        assert f"changes: {50 * SHARE // 100} streams" in done.stdout
        assert f"log: {100 * SHARE // 100} streams" in done.stdout
