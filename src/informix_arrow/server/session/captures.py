"""Sessions of change capture: what each captures, where it stands in the log, and which there are."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...wire.changes import written_name
from ..cdc_log import records
from ..cdc_log.log import ChangeLog
from ..cdc_log.reader import CaptureTarget, LogReader

DESCRIPTORS = range(32767, 32703, -1)
"""Lower halves of session ids, which a connection's reads name: smart large objects have the numbers below."""

_GENERATIONS = 0x7FFF


@dataclass(slots=True)
class CaptureSession:
    """One session, of one connection.

    Attributes
    ----------
    id
        Its lower 16 bits are the descriptor that reads name.
    timeout
        Seconds that a read waits for a record: below 0 for ever, 0 not at all.
    most
        Records that a read gives at most.
    tables
        What it captures, by database and number of the table.
    reader
        Where it stands in the log, while it is active.
    """

    id: int
    timeout: int
    max_records: int
    created: int = field(default_factory=lambda: int(time.time()))
    tables: dict[tuple[str, int], CaptureTarget] = field(default_factory=dict)
    reader: LogReader | None = None
    _partial_record: bytes = b""  # of a record that was cut at the end of a reply

    def activate(self, log: ChangeLog, lsn: int) -> None:
        """Read from a place of the log on. Gone for one of which there is no log."""
        reader = LogReader(log, lsn, self.tables)
        for captured in self.tables.values():
            reader.send_schema(captured)
        self.reader = reader
        self._partial_record = b""

    def deactivate(self) -> None:
        """Read no more."""
        self.reader, self._partial_record = None, b""

    def capture(self, captured: CaptureTarget) -> None:
        """Capture one more table; while it is active, from where it stands."""
        table = captured.table
        self.tables[table.database, table.tabid] = captured
        if self.reader is not None:
            self.reader.send_schema(captured)

    def skip_partial_record(self) -> int:
        """Go on with a whole record: how many are skipped of which a part was given."""
        skipped, self._partial_record = int(bool(self._partial_record)), b""
        return skipped

    def read(self, size: int) -> bytes:
        """What there is now, at most so many bytes: the rest of a record that was cut, or else records."""
        if not self._partial_record and self.reader is not None:
            self._partial_record = self.reader.read_records(self.max_records, size)
        return self._take_bytes(size)

    def timeout_record(self, size: int) -> bytes:
        """TIMEOUT, or what fits of it."""
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

    def open(self, descriptor: int, timeout: int, most: int) -> CaptureSession:
        """A new session."""
        with self._lock:
            while True:
                number = (next(self._generations) % _GENERATIONS + 1) << 16 | descriptor
                if number not in self._sessions:
                    break
            session = self._sessions[number] = CaptureSession(number, timeout, most)
            return session

    def close(self, session: CaptureSession) -> None:
        """It is over."""
        with self._lock:
            self._sessions.pop(session.id, None)
        session.deactivate()

    def all(self) -> list[CaptureSession]:
        with self._lock:
            return list(self._sessions.values())

    def is_captured(self, database: str, tabid: int) -> bool:
        """Whether a session captures a table."""
        return any((database, tabid) in session.tables for session in self.all())

    # ---- for the catalogue ----------------------------------------------------------------------
    def session_rows(self) -> list[dict[str, Any]]:
        """The rows of syscdcsess."""
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
        """The rows of syscdctabs."""
        found = []
        for session in self.all():
            for captured in list(session.tables.values()):
                columns = [c for c in captured.table.columns if c.name in captured.wanted_columns]
                fixed = [c for c in columns if c.width]
                found.append(
                    {
                        "sessid": session.id,
                        "dbname": captured.table.database,
                        "tabname": captured.table.name,
                        "owner": captured.table.owner,
                        "startutc": session.created,
                        "userdata": captured.label,
                        "fixedbytes": sum(c.width for c in fixed),
                        "numfixed": len(fixed),
                        "fixedcols": ",".join(written_name(c.name) for c in fixed),
                        "numvar": len(columns) - len(fixed),
                        "varcols": ",".join(written_name(c.name) for c in columns if not c.width),
                    }
                )
        return found
