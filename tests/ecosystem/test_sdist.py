"""The source distribution: its content, and that wheels built from it need no network and are reproducible."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.ecosystem.environments import run
from tests.ecosystem.test_oldest import ROOT

if sys.version_info >= (3, 11):
    import tomllib

pytestmark = [
    pytest.mark.ecosystem,
    pytest.mark.weekly,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib is needed"),
]
#: As a release sets it, to the time of its last change (.github/workflows/wheels.yml).
EPOCH = {"SOURCE_DATE_EPOCH": "1700000000"}


@pytest.fixture(scope="module")
def builder(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The python of a virtual environment with the build requirements only."""
    folder = tmp_path_factory.mktemp("builder")
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    run(sys.executable, "-m", "venv", str(folder))
    python = str(folder / "bin" / "python")
    pip = ("-m", "pip", "--quiet", "--disable-pip-version-check", "install")
    run(python, *pip, *wanted, "cmake>=3.26", "ninja", "build")
    return python


@pytest.fixture(scope="module")
def sdist(builder: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    run(builder, "-m", "build", "--sdist", "--no-isolation", "--outdir", str(folder), str(ROOT), env=EPOCH)
    [made] = folder.glob("*.tar.gz")
    return made


def test_the_sdist_has_the_files_that_git_knows_and_no_others(sdist: Path) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("no checkout")
    known = run("git", "ls-files", "--cached", "--others", "--exclude-standard", cwd=ROOT)
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    assert inside - {"PKG-INFO"} == set(known.splitlines())


def without_network() -> list[str]:
    """Return a command that runs another one without network; an empty list where that is not permitted."""
    for way in (["unshare", "-n"], ["unshare", "-rn"]):
        try:
            if subprocess.run([*way, "true"], capture_output=True, check=False).returncode == 0:
                return way
        except FileNotFoundError:
            break
    return []


def test_wheels_built_in_two_places_without_a_network_are_the_same_bytes(
    sdist: Path, builder: str, tmp_path: Path
) -> None:
    """If this fails: a path, a time or an order of files has got into the build."""
    made = set()
    for place in (tmp_path / "one", tmp_path / "another" / "and a deeper one"):
        with tarfile.open(sdist) as archive:
            archive.extractall(place, filter="data")
        [source] = place.iterdir()
        command = (
            builder,
            "-m",
            "pip",
            "--quiet",
            "wheel",
            "--no-build-isolation",
            "--no-deps",
            "--no-index",
        )
        path = f"{Path(builder).parent}:/usr/local/bin:/usr/bin:/bin"
        run(*without_network(), *command, "--wheel-dir", str(place), str(source), env={**EPOCH, "PATH": path})
        [wheel] = place.glob("*.whl")
        made.add((wheel.name, hashlib.sha256(wheel.read_bytes()).hexdigest()))
    assert len(made) == 1, made


def test_without_a_compiler_pip_says_so_in_one_sentence(sdist: Path, builder: str, tmp_path: Path) -> None:
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    [source] = (tmp_path / "source").iterdir()
    command = (builder, "-m", "pip", "wheel", "--no-build-isolation", "--no-deps", "--no-index", str(source))
    done = subprocess.run(
        command,
        env={"PATH": str(Path(builder).parent), "CC": "nosuch-cc", "HOME": str(tmp_path)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    reported = " ".join((done.stdout + done.stderr).split())
    assert "informix-arrow: no C compiler was found" in reported
    assert "apt-get install gcc" in reported
