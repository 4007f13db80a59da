"""The conformance client: a hundred independent cases through IBM's JDBC driver, each reported as a test."""

from __future__ import annotations

import re
import subprocess

import pytest
from tests.shared_results import once_per_run

from ..target import Target
from ..values import UTF8
from .covered import COVERED, NOT_YET
from .toolchain import Java

pytestmark = pytest.mark.reference_client

#: Seconds for one case, and for the JVM that runs all of them.
CASE_SECONDS, ALL_SECONDS = 60, 1500
#: Rows of the largest result.
LARGE = 20_000
LINE = re.compile(r"(PASS|FAIL) (\w+)(?:: (.*))?")


@pytest.fixture(scope="session")
def verdicts(
    request: pytest.FixtureRequest,
    java: Java,
    target: Target,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    """Return the result of every selected case by its name: "" if it passed, otherwise the client's reason."""
    selected = {
        item.callspec.params["case"]
        for item in request.session.items
        if isinstance(item, pytest.Function) and item.originalname == test_case.__name__
    }
    return once_per_run(
        tmp_path_factory,
        "conformance",
        lambda folder: run_cases(selected, java, target),
    )


def run_cases(selected: set[str], java: Java, target: Target) -> dict[str, str]:
    """Run the selected cases in one JVM."""
    arguments = (target.host, str(target.port), UTF8, target.user, target.password, target.server)
    only = "|".join(sorted(selected))
    command = java.command("Conformance", *arguments, only=only, timeout=str(CASE_SECONDS), rows=str(LARGE))
    run = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", timeout=ALL_SECONDS, check=False
    )
    found = {m[2]: "" if m[1] == "PASS" else m[3] for m in map(LINE.fullmatch, run.stdout.splitlines()) if m}
    missing = selected - found.keys()
    tail = (run.stdout + run.stderr).strip()[-300:]
    return found | dict.fromkeys(
        missing, f"no verdict; the client ended with status {run.returncode}: {tail}"
    )


@pytest.mark.parametrize("case", COVERED)
def test_case(case: str, verdicts: dict[str, str]) -> None:
    """The test passes if the client reports that the case passed."""
    assert verdicts[case] == ""


def test_no_case_of_the_conformance_client_is_forgotten(java: Java) -> None:
    """A case that is neither covered nor deferred with a reason would never be run, without notice."""
    listing = subprocess.run(
        java.command("Conformance", list="true"), capture_output=True, text=True, timeout=60, check=True
    )
    assert not set(COVERED) & set(NOT_YET)
    assert sorted((*COVERED, *NOT_YET)) == sorted(listing.stdout.split())
