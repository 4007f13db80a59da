"""docs/dialect.md describes the server's SQL: every statement in it is executed here, every function looked up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.plan.functions.builtin import BUILTIN
from informix_arrow.server.session.engine import Engine

_TEXT = (Path(__file__).parents[4] / "docs" / "dialect.md").read_text(encoding="utf-8")


def _blocks(kind: str) -> list[str]:
    blocks = re.findall(rf"^```{kind}\n(.*?)^```", _TEXT, re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


STATEMENTS = _blocks("sql")
REFUSED = [(int(line.split(" ", 1)[0]), line.split(" ", 1)[1]) for line in _blocks("refused")]


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    """A session in which all statements of the document have been executed, in order."""
    db = connect(engine)
    for sql in STATEMENTS:
        if sql == "select { comment } id -- another":
            sql += "\n from customer"
        try:
            prepared = db.session.prepare(sql)
            if prepared.returns_rows:
                assert db.session.query(prepared, ()).columns
            else:
                db.session.execute(prepared, ())
        except Exception as e:
            raise AssertionError(f"{sql}: {e}") from e
    db.run("create view allnames as select unique name from customer")
    return db


@pytest.mark.slow
def test_every_statement_of_the_document_is_taken(db: Db) -> None:
    assert len(STATEMENTS) > 100
    assert db.value("select name from customer where id = 2") == "Zora"


@parametrize_in_one_test(("code", "sql"), REFUSED, ids=[sql[:40] for _, sql in REFUSED])
def test_what_the_document_calls_refused_is_refused_with_its_code(db: Db, code: int, sql: str) -> None:
    assert db.fails(sql).sqlcode == code


def test_the_document_names_every_function_and_no_other() -> None:
    table = _TEXT.partition("## Functions")[2].partition("###")[0]
    cells = [row.split("|")[2] for row in table.splitlines() if row.startswith("| ") and "names" not in row]
    named = [name.strip() for cell in cells for name in cell.split(",")]
    assert sorted(named) == sorted(BUILTIN)
