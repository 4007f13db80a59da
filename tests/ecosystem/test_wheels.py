"""One wheel of the stable ABI serves Python 3.11 and all later releases. Python 3.10 has its own wheel.

Each push runs the codecs' tests and some of the client and the server on the newest installed Python. `make weekly
PYTEST_ARGS="-k wheel"` runs all unit and integration tests on every installed one. They run in a copy of the files that
the tests read, and the package comes only from the wheel.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest
from tests.ecosystem.environments import run
from tests.ecosystem.test_oldest import ROOT

# Encoders and decoders: every value is converted or refused like in a Python reference.
CODECS = tuple(
    f"tests/unit/{name}.py"
    for name in (
        "native/test_decode_stream", "native/test_decode_values", "native/test_decode_vectors",
        "native/test_encode_round_trip", "native/test_encode_values", "native/test_encode_vectors",
        "test_package", "test_extras",
    )
)  # fmt: skip
#: A blocking and an asyncio client with an embedded server.
SERVED = ("tests/integration/test_aio.py", "tests/integration/test_client_statements.py")
SUITES = ("tests/unit", "tests/integration", "tests/cli")
#: Files that the tests read besides themselves. `src` is read as text: without compiled modules it is no package.
READ = ("benchmarks", "docs", "src", "tests", "tools", "pyproject.toml", "README.md", "CHANGELOG.md")
NEWER = ("3.12", "3.13", "3.14")
OTHERS = ("3.10", *NEWER)
MARKS = "not soak and not ecosystem and not program"


def interpreter(*versions: str) -> str:
    """Return the first of these Pythons that is installed. Skips the test if there is none."""
    for version in versions:
        for path in (
            shutil.which(f"python{version}"),
            *(str(path) for path in Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
        ):
            if path and subprocess.run([path, "-c", ""], capture_output=True, check=False).returncode == 0:
                return path
    pytest.skip(f"no Python {' or '.join(versions)} here")


def wheel(python: str, folder: Path) -> Path:
    """Build the package with that interpreter and return the wheel."""
    inside = environment(python, folder / "builder")
    run(*pip(inside), "wheel", "--no-deps", "--wheel-dir", str(folder), str(ROOT))
    [made] = folder.glob("*.whl")
    return made


def environment(python: str, folder: Path) -> str:
    """Create a virtual environment and return its python."""
    run(python, "-m", "venv", str(folder))
    return str(folder / "bin" / "python")


def pip(python: str) -> tuple[str, ...]:
    return (python, "-m", "pip", "--quiet", "--disable-pip-version-check")


@pytest.fixture(scope="module")
def stable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.version_info < (3, 11):
        pytest.skip("the stable ABI begins with 3.11")
    return wheel(sys.executable, tmp_path_factory.mktemp("stable"))


def of_its_own(version: str, python: str, stable: Path, folder: Path) -> Path:
    """Return the wheel that such a Python installs."""
    return wheel(python, folder) if version == "3.10" else stable


def check(
    python: str, made: Path, folder: Path, requirements: Iterable[str], what: Iterable[str], *options: str
) -> str:
    """Run the tests with the wheel instead of the sources, under that interpreter. Return pytest's last line."""
    inside = environment(python, folder / "venv")
    run(*pip(inside), "install", "--prefer-binary", *requirements)
    copied = folder / "copied"
    copied.mkdir()
    for name in READ:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copied / name, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
        else:
            shutil.copy(ROOT / name, copied)
    where = "import informix_arrow._decode as d, informix_arrow._unl; print(d.__file__)"
    reported = run(inside, "-c", where, cwd=copied).strip()
    assert reported.startswith(str(folder / "venv")), reported
    assert reported.endswith(".abi3.so") == ("abi3" in made.name)
    reported = run(
        inside, "-m", "pytest", "-q", "-p", "no:benchmark", "-p", "no:cacheprovider", "--tb=short", *options, *what,
        cwd=copied,
    )  # fmt: skip
    closing = reported.rstrip().splitlines()[-1]
    assert " passed" in closing, reported[-2000:]
    return closing


@pytest.mark.ecosystem
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_keeps_to_the_stable_abi(stable: Path) -> None:
    assert "-cp311-abi3-" in stable.name
    reported = subprocess.run(
        [str(Path(sys.executable).parent / "abi3audit"), "--strict", "--report", str(stable)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert reported.returncode == 0, reported.stdout + reported.stderr


@pytest.mark.ecosystem
@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_wheel_works_on_a_newer_python(stable: Path, tmp_path: Path) -> None:
    python = interpreter(*reversed(NEWER))
    needed = (f"{stable}[server,tls]", "pytest>=8", "pytest-timeout", "hypothesis")
    check(python, stable, tmp_path, needed, (*CODECS, *SERVED), "-m", f"{MARKS} and not slow")


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("version", OTHERS)
def test_the_whole_suites_pass_with_the_wheel(
    version: str, stable: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    python = interpreter(version)
    made = of_its_own(version, python, stable, tmp_path)
    workers = (os.cpu_count() or 1) + 1  # like `make test`
    closing = check(
        python, made, tmp_path, (f"{made}[dev]",), SUITES, "-m", MARKS,
        f"--numprocesses={workers}", "--dist=worksteal",
    )  # fmt: skip
    with capsys.disabled():
        print(f"\nPython {version}, {made.name}: {closing}")
