"""Starts a private PostgreSQL server with the installed programs (Debian: ``apt-get install postgresql``)."""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

START_SECONDS = 60.0
STOP_SECONDS = 10.0
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "shared_buffers": "512MB",  # a table below a quarter of it stays there when a benchmark reads it as a whole
    "fsync": "off",
    "autovacuum": "off",  # works when others are measured
}


def programs() -> Path:
    """Return the folder of initdb and postgres: that of PATH, or Debian's newest one."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    debian = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if path.parent.name.isdigit()]
    folders += sorted(debian, key=lambda path: -int(path.parent.name))
    for folder in folders:
        if (folder / "initdb").exists() and (folder / "postgres").exists():
            return folder
    pytest.skip("PostgreSQL is not installed: no initdb and postgres in PATH or /usr/lib/postgresql/*/bin")


def other_user() -> pwd.struct_passwd | None:
    """Return the user that PostgreSQL runs as if we are root, because it refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    pytest.skip("PostgreSQL does not run as root, and there is no user postgres or nobody")


@contextmanager
def running(folder: Path, *, tcp: bool = True) -> Iterator[str]:
    """Start a server with a new cluster in an empty folder and yield its URL. Without ``tcp`` it listens on a socket in
    the folder."""
    bin_folder, user = programs(), other_user()
    options: dict[str, Any] = {"cwd": folder, "stdin": subprocess.DEVNULL}
    if user is not None:
        os.chown(folder, user.pw_uid, user.pw_gid)
        options |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    subprocess.run(
        [bin_folder / "initdb", "-D", "data", "-U", "ifx", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"],
        check=True,
        stdout=subprocess.DEVNULL,
        **options,
    )
    settings, port = dict(SETTINGS), 5432
    if tcp:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
    else:
        settings |= {"listen_addresses": "", "unix_socket_directories": str(folder), "shared_buffers": "16MB"}
    command = [str(bin_folder / "postgres"), "-D", "data", "-p", str(port)]
    for name, value in settings.items():
        command += ["-c", f"{name}={value}"]
    log = folder / "log"
    with log.open("wb") as out, subprocess.Popen(command, stdout=out, stderr=out, **options) as process:
        try:
            wait_ready(process, folder / "data" / "postmaster.pid", log)
            yield (
                f"postgresql://ifx@127.0.0.1:{port}/postgres"
                if tcp
                else f"postgresql:///postgres?host={folder}&user=ifx"
            )
        finally:
            process.send_signal(signal.SIGINT)  # "fast": does not wait for clients
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()


def wait_ready(process: subprocess.Popen[Any], state: Path, log: Path) -> None:
    """Wait until the server's state file says "ready", as pg_ctl does."""
    deadline = time.monotonic() + START_SECONDS
    while not (state.exists() and state.read_text().rstrip().endswith("\nready")):
        if process.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()}")
        time.sleep(0.05)
