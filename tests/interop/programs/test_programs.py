"""Programs by others on the embedded server, through IBM's JDBC driver. Each reports whether its cases passed."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from tests.interop.reference_clients import reference_client_missing

from informix_arrow.server import Server

from ..jdbc.toolchain import Java, Unavailable
from .toolchain import POM, PROGRAMS, SOURCES, case_names, compile_programs

#: Seconds for one program with all its cases.
SECONDS = 300
#: The release of IBM's driver that most installations use. The tests in jdbc/ cover the others.
DRIVER = os.environ.get("INFORMIX_ARROW_JDBC_RELEASE", "4.50.12")
#: Flyway names 12.10 as its verified release.
RELEASES = {"FlywayCases": "12.10"}
LINE = re.compile(r"(PASS|FAIL) (\w+)(?:: (.*))?")

# Each program is one test: its cases depend on each other, so they must run in one worker.
pytestmark = [pytest.mark.reference_client, pytest.mark.program, pytest.mark.timeout(SECONDS + 100)]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Java:
    """The compiled programs with their class path."""
    folder = tmp_path_factory.mktemp("programs")
    try:
        return compile_programs(folder, SOURCES, POM, "programs", f"jdbc.version={DRIVER}")
    except Unavailable as missing:
        reference_client_missing(str(missing))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_case_of_a_program_passes(name: str, programs: Java) -> None:
    database = name.lower()
    with Server(version=RELEASES.get(name, "14.10")) as server:
        server.create_database(database)
        host, port = server.address
        arguments = (host, str(port), database, server.user, server.password, server.server_name)
        done = subprocess.run(
            programs.command(name, *arguments),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    ended = (
        f"no verdict; the program ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
    )
    verdicts = dict.fromkeys(case_names(name), ended)
    for line in filter(None, map(LINE.fullmatch, done.stdout.splitlines())):
        verdicts[line[2]] = "passed" if line[1] == "PASS" else line[3]
    assert verdicts
    assert {case: said for case, said in verdicts.items() if said != "passed"} == {}
