"""Builds programs that use IBM's JDBC driver on the embedded server: Flyway, Hibernate, Liquibase, SchemaCrawler.

Their jars are those of ``pom.xml``, fetched by Maven's own client into the same cache as the driver's
(jdbc/toolchain.py). A second run needs no network.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ..jdbc.toolchain import Java, Unavailable, cache_directory, program

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
SOURCES = sorted((HERE / "src").glob("*.java"))
PROGRAMS = tuple(source.stem for source in SOURCES if source.stem != "Cases")
_CASE = re.compile(r'\badd\("(\w+)", self::')


def case_names(name: str) -> list[str]:
    """Return the names of the cases that a program registers, in its order. They are read from its source, so nothing
    has to be compiled."""
    return _CASE.findall((HERE / "src" / f"{name}.java").read_text(encoding="utf-8"))


def fetch_jars(pom: Path = POM, name: str = "programs", *properties: str) -> Path:
    """Return the folder with all jars of a ``pom.xml``, with ``properties`` of it such as ``jdbc.version=4.50.12``. The
    folder depends on both."""
    wanted = pom.read_bytes() + " ".join(properties).encode()
    folder = cache_directory().with_name(f"{name}-{hashlib.sha256(wanted).hexdigest()[:12]}")
    if folder.is_dir():
        return folder
    maven = program("mvn", "the programs' jars are fetched with Maven (Debian: apt-get install maven)")
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Download into a temporary folder first: an interrupted download must not look complete.
    with tempfile.TemporaryDirectory(dir=folder.parent) as fresh:
        target = Path(fresh) / "jars"
        fetched = subprocess.run(
            [
                maven,
                "--quiet",
                "--batch-mode",
                "--file",
                str(pom),
                "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies",
                f"-DoutputDirectory={target}",
                *(f"-D{each}" for each in properties),
            ],
            cwd=fresh,
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if fetched.returncode != 0 or not target.is_dir():
            said = " ".join((fetched.stdout + fetched.stderr).split())[:300]
            raise Unavailable(f"Maven could not fetch what {pom.parent.name}/{pom.name} names: {said}")
        try:
            target.rename(folder)
        except OSError:
            if not folder.is_dir():  # otherwise another process was faster
                raise
    return folder


def compile_programs(
    target: Path, sources: Sequence[Path] = SOURCES, pom: Path = POM, name: str = "programs", *properties: str
) -> Java:
    """Compile programs into ``target``, against the jars of their ``pom.xml`` with ``properties`` of it."""
    advice = "a JDK is needed (Debian: apt-get install openjdk-17-jdk-headless)"
    java, javac = program("java", advice), program("javac", advice)
    jars = f"{fetch_jars(pom, name, *properties)}{os.sep}*"
    build = subprocess.run(
        [javac, "-nowarn", "-encoding", "UTF-8", "-cp", jars, "-d", str(target), *map(str, sources)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if build.returncode != 0:
        raise RuntimeError(f"javac failed:\n{build.stderr}")
    return Java(java, os.pathsep.join((str(target), jars)))
