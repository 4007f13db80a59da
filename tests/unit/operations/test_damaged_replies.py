"""Damaged replies: with one changed byte, a dialogue ends in rows or in an error of this package.

Never in another exception, and never in a wait for bytes that the peer has no reason to send: the peer closes the
connection when its script is over, like a peer that has lost count.
"""

from __future__ import annotations

import contextlib
import random
from dataclasses import replace

import pytest
from tests.unit.operations.scripted_peer import FRAMING, Peer, insert, new_session, rows, select
from tests.unit.operations.test_connect import PARAMETERS, LoginPeer

from informix_arrow.operations.cancel import interruptible
from informix_arrow.operations.connect import connect
from informix_arrow.operations.execute import execute_statement
from informix_arrow.operations.fetch import ReadOptions, ServerCursor, next_batch
from informix_arrow.operations.io_steps import Call, CancelReason
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import server_answer
from informix_arrow.wire.errors import Error
from informix_arrow.wire.primitives import NeedMoreData

pytestmark = pytest.mark.slow

ROUNDS = 900


class DamagingPeer(Peer):
    """Changes one of all the bytes that it sends, the byte number ``at``."""

    at = -1
    by = 0
    counted = 0

    def deliver(self, into: memoryview) -> int:
        count = super().deliver(into)
        if self.counted <= self.at < self.counted + count:
            into[self.at - self.counted] ^= self.by
        self.counted += count
        return count


class DamagingLoginPeer(DamagingPeer, LoginPeer):
    """Changes one byte of a login."""


def damaged(peer: DamagingPeer, rng: random.Random, length: int) -> None:
    peer.at, peer.by = rng.randrange(length), rng.randrange(1, 256)
    peer.hang_up = True


@pytest.mark.parametrize("seed", range(4))
def test_a_damaged_query_ends_in_rows_or_in_an_error_of_ours(seed: int) -> None:
    script = [select(), rows(1, 2, 3), [*rows(4, 5), m.Done(), m.Cost()]]
    rng = random.Random(seed)
    outcomes = {"rows": 0, "error": 0}
    for _ in range(ROUNDS // 4):
        peer, session = DamagingPeer(script, piece=rng.choice((7, 50, 1 << 20))), new_session()
        damaged(peer, rng, 330)
        try:
            cursor = peer.run(execute_statement(session, "select", (), ReadOptions()))
            if isinstance(cursor, ServerCursor):
                while peer.run(next_batch(session, cursor)) is not None:
                    pass
            outcomes["rows"] += 1
        except Error as error:
            outcomes["error"] += 1
            if session.usable_after(error):
                assert session.outstanding_requests == 0
    assert min(outcomes.values()) > 10


def test_a_damaged_execution_ends_well_or_in_an_error_of_ours() -> None:
    script = [insert(), [m.InsertDone(), m.Done(rows=1), m.Cost(), m.XactStat(1, 1, 0)]]
    rng = random.Random(7)
    for _ in range(ROUNDS):
        peer, session = DamagingPeer(script), new_session(autocommit=True)
        damaged(peer, rng, 250)
        with contextlib.suppress(Error):
            peer.run(execute_statement(session, "insert", (), ReadOptions()))


def test_a_damaged_login_ends_in_a_session_or_in_an_error_of_ours() -> None:
    rng = random.Random(11)
    for _ in range(ROUNDS // 3):
        peer = DamagingLoginPeer()
        damaged(peer, rng, 330)
        with contextlib.suppress(Error):
            peer.run(connect(PARAMETERS))


PAM = [
    [m.Challenge(4, "Hello"), m.EndOfTurn(), m.Challenge(1, "Password: ")],
    [m.Challenge(3, "Nearly"), m.EndOfTurn(), m.Challenge(2, "Code: ")],
    [m.Accept()],
]


class DamagingPamPeer(DamagingLoginPeer):
    """A listener that asks questions during the login, and changes one byte."""

    def __init__(self, piece: int) -> None:
        super().__init__(piece=piece)
        self.asked = 0
        mask = bytearray(server_answer(bytes(8)))
        mask[5] |= 0x08  # bit 44
        self.mask = bytes(mask)

    def take(self, data: bytes) -> None:
        with contextlib.suppress(NeedMoreData):  # the client uses another protocol: hang up
            super().take(data)

    def answer(self, group: list[m.Message]) -> None:
        if not isinstance(group[0], m.Ack | m.Response):
            super().answer(group)
            return
        said = PAM[self.asked] if self.asked < len(PAM) else [m.Exit()]
        self.asked += 1
        self.outgoing += b"".join(message.encode(FRAMING) for message in (*said, m.EndOfTurn()))


@pytest.mark.parametrize("seed", range(3))
def test_damaged_questions_of_pam_end_in_a_session_or_in_an_error_of_ours(seed: int) -> None:
    """The answers, which are secrets, must not be in the error."""
    rng = random.Random(f"pam {seed}")
    ends = {"session": 0, "error": 0}
    for _ in range(ROUNDS // 5):
        peer = DamagingPamPeer(rng.choice((1, 9, 1 << 20)))
        damaged(peer, rng, 480)
        try:
            peer.run(connect(replace(PARAMETERS, pam=lambda prompt, echo: "an answer nobody may see")))
        except Error as error:
            assert "nobody may see" not in repr(error)  # noqa: PT017 - which error it is, is open
            ends["error"] += 1
        else:
            ends["session"] += 1
    assert min(ends.values()) > 10


@pytest.mark.parametrize("reason", [None, CancelReason.CANCEL, CancelReason.TIMEOUT], ids=str)
def test_damage_behind_a_cancel_ends_in_rows_or_in_an_error_of_ours(reason: CancelReason | None) -> None:
    """An urgent byte was sent for the call before, and a harmless statement absorbs it. The damaged reply is that to
    this statement, to the next query, or to a call that is cancelled itself."""
    rng = random.Random(f"cancel {reason}")
    ends = {"rows": 0, "error": 0}
    for _ in range(ROUNDS // 3):
        hit = rng.random() < 0.5
        absorbed = [[m.Err(-213, -157)]] if hit else [select(7), [*rows(1), m.Done()]]
        script = [*absorbed, select(), rows(1, 2, 3), [*rows(4, 5), m.Done(), m.Cost()]]
        before, now = Call(), Call()
        before.interrupt_sent = True
        now.cancel_reason = reason
        peer, session = DamagingPeer(script, piece=rng.choice((7, 50, 1 << 20))), new_session(call=before)
        damaged(peer, rng, 500)
        try:
            query = execute_statement(session, "select", (), ReadOptions())
            cursor = peer.run(interruptible(session, now, query))
            while isinstance(cursor, ServerCursor) and peer.run(next_batch(session, cursor)) is not None:
                pass
            ends["rows"] += 1
        except Error as error:
            ends["error"] += 1
            if session.usable_after(error):
                assert session.outstanding_requests == 0
    assert ends["error"] > 10
    assert (ends["rows"] > 10) == (reason is None)
