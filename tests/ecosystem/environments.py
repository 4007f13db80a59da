"""Environments of their own for what is too large for ours: made once, kept beside the JDBC driver's jars."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from tests.interop.jdbc import toolchain

import informix_arrow as ifx
from informix_arrow import _bulk, _changes, _decode, _encode, _hash, _unl


def environment(*requirements: str) -> Path:
    """The python of an environment with these packages."""
    name = "+".join(each.replace("==", "-").replace(">=", "-") for each in requirements)
    home = toolchain.cache_directory().with_name(name)
    home.parent.mkdir(parents=True, exist_ok=True)
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "whole").exists():
            shutil.rmtree(home, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", str(home)], check=True)
            pip = [str(home / "bin" / "python"), "-m", "pip", "--quiet", "--disable-pip-version-check"]
            subprocess.run([*pip, "install", "--no-cache-dir", *requirements], check=True)
            (home / "whole").touch()
    return home / "bin" / "python"


def packages(place: Path) -> str:
    """A PYTHONPATH with this package, its extension modules in it, and the packages that it needs."""
    package = place / "packages" / "informix_arrow"
    shutil.copytree(Path(ifx.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    ours = Path(ifx.__file__).parents[1]  # what pyproject's entry points name
    for name in ("adbc_driver_informix", "pytest_informix_arrow"):
        shutil.copytree(ours / name, package.with_name(name), ignore=shutil.ignore_patterns("__pycache__"))
    for module in (_bulk, _changes, _decode, _encode, _hash, _unl):
        if not (package / Path(module.__file__).name).exists():
            shutil.copy(module.__file__, package)
    return os.pathsep.join([str(package.parent), sysconfig.get_paths()["purelib"]])
