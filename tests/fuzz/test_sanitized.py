"""The codecs meet every prefix and 10,000 corruptions of a recorded reply under ASan and UBSan."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_no_prefix_and_no_corruption_of_a_reply_is_answered_by_a_crash(tmp_path: Path) -> None:
    """If this fails: the output of the sanitizer names the line in the C sources; the corruption's number is in the
    assertion of hostile.py, its seed is fixed."""
    script = Path(__file__).with_name("run_sanitized.py")
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "prefixes of a reply" in done.stdout
    assert "10000 corruptions" in done.stdout
    assert "failing allocations: ok" in done.stdout
    assert "encoder: 50000 batches" in done.stdout
