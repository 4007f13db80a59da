"""tools/release_check.py: the versions and changelogs that it refuses."""

from __future__ import annotations

import datetime
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
import release_check  # noqa: E402

TODAY = datetime.date(2026, 11, 27)
RELEASED = "# Changelog\n\n## Unreleased\n\n## 1.2.0 - 2026-11-27\n\n- a\n\n## 1.1.0 - 2026-10-01\n"


def test_a_dated_section_of_the_same_version_passes() -> None:
    assert release_check.problem_of_versions("1.2.0", RELEASED, TODAY) is None


@pytest.mark.parametrize(
    ("version", "changelog", "problem"),
    [
        ("1.2.0.dev0", RELEASED, "no release version"),
        ("1.3.0", RELEASED, "has 1.2.0 as its newest dated section"),
        ("1.2.0", "# Changelog\n\n## Unreleased\n", "has no dated section"),
        ("1.2.0", RELEASED.replace("2026-11-27", "2026-11-28"), "in the future"),
        ("1.2.0", RELEASED.replace("Unreleased\n", "Unreleased\n\n- b\n"), "still has entries"),
    ],
    ids=["development version", "another version", "no section", "tomorrow", "unreleased entries"],
)
def test_what_is_refused(version: str, changelog: str, problem: str) -> None:
    assert problem in str(release_check.problem_of_versions(version, changelog, TODAY))


def test_the_version_of_this_tree_is_the_newest_section_or_comes_after_it() -> None:
    version = release_check.declared_version((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    newest = release_check.SECTION.search((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    assert newest is not None

    def numbers(text: str) -> list[int]:
        return [int(part) for part in text.split(".")[:3]]

    assert numbers(version) >= numbers(newest[1])
    assert version == newest[1] or numbers(version) > numbers(newest[1])
