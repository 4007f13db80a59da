"""Hook of mkdocs.yml: adds pages from outside of docs/, and rewrites links.

Links in every page are written to work in the repository. On the site, pages from outside of docs/ have addresses of
their own. A link to any other file of the repository is replaced by its text.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parent.parent
#: Pages from outside of docs/, and their addresses on the site.
ELSEWHERE = {
    "src/informix_arrow/wire/README.md": "internals/wire.md",
    "src/informix_arrow/native/README.md": "internals/native.md",
    "src/informix_arrow/operations/README.md": "internals/operations.md",
    "src/informix_arrow/core/README.md": "internals/core.md",
    "src/informix_arrow/server/README.md": "internals/server.md",
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "README.md": "index.md",
}
_SITE = {site: tree for tree, site in ELSEWHERE.items()}
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_CODE = re.compile(r"`+[^`]*`+|(?P<text>[^`]+)")
_FENCE = re.compile(r"^([ \t]*)```[^\n]*\n.*?^\1```[ \t]*$", re.DOTALL | re.MULTILINE)


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add pages that the navigation does not name to the end of a section."""
    assert config.nav is not None
    sections = {name: pages for section in config.nav for name, pages in section.items()}
    named = {page for pages in sections.values() for page in pages}
    for folder, section in (
        (".", "In depth"),
        ("howto", "How to"),
        ("from", "Coming from"),
        ("protocol", "How it works"),
    ):
        for path in sorted((ROOT / "docs" / folder).glob("*.md")):
            page = path.relative_to(ROOT / "docs").as_posix()
            if page not in named:
                sections[section].append(page)
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside of docs/."""
    for tree, site in ELSEWHERE.items():
        if files.get_file_from_path(site) is None:
            files.append(File.generated(config, site, content=(ROOT / tree).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Rewrite the links of the repository to links of the site, outside of code blocks."""
    here = page.file.src_uri
    origin = ROOT / _SITE.get(here, f"docs/{here}")
    pieces, end = [], 0
    for fence in _FENCE.finditer(markdown):
        pieces += [_prose(markdown[end : fence.start()], origin, here), fence[0]]
        end = fence.end()
    return "".join([*pieces, _prose(markdown[end:], origin, here)])


def _prose(text: str, origin: Path, here: str) -> str:
    linked = _LINK.sub(lambda match: _link(match, origin, here), text)
    # Markdown takes [a] [b] for a link. Here it is two separate texts in brackets.
    return _CODE.sub(lambda match: match[0].replace("] [", "] \\[") if match["text"] else match[0], linked)


def _link(match: re.Match[str], origin: Path, here: str) -> str:
    mark, text, target = match.groups()
    address, _, anchor = target.partition("#")
    if not address or "://" in address or address.startswith("mailto:"):
        return match[0]
    file = (origin.parent / address).resolve()
    if not file.exists():
        return match[0]  # mkdocs reports it
    tree = file.relative_to(ROOT).as_posix()
    if tree in ("docs/protocol", "docs/benchmarks"):
        tree = {"docs/protocol": "docs/protocol/SQLI.md", "docs/benchmarks": "docs/benchmarks.md"}[tree]
    site = ELSEWHERE.get(tree) or (tree.removeprefix("docs/") if tree.startswith("docs/") else None)
    if site is None:
        return f"{text} (`{tree}`)" if f"`{tree}`" != text else text
    relative = os.path.relpath(site, os.path.dirname(here) or ".")
    return f"{mark}[{text}]({Path(relative).as_posix()}{'#' + anchor if anchor else ''})"


def on_page_content(html: str, page: Page, **_: Any) -> str:
    """Remove the hidden parts of examples, which are only for the tests."""
    return re.sub(r"<!--\s*(?:invisible-code-block|skip:).*?-->", "", html, flags=re.DOTALL)
