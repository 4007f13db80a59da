"""The documentation site: it is built without a warning, and works in a browser, also at the width of a phone."""

from __future__ import annotations

import functools
import http.server
import json
import queue
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest
from tests.ecosystem.test_oldest import ROOT, run

if sys.version_info >= (3, 11):
    import tomllib

pytestmark = [pytest.mark.ecosystem, pytest.mark.slow, pytest.mark.timeout(900)]

#: Shows each page in a frame of a phone's width, then the results of a search for a word, and reports what it finds.
HARNESS = """<!doctype html><title>harness</title><body><script>
const pages = PAGES, said = [];
const frame = (path, width) => new Promise(done => {
  const made = document.createElement("iframe");
  made.style.width = width + "px"; made.style.height = "900px"; made.style.border = "0";
  made.onload = () => done(made); made.src = path; document.body.append(made);
});
(async () => {
  for (const page of pages) {
    const made = await frame(page, 390), root = made.contentDocument.documentElement;
    said.push(`${page} ${root.scrollWidth <= 390 ? "fits" : "is " + root.scrollWidth + " wide"}`);
    made.remove();
  }
  const document_of_search = (await frame("/", 1200)).contentDocument;
  const field = document_of_search.querySelector("[data-md-component=search-query]");
  for (let tries = 0; tries < 500; tries++) {
    field.focus(); field.value = "upserts"; field.dispatchEvent(new KeyboardEvent("keyup"));
    const links = [...document_of_search.querySelectorAll(".md-search-result__link")];
    if (links.length) { said.push("found " + links.map(a => a.getAttribute("href")).join(" ")); break; }
    await new Promise(done => setTimeout(done, 100));
  }
  await fetch("/said", {method: "POST", body: said.join("\\n")});
})();
</script>"""


class Page(HTMLParser):
    """The links of a page, the anchors in it, and the files that the browser loads with it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag in ("script", "img") and "src" in given:
            self.loaded.append(given["src"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon"):
            self.loaded.append(given["href"])


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built like ``make docs`` with the packages of the extra [docs] in a virtual environment."""
    if sys.version_info < (3, 11):
        pytest.skip("tomllib is needed")
    folder = tmp_path_factory.mktemp("docs")
    wanted = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["docs"]
    run(sys.executable, "-m", "venv", str(folder / "venv"))
    python = str(folder / "venv" / "bin" / "python")
    run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "ruff", *wanted)
    done = subprocess.run(
        [python, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "WARNING -" not in done.stderr
    return folder / "site"


def test_no_link_is_broken_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    assert len(pages) > 60
    broken = []
    for path, page in pages.items():
        here = "/" + path.relative_to(site).as_posix()
        for link in (*page.links, *page.loaded):
            if urlsplit(link).scheme or link.startswith("//"):
                if link in page.loaded:
                    broken.append((here, f"{link} is loaded from elsewhere"))
                continue
            address, anchor = urldefrag(urljoin(here, link))
            target = site / unquote(address).lstrip("/")
            target = target / "index.html" if target.is_dir() else target
            if not target.exists() or (
                anchor and target.suffix == ".html" and unquote(anchor) not in pages[target].anchors
            ):
                broken.append((here, link))
    assert not [each for each in broken if each[0] != "/404.html"]
    for sheet in site.rglob("*.svg"):
        assert not re.search(r"""(?:href|src)="http|url\(.?http""", sheet.read_text(encoding="utf-8"))


def test_what_tests_run_and_readers_do_not_see_is_not_there(site: Path) -> None:
    for path in site.rglob("*.html"):
        if "contributing" not in str(path):
            assert "invisible-code-block" not in path.read_text(encoding="utf-8"), path


class Listening(http.server.ThreadingHTTPServer):
    """A server for the site that receives the results of the test page."""

    daemon_threads = True

    def __init__(self, site: Path) -> None:
        self.said: queue.Queue[str] = queue.Queue()
        super().__init__(("127.0.0.1", 0), functools.partial(Handler, directory=str(site)))


class Handler(http.server.SimpleHTTPRequestHandler):
    server: Listening

    def do_POST(self) -> None:
        self.server.said.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Log nothing."""


@pytest.fixture
def listening(site: Path) -> Iterator[Listening]:
    with Listening(site) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_pages_fit_a_phone_and_the_search_finds(site: Path, listening: Listening, tmp_path: Path) -> None:
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium here")
    chosen = {"start", "howto", "jdbc", "connection", "types", "errors", "architecture", "nightly-copy"}
    found = (path.parent for path in site.rglob("index.html") if path.parent.name in chosen)
    pages = ["/", *sorted(f"/{path.relative_to(site).as_posix()}/" for path in found)]
    assert len(pages) > len(chosen)
    (site / "harness.html").write_text(HARNESS.replace("PAGES", json.dumps(pages)))
    command = [
        browser, "--headless=new", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}",
        "--remote-debugging-port=0", f"http://127.0.0.1:{listening.server_address[1]}/harness.html",
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        try:
            *fits, search = listening.said.get(timeout=300).splitlines()
        finally:
            running.terminate()
    assert fits == [f"{page} fits" for page in pages]
    assert search.startswith("found ")
    assert "howto/upserts/" in search
