"""The routines of the database syscdcv1, and reads from the sessions that they create (docs/protocol/CDC.md).

These routines report errors as return values and not as errors of the statement.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace

from ...wire.changes import read_name
from ...wire.code_sets import codec_of_locale
from ...wire.type_names import cut_at_commas
from ..catalog.capture_tables import DATABASE, ERRORS, ERRORS_BY_NAME
from ..catalog.catalog import TableInfo
from ..catalog.databases import Databases
from ..cdc_log.log import LogPositionGone
from ..cdc_log.reader import CaptureTarget
from ..cdc_log.row_images import TableImageEncoder, is_logged
from ..errors import ISAM_INTERRUPTED, SqlError
from ..parse.ddl_tokens import TableName
from .captures import DESCRIPTORS, CaptureSession, CaptureSessions
from .lock_owner import LockOwner
from .routine_protocols import PythonRoutine, python_routine
from .session_privileges import SessionPrivileges
from .session_tables import SessionTables

OK = 0
MAX_RECORDS = 256
"""Largest number of records per read that a client may request. Real servers accept 100 and refuse 1000."""

_BAD_OBJECT = -9810
_STILL_CAPTURED = -19816
_CANNOT_LOCK = -289
_INTERRUPTED = -213
_LOCK_SECONDS = 5.0
"""Minimum wait of `cdc_set_fullrowlogging` for transactions, in seconds: capture clients set no lock mode."""

_POLL_SECONDS = 1.0
"""Seconds after which a waiting read checks again whether it has to end."""

_NAME = re.compile(r'\s*"?(\w+)"?(?:@\w+)?\s*:\s*(?:"?(\w+)"?\s*\.)?\s*"?(\w+)"?\s*')


class _CallRefused(Exception):
    """A routine refuses its call: it returns a negative number."""

    def __init__(self, error: str | int) -> None:
        self.code = ERRORS_BY_NAME[error] if isinstance(error, str) else error


@dataclass(eq=False, repr=False)
class CaptureRoutines:
    """The capture routines of one connection. Used by one thread at a time; `wake` may be called from another.

    `_while_waiting` returns a context manager for every wait of a read. The databases may be detached meanwhile.
    """

    _capture_sessions: CaptureSessions
    _databases: Databases
    _tables: SessionTables
    _privileges: SessionPrivileges
    _lock_owner: LockOwner
    _server_name: str
    _while_waiting: Callable[[], AbstractContextManager[None]]
    _sessions: dict[int, CaptureSession] = field(default_factory=dict, init=False)  # by descriptor
    _routines: dict[str, tuple[PythonRoutine, ...]] = field(default_factory=dict, init=False)

    # ---- as routines ------------------------------------------------------------------------------
    def find_routines(self, database: str | None, name: str) -> Sequence[PythonRoutine]:
        """Return the capture routines of a name in a database: none for users who may not capture."""
        if database != DATABASE or not self._privileges.is_administrator:
            return ()
        if not self._routines:
            integer, long, text = "INTEGER", "BIGINT", "LVARCHAR(2048)"
            for routine, function, parameters in (
                ("cdc_opensess", self._open, (text, *[integer] * 5)),
                ("cdc_set_fullrowlogging", self._set_full_rows, (text, integer)),
                ("cdc_startcapture", self._start, (integer, long, text, text, integer)),
                ("cdc_activatesess", self._activate, (integer, long)),
                ("cdc_recboundary", self._boundary, (integer,)),
                ("cdc_deactivatesess", self._deactivate, (integer,)),
                ("cdc_endcapture", self._end, (integer, long, text)),
                ("cdc_closesess", self._close, (integer,)),
            ):
                wrapped = python_routine(routine, _returning_error_code(function), parameters, (integer,))
                self._routines[routine] = (wrapped,)
            self._routines["cdc_errortext"] = tuple(
                python_routine("cdc_errortext", _error_text, (kind,), (text,)) for kind in (integer, text)
            )
        return self._routines.get(name, ())

    def _open(self, server: str, session: int, timeout: int, max_records: int, major: int, minor: int) -> int:
        if server.strip() != self._server_name:
            raise _CallRefused("CDC_E_ARG1")
        if session != 0:
            raise _CallRefused("CDC_E_NOREOPEN")
        if not 1 <= max_records <= MAX_RECORDS:
            raise _CallRefused("CDC_E_ARG4")
        if major != 1 or minor not in (0, 1):
            raise _CallRefused("CDC_E_APIVERS")
        descriptor = next((d for d in DESCRIPTORS if d not in self._sessions), None)
        if descriptor is None:
            raise _CallRefused("CDC_E_ARG")
        opened = self._sessions[descriptor] = self._capture_sessions.open(descriptor, timeout, max_records)
        return opened.id

    def _set_full_rows(self, name: str, on: int) -> int:
        if on not in (0, 1):
            raise _CallRefused("CDC_E_ARG2")
        info = self._parse_table(name, "CDC_E_ARG1")
        if not on:
            self._require_uncaptured(info)
        if info.is_fully_logged == bool(on):
            return OK
        self._set_full_logging(info, bool(on))
        if self._parse_table(name, "CDC_E_ARG1").tabid != info.tabid:  # it was dropped during the wait
            raise _CallRefused("CDC_E_NOTAB")
        return OK

    def _require_uncaptured(self, info: TableInfo) -> None:
        if self._capture_sessions.is_captured(info.database, info.tabid):
            raise _CallRefused(_STILL_CAPTURED)

    def _set_full_logging(self, info: TableInfo, on: bool) -> None:
        """Switch full row logging of a table between two transactions, so that none is logged partially."""
        owner, table = self._lock_owner, (info.database, info.name)
        wait = owner.lock_timeout if owner.lock_timeout < 0 else max(owner.lock_timeout, _LOCK_SECONDS)
        if owner.locks.may_change(owner, table):  # the wait would be for the end of its own transaction
            wait = 0.0
        claim = replace(owner.request(_CANNOT_LOCK), owner=object(), timeout=wait)
        try:
            with owner.locks.block_writers(claim, table):
                if not on:
                    self._require_uncaptured(info)
                self._capture_sessions.set_full_logging(info.database, info.tabid, on)
        except SqlError as problem:
            if problem.sqlcode != _CANNOT_LOCK:
                raise
            raise _CallRefused(_CANNOT_LOCK) from problem

    def _start(self, session: int, reserved: int, name: str, columns: str, label: int) -> int:
        capture = self._session(session)
        if reserved != 0:
            raise _CallRefused("CDC_E_ARG2")
        info = self._parse_table(name, "CDC_E_ARG3")
        if not info.is_fully_logged:
            raise _CallRefused("CDC_E_TABPROPERTIES")
        if (info.database, info.tabid) in capture.tables:
            raise _CallRefused("CDC_E_TABCAPTURED")
        possible = {column.name for column in info.columns if is_logged(column)}
        names = _parse_column_list(columns) if columns.strip() else frozenset(possible)
        if not names or not names <= possible:
            raise _CallRefused("CDC_E_NOCOL")
        locale = self._databases.get(info.database).locale
        table = TableImageEncoder(info, codec_of_locale(locale)).table
        capture.capture(CaptureTarget(table, label, names))
        return OK

    def _activate(self, session: int, position: int) -> int:
        capture = self._session(session)
        if capture.reader is not None:
            raise _CallRefused("CDC_E_DUPLSESS")
        if position < 0:
            raise _CallRefused("CDC_E_ARG2")
        try:
            capture.activate(self._capture_sessions.log, position)
        except LogPositionGone:
            raise _CallRefused("CDC_E_LSN") from None
        return OK

    def _boundary(self, session: int) -> int:
        return self._session(session).skip_partial_record()

    def _deactivate(self, session: int) -> int:
        self._session(session).deactivate()
        return OK

    def _end(self, session: int, reserved: int, name: str) -> int:
        capture = self._session(session)
        if reserved != 0:
            raise _CallRefused("CDC_E_ARG2")
        info = self._parse_table(name, "CDC_E_ARG3")
        if capture.tables.pop((info.database, info.tabid), None) is None:
            raise _CallRefused("CDC_E_TABNOTCAPTURED")
        return OK

    def _close(self, session: int) -> int:
        capture = self._session(session)
        del self._sessions[capture.id & 0xFFFF]
        self._capture_sessions.close(capture)
        return OK

    def _session(self, number: int) -> CaptureSession:
        capture = self._sessions.get(number & 0xFFFF)
        if capture is None or capture.id != number:
            raise _CallRefused("CDC_E_NOSES")
        return capture

    def _parse_table(self, name: str, malformed: str) -> TableInfo:
        """Return the table that ``db:owner.table`` names. The owner matters in a MODE ANSI database only."""
        parts = _NAME.fullmatch(name)
        if parts is None:
            raise _CallRefused(malformed)
        database = parts[1].lower()
        if database not in self._databases:
            raise _CallRefused("CDC_E_NODB")
        if not self._databases.get(database).logged:
            raise _CallRefused("CDC_E_DBNOTLOGGED")
        table = TableName(parts[3].lower(), parts[2] or "", quoted=True)
        info = self._tables.find(database, self._tables.stored_name(database, table))
        if info is None:
            raise _CallRefused("CDC_E_NOTAB")
        if info.kind != "T" or info.temporary:
            raise _CallRefused("CDC_E_TABPROPERTIES")
        return info

    # ---- reading ----------------------------------------------------------------------------------
    def is_capture_descriptor(self, descriptor: int) -> bool:
        """Return whether a descriptor is that of a capture session."""
        return descriptor in self._sessions

    def read(self, descriptor: int, size: int, requested_at: float, before_wait: Callable[[], None]) -> bytes:
        """Return at most `size` bytes of records and at least one record: TIMEOUT if there is no other.

        Raises -213 if the read is interrupted or the client is gone, and -9810 if nothing can be read.

        The session's timeout counts from the time of the request, `requested_at`: reads that were sent ahead wait at
        the same time. `before_wait` sends the replies that are still buffered.
        """
        session = self._sessions[descriptor]
        if session.reader is None:
            raise SqlError(_BAD_OBJECT, detail="The capture session is not active.")
        if size < 1:
            raise SqlError(_BAD_OBJECT, detail=f"{size} bytes of change records were requested.")
        owner, log = self._lock_owner, self._capture_sessions.log
        owner.interrupted.clear()  # it was meant for an earlier statement
        deadline = requested_at + session.timeout
        waited = False
        while True:
            data = session.read(size)
            if data:
                return data
            remaining = _POLL_SECONDS if session.timeout < 0 else deadline - time.monotonic()
            # TIMEOUT reports that the log was read to its end. A long transaction of others is skipped first.
            if remaining <= 0 and not session.reader.is_skipping:
                return session.timeout_record(size)
            if owner.interrupted.is_set() or owner.client_disconnected.is_set():
                raise SqlError(_INTERRUPTED, ISAM_INTERRUPTED)
            if session.reader.is_skipping:
                continue
            if not waited:
                before_wait()
                waited = True
            with self._while_waiting():
                log.wait(session.reader.position, min(remaining, _POLL_SECONDS))

    def wake(self) -> None:
        """Make a waiting read check whether it has to end."""
        if self._sessions:
            self._capture_sessions.log.notify_waiters()

    def close(self) -> None:
        """Close the sessions when the connection ends."""
        for session in self._sessions.values():
            self._capture_sessions.close(session)
        self._sessions.clear()


def _parse_column_list(columns: str) -> frozenset[str]:
    """Return the names in a list of columns."""
    try:
        return frozenset(read_name(part) for part in cut_at_commas(columns))
    except ValueError:  # an unterminated quote
        raise _CallRefused("CDC_E_NOCOL") from None


def _returning_error_code(function: Callable[..., int]) -> Callable[..., int]:
    """Wrap a routine for SQL: a refusal becomes its return value."""

    def call(*arguments: object) -> int:
        try:
            if None in arguments:
                raise _CallRefused("CDC_E_ARGNULL")
            return function(*arguments)
        except _CallRefused as refused:
            return refused.code

    return call


def _error_text(error: int | str | None) -> str:
    """Return the text for an error number or name; "" for an unknown one."""
    code = ERRORS_BY_NAME.get(error.strip().upper()) if isinstance(error, str) else error
    return next((text for number, _, text in ERRORS if number == code), "")
