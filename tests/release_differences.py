"""What releases of Informix lack or do otherwise, as far as the tests of ``pytest --informix URL`` meet it.

One table each: `MISSING` is what a server says where a feature is not there or not configured; such a test is skipped
with the server's own error. `DIFFERENCES` are tests whose expectation holds on other releases only; they are reported
as expected failures (xfail), or as unexpected passes (XPASS), after which the line can go.
"""

from __future__ import annotations

import fnmatch
import re
from dataclasses import dataclass

#: SQLCODE or ISAM code -> what is not there. Only codes that say nothing else: a syntax error may be our own fault.
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
    """A test that behaves otherwise on some releases.

    Attributes
    ----------
    test
        Node ids, as a pattern of `fnmatch`: ``*test_server_statements.py::test_ctes*``.
    releases
        Such as ``("12.10",)``.
    what
        What is different, for the report.
    """

    test: str
    releases: tuple[str, ...]
    what: str


DIFFERENCES: tuple[Difference, ...] = ()


def release_of(version: str) -> str:
    """Return ``"14.10"`` of ``IBM Informix Dynamic Server Version 14.10.FC7W1DE``, or "" of another text."""
    found = re.search(r"Version (\d+\.\d+)", version)
    return found[1] if found else ""


def difference(test: str, release: str) -> str:
    """Return what is different about a test on a release, or "" for nothing."""
    for each in DIFFERENCES:
        if fnmatch.fnmatchcase(test, each.test) and release in each.releases:
            return each.what
    return ""
