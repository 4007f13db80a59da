"""Check that the server responds."""

from __future__ import annotations

from ..wire import messages as m
from .instrument import report
from .io_steps import Exchange
from .request_reply import request
from .session import Session


def ping(session: Session, idle_timeout: float | None = None) -> Exchange[None]:
    """Send one request that changes nothing and read its reply.

    This is SQ_INFO as after the login, whose reply is a bare SQ_EOT on every server (SQLI section 5.2). It
    needs no database, reads no table, and opens no transaction in an ANSI database. ``idle_timeout`` is the number
    of seconds of silence after which the server counts as gone; None uses the user's setting.
    """
    report(session, "ping")
    session.idle_timeout = idle_timeout
    try:
        yield from request(session, (m.Info((("DBTEMP", "/tmp"), ("SUBQCACHESZ", "10"))),))
    finally:
        session.idle_timeout = None
