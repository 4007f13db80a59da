"""Clients of change capture by others on the embedded server: IBM's change-stream client, and Debezium.

README.md describes each case.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from tests.interop.reference_clients import reference_client_missing

from informix_arrow.server import Server

from ..jdbc.toolchain import Unavailable
from ..programs.toolchain import compile_programs

HERE = Path(__file__).parent
#: Seconds for all cases of a part. The program itself enforces them.
SECONDS = {"ibm": 200, "debezium": 150}
MAIN = {"ibm": "cdcclient.Ibm", "debezium": "cdcclient.Debezium"}
LINE = re.compile(r"(PASS|FAIL) (\w+)(?:: (.*))?")
_CASE = re.compile(r'(?:\bone|\bcases\.add|\berror)\((?:cases, )?"((?:raw|error|engine|tx|debezium)_\w+)"')

pytestmark = [
    pytest.mark.reference_client,
    pytest.mark.program,
    pytest.mark.timeout(max(SECONDS.values()) + 200),
]


def sources_of(part: str) -> list[Path]:
    return sorted((HERE / "common" / "src").rglob("*.java")) + sorted((HERE / part / "src").rglob("*.java"))


def case_names(part: str) -> set[str]:
    """Return the names of the cases that a part registers, read from its source."""
    return {name for source in sources_of(part) for name in _CASE.findall(source.read_text(encoding="utf-8"))}


@pytest.mark.parametrize("part", sorted(SECONDS))
def test_every_case_of_a_client_passes(part: str, tmp_path: Path) -> None:
    try:
        java = compile_programs(tmp_path, sources_of(part), HERE / part / "pom.xml", f"capture-{part}")
    except Unavailable as missing:
        reference_client_missing(str(missing))
    with Server() as server:
        server.create_database("cdc_clients")
        host, port = server.address
        arguments = (host, str(port), "cdc_clients", server.user, server.password, server.server_name)
        done = subprocess.run(
            java.command(MAIN[part], *arguments, seconds=str(SECONDS[part])),
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=SECONDS[part] + 60,
            check=False,
        )
    ended = f"no verdict; it ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-300:]}"
    verdicts = dict.fromkeys(case_names(part), ended)
    for line in filter(None, map(LINE.fullmatch, done.stdout.splitlines())):
        verdicts[line[2]] = "passed" if line[1] == "PASS" else line[3]
    assert len(verdicts) > 5
    assert {case: said for case, said in verdicts.items() if said != "passed"} == {}
