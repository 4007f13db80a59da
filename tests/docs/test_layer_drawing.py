"""docs/architecture.md draws the layers of the contracts."""

from __future__ import annotations

import re

from .layer_drawing import DOCUMENT, MARK, ROOT, document, layers


def test_the_drawings_are_those_of_the_contracts() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert all(text.count(MARK.format(contract)) == 1 for contract in ("layers", "server"))
    assert document(text) == text, "make them anew: python -m tests.docs.layer_drawing"


def test_every_module_has_a_layer() -> None:
    """A module without a layer, or a layer without a module, makes the drawing wrong."""
    package = ROOT / "src" / "informix_arrow"
    for contract, folder in (("layers", package), ("server", package / "server")):
        drawn = {name for names, _ in layers(contract) for name in names.split(", ")}
        there = {
            p.stem
            for p in folder.iterdir()
            if (p.suffix == ".py" or (p / "__init__.py").exists()) and p.stem != "__init__"
        }
        assert drawn == there


def test_every_page_that_the_drawing_names_exists() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#]+)", text):
        assert (DOCUMENT.parent / target).exists(), target
