"""Check that the package has no import cycle: ``python tools/circles.py``, part of ``make lint``.

The contracts in pyproject.toml define which layers may import which. They do not exclude all cycles. This check does:
no module imports itself by way of others, not even through the ``__init__`` of its own package. Imports for type
checkers and imports inside functions count. If there is a cycle, it is printed, and the exit code is 1.
"""

from __future__ import annotations

import re
import sys
from graphlib import CycleError, TopologicalSorter

import grimp

PACKAGE = "informix_arrow"
# grimp does not know extension modules: it takes `from .._decode import Decoder` for an import of the package.
OF_EXTENSION = re.compile(r"from \S*\.(?:_decode|_encode|_bulk|_changes|_unl|_hash) import ")


def imported_by(graph: grimp.ImportGraph, module: str) -> set[str]:
    """Return the modules that `module` imports directly, without extension modules."""
    imported = set(graph.find_modules_directly_imported_by(module))
    lines = graph.get_import_details(importer=module, imported=PACKAGE)
    if lines and all(OF_EXTENSION.match(line["line_contents"]) for line in lines):
        imported.discard(PACKAGE)
    return imported


def circle_in(imports: dict[str, set[str]]) -> list[str]:
    """Return a cycle of modules, each importing the next, with the first one repeated at its end, or []."""
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
