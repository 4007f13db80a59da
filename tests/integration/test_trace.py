"""``connect(trace="file")`` writes the dialogue with the server to a file, but never a password."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import logging
import os
import random
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow import aio
from informix_arrow.server import Server
from informix_arrow.trace.__main__ import main

#: Not ASCII, so that its bytes differ in each code set; with a quote, a blank, a percent sign and a backslash.
SECRET = "Gehëim'n1s \\%pw"
PLAIN_SECRET = "s3cr3t-value"


@pytest.fixture(scope="module")
def shared_connection(server: Server) -> Iterator[ifx.Connection]:
    """A connection of the module that creates its table and deletes the rows of each test."""
    with ifx.connect(server.url("stores_demo"), autocommit=True, lock_wait=30) as conn:
        conn.execute(
            "CREATE TABLE traced (id INT PRIMARY KEY, name VARCHAR(40), price DECIMAL(8,2), tail INT)"
        )
        yield conn
        conn.execute("DROP TABLE traced")


@pytest.fixture
def url(server: Server, shared_connection: ifx.Connection) -> Iterator[str]:
    yield server.url("stores_demo")
    shared_connection.execute("DELETE FROM traced")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dialogue.trace"


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


def said(path: Path, way: str) -> list[str]:
    return [record["what"] for record in records(path) if record["way"] == way]


def assert_hidden(path: Path, secret: str) -> None:
    """Check that the file does not contain ``secret``, in any encoding."""
    data = path.read_bytes()
    texts = [repr(json.loads(line)) for line in data.decode("ascii").splitlines()]
    for text in (*texts, "".join(texts)):
        for form in (secret, secret.upper(), secret[::-1], secret.replace("'", "''"), repr(secret)[1:-1]):
            assert form not in text
    for encoding in ("utf-8", "latin-1", "cp1252", "utf-16-le", "utf-16-be", "utf-32-le", "cp037", "utf-7"):
        raw = secret.encode(encoding)
        assert raw not in data
        for form in (
            raw.hex(),
            base64.b64encode(raw).decode().rstrip("=")[:-1],
            raw.hex(" "),
            repr(raw)[2:-1],
        ):
            assert form.lower() not in data.decode("ascii").lower()
        for mistaken in ("latin-1", "utf-8", "cp1252", "utf-16-le"):
            text = raw.decode(mistaken, "replace")
            assert "\ufffd" in text or text not in "".join(texts)
    assert json.dumps(secret)[1:-1].encode() not in data


def everything(conn: ifx.Connection) -> None:
    conn.cursor().executemany(
        "INSERT INTO traced VALUES (?, ?, ?, 7)", [(n, "Wert-1", 1.5) for n in range(5)]
    )
    rows = {
        "id": [5, 6],
        "name": ["Wert-2", "Wert-3"],
        "price": pa.array([1, 2], pa.decimal128(8, 2)),
        "tail": [7, 7],
    }
    conn.write_arrow("traced", pa.table(rows))
    conn.execute("UPDATE traced SET name = 'Wert-4' WHERE id = ?", (3,))
    conn.commit()
    assert (
        conn.read_arrow("SELECT name, id, tail FROM traced WHERE name <> 'Wert-9' ORDER BY id").num_rows == 7
    )
    with pytest.raises(ifx.IntegrityError):
        conn.execute("INSERT INTO traced VALUES (?, 'Wert-5', 0, 7)", (5,))
    with pytest.raises(ifx.ProgrammingError):
        conn.execute("SELECT nosuch FROM traced")
    conn.rollback()
    conn.ping()


def test_the_dialogue_is_written_message_by_message(url: str, path: Path, owner: str, password: str) -> None:
    with ifx.connect(url, trace=path) as conn:
        everything(conn)
    found = records(path)
    assert (found[0]["what"], found[0]["form"], found[0]["values"]) == ("trace", 1, False)
    assert found[0]["informix_arrow"] == ifx.__version__
    assert [each["what"] for each in found[1:5]] == ["connect", "connected", "CONREQ", "CONREPLY"]
    assert found[3]["user"] == owner
    assert found[3]["environment"]["CLIENT_LOCALE"] == "en_US.utf8"
    statements = [each["statement"] for each in found if "statement" in each]
    assert "UPDATE traced SET name = ? WHERE id = ?" in statements
    binds = [each["parameters"] for each in found if each["what"] == "SQ_BIND"]
    assert ["INTEGER"] in binds
    (rows,) = (each for each in found if each["what"] == "SQ_TUPLE" and each["row"][0] == "VARCHAR(40)")
    assert rows["row"] == ["VARCHAR(40)", "INTEGER NOT NULL", "INTEGER"] or rows["row"][1].startswith(
        "INTEGER"
    )
    assert rows["times"] == 7
    (missing,) = (each for each in found if each["what"] == "SQ_ERR" and each["sqlcode"] == -217)
    assert missing["near"] == "nosuch"
    for message in ("SQ_DESCRIBE", "SQ_DONE", "SQ_EOT", "SQ_EXIT"):
        assert message in said(path, "<-")
    assert said(path, "->")[-1] == "SQ_EXIT"
    assert not [each for each in found if each["what"] in ("unreadable", "unfinished message")]
    whole = path.read_text()
    for value in ("Wert-", password):
        assert value not in whole
    assert [each["at"] for each in found] == sorted(each["at"] for each in found)


def test_values_are_written_where_that_was_asked_for(url: str, path: Path, password: str) -> None:
    with ifx.connect(url, trace=path, log_parameters=True) as conn:
        everything(conn)
    found = records(path)
    binds = [each["parameters"] for each in found if each["what"] == "SQ_BIND"]
    assert ["3"] in binds
    rows = [each["row"] for each in found if each["what"] == "SQ_TUPLE" and len(each.get("row", ())) == 3]
    assert rows[3:5] == [["'Wert-4'", "3", "7"], ["'Wert-1'", "4", "7"]]
    assert any("name = 'Wert-4'" in each.get("statement", "") for each in found)
    assert_hidden(path, password)


def test_in_asyncio_it_is_the_same(url: str, path: Path, tmp_path: Path) -> None:
    async def main() -> None:
        async with aio.connect(url, trace=path, autocommit=True) as conn:
            await conn.execute("INSERT INTO traced VALUES (1, 'Wert-1', 2.5, 7)")
            table = await conn.read_arrow("SELECT * FROM traced WHERE id = ?", (1,))
            assert table.num_rows == 1

    asyncio.run(main())
    other = tmp_path / "blocking.trace"
    with ifx.connect(url, trace=str(other), autocommit=True) as conn:
        conn.execute("DELETE FROM traced")
        conn.execute("INSERT INTO traced VALUES (1, 'Wert-1', 2.5, 7)")
        assert conn.read_arrow("SELECT * FROM traced WHERE id = ?", (1,)).num_rows == 1
    blocking = [(each["way"], each["what"]) for each in records(other)]
    mine = [(each["way"], each["what"]) for each in records(path)]
    assert [each for each in mine if each[0] == "->"][:3] == [each for each in blocking if each[0] == "->"][
        :3
    ]
    assert mine[-1] in (("<-", "SQ_EXIT"), ("<-", "SQ_EOT"))
    assert ("<-", "SQ_TUPLE") in mine


STATEMENTS = [
    "CREATE USER bob WITH PASSWORD {}",
    "ALTER USER bob MODIFY PASSWORD {}",
    "create user bob with password/* it's */{} properties user 'x'",
    "SET USER PASSWORD OLD {} NEW {}",
    "SET ENCRYPTION PASSWORD {} WITH HINT {}",
    "SET {{it's}} ENCRYPTION PASSWORD {}",
    "SELECT ENCRYPT_AES('x', {}) FROM systables WHERE tabid = 1",
    "SELECT /* ' */ DECRYPT_CHAR(tabname, {}) FROM systables -- it's",
    "CONNECT TO 'stores@x' USER 'u' USING {}",
    "connect/**/to 'stores@x' user 'u' using {}",
    "GRANT CONNECT TO bob IDENTIFIED BY {}",
    "UPDATE traced SET name = 'it''s', password = {} WHERE id = 1",
    "EXECUTE PROCEDURE set_password('bob', {})",
    "SET ENCRYPTION PASSWORD {}, nonsense",
    "{} is no statement",
]


@pytest.mark.parametrize("values", [False, True], ids=["types", "values"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_passwords_in_statements_are_never_written(
    url: str, path: Path, statement: str, values: bool, password: str
) -> None:
    """The password is in single or in double quotes, without the closing one, or without any."""
    forms = [f"'{SECRET.replace(chr(39), chr(39) * 2)}'", f'"{SECRET}"', f'"{SECRET}']
    with ifx.connect(url, trace=path, log_parameters=values, password=password) as conn:
        for form in forms if "no statement" not in statement or not values else ():
            with contextlib.suppress(ifx.Error):
                conn.execute(statement.format(*[form] * 2))
        if "PASSWORD {}" in statement:
            with pytest.raises(ifx.Error):
                conn.execute(statement.format(*[PLAIN_SECRET] * 2))
    assert_hidden(path, SECRET)
    assert_hidden(path, PLAIN_SECRET)
    assert_hidden(path, password)


def test_parameters_of_a_statement_with_a_password_are_not_written(url: str, path: Path) -> None:
    with ifx.connect(url, trace=path, log_parameters=True) as conn:
        for sql in ("SET ENCRYPTION PASSWORD ?", "SELECT ENCRYPT_AES('x', ?) FROM systables WHERE tabid = 1"):
            with contextlib.suppress(ifx.Error):
                conn.execute(sql, (SECRET,)).fetchall()
        conn.read_arrow(
            "SELECT name FROM traced WHERE name = ?", (SECRET,)
        )  # it is known by now that passwords occur
    assert_hidden(path, SECRET)


@pytest.mark.parametrize("locale", ["en_US.utf8", "en_US.819"])
def test_passwords_of_logins_are_never_written(path: Path, locale: str) -> None:
    with Server(users={"zoë": SECRET, "bob": PLAIN_SECRET}) as server:
        for user, password in (("zoë", SECRET), ("bob", PLAIN_SECRET)):
            login = {"user": user, "client_locale": locale, "trace": path}
            with ifx.connect(server.url("stores_demo"), password=password, **login) as conn:
                # Also elsewhere: in a statement, in a name, in a server's reply.
                for sql in (f"SELECT '{PLAIN_SECRET}' FROM systables", f'SELECT "{SECRET}" FROM "{SECRET}"'):
                    with contextlib.suppress(ifx.Error):
                        conn.execute(sql).fetchall()
            with pytest.raises(ifx.OperationalError):
                ifx.connect(server.url("stores_demo"), password=f"{password}?", **login)
    for secret in (SECRET, PLAIN_SECRET):
        assert_hidden(path, secret)
        assert_hidden(path, f"{secret}?")


def test_answers_to_questions_are_never_written(path: Path) -> None:
    questions = {"ann": [("Password: ", True, SECRET), ("Color: ", False, PLAIN_SECRET)]}
    with Server(pam=questions) as server:
        answers = {"Password: ": SECRET, "Color: ": PLAIN_SECRET}
        login = {"user": "ann", "password": "", "trace": path, "log_parameters": True}
        with ifx.connect(server.url("stores_demo"), pam=lambda prompt, _: answers[prompt], **login) as conn:
            conn.ping()
        with pytest.raises(ifx.OperationalError):
            ifx.connect(server.url("stores_demo"), pam=lambda _, __: "wr0ng-answer", **login)
    assert said(path, "->").count("SQ_RESPONSE") >= 3
    for secret in (SECRET, PLAIN_SECRET, "wr0ng-answer"):
        assert_hidden(path, secret)


def test_secrets_in_session_variables_are_not_written(url: str, path: Path) -> None:
    env = {"MY_TOKEN": PLAIN_SECRET, "DBDATE": "DMY4."}
    with ifx.connect(url, trace=path, env=env, log_parameters=True) as conn:
        conn.ping()
    assert_hidden(path, PLAIN_SECRET)
    (login,) = (each for each in records(path) if each["what"] == "CONREQ")
    assert login["environment"]["DBDATE"] == "DMY4."
    assert "MY_TOKEN" in login["environment"]


def test_random_statements_with_passwords_give_nothing_away(url: str, path: Path) -> None:
    choice = random.Random(19).choice
    filling = [
        "",
        " ",
        "\n",
        "{it's}",
        "/* ' */",
        "--'\n",
        "'a'",
        '"b',
        "SET{",
        "}",
        "''",
        "1",
        "{",
        "*/",
        ",",
    ]
    lead = [
        "CREATE USER u WITH PASSWORD",
        "SET ENCRYPTION PASSWORD",
        "SELECT encrypt_tdes(x,",
        "set user PASSWORD OLD",
    ]
    with ifx.connect(url, trace=path, log_parameters=True) as conn:
        for _ in range(150):
            fillings = [choice(filling) for _ in range(4)]
            quoted = choice([f"'{PLAIN_SECRET}'", f'"{PLAIN_SECRET}"', f"'{PLAIN_SECRET}"])
            words = choice(lead).split(" ")
            sql = (
                fillings[0]
                + words[0]
                + " "
                + fillings[1]
                + " ".join(words[1:])
                + f" {fillings[2]}{quoted}{fillings[3]}"
            )
            with contextlib.suppress(ifx.Error):
                conn.execute(sql)
    assert_hidden(path, PLAIN_SECRET)


def test_large_objects_files_scroll_cursors_and_routines_are_read_too(url: str, path: Path) -> None:
    with ifx.connect(url, trace=path, autocommit=True) as conn:
        conn.execute("CREATE TABLE traced_objects (id INT, b BLOB, t TEXT, tail INT)")
        try:
            cursor = conn.cursor()
            cursor.execute(
                "INSERT INTO traced_objects VALUES (1, ?, ?, 7)", (b"Wert" * 30_000, "Wert" * 9_000)
            )
            with conn.client_files({"in": b"Wert" * 20_000, "out": (made := {})}):
                conn.execute("INSERT INTO traced_objects VALUES (2, filetoblob('in', 'client'), NULL, 7)")
                conn.read_arrow("SELECT lotofile(b, 'out', 'client') FROM traced_objects WHERE id = 2")
            assert [len(each) for each in made.values()] == [80_000]
            table = conn.read_arrow("SELECT * FROM traced_objects ORDER BY id")
            assert [len(each.as_py()) for each in table["b"]] == [120_000, 80_000]
            with conn.cursor(scrollable=True) as scroll:
                scroll.execute("SELECT id, tail FROM traced_objects ORDER BY id")
                scroll.scroll(1, mode="absolute")
                assert scroll.fetchone() == (2, 7)
        finally:
            conn.execute("DROP TABLE traced_objects")
    found = records(path)
    assert not [each for each in found if each["what"] in ("unreadable", "unfinished message")]
    assert {"SQ_LODATA", "SQ_FILE", "SQ_FILE_READ", "SQ_FILE_WRITE", "SQ_SFETCH"} <= {
        each["what"] for each in found
    }
    assert "WertWert" not in path.read_text()


def test_an_interrupt_and_a_lost_connection_are_reported(url: str, path: Path) -> None:
    with Server() as server:
        conn = ifx.connect(server.url("stores_demo"), trace=path)
        with pytest.raises(ifx.QueryTimeout):
            conn.execute(
                "SELECT COUNT(*) FROM systables a, systables b, systables c, systables d, systables e, systables f",
                timeout=0.2,
            ).fetchall()
        assert "interrupt" in said(path, "->")
        server.stop()
        with pytest.raises(ifx.Error):
            conn.ping()
    told = said(path, "--")
    assert "closed by the server" in told or "failed" in told
    conn.close()


def test_a_refused_connection_is_reported(path: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
        with pytest.raises(ifx.OperationalError):
            ifx.connect(host="127.0.0.1", port=port, user="u", password=PLAIN_SECRET, server="s", trace=path)
    assert said(path, "--") == ["trace", "connect", "failed"]


def test_a_peer_of_another_protocol_is_reported_and_not_quoted(path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            link, _ = listener.accept()
            with link:
                link.recv(65536)
                link.sendall(b"HTTP/1.1 400 " + PLAIN_SECRET.encode() * 3000)

        peer = threading.Thread(target=answer)
        peer.start()
        with pytest.raises(ifx.Error):
            ifx.connect(
                host="127.0.0.1",
                port=listener.getsockname()[1],
                user="u",
                password="x" * 9,
                server="s",
                trace=path,
            )
        peer.join()
    assert "no login reply" in said(path, "<-")
    assert_hidden(path, PLAIN_SECRET)


def test_connections_share_a_file_without_mixing_their_lines(url: str, path: Path) -> None:
    def work(number: int) -> None:
        with ifx.connect(url, trace=path) as conn:
            for _ in range(20):
                conn.read_arrow("SELECT tabname FROM systables WHERE tabid = ?", (number,))

    workers = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len({each["conn"] for each in records(path)}) == 4
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0


def test_a_file_that_cannot_be_written_is_refused(url: str, tmp_path: Path) -> None:
    with pytest.raises(ifx.InterfaceError, match=r"trace: .*nosuch.* cannot be written \(No such file"):
        ifx.connect(url, trace=tmp_path / "nosuch" / "file")


def test_a_trace_that_fails_later_ends_and_harms_nothing(
    url: str, path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ifx.connect(url, trace=path) as conn:
        path.unlink()
        path.mkdir()
        with caplog.at_level(logging.WARNING, "informix_arrow.protocol"):
            for _ in range(3):
                assert conn.read_arrow("SELECT 1 n FROM systables WHERE tabid = 1").num_rows == 1
        assert len([each for each in caplog.records if "The trace in" in each.message]) == 1


def test_as_a_key_of_the_url(url: str, path: Path) -> None:
    with ifx.connect(f"{url}&trace={path}") as conn:
        conn.ping()
    assert "SQ_EXIT" in said(path, "->")


def test_it_is_not_even_imported_where_nobody_asks_for_it(url: str) -> None:
    program = f"""
import sys, informix_arrow
with informix_arrow.connect({url!r}) as conn:
    conn.read_arrow("SELECT 1 FROM systables WHERE tabid = 1")
    assert conn._runner._trace is None
print([name for name in sys.modules if name.startswith("informix_arrow.trace")])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_it_is_printed_for_people(url: str, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with ifx.connect(url, trace=path) as conn:
        conn.read_arrow("SELECT tabname, tabid FROM systables WHERE tabid < ?", (5,))
    done = subprocess.run(
        [sys.executable, "-m", "informix_arrow.trace", str(path)], capture_output=True, text=True, check=True
    )
    lines = done.stdout.splitlines()
    assert any(
        '-> SQ_PREPARE  statement="SELECT tabname, tabid FROM systables WHERE tabid < ?"' in line
        for line in lines
    )
    assert any("<- SQ_TUPLE" in line for line in lines)
    assert main([str(path), "--connection", "2"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1
    assert main([str(path.with_name("nosuch"))]) == 1
    assert "No such file" in capsys.readouterr().err
    path.write_text('{"at": 1, "conn": "1.1", "way": "--", "what": "a\\u001b[2Jb\\nc"}\n[]\n')
    assert main([str(path)]) == 1
    told = capsys.readouterr()
    assert "\x1b" not in told.out
    assert "Line 2" in told.err
