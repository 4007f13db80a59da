"""The dialect's own tests with the oldest releases of SQLAlchemy and Alembic that pyproject.toml names."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from .environments import environment, run

ROOT = Path(__file__).parents[2]
OLDEST = ("sqlalchemy==2.0.44", "alembic==1.16.0")


def test_the_oldest_releases_are_those_that_are_named() -> None:
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = re.findall(r'"(sqlalchemy|alembic)(?:\[\w+\])?>=([\d.]+)"', text)
    assert sorted(named) == [("alembic", "1.16"), ("sqlalchemy", "2.0.44")]
    assert OLDEST == ("sqlalchemy==2.0.44", "alembic==1.16.0")


@pytest.mark.ecosystem
@pytest.mark.weekly
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.version_info >= (3, 15), reason="SQLAlchemy 2.0.44 has no wheels for it")
def test_the_dialect_passes_its_tests_with_them() -> None:
    python = environment("sqlalchemy-oldest", *OLDEST)
    asked = "import alembic, sqlalchemy; print(sqlalchemy.__version__, alembic.__version__)"
    assert run(str(python), "-c", asked).split() == ["2.0.44", "1.16.0"]
    tests = str(ROOT / "tests" / "sqlalchemy_dialect")
    reported = run(str(python), "-m", "pytest", "-q", "-n", "2", "-p", "no:cacheprovider", tests, cwd=ROOT)
    assert re.search(r"\b[1-9]\d+ passed", reported), reported
