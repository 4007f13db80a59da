"""The log reader of a capture session: converts log records to the records that clients receive."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..._changes import log_records
from . import records
from .log import (
    ChangeLog,
    LogCorrupt,
    LogPositionGone,
    LogRecord,
    parse_begin,
    parse_commit_time,
    parse_discard_lsn,
    parse_record,
    peek_record_header,
    record_size,
)
from .records import RecordKind
from .row_images import LoggedColumn, LoggedTable

POSITION_GONE, UNREADABLE = -83713, -83790

_READ_BYTES = 256 << 10
_MAX_SKIPPED_BYTES = 1 << 20  # takes about 50 ms
_CHANGES = frozenset({RecordKind.INSERT, RecordKind.DELETE, RecordKind.UPDBEF, RecordKind.UPDAFT})


@dataclass(slots=True)
class _RowLayout:
    """The layout of rows logged under one table description, as sent to the client."""

    columns: tuple[LoggedColumn, ...]
    lengths: int  # bytes of the lengths before an image
    project: Callable[[bytes], bytes] | None


@dataclass(slots=True)
class CaptureTarget:
    """A table that a session captures: its label in the session, and the captured columns."""

    table: LoggedTable
    label: int
    wanted_columns: frozenset[str]
    sent_columns: tuple[LoggedColumn, ...] = ()  # columns of the last TABSCHEMA sent
    row_layouts: dict[int, _RowLayout | None] = field(default_factory=dict)

    def schema(self) -> bytes:
        """Return the first TABSCHEMA of the table."""
        self.sent_columns = tuple(
            column for column in self.table.columns if column.name in self.wanted_columns
        )
        return records.schema(self.label, self.sent_columns)

    def row_layout(self, number: int, table: LoggedTable) -> _RowLayout | None:
        """Return the layout of rows logged under a table description, None if it has none of the captured columns."""
        if number not in self.row_layouts:
            columns = tuple(column for column in table.columns if column.name in self.wanted_columns)
            lengths = 4 * sum(not column.width for column in columns)
            pick = records.projection(table, self.wanted_columns)
            self.row_layouts[number] = _RowLayout(columns, lengths, pick) if columns else None
        return self.row_layouts[number]


class LogReader:
    """Reads the log from an LSN on, 0 for its end. Transactions that are open there are read from their begin.

    Parameters
    ----------
    log
        The log. Raises LogPositionGone if it does not have the position.
    tables
        The captured tables, by database and number of the table. The owner may change the mapping.

    Attributes
    ----------
    is_skipping
        True if the last `read_records` stopped in the middle of records that this session does not capture.
    """

    def __init__(self, log: ChangeLog, lsn: int, tables: Mapping[tuple[str, int], CaptureTarget]) -> None:
        self._log = log
        self._tables = tables
        self._start_lsn, self._data_lsn, self._open_at_start = log.find_start(lsn)
        self._data = b""  # log data from LSN _data_lsn on
        self._data_offset = 0  # offset of the next record in _data
        self.is_skipping = False
        self._skipped_bytes = 0  # bytes of records since the last one that was captured
        self._begun_transactions: set[int] = set()  # transactions whose BEGINTX was sent
        self._pending_records: deque[bytes] = deque()
        self._error = b""  # the last record of the session

    @property
    def position(self) -> int:
        """The LSN up to which the log has been read, at least the LSN at which reading was to begin."""
        return max(self._start_lsn, self._next_lsn)

    @property
    def _next_lsn(self) -> int:
        """The LSN of the next record. It is below `position` while transactions are read that were open there."""
        return self._data_lsn + self._data_offset

    def send_schema(self, captured: CaptureTarget) -> None:
        """Queue the TABSCHEMA of a table as the next record."""
        self._pending_records.append(captured.schema())

    def read_records(self, max_records: int, size: int) -> bytes:
        """Return the next records: at most `max_records`, and no more once they have `size` bytes. Empty if there are
        none yet.

        If the log cannot be read any further, the last record is ERROR. In a long transaction that is not captured, the
        result may be incomplete or empty: `is_skipping` is set, and the caller checks whether it still has to wait
        before it calls again.
        """
        if self._error and not self._pending_records:
            return self._error
        records_read: list[bytes] = []
        count = have = 0
        self.is_skipping, self._skipped_bytes = False, 0
        while count < max_records and have < size:
            if self._pending_records:
                data, number = self._pending_records.popleft(), 1
            else:
                data, number = self._read_table_rows(max_records - count, size - have)
                if not number:
                    self.is_skipping = self._skipped_bytes >= _MAX_SKIPPED_BYTES
                    if self.is_skipping or not self._advance():
                        break
                    continue
            records_read.append(data)
            count += number
            have += len(data)
            self._skipped_bytes = 0
        return b"".join(records_read)

    def _read_table_rows(self, max_records: int, room: int) -> tuple[bytes, int]:
        """Return the next rows of one table in one transaction as records, and their number. Returns none if they need
        conversion record by record."""
        belongs = peek_record_header(self._data, self._data_offset)
        if belongs is None or belongs[0] not in _CHANGES or belongs[1] not in self._begun_transactions:
            return b"", 0
        _, tx, number = belongs
        captured, version = self._captured_layout(number)
        if (
            captured is None
            or version is None
            or version.project is not None
            or version.columns != captured.sent_columns
        ):
            return b"", 0
        data, self._data_offset, count = log_records(
            *(
                self._data,
                self._data_offset,
                self._next_lsn,
                tx,
                number,
                captured.label,
                version.lengths,
                max_records,
                room,
            )
        )
        return data, count

    def _advance(self) -> bool:
        """Process one record or read more data. Return False at the end of the log."""
        if self._error:
            return False
        try:
            entry = parse_record(self._data, self._data_offset, self._data_lsn)
            if entry is None:
                self._data, self._data_lsn = self._log.read_chunk(self._next_lsn, _READ_BYTES)
                self._data_offset = 0
                return bool(self._data)
        except (LogPositionGone, LogCorrupt) as problem:
            self._error = records.error(POSITION_GONE if isinstance(problem, LogPositionGone) else UNREADABLE)
            self._pending_records.append(self._error)
            return True
        size = record_size(entry)
        self._data_offset += size
        self._skipped_bytes += size
        self._convert_record(entry)
        return True

    def _convert_record(self, entry: LogRecord) -> None:
        """Queue a record in the client's form, if the session captures it."""
        kind, tx, lsn = entry.kind, entry.tx, entry.lsn
        if kind == RecordKind.BEGINTX:
            if lsn >= self._start_lsn or self._open_at_start.get(tx) == lsn:
                self._begun_transactions.add(tx)
                self._pending_records.append(records.begin(lsn, tx, *parse_begin(entry)))
        elif tx not in self._begun_transactions:
            return
        elif kind in _CHANGES:
            self._convert_change(entry)
        elif kind == RecordKind.COMMTX:
            self._begun_transactions.discard(tx)
            self._pending_records.append(records.commit(lsn, tx, parse_commit_time(entry)))
        elif kind == RecordKind.RBTX:
            self._begun_transactions.discard(tx)
            self._pending_records.append(records.rollback(lsn, tx))
        elif kind == RecordKind.DISCARD:
            self._pending_records.append(records.discard(parse_discard_lsn(entry), tx))
        elif kind == RecordKind.TRUNCATE:
            captured, _ = self._captured_layout(entry.table)
            if captured is not None:
                self._pending_records.append(records.truncate(lsn, tx, captured.label))

    def _captured_layout(self, number: int) -> tuple[CaptureTarget | None, _RowLayout | None]:
        """Return the capture target of a table description and the layout of its rows."""
        table = self._log.table_description(number)
        captured = None if table is None else self._tables.get((table.database, table.tabid))
        if table is None or captured is None:
            return None, None
        return captured, captured.row_layout(number, table)

    def _convert_change(self, entry: LogRecord) -> None:
        captured, version = self._captured_layout(entry.table)
        if captured is None or version is None:
            return
        if version.columns != captured.sent_columns:  # logged before or after an ALTER TABLE
            captured.sent_columns = version.columns
            self._pending_records.append(records.schema(captured.label, version.columns))
        body = entry.body if version.project is None else version.project(entry.body)
        self._pending_records.append(
            records.change(entry.kind, entry.lsn, entry.tx, captured.label, body, version.lengths)
        )
