"""``informix-arrow serve`` as users start it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys

import pytest

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
