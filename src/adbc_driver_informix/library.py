"""Paths of the driver's shared library and of CPython's, which the driver needs in programs that are not Python."""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import adbc_driver_informix

NAME = "libadbc_driver_informix"


def library_path() -> Path:
    """Return the path of the driver as a shared library.

    Raises ``FileNotFoundError`` if this installation has none, as on Windows.
    """
    for folder in adbc_driver_informix.__path__:
        for suffix in (".so", ".dylib"):
            path = Path(folder, NAME + suffix)
            if path.is_file():
                return path
    raise FileNotFoundError(
        f"This installation of informix-arrow has no {NAME}, which is built for Linux and macOS"
    )


def libpython_path() -> Path:
    """Return the path of CPython's shared library.

    Raises ``FileNotFoundError`` if this Python has none. Distributions often package it separately.
    """
    tried = list(dict.fromkeys(_candidates()))
    for path in tried:
        if path.is_file():
            return path.resolve()
    raise FileNotFoundError(
        f"The shared library of CPython {sys.version_info.major}.{sys.version_info.minor} was not found. Install it "
        "(Debian and Ubuntu: apt-get install libpython3) or use a Python that has it. "
        f"Tried: {', '.join(map(str, tried))}"
    )


def _candidates() -> Iterator[Path]:
    value = sysconfig.get_config_var
    version = value("LDVERSION") or f"{sys.version_info.major}.{sys.version_info.minor}"
    names = [value("INSTSONAME"), value("LDLIBRARY")]
    names += [f"libpython{version}{suffix}" for suffix in (".so.1.0", ".so", ".dylib")]
    folders = [
        value("LIBDIR"),
        os.path.join(value("LIBDIR") or "", value("MULTIARCH") or ""),
        os.path.join(sys.base_prefix, "lib"),
        value("PYTHONFRAMEWORKPREFIX"),
    ]
    for folder in filter(None, folders):
        for name in filter(None, names):
            if not name.endswith(".a"):
                yield Path(folder, name)
