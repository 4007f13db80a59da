"""Check that this commit can be released: ``python tools/release_check.py``, or ``make release-check``.

In this order, stopping at the first failure:

- The working tree is clean.
- The version is a release version, and the changelog's newest section has it and a date that is not in the future.
- The source distribution and a wheel build, and ``twine check`` accepts both. They are left in ``dist/``.
- The documentation builds without warnings.
"""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SECTION = re.compile(r"^## (\S+) - (\d{4}-\d{2}-\d{2})$", re.MULTILINE)
RELEASE = re.compile(r"\d+\.\d+\.\d+")


def declared_version(pyproject: str) -> str:
    """Return the version in the text of pyproject.toml."""
    found = re.search(r'^version = "([^"]+)"$', pyproject, re.MULTILINE)
    if found is None:
        raise SystemExit("pyproject.toml has no line 'version = \"..\"'")
    return found[1]


def problem_of_versions(version: str, changelog: str, today: datetime.date) -> str | None:
    """Return what keeps `version` from being released, or None."""
    if not RELEASE.fullmatch(version):
        return f"pyproject.toml says {version!r}, which is no release version: set it to X.Y.Z"
    section = SECTION.search(changelog)
    if section is None or section[1] != version:
        newest = (
            "has no dated section" if section is None else f"has {section[1]} as its newest dated section"
        )
        return f"CHANGELOG.md {newest}: expected '## {version} - YYYY-MM-DD'"
    if datetime.date.fromisoformat(section[2]) > today:
        return f"CHANGELOG.md dates {version} in the future: {section[2]}"
    unreleased = changelog[: section.start()].partition("## Unreleased")[2]
    if unreleased.strip():
        return f"CHANGELOG.md still has entries under 'Unreleased': move them to {version}"
    return None


def run(*command: str) -> None:
    """Run a command in the root of the project. Exit with its name if it fails."""
    print("$", " ".join(command), flush=True)
    if subprocess.run(command, cwd=ROOT).returncode:
        raise SystemExit(f"failed: {' '.join(command)}")


def main() -> None:
    """Run all checks in order."""
    changed = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True
    ).stdout
    if changed:
        raise SystemExit(f"the working tree is not clean:\n{changed}")
    version = declared_version((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    if problem := problem_of_versions(version, changelog, datetime.date.today()):
        raise SystemExit(problem)
    shutil.rmtree(ROOT / "dist", ignore_errors=True)
    python = sys.executable
    run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "build", "twine")
    run(python, "-m", "build")
    run(
        python, "-m", "twine", "check", "--strict", *(str(path) for path in sorted((ROOT / "dist").iterdir()))
    )
    run("make", "docs")
    print(f"{version} can be released: tag this commit v{version} and push the tag")


if __name__ == "__main__":
    main()
