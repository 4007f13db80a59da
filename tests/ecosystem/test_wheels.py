"""One wheel of the stable ABI serves Python 3.11 and all later releases; 3.10 has one of its own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.ecosystem.test_oldest import ROOT, run

# Codecs, both ways: every value is decoded, or refused, as a reference in Python says.
TESTS = (
    "test_decode_stream.py", "test_decode_values.py", "test_decode_vectors.py", "test_encode_round_trip.py",
    "test_encode_values.py", "test_encode_vectors.py", "test_package.py",
)  # fmt: skip
OTHERS = ("3.10", "3.12", "3.13", "3.14")


def interpreter(version: str) -> str:
    """A Python of that release; skips where there is none."""
    found = [
        shutil.which(f"python{version}"),
        *(str(path) for path in Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    ]
    for path in found:
        if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
            return path
    pytest.skip(f"no Python {version} here")


def wheel(python: str, folder: Path) -> Path:
    """The package built by that interpreter."""
    run(python, "-m", "venv", str(folder / "builder"))
    pip = str(folder / "builder" / "bin" / "pip")
    run(
        pip,
        "--quiet",
        "--disable-pip-version-check",
        "wheel",
        "--no-deps",
        "--wheel-dir",
        str(folder),
        str(ROOT),
    )
    [made] = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def stable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.version_info < (3, 11):
        pytest.skip("the stable ABI begins with 3.11")
    return wheel(sys.executable, tmp_path_factory.mktemp("stable"))


def check(python: str, made: Path, folder: Path) -> None:
    """The codecs' tests with the wheel, not with the sources, under that interpreter."""
    run(python, "-m", "venv", str(folder / "venv"))
    inside = str(folder / "venv" / "bin" / "python")
    packages = (str(made), "pytest>=8", "pytest-timeout", "hypothesis", "numpy", "cryptography")
    run(
        inside,
        "-m",
        "pip",
        "--quiet",
        "--disable-pip-version-check",
        "install",
        "--only-binary=:all:",
        *packages,
    )
    told = run(
        inside, "-c", "import informix_arrow._decode as d, informix_arrow._unl; print(d.__file__)"
    ).strip()
    assert told.startswith(str(folder / "venv")), told
    assert told.endswith(".abi3.so") == ("abi3" in made.name)
    copied = folder / "tests"
    shutil.copytree(ROOT / "tests", copied, ignore=shutil.ignore_patterns("__pycache__", "fuzz", "soak"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    told = run(
        inside, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", str(folder / "pyproject.toml"),
        "--rootdir", str(folder), "-m", "not soak and not slow", *(str(copied / "unit" / name) for name in TESTS),
    )  # fmt: skip
    assert " passed" in told.splitlines()[-1], told[-2000:]


@pytest.mark.ecosystem
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_keeps_to_the_stable_abi(stable: Path) -> None:
    assert "-cp311-abi3-" in stable.name
    told = subprocess.run(
        [str(Path(sys.executable).parent / "abi3audit"), "--strict", "--report", str(stable)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr


@pytest.mark.ecosystem
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("version", OTHERS)
def test_the_codecs_work_on_other_pythons(version: str, stable: Path, tmp_path: Path) -> None:
    python = interpreter(version)
    check(python, wheel(python, tmp_path) if version == "3.10" else stable, tmp_path)
