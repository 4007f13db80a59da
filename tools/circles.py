"""No circle of modules in the package: ``python tools/circles.py``, part of ``make lint``.

The contracts in pyproject.toml say which room may know which. This proves what they leave open: no module imports
itself by way of others, not even through the ``__init__`` of its own package. Imports for type checkers and imports
inside functions count. Ends with status 1 and the circle where there is one.
"""

from __future__ import annotations

import re
import sys
from graphlib import CycleError, TopologicalSorter

import grimp

PACKAGE = "informix_arrow"
# grimp knows no extension modules and takes `from .._decode import Decoder` for an import of the package.
OF_EXTENSION = re.compile(r"from \S*\.(?:_decode|_encode|_bulk|_unl|_hash) import ")


def imported_by(graph: grimp.ImportGraph, module: str) -> set[str]:
    """The modules that `module` imports itself, extension modules left out."""
    found = set(graph.find_modules_directly_imported_by(module))
    lines = graph.get_import_details(importer=module, imported=PACKAGE)
    if lines and all(OF_EXTENSION.match(line["line_contents"]) for line in lines):
        found.discard(PACKAGE)
    return found


def circle_in(imports: dict[str, set[str]]) -> list[str]:
    """A circle, each module importing the next and the last one being the first; empty when there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))  # graphlib names them from the imported to the importing
    return []


def main() -> int:
    graph = grimp.build_graph(PACKAGE, cache_dir=None)
    imports = {module: imported_by(graph, module) for module in graph.modules}
    circle = circle_in(imports)
    if circle:
        print("modules import each other in a circle:", *circle, sep="\n    ")
        return 1
    print(f"no circle among {len(imports)} modules")
    return 0


if __name__ == "__main__":
    sys.exit(main())
