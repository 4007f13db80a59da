"""Virtual environments for tools with other requirements than ours, on top of the environment of the tests.

They are created once and kept in the same cache as the JDBC driver. A tool's requirements take precedence. All other
packages, including this one, come from the environment that the tests run in.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

from tests.interop.jdbc import toolchain


def environment(name: str, *requirements: str) -> Path:
    """Return the python of a virtual environment, which is created if it does not exist."""
    ours = sysconfig.get_paths()["purelib"]
    asked = hashlib.sha256("\n".join((sys.version, ours, *requirements)).encode()).hexdigest()[:12]
    home = toolchain.cache_directory().with_name(f"{name}-{asked}")
    home.parent.mkdir(parents=True, exist_ok=True)
    python = home / "bin" / "python"
    with home.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (home / "whole").exists():
            shutil.rmtree(home, ignore_errors=True)
            run(sys.executable, "-m", "venv", str(home))
            [packages] = home.glob("lib/python*/site-packages")
            (packages / "beneath.pth").write_text(f"import site; site.addsitedir({ours!r})\n")
            run(str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", "install", *requirements)
            (home / "whole").touch()
    return python


def run(*command: str, env: Mapping[str, str] | None = None, cwd: Path | str = "/") -> str:
    """Run a command and return its output. Raises an error with its output if it fails."""
    kept = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "PYTHONHOME"}}
    done = subprocess.run(
        command, capture_output=True, text=True, env={**kept, **(env or {})}, cwd=cwd, check=False
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
