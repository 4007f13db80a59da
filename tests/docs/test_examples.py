"""Every ```python and ```sql block of README.md and the pages in docs/ is run, in order, one namespace a page.

A page finds `server`, an embedded server of its own; `url` of an empty database on it; `conn`, a connection to that
database with autocommit; and `informix_arrow`. HTML comments, which readers do not
see, create anything else that it needs (tables, a data frame)::

    <!-- invisible-code-block: python
    conn.execute("CREATE TABLE orders (id INT)")
    -->

Addresses of servers that only exist in the text are those of the embedded one. Blocks that cannot be run say that they
are something else (```text, ```sh), or why not, before them: ``<!-- skip: next "..." -->``.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from typing import Any
from unittest import SkipTest

import pytest
from sybil import Example, Sybil
from sybil.parsers.markdown import CodeBlockParser, SkipParser
from tests.cases import parametrize_in_one_test
from tests.tls_certificates import Certificates

import informix_arrow
from informix_arrow.server import Server

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(page for page in (ROOT / "docs").rglob("*.md") if page.parent.name != "protocol")]
)
# dialect.md has statements of which some are meant to fail: tests/unit/server/plan/test_dialect_document.py runs them.
WITH_SQL = [page for page in PAGES if page.name != "dialect.md"]
# architecture.md has drawings, but no code.
WITH_BLOCKS = [page for page in PAGES if page.name != "architecture.md"]
LANGUAGES = {"python", "sql", "refused", "text", "sh", "r", "rust", "go", "yaml"}


def _name(page: Path) -> str:
    return page.relative_to(ROOT / "docs" if ROOT / "docs" in page.parents else ROOT).as_posix()


_ADDRESS = re.compile(r"informix(s?)://\w+:?\w*@[\w.]+:\d+(?:/\w+)?\?server=\w+")


class Page:
    """The environment in which the blocks of one page run."""

    def __init__(
        self, plain: Callable[[], Server], secure: Callable[[], Server], loop: asyncio.AbstractEventLoop
    ) -> None:
        self.plain, self.secure, self.loop = cache(plain), cache(secure), loop

    def python(self, example: Example) -> None:
        text = _ADDRESS.sub(self.address, str(example.parsed))
        source = "\n" * (example.line + example.parsed.line_offset) + text
        code = compile(source, example.path, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        if code.co_flags & inspect.CO_COROUTINE:
            self.loop.run_until_complete(eval(code, example.namespace))
        else:
            exec(code, example.namespace)

    def sql(self, example: Example) -> None:
        example.namespace["conn"].execute(str(example.parsed))

    def address(self, found: re.Match[str]) -> str:
        server = self.secure() if found[1] else self.plain()
        return server.url("page").replace("informix://", f"informix{found[1]}://")


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """A server for all pages, each with a new database."""
    with Server(threads=1) as server:
        yield server


@pytest.fixture
def page(
    shared: Server, certificates: Certificates, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Page]:
    """The environment of a page, in a directory of its own with the server's certificate as `server.pem`."""
    monkeypatch.chdir(tmp_path)
    shutil.copy(certificates.ca, "server.pem")
    loop = asyncio.new_event_loop()
    shared.create_database("page")
    with ExitStack() as servers:

        def secure() -> Server:
            server = servers.enter_context(
                Server(threads=1, tls_cert=certificates.server, tls_key=certificates.server_key)
            )
            server.create_database("page")
            return server

        yield Page(lambda: shared, secure, loop)
    loop.close()
    shared.faults.clear()
    shared.queries.clear()
    shared.drop_database("page")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # unclosed resources of a page
@pytest.mark.usefixtures("quick_captures")
@pytest.mark.parametrize("path", PAGES, ids=_name)
def test_the_examples_of_a_page_run(path: Path, page: Page) -> None:
    parsers: list[Any] = [CodeBlockParser("python", page.python), SkipParser()]
    if path in WITH_SQL:
        parsers.append(CodeBlockParser("sql", page.sql))
    document = Sybil(parsers).parse(path)
    examples = list(document.examples())
    if not examples:
        return
    url = page.plain().url("page")
    with informix_arrow.connect(url, autocommit=True) as conn:
        document.namespace.update(
            informix_arrow=informix_arrow, pytest=pytest, server=page.plain(), url=url, conn=conn
        )
        for example in examples:
            try:
                example.evaluate()
            except SkipTest:  # with a reason in the page
                continue
            except Exception as error:
                raise AssertionError(
                    f"{os.path.relpath(path, ROOT)}, line {example.line}: {error!r}"
                ) from error


@parametrize_in_one_test("path", WITH_BLOCKS, ids=_name)
def test_every_block_of_a_page_says_what_it_is(path: Path) -> None:
    fences = re.findall(r"^[ \t]*```([^\n]*)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(fences) % 2 == 0
    assert set(fences[::2]) <= LANGUAGES
    assert set(fences[1::2]) <= {""}
