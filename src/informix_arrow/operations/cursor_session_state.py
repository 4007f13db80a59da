"""Session state that a result changes while it is open: its own isolation and lock mode, and in an ANSI
database the transaction that reading begins.

Both are restored with the message that closes the cursor, in every case: at the end of the rows, after an
error, or by the connection's next operation after the result was dropped. That costs no round trip.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ..dsn import ISOLATIONS
from ..wire import messages as m
from ..wire.describe import StatementType
from ..wire.errors import Error, InterfaceError
from ..wire.messages import Message
from ..wire.sql_text import words_and_strings
from .io_steps import Exchange, Send
from .message_stream import encode_group, with_outbox
from .request_reply import IGNORED_REPLY, pipeline, request
from .session import Session, SessionSettings, TransactionStatus
from .transaction import commit_now, is_for_update

_ISOLATION_NAMES = {phrase: name for name, phrase in ISOLATIONS.items()}
MessageGroup = Sequence[Message]
_NO_OVERRIDE = ("", "")
_RETAIN = " RETAIN UPDATE LOCKS"


class SessionOverrides(Protocol):
    """The read options that affect the session."""

    @property
    def isolation(self) -> str: ...

    @property
    def lock_wait(self) -> int | None: ...

    @property
    def name(self) -> str: ...


@dataclass(slots=True, eq=False)
class CursorSessionState:
    """The state that an open result has to restore when it ends."""

    override: tuple[str, str] = (
        "",
        "",
    )  # isolation and lock mode; "" = the session's
    holds_implicit_transaction: bool = False  # it holds an implicit transaction for reading
    may_write: bool = False  # it is a procedure's: the reply to COMMIT must be awaited
    with_hold: bool = False  # the cursor must outlive COMMITs of other statements


# ---- isolation and lock mode ------------------------------------------------------------------------------------


def lock_phrase(lock_wait: int | None) -> str:
    """Return what SET LOCK MODE TO calls a number of seconds; "" for None."""
    if lock_wait is None:
        return ""
    return {0: "NOT WAIT", -1: "WAIT"}.get(lock_wait, f"WAIT {lock_wait}")


def isolation_of(session: Session) -> str | None:
    """Return the name of the session's isolation, None if it was not set.

    Forms without a name, such as those with RETAIN UPDATE LOCKS, are returned in Informix's words.
    """
    phrase = session.settings.isolation
    return _ISOLATION_NAMES.get(phrase, phrase) or None


def lock_wait_of(session: Session) -> int | None:
    """Return the session's lock wait in seconds, 0 = do not wait, -1 = for ever; None if it was not set."""
    phrase = session.settings.lock_mode
    if not phrase:
        return None
    if phrase == "NOT WAIT":
        return 0
    seconds = phrase.removeprefix("WAIT").strip()
    return int(seconds) if seconds.isdecimal() else -1


def set_read_settings(session: Session, isolation: str = "", lock_wait: int | None = None) -> Exchange[None]:
    """Set isolation (a key of ``ISOLATIONS``) and lock wait of the session. "" and None leave them unchanged."""
    settings = session.settings
    changes: list[tuple[str, str, str]] = []
    if isolation:
        changes.append(("isolation", ISOLATIONS[isolation], "SET ISOLATION TO"))
    if lock_wait is not None:
        changes.append(("lock_mode", lock_phrase(lock_wait), "SET LOCK MODE TO"))
    if not changes:
        return
    statements = [f"{words} {phrase}" for _, phrase, words in changes]
    replies = yield from pipeline(session, [_command_messages(sql) for sql in statements])
    for (name, phrase, _), reply in zip(changes, replies, strict=True):
        if reply.error is None:
            setattr(settings, name, phrase)
            setattr(settings, f"{name}_now", phrase)
    for sql, reply in zip(statements, replies, strict=True):
        reply.check(sql)


def restore_settings(session: Session, isolation: str, lock_mode: str) -> Exchange[None]:
    """Restore settings of an earlier :class:`.session.SessionSettings`, without waiting for the replies."""
    settings = session.settings
    settings.isolation, settings.lock_mode = isolation, lock_mode
    changes = _change_statements(session, isolation, lock_mode)
    yield from send_ignored_groups(session, [_command_messages(sql) for _, _, sql in changes])
    for name, value, _ in changes:
        setattr(settings, name, value)


def track_set_statement(session: Session, kind: int, text: str) -> None:
    """Record the isolation or lock mode that the user's own SET statement has set."""
    settings = session.settings
    words = [word.upper() for word in words_and_strings(text)]
    if kind == StatementType.SET_ISOLATION:
        words = words[words.index("ISOLATION") + 1 :] if "ISOLATION" in words else []
        settings.isolation = settings.isolation_now = " ".join(words[1:] if words[:1] == ["TO"] else words)
    elif kind == StatementType.SET_LOCK_MODE:
        words = words[words.index("MODE") + 1 :] if "MODE" in words else []
        settings.lock_mode = settings.lock_mode_now = " ".join(words[1:] if words[:1] == ["TO"] else words)


def reapply_settings(session: Session) -> Exchange[None]:
    """Apply the session's settings again after another database was opened, which has its own defaults.

    Settings that the database refuses, as one without a log may, are dropped.
    """
    settings = session.settings
    settings.isolation_now = settings.lock_mode_now = ""
    for name, now, words in (
        ("isolation", "isolation_now", "ISOLATION"),
        ("lock_mode", "lock_mode_now", "LOCK MODE"),
    ):
        phrase = getattr(settings, name)
        if not phrase:
            continue
        reply = yield from request(session, _command_messages(f"SET {words} TO {phrase}"))
        if reply.error is not None:
            phrase = ""
        setattr(settings, name, phrase)
        setattr(settings, now, phrase)


def _command_messages(sql: str) -> MessageGroup:
    return (m.Command(sql), m.NDescribe(), m.Execute(), m.Release())


def _default_isolation(session: Session) -> str:
    """Return the server's default isolation (SERVER-BEHAVIOUR section 2)."""
    if session.ansi:
        return "REPEATABLE READ"
    return "COMMITTED READ" if session.logged else "DIRTY READ"


def _change_statements(session: Session, isolation: str, lock_mode: str) -> list[tuple[str, str, str]]:
    """Return the statements that change the session to these settings, with the settings in force after each."""
    settings, out = session.settings, []
    if isolation != settings.isolation_now:
        out.append(
            ("isolation_now", isolation, f"SET ISOLATION TO {isolation or _default_isolation(session)}")
        )
    if lock_mode != settings.lock_mode_now:
        out.append(("lock_mode_now", lock_mode, f"SET LOCK MODE TO {lock_mode or 'NOT WAIT'}"))
    return out


# ---- around one result ------------------------------------------------------------------------------------------


def apply_overrides(
    session: Session, overrides: SessionOverrides, kind: int, text: str
) -> Exchange[CursorSessionState]:
    """Prepare the session for a cursor that is about to be opened on a statement of type ``kind``.

    Raises the server's error if it refuses the isolation or lock mode. The session is unchanged then.
    """
    settings = session.settings
    if overrides.isolation and overrides.isolation not in ISOLATIONS:
        raise InterfaceError(
            f"isolation must be one of {', '.join(map(repr, ISOLATIONS))}, got {overrides.isolation!r}."
        )
    updates = session.transaction is TransactionStatus.OPEN and is_for_update(kind, text)
    plain = not overrides.isolation and overrides.lock_wait is None and not session.ansi and not updates
    if plain and is_unmodified(settings):
        return CursorSessionState()
    isolation = ISOLATIONS.get(overrides.isolation, "")
    if updates:
        isolation = _with_retain_clause(session, isolation or settings.isolation)
    state = CursorSessionState((isolation, lock_phrase(overrides.lock_wait)))
    target = (
        _retain_while_for_update_open(session, state.override[0] or settings.isolation),
        state.override[1] or settings.lock_mode,
    )
    if any(state.override):
        settings.overrides.append(state.override)
    try:
        for name, value, sql in _change_statements(session, *target):
            reply = yield from request(session, _command_messages(sql))
            reply.check(sql)
            setattr(settings, name, value)
        if session.ansi:
            yield from _enter_ansi(session, state, overrides, kind, text)
    except Error as error:
        if session.usable_after(error):
            yield from send_ignored_groups(session, restoring_groups(session, state))
        raise
    return state


def _enter_ansi(
    session: Session, state: CursorSessionState, overrides: SessionOverrides, kind: int, text: str
) -> Exchange[None]:
    """Prepare an ANSI database for a query, which opens a transaction that autocommit must close again.

    The cursor would be one for update unless the transaction is READ ONLY: rows would come one by one, whatever
    the size of the fetch buffer.
    """
    if not session.autocommit or session.transaction is TransactionStatus.OPEN:
        session.transaction = TransactionStatus.OPEN
        return
    plain = kind == StatementType.SELECT and not overrides.name and not is_for_update(kind, text)
    if not plain and session.transaction is TransactionStatus.IMPLICIT_READ:
        yield from commit_now(session)
    if plain and session.transaction is TransactionStatus.NONE:
        # The reply is not waited for. A refusal would make reading slow, not wrong.
        yield from send_ignored_groups(session, [_command_messages("SET TRANSACTION READ ONLY")])
    session.transaction = TransactionStatus.IMPLICIT_READ
    session.settings.implicit_readers += 1
    state.holds_implicit_transaction, state.with_hold = True, plain
    state.may_write = kind != StatementType.SELECT


def restoring_groups(session: Session, state: CursorSessionState) -> list[MessageGroup]:
    """Return the groups that restore the session, to be sent after the cursor's CLOSE. Their replies do not matter."""
    settings, groups = session.settings, list[MessageGroup]()
    if state.override == _NO_OVERRIDE and not state.holds_implicit_transaction and is_unmodified(settings):
        return groups
    if any(state.override):
        settings.overrides.remove(state.override)
    isolation = _retain_while_for_update_open(
        session, _effective_override(session, 0, settings.isolation_now, settings.isolation)
    )
    lock_mode = _effective_override(session, 1, settings.lock_mode_now, settings.lock_mode)
    for name, value, sql in _change_statements(session, isolation, lock_mode):
        groups.append(_command_messages(sql))
        setattr(settings, name, value)
    if state.holds_implicit_transaction:
        state.holds_implicit_transaction = False
        settings.implicit_readers -= 1
        if (
            not settings.implicit_readers
            and not state.may_write
            and session.transaction is not TransactionStatus.OPEN
        ):
            groups.append((m.Commit(),))
            session.transaction = TransactionStatus.NONE
    return groups


def _with_retain_clause(session: Session, isolation: str) -> str:
    """Return the isolation with RETAIN UPDATE LOCKS, which keeps rows of a cursor FOR UPDATE locked to the
    transaction's end.

    Without it the server unlocks a row when the next one is fetched, and the client fetches ahead: the rows
    that it returns would not be locked. Repeatable read keeps all locks by itself.
    """
    phrase = isolation or _default_isolation(session)
    return isolation if phrase.endswith(("REPEATABLE READ", _RETAIN)) else phrase + _RETAIN


def _retain_while_for_update_open(session: Session, isolation: str) -> str:
    """Return ``isolation`` in the form that keeps rows of open results FOR UPDATE locked."""
    retained = any(override.endswith(_RETAIN) for override, _ in session.settings.overrides)
    return _with_retain_clause(session, isolation) if retained else isolation


def is_unmodified(settings: SessionSettings) -> bool:
    """Return whether no open result has changed the session's read settings."""
    return settings.isolation_now == settings.isolation and settings.lock_mode_now == settings.lock_mode


def _effective_override(session: Session, which: int, now: str, base: str) -> str:
    """Return the setting to be in force when a result ends; another open result may have requested the present one."""
    return now if any(override[which] == now for override in session.settings.overrides) else base


def send_ignored_groups(session: Session, groups: Sequence[MessageGroup]) -> Exchange[None]:
    """Send groups whose replies do not matter."""
    if groups:
        data = b"".join([encode_group(session, messages) for messages in groups])
        session.pending_replies += (IGNORED_REPLY,) * len(groups)
        yield Send(with_outbox(session, data))
