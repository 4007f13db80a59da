"""``informix-arrow serve`` as users start it."""

from __future__ import annotations

import gc
import os
import signal
import socket
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from tests.subprocess_server import ForkedCommand

import informix_arrow
from informix_arrow.cli import main, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.tls_certificates import Certificates

SERVE = [sys.executable, "-m", "informix_arrow.cli", "serve"]


@pytest.fixture
def signals_are_put_back() -> Iterator[None]:
    """Restore the handlers of SIGTERM and SIGINT, which the command replaces when it runs in this process."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    wakeup = signal.set_wakeup_fd(-1)
    yield
    signal.set_wakeup_fd(wakeup)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_prints_its_address_and_stops_cleanly_on_a_signal(number: signal.Signals) -> None:
    """SIGTERM is tested with a new Python process, SIGINT with a forked one, as only the signal differs."""
    started: subprocess.Popen[str] | ForkedCommand = (
        subprocess.Popen([*SERVE, "--port", "0"], stdout=subprocess.PIPE, text=True)
        if number == signal.SIGTERM
        else ForkedCommand("serve", "--port", "0")
    )
    with started as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:")
        url = process.stdout.readline().strip()
        assert url == f"informix://informix@{line.split()[-1]}/?server=informix"
        with informix_arrow.connect(url, password="in4mix") as connection:
            assert connection.database == ""
        with socket.create_connection(("127.0.0.1", int(line.rpartition(":")[2])), 30):
            process.send_signal(number)
            assert process.wait(30) == 0


def test_the_collector_passes_over_what_serve_began_with_until_it_ends() -> None:
    seen = []

    class Some:
        host, port, address, password = "127.0.0.1", 1, ("127.0.0.1", 1), "s"

        def url(self) -> str:
            return "informix://u:s@127.0.0.1:1/"

        def start(self) -> None:
            seen.append(gc.get_freeze_count())

        def recv(self, _: int) -> bytes:
            seen.append(gc.get_freeze_count())
            return b"x"

        def stop(self) -> None:
            seen.append(gc.get_freeze_count())

    some: Any = Some()
    try:
        assert serve._serve_until(some, some) == 0
    finally:
        gc.freeze()  # restores the state of tests/conftest.py
    assert seen[0] < seen[1]
    assert seen[2] == 0


@pytest.mark.usefixtures("signals_are_put_back")
def test_serve_says_when_its_port_is_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        assert main(["serve", "--port", port]) == 1
    assert capsys.readouterr().err.startswith("informix-arrow: cannot listen on 127.0.0.1:" + port)


def test_serve_without_its_extra_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['duckdb'] = None; from informix_arrow.cli import main; "
        "sys.exit(main(['serve']))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert run.stderr == (
        "informix-arrow: The embedded server needs duckdb. Run pip install 'informix-arrow[server]'\n"
    )


def test_the_password_of_the_environment_is_not_shown_by_help() -> None:
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "s3cret"}
    run = subprocess.run([*SERVE, "--help"], capture_output=True, text=True, timeout=60, env=environment)
    assert run.returncode == 0
    assert "s3cret" not in run.stdout


def test_serve_speaks_tls_with_the_certificate_that_it_is_given(certificates: Certificates) -> None:
    tls = ["--tls-cert", str(certificates.server), "--tls-key", str(certificates.server_key)]
    with ForkedCommand("serve", "--port", "0", *tls) as process:
        try:
            port = int(process.stdout.readline().rpartition(":")[2])
            context = ssl.create_default_context(cafile=certificates.ca)
            with (
                socket.create_connection(("127.0.0.1", port), 30) as raw,
                context.wrap_socket(raw, server_hostname="localhost") as sock,
            ):
                assert sock.version() in {"TLSv1.2", "TLSv1.3"}
        finally:
            process.terminate()
            assert process.wait(30) == 0


#: Invalid options, in a folder with these users, and the message for each.
WRONG: dict[str, tuple[list[str], str, str]] = {
    "no certificate": (["--tls-cert", "nowhere.pem"], "", "The TLS certificate nowhere.pem"),
    "a key alone": (["--tls-key", "key.pem"], "", "tls_key and tls_ca need tls_cert"),
    "no session": (["--max-sessions", "0"], "", "max_sessions=0"),
    "no threads": (["--threads", "0"], "", "threads=0: It must be at least 1."),
    "no time": (["--idle-timeout", "0"], "", "idle_timeout=0"),
    "no password": (["--host", "0.0.0.0"], "", "the default password is publicly known. Give your own"),
    "the default password": (
        ["--host", "::", "--password", "in4mix"],
        "",
        "the default password is publicly known. Give your own",
    ),
    "no file of users": (["--users", "nowhere.txt"], "", "nowhere.txt"),
    "no files to load": (["--load", "nowhere"], "", "nowhere is not a directory"),
    "no folder of the log": (["--query-log", "no/where.jsonl"], "", "no/where.jsonl"),
    "a user without a password": (
        ["--users", "users.txt"],
        "ann:one\nbob\n",
        "users.txt, line 2: It must be NAME:PASSWORD",
    ),
    "a password without a user": (
        ["--users", "users.txt"],
        ":s3cret\n",
        "users.txt, line 1: It must be NAME:PASSWORD",
    ),
    "a user twice": (
        ["--users", "users.txt"],
        "# who\n\nann:one\nann:s3cret\n",
        "users.txt, line 4: ann occurs twice",
    ),
    "users of another code set": (
        ["--users", "users.txt"],
        "ann:one\nbob:s3cret\udcff\n",
        "users.txt, line 2: It is not UTF-8",
    ),
    "a user twice, once behind a byte order mark": (
        ["--users", "users.txt"],
        "\ufeffann:s3cret\nann:one\n",
        "users.txt, line 2: ann occurs twice",
    ),
    "nobody": (["--users", "users.txt"], "  # ann:s3cret\n\n", "users.txt: It has no line NAME:PASSWORD"),
}


@pytest.mark.usefixtures("signals_are_put_back")
@pytest.mark.parametrize("name", WRONG)
def test_serve_says_in_one_line_what_is_wrong_with_its_options_and_no_password(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, users, _ = WRONG[name]
    monkeypatch.chdir(tmp_path)
    if users:
        (tmp_path / "users.txt").write_bytes(users.encode("utf-8", "surrogateescape"))
        (tmp_path / "users.txt").chmod(0o600)
    assert main(["serve", "--port", "0", *arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith("informix-arrow: ")
    assert WRONG[name][2] in said
    assert said.count("\n") == 1
    assert "s3cret" not in said


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_serve_lets_in_the_users_of_its_file_and_nobody_by_the_default_password(
    host: str, tmp_path: Path
) -> None:
    users = tmp_path / "users.txt"
    users.write_text("# who may\n\nann:one:two \nbörge:três\r\n", encoding="utf-8")
    users.chmod(0o644)
    said = tmp_path / "said"
    with ForkedCommand("serve", "--host", host, "--port", "0", "--users", str(users), errors=said) as process:
        try:
            port = int(process.stdout.readline().rpartition(":")[2])

            def user(name: str, password: str) -> str:
                with informix_arrow.connect(
                    host="127.0.0.1",
                    port=port,
                    server="informix",
                    database="sysmaster",
                    user=name,
                    password=password,
                ) as conn:
                    cursor = conn.cursor()
                    cursor.execute("SELECT USER, tabid FROM systables WHERE tabid = 1")
                    row = cursor.fetchone()
                    assert row is not None
                    return str(row[0]).strip()

            assert user("ann", "one:two ") == "ann"
            assert user("börge", "três") == "börge"
            for name, password in (("ann", "one"), ("ann", "três"), ("informix", "in4mix"), ("informix", "")):
                with pytest.raises(informix_arrow.Error) as caught:
                    user(name, password)
                assert caught.value.sqlcode == -951
        finally:
            process.terminate()
            assert process.wait(30) == 0
    assert "Other users can read the passwords in it" in said.read_text()
