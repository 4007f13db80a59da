"""SQLAlchemy's complete test suite for dialects against the embedded server.

`make weekly` also runs it through asyncio (tests/sqlalchemy_dialect/test_async.py has the tests specific to that), and
with SQLAlchemy 2.0, with which test_oldest_sqlalchemy.py runs the dialect's own tests.

The suite replaces parts of pytest by a plugin, so it runs in a separate process. It drops all tables that it finds, so
each worker has separate databases.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest
from sqlalchemy.testing import exclusions

from informix_arrow.server import Server
from informix_arrow.sqlalchemy.requirements import CLOSED, OPEN, Requirements

from .environments import environment, run

SUITE = Path(__file__).parents[1] / "sqlalchemy_suite"
#: Minimum number of cases that run. With fewer, a feature was disabled that was enabled. Older suites have fewer cases.
LEAST = {"2.0.44": 750, "2.0": 800, "2.1": 800}

WEEKLY = (pytest.mark.weekly, pytest.mark.slow)
#: Requirements of each release. The tests run with 2.1.
RELEASES = {"2.0.44": "sqlalchemy==2.0.44", "2.0": "sqlalchemy>=2.0.44,<2.1", "2.1": ""}


@pytest.mark.ecosystem
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("release", "driver"),
    [
        pytest.param("2.1", "informix_arrow"),
        pytest.param("2.0", "informix_arrow", marks=WEEKLY),
        pytest.param("2.0.44", "informix_arrow", marks=WEEKLY),
        pytest.param("2.1", "aio", marks=WEEKLY),
        pytest.param("2.0", "aio", marks=WEEKLY),
        pytest.param("2.0.44", "aio", marks=WEEKLY),
    ],
)
def test_no_case_of_the_suite_fails(tmp_path: Path, release: str, driver: str) -> None:
    python = sys.executable
    if RELEASES[release]:
        python = str(environment(f"sqlalchemy-{release}", RELEASES[release]))
    installed = run(python, "-c", "import sqlalchemy; print(sqlalchemy.__version__)").strip()
    assert f"{installed}.".startswith(f"{release}.")
    report = tmp_path / "report.xml"
    with Server() as server:
        server.create_database("suite")
        done = subprocess.run(
            [
                *(python, "-m", "pytest", "-c", str(SUITE / "setup.cfg"), f"--rootdir={SUITE}"),
                *("--dburi", server.url("suite").replace("informix:", f"informix+{driver}:", 1)),
                *("-n", "2", "-q", "--tb=short", f"--junit-xml={report}", str(SUITE / "test_suite.py")),
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    said = done.stdout[-20_000:] + done.stderr[-5_000:]
    assert report.exists(), said
    cases = ElementTree.parse(report).getroot().findall(".//testcase")
    failed = [
        f"{case.get('classname')}::{case.get('name')}"
        for case in cases
        if case.find("failure") is not None or case.find("error") is not None
    ]
    ran = [case for case in cases if case.find("skipped") is None]
    assert not failed, "\n".join([*failed, said])
    assert done.returncode == 0, said
    assert len(ran) >= LEAST[release], f"{len(ran)} of {len(cases)} cases ran"


def test_every_closed_requirement_has_its_reason() -> None:
    assert not set(OPEN) & set(CLOSED)
    asked = Requirements()
    for name in (*OPEN, *CLOSED):
        assert hasattr(type(asked).__mro__[1], name), f"SQLAlchemy's suite does not ask for {name}"
    for name in OPEN:
        assert getattr(asked, name).enabled
    # SQLAlchemy disables features that most databases lack. Those that remain disabled have a reason here.
    for name in dir(Requirements):
        if isinstance(getattr(Requirements, name), property) and name not in CLOSED:
            requirement = getattr(asked, name, None)
            if isinstance(requirement, exclusions.compound):
                skips = [skip for skip in requirement.skips if isinstance(skip, exclusions.BooleanPredicate)]
                assert not any(skip.value for skip in skips), f"{name} is closed, and nothing says why"
