"""``pytest --informix URL``, ``--record`` and ``--replay`` (tests/real_server.py): the URL is an embedded server's."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests import recordings
from tests.recordings import Hiding, NotKept, Recorded
from tests.release_differences import release_of

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.wire.login import ConnectRequest

TESTS = ("tests/integration/test_current_database.py", "tests/integration/test_aio_scroll.py")


def run(*options: str) -> str:
    """Return the output of another pytest, which runs TESTS and must pass."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        "no:benchmark",
        "-p",
        "no:cacheprovider",
        "-q",
        *options,
        *TESTS,
    ]
    ran = subprocess.run(
        command,
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def passed(output: str) -> int:
    found = re.search(r"(\d+) passed", output)
    return int(found[1]) if found else 0


def databases(server: Server) -> set[str]:
    with ifx.connect(server.url("sysmaster"), autocommit=True) as conn:
        return {row[0] for row in conn.execute("SELECT name FROM sysdatabases").fetchall()}


@pytest.mark.embedded
@pytest.mark.slow
def test_tests_of_a_url_leave_nothing_behind_and_are_replayed_without_it(tmp_path: Path) -> None:
    with Server(user="ann", password="s3cret-of-ann", server_name="ol_ann") as server:
        before = databases(server)
        with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
            tables = conn.execute("SELECT COUNT(*)::INT FROM systables").fetchall()
        count = passed(run("--informix", server.url(""), "--record", str(tmp_path)))
        assert count >= 3
        assert {each for each in databases(server) if each not in before} == set()
        with ifx.connect(server.url("stores_demo"), autocommit=True) as conn:
            assert conn.execute("SELECT COUNT(*)::INT FROM systables").fetchall() == tables
    files = sorted(tmp_path.rglob("*.jsonl"))
    assert sum("test_current_database" in str(file) for file in files) == 1
    for file in files:
        about, scripts = recordings.read(file)
        assert (about["user"], about["server"]) == ("ann", "ol_ann")
        for data in (file.read_bytes(), *(script.requests for script in scripts)):
            assert b"s3cret-of-ann" not in data
    # One of them interrupts a statement, at a moment that is not in recordings.
    assert passed(run("--replay", str(tmp_path))) == count - 1


@pytest.mark.embedded
def test_a_replay_in_which_the_client_says_something_else_fails(server: Server, tmp_path: Path) -> None:
    proxy = recordings.RecordingProxy(server.address)
    proxy.owner = "tests::one"
    host, port = proxy.address
    with ifx.connect(server.url("sysmaster"), host=host, port=port) as conn:
        assert conn.execute("SELECT tabid FROM systables WHERE tabid = 1").fetchall() == [(1,)]
    proxy.settle()
    proxy.close()
    about = {"server": "informix", "user": "informix", "version": "14.10"}
    recordings.write(tmp_path, "tests::one", about, proxy.kept["tests::one"], Hiding("", ()))

    player = recordings.Player(tmp_path)
    player.owner = "tests::one"
    host, port = player.address
    with ifx.connect(server.url("sysmaster"), host=host, port=port) as conn:
        assert conn.execute("SELECT tabid FROM systables WHERE tabid = 1").fetchall() == [(1,)]
    assert player.problems == []
    player.begin("tests::one")
    with (
        pytest.raises(ifx.OperationalError),
        ifx.connect(server.url("sysmaster"), host=host, port=port) as conn,
    ):
        conn.execute("SELECT tabid FROM systables WHERE tabid = 2").fetchall()
    player.close()
    (problem,) = player.problems
    assert problem.startswith("tests::one: no recorded dialogue goes on")
    assert "tabid = 2" in problem


def login() -> bytes:
    return ConnectRequest("ann", "s3cret-of-ann", "informix", environment={}).encode()


def dialogue(request: bytes, reply: bytes) -> Recorded:
    recorded = Recorded()
    for way, data in (("->", login()), ("<-", b"\0\2"), ("->", request), ("<-", reply)):
        recorded.add(way, data)  # type: ignore[arg-type]
    return recorded


def test_secrets_and_hosts_are_overwritten_in_their_length(tmp_path: Path) -> None:
    hide = Hiding("s3cret-of-ann", ["db7.example.org", "localhost"])
    request = b"\0\1s3cret-of-ann on db7.example.org, ia_test_0a1b2c_03_shop, localhost"
    path = recordings.write(tmp_path, "a.py::b", {}, [dialogue(request, request[::-1] + request)], hide)
    assert path is not None
    _, (script,) = recordings.read(path)
    hidden = b"\0\1xxxxxxxxxxxxx on hhhhhhhhhhhhhhh, ia_test_000000_00_shop, localhost"
    assert script.requests == hidden  # and nothing of the login
    assert len(hidden) == len(request)
    assert [due for due, _ in script.replies] == [0, len(request)]
    assert script.replies[1][1].endswith(hidden)


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (b"SET ENCRYPTION PASSWORD 'abcdef'", "password"),
        (b"CREATE USER bob WITH PASSWORD 'abc'", "password"),
        (bytes(recordings.LARGEST), "bytes"),
    ],
)
def test_what_must_not_be_kept_is_not_written(tmp_path: Path, request_: bytes, reason: str) -> None:
    with pytest.raises(NotKept, match=reason):
        recordings.write(tmp_path, "a.py::b", {}, [dialogue(request_, b"\0\x0c")], Hiding("", ()))
    assert list(tmp_path.iterdir()) == []


def test_a_release_is_found_in_the_servers_text() -> None:
    assert release_of("IBM Informix Dynamic Server Version 14.10.FC7W1DE") == "14.10"
    assert release_of("IBM Informix Dynamic Server Version 15.0.1.0.3") == "15.0"
    assert release_of("something else") == ""
