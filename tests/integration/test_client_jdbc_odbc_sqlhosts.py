"""Connecting with JDBC URLs, ODBC connection strings and sqlhosts files, to a server or to a group."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server


@pytest.fixture
def sqlhosts(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A sqlhosts file in the environment: ``live`` is the embedded server, ``dead`` a closed port, ``pair`` has
    both."""
    with socket.socket() as reserved:  # a port on which nothing listens
        reserved.bind(("127.0.0.1", 0))
        dead = reserved.getsockname()[1]
    host, port = server.address
    path = tmp_path / "sqlhosts"
    path.write_text(
        f"dead onsoctcp 127.0.0.1 {dead} g=pair\n"
        f"{server.server_name} onsoctcp {host} {port} g=pair\n"
        "pair group - - i=1\n"
    )
    monkeypatch.setenv("INFORMIXSQLHOSTS", str(path))
    return path


def one(connection: ifx.Connection) -> int:
    with connection:
        return int(connection.read_arrow("SELECT 42 AS v FROM systables WHERE tabid = 1")["v"][0].as_py())


def test_a_jdbc_url_connects(server: Server) -> None:
    host, port = server.address
    url = f"jdbc:informix-sqli://{host}:{port}/stores_demo:INFORMIXSERVER={server.server_name}"
    assert one(ifx.connect(f"{url};user={server.user};password={server.password};IFX_USEPUT=1")) == 42


def test_an_odbc_string_connects(server: Server) -> None:
    host, port = server.address
    text = f"SERVER={server.server_name};DATABASE=stores_demo;HOST={host};SERVICE={port};PROTOCOL=onsoctcp"
    assert one(ifx.connect(f"{text};UID={server.user};PWD={{{server.password}}}")) == 42


def test_database_at_server_connects_through_sqlhosts(server: Server, sqlhosts: Path) -> None:
    name = server.server_name
    assert one(ifx.connect(f"stores_demo@{name}", user=server.user, password=server.password)) == 42


@pytest.mark.parametrize("database", ["stores_demo", "sysmaster"])
def test_a_group_goes_on_to_the_member_that_answers(database: str, server: Server, sqlhosts: Path) -> None:
    """sysmaster has another code set than the login, so the client logs in to the member that answered twice."""
    assert one(ifx.connect(f"{database}@pair", user=server.user, password=server.password)) == 42


def test_a_refused_login_is_the_answer_and_no_other_member_is_tried(server: Server, sqlhosts: Path) -> None:
    with pytest.raises(ifx.OperationalError, match="-951"):
        ifx.connect("stores_demo@pair", user=server.user, password="wrong")


def test_a_group_of_the_dead_names_the_last_failure(sqlhosts: Path) -> None:
    dead = sqlhosts.read_text().splitlines()[0]
    sqlhosts.write_text(f"{dead}\npair group - - i=1\n")
    with pytest.raises(ifx.OperationalError, match=r"127\.0\.0\.1"):
        ifx.connect("stores_demo@pair", user="u", password="p")
