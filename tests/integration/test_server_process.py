"""``informix-arrow serve`` as users start it."""

from __future__ import annotations

import os
import signal
import socket
import ssl
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.tls_certificates import Certificates

SERVE = [sys.executable, "-m", "informix_arrow.cli", "serve"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_serve_prints_its_address_and_stops_cleanly_on_a_signal(number: signal.Signals) -> None:
    with subprocess.Popen([*SERVE, "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.startswith("listening on 127.0.0.1:")
        with socket.create_connection(("127.0.0.1", int(line.rpartition(":")[2])), 30):
            process.send_signal(number)
            assert process.wait(30) == 0


def test_serve_says_when_its_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        run = subprocess.run([*SERVE, "--port", port], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert run.stderr.startswith("informix-arrow: cannot listen on 127.0.0.1:" + port)


def test_serve_without_its_extra_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['duckdb'] = None; from informix_arrow.cli import main; "
        "sys.exit(main(['serve']))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert run.returncode == 1
    assert run.stderr == (
        "informix-arrow: the embedded server needs duckdb: pip install 'informix-arrow[server]'\n"
    )


def test_the_password_of_the_environment_is_not_shown_by_help() -> None:
    environment = {**os.environ, "INFORMIX_ARROW_PASSWORD": "s3cret"}
    run = subprocess.run([*SERVE, "--help"], capture_output=True, text=True, timeout=60, env=environment)
    assert run.returncode == 0
    assert "s3cret" not in run.stdout


def test_serve_speaks_tls_with_the_certificate_that_it_is_given(certificates: Certificates) -> None:
    tls = ["--tls-cert", str(certificates.server), "--tls-key", str(certificates.server_key)]
    with subprocess.Popen([*SERVE, "--port", "0", *tls], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
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


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tls-cert", "nowhere.pem"], "the TLS certificate nowhere.pem"),
        (["--tls-key", "key.pem"], "tls_key and tls_ca are nothing without tls_cert"),
        (["--max-sessions", "0"], "max_sessions=0"),
        (["--idle-timeout", "0"], "idle_timeout=0"),
        (["--load", "nowhere"], "nowhere is no directory"),
        (["--query-log", "no/where.jsonl"], "no/where.jsonl"),
    ],
)
def test_serve_says_in_one_line_what_is_wrong_with_its_options(
    arguments: list[str], said: str, tmp_path: Path
) -> None:
    run = subprocess.run(
        [*SERVE, "--port", "0", *arguments], capture_output=True, text=True, timeout=120, cwd=tmp_path
    )
    assert run.returncode == 1
    assert run.stderr.startswith("informix-arrow: ")
    assert said in run.stderr
    assert run.stderr.count("\n") == 1
