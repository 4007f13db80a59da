"""Recorded dialogues, which benchmarks replay: clients that stop early or send something else."""

from __future__ import annotations

import socket
import threading

import pytest
from benchmarks.dialogue import Dialogue, play, record

import informix_arrow as ifx
from informix_arrow.server import Server


def heard(dialogue: Dialogue, requests: list[bytes]) -> bytes:
    """Return the data that a client receives that sends only these requests."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname(), timeout=20)
        player, _ = listening.accept()

    def serve() -> None:
        with player:
            play(dialogue, player)

    thread = threading.Thread(target=serve)
    thread.start()
    told = b""
    with client:
        for request in requests:
            client.sendall(request)
        while data := client.recv(1 << 16):
            told += data
    thread.join()
    return told


@pytest.mark.embedded
def test_a_client_that_leaves_early_receives_goodbye_and_no_rows(server: Server) -> None:
    def session(host: str, port: int) -> None:
        url = f"informix://informix:in4mix@{host}:{port}/spoken?server=informix"
        with ifx.connect(url, autocommit=True) as conn:
            for number in (1, 2):
                conn.execute(f"SELECT {number} FROM systables WHERE tabid = 1").fetchall()

    server.create_database("spoken")
    dialogue = record(server.address, session)
    turns = dialogue.turns
    second = next(number for number, turn in enumerate(turns) if b"SELECT 2" in turn.request)
    goodbye = turns[-1]
    early = [*(turn.request for turn in turns[:second]), goodbye.request]
    assert heard(dialogue, early) == b"".join(turn.reply for turn in turns[:second]) + goodbye.reply
    whole = [turn.request for turn in turns]
    assert heard(dialogue, whole) == b"".join(turn.reply for turn in turns)
