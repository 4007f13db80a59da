"""IBM's JDBC driver as a peer: one JVM with `Peer.java`, spoken to line by line."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


class Spoken:
    """A running program that takes a command a line and answers each with a line."""

    def __init__(self, command: list[str], stderr: int | None = None) -> None:
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True
        )

    def ask(self, command: str) -> str:
        """One command, one answer. Raises RuntimeError with what the program said when it failed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline().strip()
        if not answer or answer.startswith("error"):
            raise RuntimeError(f"the peer: {answer or 'it ended'}")
        return answer

    def seconds(self, command: str) -> list[float]:
        """The answer of a command that returns nanoseconds."""
        return [int(word) / 1e9 for word in self.ask(command).split()]

    def close(self) -> None:
        """End the program."""
        self._process.communicate()


class JdbcPeer(Spoken):
    """A running Peer.java; see there for the commands."""

    def __init__(self, class_path: str, java: str, url: str) -> None:
        # -Xshare and the like are left alone: this is the JVM as people start it.
        super().__init__([java, "-cp", class_path, "Peer", url])


def compile_peer(folder: Path) -> tuple[str, str]:
    """The class path and the java executable; skips where there is no JDK or no driver."""
    toolchain = pytest.importorskip("tests.interop.jdbc.toolchain")
    try:
        jars = [str(jar) for jar in toolchain.fetch_jars(toolchain.cache_directory())]
        java, javac = toolchain.program("java", ""), toolchain.program("javac", "")
    except toolchain.Unavailable as missing:
        pytest.skip(str(missing))
    path = os.pathsep.join([*jars, str(folder)])
    subprocess.run([javac, "-cp", path, "-d", str(folder), str(HERE / "Peer.java")], check=True)
    return path, java


def url(host: str, port: int, **properties: object) -> str:
    """A JDBC URL of stores_demo."""
    known = {
        "INFORMIXSERVER": "informix",
        "user": "informix",
        "password": "in4mix",
        "DB_LOCALE": "en_US.utf8",
    }
    settings = ";".join(f"{name}={value}" for name, value in {**known, **properties}.items())
    return f"jdbc:informix-sqli://{host}:{port}/stores_demo:{settings}"
