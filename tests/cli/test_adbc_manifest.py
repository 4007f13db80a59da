"""``informix-arrow adbc-manifest`` writes a manifest where driver managers look, removes it, and refuses what cannot
work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.conftest import Cli

from adbc_driver_informix import library, manifest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there is no shared library on Windows")


def test_a_driver_manager_finds_the_driver_by_its_name(
    cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    written = tmp_path / "adbc" / "drivers" / "informix.toml"
    for _ in range(2):  # the second time it replaces the first one
        ran = cli("adbc-manifest")
        assert (ran.code, ran.out) == (0, f"Wrote {written}\n")
    assert {path.name for path in written.parent.rglob("*")} == {
        "informix.toml", "informix", "python.txt", library.library_path().name,
    }  # fmt: skip
    program = (
        "import sys; from adbc_driver_manager import dbapi; "
        "options = {'uri': sys.argv[1], 'password': sys.argv[2]}; "
        "conn = dbapi.connect(driver='informix', db_kwargs=options, autocommit=True); "
        "print(conn.adbc_get_info()['driver_name']); conn.close()"
    )
    environment = {name: value for name, value in os.environ.items() if name != "ADBC_DRIVER_PATH"}
    words = [sys.executable, "-c", program, url, os.environ["INFORMIX_ARROW_PASSWORD"]]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, "informix-arrow\n"), done.stderr
    assert cli("adbc-manifest", "--remove").out == f"Removed {written}\n"
    assert list(written.parent.iterdir()) == []
    assert cli("adbc-manifest", "--user", "--remove").out == f"There was no {written}\n"


def test_the_folder_of_an_environment(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / 'dri ver"s é'
    monkeypatch.setenv("ADBC_DRIVER_PATH", f"{folder}{os.pathsep}{tmp_path}")
    assert cli("adbc-manifest", "--env").code == 0
    text = (folder / "informix.toml").read_text(encoding="utf-8")
    if sys.version_info >= (3, 11):
        import tomllib

        found = tomllib.loads(text)
        assert found["Driver"]["shared"] == str(folder / "informix" / library.library_path().name)
        assert (found["manifest_version"], found["ADBC"]["version"]) == (1, "1.1.0")
    assert (folder / "informix" / "python.txt").read_text(encoding="utf-8").splitlines() == [
        sys.executable, str(library.libpython_path()),
    ]  # fmt: skip
    monkeypatch.delenv("ADBC_DRIVER_PATH")
    assert manifest.folder_of("env") == Path(sys.prefix, "etc", "adbc", "drivers")


def test_what_cannot_work_is_said(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))

    def missing() -> Path:
        raise FileNotFoundError("The shared library of CPython 3.99 was not found. Install it.")

    monkeypatch.setattr(manifest, "libpython_path", missing)
    ran = cli("adbc-manifest")
    assert ran.code == 1
    assert "CPython 3.99 was not found. Install it." in ran.err
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setenv("XDG_CONFIG_HOME", "/proc/nowhere")
    ran = cli("adbc-manifest")
    assert ran.code == 1
    assert "/proc/nowhere" in ran.err
    assert cli("adbc-manifest", "--user", "--env").code == 2
