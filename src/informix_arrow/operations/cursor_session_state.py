"""What a result changes in its session while it is open: isolation and lock mode of its own, and in an ANSI database
the transaction that reading begins.

Both are put right again with the message that closes the cursor, whoever sends that: the end of the rows, an error, or
the connection's next exchange after the result was dropped. That costs no round trip.
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
    """The part of the read options that matters here."""

    @property
    def isolation(self) -> str: ...

    @property
    def lock_wait(self) -> int | None: ...

    @property
    def name(self) -> str: ...


@dataclass(slots=True, eq=False)
class CursorSessionState:
    """What one open result has to put right when it ends."""

    override: tuple[str, str] = (
        "",
        "",
    )  # isolation and lock mode; "" = the session's
    holds_implicit_transaction: bool = False  # it holds a transaction of the kind READING
    may_write: bool = False  # it is a procedure's: the COMMIT has to be waited for
    with_hold: bool = False  # the cursor has to outlive COMMITs of other statements


# ---- isolation and lock mode ------------------------------------------------------------------------------------


def lock_phrase(lock_wait: int | None) -> str:
    """What SET LOCK MODE TO calls a number of seconds; "" for None."""
    if lock_wait is None:
        return ""
    return {0: "NOT WAIT", -1: "WAIT"}.get(lock_wait, f"WAIT {lock_wait}")


def isolation_of(session: Session) -> str | None:
    """The session's isolation by its name here, None when nobody has set any. Forms without a name, such as those
    with RETAIN UPDATE LOCKS, are in Informix's words.
    """
    phrase = session.settings.isolation
    return _ISOLATION_NAMES.get(phrase, phrase) or None


def lock_wait_of(session: Session) -> int | None:
    """The session's lock wait in seconds, 0 = not to wait, -1 = for ever; None when nobody has set any."""
    phrase = session.settings.lock_mode
    if not phrase:
        return None
    if phrase == "NOT WAIT":
        return 0
    seconds = phrase.removeprefix("WAIT").strip()
    return int(seconds) if seconds.isdecimal() else -1


def set_read_settings(session: Session, isolation: str = "", lock_wait: int | None = None) -> Exchange[None]:
    """Set isolation (a key of ``ISOLATIONS``) and lock wait of the session; "" and None leave it as it is."""
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
    """Bring the session back to what :class:`.session.SessionSettings` once said; nobody waits for the answers."""
    settings = session.settings
    settings.isolation, settings.lock_mode = isolation, lock_mode
    changes = _change_statements(session, isolation, lock_mode)
    yield from send_ignored_groups(session, [_command_messages(sql) for _, _, sql in changes])
    for name, value, _ in changes:
        setattr(settings, name, value)


def track_set_statement(session: Session, kind: int, text: str) -> None:
    """Take over what a SET ISOLATION or SET LOCK MODE of the user's has set."""
    settings = session.settings
    words = [word.upper() for word in words_and_strings(text)]
    if kind == StatementType.SET_ISOLATION:
        words = words[words.index("ISOLATION") + 1 :] if "ISOLATION" in words else []
        settings.isolation = settings.isolation_now = " ".join(words[1:] if words[:1] == ["TO"] else words)
    elif kind == StatementType.SET_LOCK_MODE:
        words = words[words.index("MODE") + 1 :] if "MODE" in words else []
        settings.lock_mode = settings.lock_mode_now = " ".join(words[1:] if words[:1] == ["TO"] else words)


def reapply_settings(session: Session) -> Exchange[None]:
    """Another database was opened, with its own defaults: what was set for the session holds there, too. What that
    database refuses, as one without a log may, is not set any more.
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


def _execute_command(session: Session, sql: str) -> Exchange[None]:
    reply = yield from request(session, _command_messages(sql))
    reply.check(sql)


def _command_messages(sql: str) -> MessageGroup:
    return (m.Command(sql), m.NDescribe(), m.Execute(), m.Release())


def _default_isolation(session: Session) -> str:
    """What a server reads by when nobody says anything (SERVER-BEHAVIOUR section 2)."""
    if session.ansi:
        return "REPEATABLE READ"
    return "COMMITTED READ" if session.logged else "DIRTY READ"


def _change_statements(session: Session, isolation: str, lock_mode: str) -> list[tuple[str, str, str]]:
    """The statements that bring the session to these, with what is in force after each."""
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
    session: Session, wishes: SessionOverrides, kind: int, text: str
) -> Exchange[CursorSessionState]:
    """Prepare the session for a cursor that is about to be opened on a statement of type ``kind``.

    Raises the server's error when it refuses the isolation or lock mode; all is as before then.
    """
    settings = session.settings
    if wishes.isolation and wishes.isolation not in ISOLATIONS:
        raise InterfaceError(
            f"isolation must be one of {', '.join(map(repr, ISOLATIONS))}, got {wishes.isolation!r}"
        )
    updates = session.transaction is TransactionStatus.OPEN and is_for_update(kind, text)
    plain = not wishes.isolation and wishes.lock_wait is None and not session.ansi and not updates
    if plain and is_unmodified(settings):
        return CursorSessionState()
    isolation = ISOLATIONS.get(wishes.isolation, "")
    if updates:
        isolation = _with_retain_clause(session, isolation or settings.isolation)
    scope = CursorSessionState((isolation, lock_phrase(wishes.lock_wait)))
    wanted = (
        _retain_while_for_update_open(session, scope.override[0] or settings.isolation),
        scope.override[1] or settings.lock_mode,
    )
    if any(scope.override):
        settings.overrides.append(scope.override)
    try:
        for name, value, sql in _change_statements(session, *wanted):
            yield from _execute_command(session, sql)
            setattr(settings, name, value)
        if session.ansi:
            yield from _enter_ansi(session, scope, wishes, kind, text)
    except Error as error:
        if session.usable_after(error):
            yield from send_ignored_groups(session, restoring_groups(session, scope))
        raise
    return scope


def _enter_ansi(
    session: Session, scope: CursorSessionState, wishes: SessionOverrides, kind: int, text: str
) -> Exchange[None]:
    """In an ANSI database a query opens a transaction, which autocommit must close again; and its cursor is one for
    update unless the transaction is READ ONLY: rows would come one by one, whatever the fetch buffer.
    """
    if not session.autocommit or session.transaction is TransactionStatus.OPEN:
        session.transaction = TransactionStatus.OPEN
        return
    plain = kind == StatementType.SELECT and not wishes.name and not is_for_update(kind, text)
    if not plain and session.transaction is TransactionStatus.IMPLICIT_READ:
        yield from commit_now(session)
    if plain and session.transaction is TransactionStatus.NONE:
        # Nobody waits for the answer. Refused, it would make the reading slow, not wrong.
        yield from send_ignored_groups(session, [_command_messages("SET TRANSACTION READ ONLY")])
    session.transaction = TransactionStatus.IMPLICIT_READ
    session.settings.implicit_readers += 1
    scope.holds_implicit_transaction, scope.with_hold = True, plain
    scope.may_write = kind != StatementType.SELECT


def restoring_groups(session: Session, scope: CursorSessionState) -> list[MessageGroup]:
    """Groups that put the session right again, to be sent behind the cursor's CLOSE; nobody waits for the answers."""
    settings, groups = session.settings, list[MessageGroup]()
    if scope.override == _NO_OVERRIDE and not scope.holds_implicit_transaction and is_unmodified(settings):
        return groups
    if any(scope.override):
        settings.overrides.remove(scope.override)
    isolation = _retain_while_for_update_open(
        session, _effective_override(session, 0, settings.isolation_now, settings.isolation)
    )
    lock_mode = _effective_override(session, 1, settings.lock_mode_now, settings.lock_mode)
    for name, value, sql in _change_statements(session, isolation, lock_mode):
        groups.append(_command_messages(sql))
        setattr(settings, name, value)
    if scope.holds_implicit_transaction:
        scope.holds_implicit_transaction = False
        settings.implicit_readers -= 1
        if (
            not settings.implicit_readers
            and not scope.may_write
            and session.transaction is not TransactionStatus.OPEN
        ):
            groups.append((m.Commit(),))
            session.transaction = TransactionStatus.NONE
    return groups


def _with_retain_clause(session: Session, isolation: str) -> str:
    """The same isolation, under which rows that a cursor FOR UPDATE has passed stay locked until the transaction ends.

    Without that the server lets go of a row when the next one is fetched, and the client fetches ahead: the rows that
    it hands out would be locked by nobody. Repeatable read keeps all locks by itself.
    """
    phrase = isolation or _default_isolation(session)
    return isolation if phrase.endswith(("REPEATABLE READ", _RETAIN)) else phrase + _RETAIN


def _retain_while_for_update_open(session: Session, isolation: str) -> str:
    """``isolation``, which must not let go of the rows of results FOR UPDATE that are still open."""
    retained = any(isolation_wish.endswith(_RETAIN) for isolation_wish, _ in session.settings.overrides)
    return _with_retain_clause(session, isolation) if retained else isolation


def is_unmodified(settings: SessionSettings) -> bool:
    """Whether no open result has changed how the session reads."""
    return settings.isolation_now == settings.isolation and settings.lock_mode_now == settings.lock_mode


def _effective_override(session: Session, which: int, now: str, base: str) -> str:
    """What is to be in force when a result ends: another open one may have asked for what is."""
    return now if any(wish[which] == now for wish in session.settings.overrides) else base


def send_ignored_groups(session: Session, groups: Sequence[MessageGroup]) -> Exchange[None]:
    """Send groups whose answers nobody waits for."""
    if groups:
        data = b"".join([encode_group(session, messages) for messages in groups])
        session.pending_replies += (IGNORED_REPLY,) * len(groups)
        yield Send(with_outbox(session, data))
