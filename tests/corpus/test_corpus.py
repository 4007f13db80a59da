"""The statements of the corpus on the embedded server: each has its expected effect, and none an internal error."""

from __future__ import annotations

import pytest
from tests.corpus.scripts import Script, all_scripts, read, run
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.server import Server

SCRIPTS = all_scripts()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_each_statement_has_its_effect(server: Server, script: Script) -> None:
    name = database_name(server, f"corpus_{script.name}")
    with ifx.connect(server.url("sysmaster"), autocommit=True) as connection:
        connection.execute(f"create database {name} with log{' mode ansi' * script.ansi}")
    try:
        with ifx.connect(server.url(name), autocommit=True, env=script.environment) as connection:
            wrong = list(run(connection, script))
        assert not wrong, "\n".join([f"{len(wrong)} of {len(script.steps)} statements:", *wrong])
    finally:
        with ifx.connect(server.url("sysmaster"), autocommit=True) as connection:
            connection.execute(f"drop database if exists {name}")


def test_a_wrong_effect_is_found(server: Server, tmp_path: object) -> None:
    from pathlib import Path

    path = Path(str(tmp_path)) / "wrong.sql"
    path.write_text("select 1 from systables where tabid = 1\n=> [(2,)]\nselect x from nowhere\n=> ok\n")
    with ifx.connect(server.url("sysmaster"), autocommit=True) as connection:
        first, second = run(connection, read(path))
    assert "expected [(2,)]" in first
    assert "-206" in second


def test_the_corpus_has_four_hundred_statements() -> None:
    assert sum(len(script.steps) for script in SCRIPTS) >= 400
