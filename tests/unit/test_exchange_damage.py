"""Damaged replies: whatever one flipped byte makes of a conversation, it ends in rows or in one of our
errors.

Never in another exception, never in a wait for bytes that the peer has no reason to send: the peer hangs up
when its script is over, as a peer does that lost count.
"""

from __future__ import annotations

import contextlib
import random

import pytest

from informix_arrow.exchange.connect import connect
from informix_arrow.exchange.fetch import ReadOptions, ServerCursor, next_batch
from informix_arrow.exchange.run import run
from informix_arrow.wire import messages as m
from informix_arrow.wire.errors import Error

from .exchange_peer import Peer, insert, new_session, rows, select
from .test_exchange_connect import PARAMETERS, LoginPeer

ROUNDS = 1500


class DamagingPeer(Peer):
    """Flips one byte of all that it sends, the byte number ``at``."""

    at = -1
    by = 0
    counted = 0

    def _deliver(self, into: memoryview) -> int:
        count = super()._deliver(into)
        if self.counted <= self.at < self.counted + count:
            into[self.at - self.counted] ^= self.by
        self.counted += count
        return count


class DamagingLoginPeer(DamagingPeer, LoginPeer):
    """The same for a login."""


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
            cursor = peer.run(run(session, "select", 0, (), ReadOptions()))
            if isinstance(cursor, ServerCursor):
                while peer.run(next_batch(session, cursor)) is not None:
                    pass
            outcomes["rows"] += 1
        except Error as error:
            outcomes["error"] += 1
            if session.usable_after(error):
                assert session.own == 0
    assert min(outcomes.values()) > 10


def test_a_damaged_execution_ends_well_or_in_an_error_of_ours() -> None:
    script = [insert(), [m.InsertDone(), m.Done(rows=1), m.Cost(), m.XactStat(1, 1, 0)]]
    rng = random.Random(7)
    for _ in range(ROUNDS):
        peer, session = DamagingPeer(script), new_session(autocommit=True)
        damaged(peer, rng, 250)
        with contextlib.suppress(Error):
            peer.run(run(session, "insert", 0, (), ReadOptions()))


def test_a_damaged_login_ends_in_a_session_or_in_an_error_of_ours() -> None:
    rng = random.Random(11)
    for _ in range(ROUNDS // 3):
        peer = DamagingLoginPeer()
        damaged(peer, rng, 330)
        with contextlib.suppress(Error):
            peer.run(connect(PARAMETERS))
