"""Programs that nobody here wrote, on the embedded server through IBM's JDBC driver: the verdicts of their cases."""

from __future__ import annotations

import os
import re
import subprocess

import pytest
from tests.interop.reference_clients import reference_client_missing

from informix_arrow.server import Server

from ..jdbc.toolchain import Java, Unavailable
from .toolchain import POM, PROGRAMS, SOURCES, case_names, compile_programs

#: Seconds that one program may take with all of its cases.
SECONDS = 300
#: The release of IBM's driver: the one that most installations run. The suite in jdbc/ covers the others.
DRIVER = os.environ.get("INFORMIX_ARROW_JDBC_RELEASE", "4.50.12")
#: Flyway calls 12.10 the verified one.
RELEASES = {"FlywayCases": "12.10"}
LINE = re.compile(r"(PASS|FAIL) (\w+)(?:: (.*))?")

# A program is one test: its cases build on one another, and wherever tests run side by side they stay together.
pytestmark = [pytest.mark.reference_client, pytest.mark.program, pytest.mark.timeout(SECONDS + 100)]


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Java:
    """The compiled programs with what they need on their class path."""
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
