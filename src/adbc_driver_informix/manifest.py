"""The driver manifest: how driver managers find the shared library by the name ``informix``.

A manifest is a file ``informix.toml`` in one of ADBC's folders for drivers. Next to it is a folder ``informix`` with a
copy of the library and ``python.txt``, which names the interpreter and CPython's shared library for programs that are
not Python. The copy has a path of its own, from which it finds that file, for each environment and each user.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Literal, TypeAlias

from informix_arrow import __version__

from .library import libpython_path, library_path

NAME = "informix"
Place: TypeAlias = Literal["user", "system", "env"]


def folder_of(place: Place) -> Path:
    """Return ADBC's folder for drivers: of the user, of the system, or of the environment.

    That of the environment is the first one in ``ADBC_DRIVER_PATH``, else ``etc/adbc/drivers`` of the virtual or conda
    environment that Python runs in.
    """
    mac = sys.platform == "darwin"
    if place == "env":
        first = os.environ.get("ADBC_DRIVER_PATH", "").split(os.pathsep)[0]
        return Path(first) if first else Path(sys.prefix, "etc", "adbc", "drivers")
    if place == "system":
        return Path("/Library/Application Support/ADBC/Drivers" if mac else "/etc/adbc/drivers")
    if mac:
        return Path.home() / "Library" / "Application Support" / "ADBC" / "Drivers"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config", "adbc", "drivers")


def write_manifest(folder: Path) -> Path:
    """Write the manifest and what belongs to it into a folder, and return the manifest's path.

    Raises ``FileNotFoundError`` if there is no library or no shared library of CPython, and other ``OSError`` if the
    folder cannot be written.
    """
    library, libpython = library_path(), libpython_path()
    own = folder.absolute() / NAME
    own.mkdir(parents=True, exist_ok=True)
    installed = own / library.name
    _replace(installed, library.read_bytes(), executable=True)
    _replace(own / "python.txt", os.fsencode(f"{sys.executable}\n{libpython}\n"))
    manifest = folder.absolute() / f"{NAME}.toml"
    _replace(manifest, _manifest(installed).encode())
    return manifest


def remove_manifest(folder: Path) -> bool:
    """Remove what :func:`write_manifest` has written. Return whether there was a manifest."""
    manifest = folder / f"{NAME}.toml"
    found = manifest.exists()
    manifest.unlink(missing_ok=True)
    shutil.rmtree(folder / NAME, ignore_errors=True)
    return found


def _manifest(library: Path) -> str:
    # A JSON string is also a string of TOML.
    return f"""\
manifest_version = 1
name = "Informix"
version = {json.dumps(__version__)}
publisher = "informix-arrow"
license = "Apache-2.0"

[ADBC]
version = "1.1.0"

[Driver]
entrypoint = "AdbcDriverInit"
shared = {json.dumps(str(library))}
"""


def _replace(path: Path, content: bytes, *, executable: bool = False) -> None:
    """Write a file in one step: a program may be using the one that it replaces."""
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with open(number, "wb") as file:
            file.write(content)
        os.chmod(name, 0o755 if executable else 0o644)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise
