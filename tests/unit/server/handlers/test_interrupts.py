"""Interrupts of the server's engine: when one stops the current call, and when it is kept for the next statement."""

from __future__ import annotations

import pytest

from informix_arrow.server.errors import SqlError
from informix_arrow.server.handlers.interrupts import StatementInterrupts


def next_statement_is_stopped(interrupts: StatementInterrupts) -> bool:
    try:
        with interrupts:
            pass
    except SqlError as problem:
        return problem.sqlcode == -213
    return False


@pytest.mark.parametrize("again", [False, True])
def test_what_makes_ready_for_a_commit_is_shortened_by_requests_of_its_own_time_only(again: bool) -> None:
    said: list[None] = []
    interrupts = StatementInterrupts(lambda: said.append(None))
    assert not interrupts.request()  # nothing runs, so it is kept for the next statement
    with interrupts.preparing_commit():
        assert not interrupts.repeat()
        assert not said
        if again:
            assert interrupts.request()
            assert said
    assert next_statement_is_stopped(interrupts) is not again
    assert not next_statement_is_stopped(interrupts)
