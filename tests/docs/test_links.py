"""Links between the pages in the source tree. tools/docs_site.py converts them for the documentation site."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)]*)?\)")
FENCE = re.compile(r"```.*?```", re.DOTALL)
ELSEWHERE = ("http:", "https:", "mailto:")


def test_each_link_of_a_page_leads_to_a_file() -> None:
    pages = [
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/**/*.md"),
        *ROOT.glob("src/**/*.md"),
        *ROOT.glob("benchmarks/*.md"),
    ]
    found = [
        (page, link)
        for page in pages
        for link in LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
        if not link.startswith(ELSEWHERE)
    ]
    assert len(found) > 100
    assert [(str(page), link) for page, link in found if not (page.parent / link).exists()] == []
