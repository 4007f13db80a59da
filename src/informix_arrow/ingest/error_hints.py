"""Hints for errors that loads meet more often than other statements."""

from __future__ import annotations

from ..wire.errors import Error

_LOCKED = frozenset({-243, -244, -245, -246, -263, -271, -289, -346, -239})
_LOCKS = {
    -107: "Another session holds a lock on the row. lock_wait=30 in connect(), or SET LOCK MODE TO WAIT 30, "
    "waits for it up to 30 seconds.",
    -113: "Another session holds a lock on the whole table. onstat -k shows which one. Wait with lock_wait=30, or load "
    "after it has ended.",
    -143: "Two sessions waited for each other (deadlock), and the server ended the wait of this one. Load again. "
    "commit_every=10000 holds fewer locks at a time. Rows sorted by key make deadlocks less likely.",
    -144: "Another session has locked the key. lock_wait=30 in connect(), or SET LOCK MODE TO WAIT 30, waits for it.",
    -154: "The lock did not become free within the time of SET LOCK MODE TO WAIT. Wait longer (lock_wait=...), or find "
    "the session that holds it with onstat -k.",
    -134: "The server's lock table is full. LOCK TABLE t IN EXCLUSIVE MODE before the load, or commit_every=10000, "
    "needs fewer locks.",
}
_LONG = (
    "A load in one transaction must fit into the logical log. Commit more often with commit_every=100000. TRUNCATE "
    "and unlogged (RAW) tables need no log."
)


def hint_for(error: Error) -> str:
    """Return what to do about an error that ended a load. "" if there is no hint."""
    if error.sqlcode == -458:
        return _LONG
    if error.isamcode in _LOCKS and (error.sqlcode in _LOCKED or error.isamcode == -134):
        return _LOCKS[error.isamcode]
    return ""
