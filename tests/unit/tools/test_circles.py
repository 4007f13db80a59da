"""tools/circles.py, which checks that modules do not import each other in a circle, detects circles."""

from __future__ import annotations

import importlib.util
from itertools import pairwise
from pathlib import Path
from types import ModuleType

import grimp
import pytest

TOOL = Path(__file__).parents[3] / "tools" / "circles.py"


@pytest.fixture
def circles(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("circles", TOOL)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> None:
    """Create a package ``house_of_cards`` of these modules."""
    top = tmp_path / "house_of_cards"
    top.mkdir()
    for name, text in {"__init__": "", **files}.items():
        (top / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))


@pytest.mark.parametrize(
    "back",
    [
        "from .a import x",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from .a import X",
        "def f():\n    from . import a",
    ],
    ids=["plain", "for type checkers", "inside a function"],
)
def test_a_way_back_is_a_circle_and_is_named(
    circles: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: str
) -> None:
    package(tmp_path, monkeypatch, a="from .b import y", b="from . import c", c=back)
    monkeypatch.setattr(circles, "PACKAGE", "house_of_cards")
    graph = grimp.build_graph("house_of_cards", cache_dir=None)
    circle = circles.circle_in({m: circles.imported_by(graph, m) for m in graph.modules})
    assert circle[0] == circle[-1]
    assert sorted(circle[1:]) == [f"house_of_cards.{name}" for name in "abc"]
    for importer, imported in pairwise(circle):
        assert imported in graph.find_modules_directly_imported_by(importer)
    assert circles.main() == 1


def test_a_module_that_imports_its_own_package_is_a_circle_but_one_that_imports_native_code_is_not(
    circles: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package(
        tmp_path,
        monkeypatch,
        __init__="from .a import x",
        a="from ._decode import Decoder",
        b="from . import a",
    )
    monkeypatch.setattr(circles, "PACKAGE", "house_of_cards")
    assert circles.main() == 0
    (tmp_path / "house_of_cards" / "a.py").write_text("from ._decode import Decoder\nfrom . import x")
    assert circles.main() == 1
