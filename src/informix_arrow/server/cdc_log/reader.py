"""What a session that captures tables reads of the log: its records as a client has them."""

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
_MAX_SKIPPED_BYTES = 1 << 20  # some 50 ms
_CHANGES = frozenset({RecordKind.INSERT, RecordKind.DELETE, RecordKind.UPDBEF, RecordKind.UPDAFT})


@dataclass(slots=True)
class _RowLayout:
    """How the rows of one description of a table are given."""

    columns: tuple[LoggedColumn, ...]
    lengths: int  # bytes of the lengths in front of an image
    project: Callable[[bytes], bytes] | None


@dataclass(slots=True)
class CaptureTarget:
    """A table that a session captures: the label that it has there, and the columns that are wanted."""

    table: LoggedTable
    label: int
    wanted_columns: frozenset[str]
    sent_columns: tuple[LoggedColumn, ...] = ()  # what the last TABSCHEMA said
    row_layouts: dict[int, _RowLayout | None] = field(default_factory=dict)

    def schema(self) -> bytes:
        """The TABSCHEMA that comes first."""
        self.sent_columns = tuple(
            column for column in self.table.columns if column.name in self.wanted_columns
        )
        return records.schema(self.label, self.sent_columns)

    def row_layout(self, number: int, table: LoggedTable) -> _RowLayout | None:
        """How a row is given that was logged under a description; None when none of the columns was there."""
        if number not in self.row_layouts:
            columns = tuple(column for column in table.columns if column.name in self.wanted_columns)
            lengths = 4 * sum(not column.width for column in columns)
            pick = records.projection(table, self.wanted_columns)
            self.row_layouts[number] = _RowLayout(columns, lengths, pick) if columns else None
        return self.row_layouts[number]


class LogReader:
    """Reads on from a place of the log, 0 for its end: transactions that had not ended there, from their begin, and all
    that begin later.

    Parameters
    ----------
    log
        The log. Gone when it does not have the place.
    tables
        What is captured, by database and number of the table; whoever has this may change it.

    Attributes
    ----------
    passing
        The last `read_records` ended in the middle of what is nobody's here.
    """

    def __init__(self, log: ChangeLog, lsn: int, tables: Mapping[tuple[str, int], CaptureTarget]) -> None:
        self._log = log
        self._tables = tables
        self._start_lsn, self._data_lsn, self._open_at_start = log.find_start(lsn)
        self._data = b""  # of the log, from the LSN _place on
        self._data_offset = 0  # how far it was read
        self.is_skipping = False
        self._skipped_bytes = 0  # bytes of records behind the last one that was found
        self._begun_transactions: set[int] = set()  # transactions whose BEGINTX was given
        self._pending_records: deque[bytes] = deque()
        self._error = b""  # the last record of all

    @property
    def position(self) -> int:
        """How far the log has been read: at least where reading was to begin."""
        return max(self._start_lsn, self._next_lsn)

    @property
    def _next_lsn(self) -> int:
        """Where the next record is: before `position` as long as transactions are read that were open there."""
        return self._data_lsn + self._data_offset

    def send_schema(self, captured: CaptureTarget) -> None:
        """The TABSCHEMA of a table comes next."""
        self._pending_records.append(captured.schema())

    def read_records(self, most: int, size: int) -> bytes:
        """The next records, at most so many, and none behind those that make up `size` bytes; none when there are none
        yet. The last one of all is ERROR where the log cannot be read on.

        Not all that there is where a long transaction of others is passed over, perhaps none: `is_skipping` is set then,
        and whoever waits looks whether it still has to before it goes on."""
        if self._error and not self._pending_records:
            return self._error
        records_read: list[bytes] = []
        count = have = 0
        self.is_skipping, self._skipped_bytes = False, 0
        while count < most and have < size:
            if self._pending_records:
                data, number = self._pending_records.popleft(), 1
            else:
                data, number = self._read_table_rows(most - count, size - have)
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

    def _read_table_rows(self, most: int, room: int) -> tuple[bytes, int]:
        """The rows of one table in one transaction that come next, as records, and how many there are; none where they
        are not simply handed out."""
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
                most,
                room,
            )
        )
        return data, count

    def _advance(self) -> bool:
        """Go on by one record, or read more; False where there is no more."""
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
        """A record as the client has it, if it is for it."""
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
        """What is captured of the table of a description, and how its rows are given."""
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
