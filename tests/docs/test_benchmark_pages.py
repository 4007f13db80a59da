"""The pages on benchmarks match the stored results: `make bench-report` writes them, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks import details, overview, report
from benchmarks.figures import load, markdown_table, stored


@pytest.mark.parametrize("path", report.PAGES, ids=lambda path: path.name)
def test_a_page_is_what_the_report_writes(path: Path) -> None:
    assert path.read_text() == report.PAGES[path](*stored())


def test_readme_has_the_same_figures() -> None:
    text = report.README.read_text()
    assert f"{report.BEGIN}\n{overview.readme(*stored())}\n{report.END}" in text


def test_a_later_file_of_results_replaces_figures(tmp_path: Path) -> None:
    paths = []
    for number, median in enumerate((0.5, 0.25)):
        entry = {
            "extra_info": {"subject": "read 1 rows", "who": "cursor", "ns_per_row": 7.0},
            "stats": {"median": median, "iqr": 0.125, "rounds": 10},
        }
        result = {
            "commit_info": {"id": f"{number}abcdef0123456789", "dirty": False},
            "machine_info": {"system": "Linux", "release": "6", "cpu": {}},
            "datetime": "2026-11-26T10:00:00",
            "benchmarks": [entry],
        }
        paths.append(str(tmp_path / f"{number}.json"))
        Path(paths[-1]).write_text(json.dumps(result))
    lines, machine = load(paths)
    assert [line["median"] for line in lines] == [0.25]
    assert machine["commits"] == "0abcdef01234 and 1abcdef01234"
    assert "| cursor | 250 ms | 125 ms | 7 ns |  | 1 |" in details.page(lines, machine)
    assert "| read one row |  | 250 ms |  |  |" in overview.page(lines, machine)


def test_a_table_is_aligned() -> None:
    assert markdown_table(["a", "b"], [["x", "1"]]) == "| a | b |\n|---|---:|\n| x | 1 |"
