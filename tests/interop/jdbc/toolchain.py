"""Java, Maven, the vendor's driver and our two Java programs.

The jars come from Maven Central through Maven's own client and stay in a cache directory: ``.cache/jdbc`` in
the repository (never committed), or below ``INFORMIX_ARROW_CACHE``. A second run needs no network.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

#: Release of IBM's driver under test: the newest one, or another as in `make older-jdbc`.
RELEASE = os.environ.get("INFORMIX_ARROW_JDBC_RELEASE", "15.0.1.0")
#: The driver and our programs need bson on the class path for JSON.
BSON = "4.11.1"
HERE = Path(__file__).parent
REPOSITORY = HERE.parents[2]
SOURCES = ("Conformance.java", "DriverBridge.java")
ADVICE = "a JDK is needed (Debian: apt-get install openjdk-17-jdk-headless)"


class Unavailable(Exception):
    """Raised if something outside the project is missing. The text says what, and what to do."""


@dataclass(frozen=True, slots=True)
class Java:
    """A JVM with the driver and our compiled programs on its class path."""

    executable: str
    class_path: str

    def command(self, main: str, *arguments: str, **properties: str) -> list[str]:
        """Return the command line of one of our programs. ``properties`` become ``-Dname=value``."""
        settings = [f"-D{name}={value}" for name, value in properties.items()]
        # Without the C2 compiler: these programs end before its optimisation pays off.
        return [
            self.executable,
            "-XX:TieredStopAtLevel=1",
            "-Dfile.encoding=UTF-8",
            "-Duser.timezone=UTC",
            *settings,
            "-cp",
            self.class_path,
            main,
            *arguments,
        ]


def cache_directory() -> Path:
    """Return the directory where downloaded jars are kept between runs."""
    return Path(os.environ.get("INFORMIX_ARROW_CACHE") or REPOSITORY / ".cache") / "jdbc"


def program(name: str, advice: str) -> str:
    """Return the path of a program. Raises Unavailable if it is not installed."""
    path = shutil.which(name)
    if path is None:
        raise Unavailable(f"no {name} on PATH: {advice}")
    return path


def fetch_jars(cache: Path, release: str = RELEASE) -> list[Path]:
    """Return the driver's jar and bson's jar in ``cache``. Maven downloads missing ones."""
    artifacts = (("com.ibm.informix", "jdbc", release), ("org.mongodb", "bson", BSON))
    jars = [cache / f"{artifact}-{version}.jar" for _, artifact, version in artifacts]
    if all(jar.exists() for jar in jars):
        return jars
    maven = program("mvn", "IBM's JDBC driver is fetched with Maven (Debian: apt-get install maven)")
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:  # workers of one test run do this at the same time
        fcntl.flock(lock, fcntl.LOCK_EX)
        for (group, artifact, version), jar in zip(artifacts, jars, strict=True):
            if not jar.exists():
                _fetch(maven, cache, f"{group}:{artifact}:{version}", jar)
    return jars


def _fetch(maven: str, cache: Path, coordinates: str, jar: Path) -> None:
    # Download into a temporary folder first: an interrupted download must not look like a jar.
    with tempfile.TemporaryDirectory(dir=cache) as fresh:
        copy = subprocess.run(
            [
                maven,
                "--quiet",
                "--batch-mode",
                "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy",
                f"-Dartifact={coordinates}",
                f"-DoutputDirectory={fresh}",
            ],
            cwd=fresh,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        fetched = Path(fresh) / jar.name
        if copy.returncode != 0 or not fetched.exists():
            said = " ".join((copy.stdout + copy.stderr).split())[:300]
            raise Unavailable(f"Maven could not fetch {coordinates}: {said}")
        fetched.replace(jar)


def compile_programs(target: Path, release: str = RELEASE) -> str:
    """Compile our programs into ``target`` against the jars of a release; return the class path of what was compiled.

    The releases have the same names for what these programs call: classes that were compiled against one run with all.
    """
    javac = program("javac", ADVICE)
    class_path = os.pathsep.join(str(jar) for jar in fetch_jars(cache_directory(), release))
    build = subprocess.run(
        # Without the C2 compiler here, too: it takes half of the time.
        [javac, "-J-XX:TieredStopAtLevel=1", "-proc:none", "-nowarn", "-encoding", "UTF-8"]
        + ["-cp", class_path, "-d", str(target)]
        + [str(HERE / source) for source in SOURCES],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    # Not Unavailable: if our programs do not compile, that is our fault and no reason to skip.
    if build.returncode != 0:
        raise RuntimeError(f"javac failed:\n{build.stderr}")
    return str(target)


def with_driver(programs: str, release: str = RELEASE) -> Java:
    """Return a JVM for compiled programs and a release of the driver."""
    jars = [str(jar) for jar in fetch_jars(cache_directory(), release)]
    return Java(program("java", ADVICE), os.pathsep.join((programs, *jars)))
