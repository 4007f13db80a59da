"""Asking the server for a sign of life."""

from __future__ import annotations

from ..wire import messages as m
from .instrument import report
from .io_steps import Exchange
from .request_reply import request
from .session import Session


def ping(session: Session, patience: float | None = None) -> Exchange[None]:
    """One round trip that changes nothing: SQ_INFO as after the login, whose answer is a bare SQ_EOT on every server
    (SQLI section 5.2). It needs no database, reads no table, and opens no transaction in an ANSI database.

    ``patience`` is how many seconds of silence mean that the server is gone; None leaves it at the user's setting.
    """
    report(session, "ping")
    session.idle_timeout = patience
    try:
        yield from request(session, (m.Info((("DBTEMP", "/tmp"), ("SUBQCACHESZ", "10"))),))
    finally:
        session.idle_timeout = None
