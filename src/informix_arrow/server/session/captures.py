"""Sessions of change capture: the tables that each captures, its position in the log, and the registry of sessions."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...wire.quoting import quote_if_needed
from ..cdc_log import records
from ..cdc_log.log import ChangeLog
from ..cdc_log.reader import CaptureTarget, LogReader

DESCRIPTORS = range(32767, 32703, -1)
"""Lower halves of session ids, which reads use as descriptors. Smart large objects have the numbers below."""

_GENERATIONS = 0x7FFF


@dataclass(slots=True)
class CaptureSession:
    """One capture session of a connection.

    Attributes
    ----------
    id
        Its lower 16 bits are the descriptor that reads use.
    timeout
        Seconds that a read waits for a record: below 0 without limit, 0 not at all.
    max_records
        Largest number of records that a read returns.
    tables
        The captured tables, by database and table number.
    reader
        Its position in the log, while it is active.
    """

    id: int
    timeout: int
    max_records: int
    created: int = field(default_factory=lambda: int(time.time()))
    tables: dict[tuple[str, int], CaptureTarget] = field(default_factory=dict)
    reader: LogReader | None = None
    _partial_record: bytes = b""  # rest of a record that did not fit into a reply

    def activate(self, log: ChangeLog, lsn: int) -> None:
        """Start reading at a position of the log. Raises `LogPositionGone` if the log no longer has it."""
        reader = LogReader(log, lsn, self.tables)
        for captured in self.tables.values():
            reader.send_schema(captured)
        self.reader = reader
        self._partial_record = b""

    def deactivate(self) -> None:
        """Stop reading."""
        self.reader, self._partial_record = None, b""

    def capture(self, captured: CaptureTarget) -> None:
        """Capture one more table; an active session does so from its current position on."""
        table = captured.table
        self.tables[table.database, table.tabid] = captured
        if self.reader is not None:
            self.reader.send_schema(captured)

    def skip_partial_record(self) -> int:
        """Skip the rest of a record that was returned partially. Return the number of records skipped."""
        skipped, self._partial_record = int(bool(self._partial_record)), b""
        return skipped

    def read(self, size: int) -> bytes:
        """Return the available bytes, at most `size`: the rest of a partial record, or else records."""
        if not self._partial_record and self.reader is not None:
            self._partial_record = self.reader.read_records(self.max_records, size)
        return self._take_bytes(size)

    def timeout_record(self, size: int) -> bytes:
        """Return a TIMEOUT record, or the part of it that fits."""
        assert self.reader is not None
        self._partial_record = records.timeout(self.reader.position)
        return self._take_bytes(size)

    def _take_bytes(self, size: int) -> bytes:
        part, self._partial_record = self._partial_record[:size], self._partial_record[size:]
        return part


class CaptureSessions:
    """All sessions of an engine. Thread-safe."""

    def __init__(self, log: ChangeLog, log_rows: Callable[[str, int, bool], None]) -> None:
        self.log = log
        self.set_full_logging = log_rows
        self._lock = threading.Lock()
        self._sessions: dict[int, CaptureSession] = {}
        self._generations = itertools.count(1)

    def open(self, descriptor: int, timeout: int, max_records: int) -> CaptureSession:
        """Open a new session."""
        with self._lock:
            while True:
                number = (next(self._generations) % _GENERATIONS + 1) << 16 | descriptor
                if number not in self._sessions:
                    break
            session = self._sessions[number] = CaptureSession(number, timeout, max_records)
            return session

    def close(self, session: CaptureSession) -> None:
        """Close a session."""
        with self._lock:
            self._sessions.pop(session.id, None)
        session.deactivate()

    def all(self) -> list[CaptureSession]:
        with self._lock:
            return list(self._sessions.values())

    def is_captured(self, database: str, tabid: int) -> bool:
        """Return whether a session captures a table."""
        return any((database, tabid) in session.tables for session in self.all())

    # ---- catalogue ------------------------------------------------------------------------------
    def session_rows(self) -> list[dict[str, Any]]:
        """Return the rows of syscdcsess."""
        return [
            {
                "sessid": session.id,
                "seqnum": 0 if session.reader is None else session.reader.position,
                "timeout": session.timeout,
                "createtime": session.created,
                "status": int(session.reader is not None),
            }
            for session in self.all()
        ]

    def table_rows(self) -> list[dict[str, Any]]:
        """Return the rows of syscdctabs."""
        rows = []
        for session in self.all():
            for captured in list(session.tables.values()):
                columns = [c for c in captured.table.columns if c.name in captured.wanted_columns]
                fixed = [c for c in columns if c.width]
                rows.append(
                    {
                        "sessid": session.id,
                        "dbname": captured.table.database,
                        "tabname": captured.table.name,
                        "owner": captured.table.owner,
                        "startutc": session.created,
                        "userdata": captured.label,
                        "fixedbytes": sum(c.width for c in fixed),
                        "numfixed": len(fixed),
                        "fixedcols": ",".join(quote_if_needed(c.name) for c in fixed),
                        "numvar": len(columns) - len(fixed),
                        "varcols": ",".join(quote_if_needed(c.name) for c in columns if not c.width),
                    }
                )
        return rows
