"""Bytes of both directions become entries of a trace, in whatever pieces they arrive, and whatever they contain."""

from __future__ import annotations

import itertools
import json
import random
import socket
from pathlib import Path

import pytest

import informix_arrow as ifx
from informix_arrow.server import Server
from informix_arrow.trace.dialogue import Dialogue, TraceEntry
from informix_arrow.trace.recorder import TraceWriter
from informix_arrow.trace.redactor import HIDDEN, Redactor
from informix_arrow.wire.login import ConnectRequest

#: An INTEGER 7 and a CHAR "abc" in one SQ_BIND, written by hand after SQLI section 9; then SQ_EOT.
BIND = bytes.fromhex("0005 0002 0002 0000 0a00 00000007 0000 0000 0000 0003 616263 00 000c")
#: SQ_ERR -206, ISAM -111, at character 15, near "nosuch"; then SQ_EOT.
ERR = bytes.fromhex("000d ff32 ff91 0000000f 0006 6e6f73756368 000c")


def login() -> bytes:
    return ConnectRequest(
        "ann", "geheim-1", "ol_x", {"CLIENT_LOCALE": "en_US.utf8", "MY_OWN": "geheim-2"}
    ).encode()


def begun(values: bool = False) -> Dialogue:
    dialogue = Dialogue(Redactor(values))
    (entry,) = dialogue.sent(login())
    assert entry.what == "CONREQ"
    assert entry.facts["password"] == HIDDEN
    assert "geheim-1" not in json.dumps(entry.facts)
    assert ("geheim-2" in json.dumps(entry.facts)) == values
    dialogue._login_answered = True
    return dialogue


def test_messages_are_read_off_bytes_written_by_hand() -> None:
    dialogue = begun()
    assert list(dialogue.sent(BIND)) == [
        TraceEntry("->", "SQ_BIND", {"parameters": ["INTEGER", "CHAR"]}),
        TraceEntry("->", "SQ_EOT", {}),
    ]
    error, end = dialogue.received(ERR)
    assert error == TraceEntry(
        "<-", "SQ_ERR", {"sqlcode": -206, "isamcode": -111, "offset": 15, "near": HIDDEN}
    )
    assert end.what == "SQ_EOT"
    assert next(iter(begun(values=True).sent(BIND))).facts == {"parameters": ["7", "'abc'"]}
    assert next(iter(begun(values=True).received(ERR))).facts["near"] == "nosuch"


def test_pieces_make_no_difference() -> None:
    whole = begun()
    wanted = [*whole.sent(BIND * 3), *whole.received(ERR * 3)]
    for size in (1, 2, 3, 7):
        dialogue = begun()
        found: list[TraceEntry] = []
        for say, data in ((dialogue.sent, BIND * 3), (dialogue.received, ERR * 3)):
            for at in range(0, len(data), size):
                found += say(data[at : at + size])
        assert found == wanted
        assert not list(dialogue.unfinished())


def test_what_is_cut_off_is_reported_by_its_size() -> None:
    dialogue = begun()
    assert list(dialogue.sent(BIND[:10])) == []
    assert list(dialogue.unfinished()) == [TraceEntry("->", "unfinished message", {"bytes": 10})]


def test_rubbish_is_never_quoted_and_never_an_exception() -> None:
    rng = random.Random(19)
    for number in range(300):
        dialogue = begun(values=bool(number % 2))
        data = bytearray((BIND if number % 3 else ERR) + b"geheim-3" * 3)
        for _ in range(rng.randrange(4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        say = dialogue.sent if number % 3 else dialogue.received
        for entry in itertools.chain(say(bytes(data)), say(b"geheim-3"), dialogue.unfinished()):
            reported = json.dumps(entry.facts)
            if number % 2 == 0:
                assert "geheim-3" not in reported


def test_a_password_is_hidden_wherever_it_stands() -> None:
    hiding = Redactor(values=True)
    hiding.add_secret("gehéim")
    for text in ("xgehéimx", "GEHÉIM", "gehéim".encode().decode("latin-1")):
        assert hiding.text(text) == HIDDEN
        assert hiding.column(text) == HIDDEN
        assert hiding.statement(f"SELECT '{text}' FROM t") == HIDDEN
    assert hiding.text("geh") == "geh"
    hiding.add_secret("e")  # shorter than four characters: it would hide everything
    assert hiding.text("geh") == "geh"


def test_a_trace_follows_an_exchange_without_changing_it(tmp_path: Path) -> None:
    """Requests, replies, exceptions and the end pass through unchanged."""
    trace = TraceWriter(str(tmp_path / "file"), values=False)

    def exchange():  # type: ignore[no-untyped-def]
        try:
            yield "no step"
        except KeyError:
            answer = yield "another"
        return answer

    followed = trace.follow(exchange())
    assert next(followed) == "no step"  # type: ignore[comparison-overlap]
    assert followed.throw(KeyError("x")) == "another"  # type: ignore[comparison-overlap]
    with pytest.raises(StopIteration) as stopped:
        followed.send(5)
    assert stopped.value.value == 5


def test_a_silent_peer_is_reported(tmp_path: Path) -> None:
    """A server that closes the connection, and a listener that sends nothing."""
    path = tmp_path / "file"
    with Server() as server, socket.create_server(("127.0.0.1", 0)) as listener:
        real = ifx.connect(server.url("stores_demo"), trace=path)
        real.close()
        with pytest.raises(ifx.Error):
            ifx.connect(
                host="127.0.0.1",
                port=listener.getsockname()[1],
                user="u",
                password="p",
                server="s",
                trace=path,
                connect_timeout=0.2,
            )
    records = [json.loads(line) for line in path.read_text("ascii").splitlines()]
    assert records[-1]["what"] == "failed"
    assert "silent" in records[-1]["text"]
