"""Polars, pandas, DuckDB and pyarrow with the oldest supported releases (checks.py), in a virtual environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ecosystem import checks

from informix_arrow.server import Server

ROOT = Path(__file__).parents[2]
#: The lower bounds of pyproject.toml, and further requirements of these releases.
OLDEST = ("polars==1.0.0", "pandas==2.2.0", "adbc-driver-manager==1.0.0", "pyarrow==16.0.0", "numpy==1.26.4")


@pytest.mark.ecosystem
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.skipif(sys.version_info >= (3, 13), reason="pyarrow 16 and numpy 1.26 have no wheels for it")
def test_the_oldest_releases_take_arrow(tmp_path: Path) -> None:
    python = tmp_path / "bin" / "python"
    run(sys.executable, "-m", "venv", str(tmp_path))
    pip = (
        str(python),
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "--only-binary=:all:",
    )
    run(*pip, *OLDEST, "pytest>=8", f"{ROOT}[adbc]", "--no-binary=informix-arrow")
    with Server() as server:
        server.create_database("old")
        reported = run(str(python), str(Path(checks.__file__)), server.url("old"))
    assert reported.splitlines() == [f"{check.__name__}: passed" for check in checks.CHECKS]


def run(*command: str) -> str:
    without = {"PYTHONPATH", "PYTHONHOME"}
    environment = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, cwd="/", check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
