"""Ordinary user code passes ``mypy --strict``, and incorrect code does not."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mypy")

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "src"
CACHE = HERE.parents[1] / ".mypy_cache" / "typing_examples"


def check(folder: Path, *files: Path) -> subprocess.CompletedProcess[str]:
    """Check files like a user who has installed the package, so that errors in the package itself are not shown.

    mypy's cache of the libraries is kept: they take nine tenths of the time, and mypy notices each change.
    """
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--follow-imports=silent",
        f"--cache-dir={CACHE}",
    ]
    options = ["--config-file=", "--python-version=3.10", "--no-error-summary", *map(str, files)]
    environment = {**os.environ, "MYPYPATH": str(SOURCES)}
    return subprocess.run(
        [*command, *options], env=environment, cwd=folder, text=True, capture_output=True, check=False
    )


@pytest.mark.slow
def test_ordinary_user_code_is_typed(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.py"
    wrong.write_text(
        "import informix_arrow as ifx\n"
        "conn = ifx.connect('informix://h/d')\n"
        "conn.read_arrow('SELECT 1', strings='huge')\n"
        "conn.query('SELECT 1', isolation=5)\n"
        "conn.isolation = None\n"
        "conn.transaction(savepoint=1)\n"
        "conn.database = 'other'\n"
        "ifx.connect('informix://h/d', databse='d')\n"
        "ifx.Pool('informix://h/d', pasword='d')\n"
        "ifx.Pool('informix://h/d', autocommit='yes')\n"
        "ifx.conect('informix://h/d')\n"
    )
    done = check(
        tmp_path, HERE / "typing_examples.py", wrong
    )  # both at once: most of the time is for their imports
    assert {line.split(":")[0] for line in done.stdout.splitlines()} == {"wrong.py"}, done.stdout
    assert [line.split(":")[1] for line in done.stdout.splitlines() if ": error:" in line] == [
        "3",
        "4",
        "5",
        "6",
        "7",
        "8",
        "9",
        "10",
        "11",
    ]
