"""Differences between releases of Informix that tests of ``pytest --informix URL`` have to allow for.

`MISSING` has the error codes of a server that lacks a feature or has not configured it. A test that gets one is skipped
with the server's error as the reason. `DIFFERENCES` has the tests whose expectations hold on other releases only. They
are reported as expected failures (xfail). An unexpected pass (XPASS) means that the line can be removed.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

#: What is missing, by SQLCODE or ISAM code. Only unambiguous codes: a syntax error may be an error of the driver.
MISSING: dict[int, str] = {
    -387: "the user may not use that database",
    -674: "there is no such routine",
    -9628: "there is no such type",
    -9814: "the default sbspace cannot be used",
    -9820: "there is no such sbspace",
    -9827: "there is no default sbspace (SBSPACENAME)",
    -12053: "there is no default sbspace (SBSPACENAME)",
}


@dataclass(frozen=True)
class Difference:
    """A test with another result on some releases.

    Attributes
    ----------
    test
        Pattern of node ids for `fnmatch`: ``*test_server_statements.py::test_ctes*``.
    releases
        Releases, such as ``("12.10",)``.
    what
        What is different, for the report.
    """

    test: str
    releases: tuple[str, ...]
    what: str


DIFFERENCES: tuple[Difference, ...] = ()


def release_of(version: str) -> str:
    """Return ``"14.10"`` for ``IBM Informix Dynamic Server Version 14.10.FC7W1DE``, "" for a text without a version."""
    found = re.search(r"Version (\d+\.\d+)", version)
    return found[1] if found else ""


def difference(test: str, release: str) -> str:
    """Return how a test differs on a release, "" if it does not."""
    for each in DIFFERENCES:
        if fnmatch.fnmatchcase(test, each.test) and release in each.releases:
            return each.what
    return ""
