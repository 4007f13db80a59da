"""Debezium's embedded engine as a peer: one JVM with `Follower.java`, spoken to line by line."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from .jdbc import Spoken

HERE = Path(__file__).parent


def follower(folder: Path, host: str, port: int, table: str) -> Spoken:
    """A running Follower.java for a table of stores_demo; skips where there is no JDK, or no Debezium."""
    programs: Any = pytest.importorskip("tests.interop.programs.toolchain")
    toolchain: Any = pytest.importorskip("tests.interop.jdbc.toolchain")
    pom = Path(__file__).parents[2] / "tests" / "interop" / "cdc" / "debezium" / "pom.xml"
    try:
        java = programs.compile_programs(folder, [HERE / "Follower.java"], pom, "capture-debezium")
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    arguments = (host, str(port), "stores_demo", "informix", "in4mix", table, str(folder))
    # -Xshare and the like are left alone: this is the JVM as people start it.
    return Spoken(
        [java.executable, "-cp", java.class_path, "Follower", *arguments], stderr=subprocess.DEVNULL
    )
