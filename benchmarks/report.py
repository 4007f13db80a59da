"""`make bench-report`: write the pages on benchmarks, their plots and the table in README. No figure is typed by hand.

    python -m benchmarks.report RESULTS.json [RESULTS.json ...]    from the files of pytest-benchmark
    python -m benchmarks.report                                    from the figures of the last report

The figures are stored in docs/benchmarks/figures.json.
"""

from __future__ import annotations

import sys

from . import details, overview
from .figures import ROOT, load, store, stored
from .plots import draw

PAGES = {
    ROOT / "docs" / "benchmarks.md": overview.page,
    ROOT / "docs" / "benchmarks-details.md": details.page,
}
README = ROOT / "README.md"
BEGIN, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"


def main(paths: list[str]) -> None:
    """Write everything."""
    lines, machine = load(paths) if paths else stored()
    if not lines:
        sys.exit("No benchmark in these files has a subject. Nothing to report.")
    if paths:
        store(lines, machine)
    draw(lines)
    for path, page in PAGES.items():
        path.write_text(page(lines, machine))
        print(f"wrote {path.relative_to(ROOT)}")
    text = README.read_text()
    if BEGIN in text:
        before, _, rest = text.partition(BEGIN)
        README.write_text(
            f"{before}{BEGIN}\n{overview.readme(lines, machine)}\n{END}{rest.partition(END)[2]}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
