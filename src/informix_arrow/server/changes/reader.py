"""What a session that captures tables reads of the log: its records as a client has them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ..._changes import log_records
from . import records
from .images import LoggedColumn, LoggedTable
from .log import (
    ChangeLog,
    Damaged,
    Entry,
    Gone,
    begin_of,
    entry_at,
    place_of,
    size_of,
    time_of,
    whose,
)
from .records import RecordKind

POSITION_GONE, UNREADABLE = -83713, -83790

_READ_BYTES = 256 << 10
_PASSED_BYTES = 1 << 20  # some 50 ms
_CHANGES = frozenset({RecordKind.INSERT, RecordKind.DELETE, RecordKind.UPDBEF, RecordKind.UPDAFT})


@dataclass(slots=True)
class _Version:
    """How the rows of one description of a table are given."""

    columns: tuple[LoggedColumn, ...]
    lengths: int  # bytes of the lengths in front of an image
    pick: Callable[[bytes], bytes] | None


@dataclass(slots=True)
class Captured:
    """A table that a session captures: the label that it has there, and the columns that are wanted."""

    table: LoggedTable
    label: int
    wanted: frozenset[str]
    told: tuple[LoggedColumn, ...] = ()  # what the last TABSCHEMA said
    versions: dict[int, _Version | None] = field(default_factory=dict)

    def schema(self) -> bytes:
        """The TABSCHEMA that comes first."""
        self.told = tuple(column for column in self.table.columns if column.name in self.wanted)
        return records.schema(self.label, self.told)

    def version(self, number: int, table: LoggedTable) -> _Version | None:
        """How a row is given that was logged under a description; None when none of the columns was there."""
        if number not in self.versions:
            columns = tuple(column for column in table.columns if column.name in self.wanted)
            lengths = 4 * sum(not column.width for column in columns)
            pick = records.picker(table, self.wanted)
            self.versions[number] = _Version(columns, lengths, pick) if columns else None
        return self.versions[number]


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
        The last `take` ended in the middle of what is nobody's here.
    """

    def __init__(self, log: ChangeLog, lsn: int, tables: Mapping[tuple[str, int], Captured]) -> None:
        self._log = log
        self._tables = tables
        self._start, self._place, self._before = log.start_of(lsn)
        self._data = b""  # of the log, from the LSN _place on
        self._at = 0  # how far it was read
        self.passing = False
        self._passed = 0  # bytes of records behind the last one that was found
        self._live: set[int] = set()  # transactions whose BEGINTX was given
        self._ready: deque[bytes] = deque()
        self._error = b""  # the last record of all

    @property
    def position(self) -> int:
        """How far the log has been read: at least where reading was to begin."""
        return max(self._start, self._here)

    @property
    def _here(self) -> int:
        """Where the next record is: before `position` as long as transactions are read that were open there."""
        return self._place + self._at

    def tell(self, captured: Captured) -> None:
        """The TABSCHEMA of a table comes next."""
        self._ready.append(captured.schema())

    def take(self, most: int, size: int) -> bytes:
        """The next records, at most so many, and none behind those that make up `size` bytes; none when there are none
        yet. The last one of all is ERROR where the log cannot be read on.

        Not all that there is where a long transaction of others is passed over, perhaps none: `passing` is set then,
        and whoever waits looks whether it still has to before it goes on."""
        if self._error and not self._ready:
            return self._error
        found: list[bytes] = []
        count = have = 0
        self.passing, self._passed = False, 0
        while count < most and have < size:
            if self._ready:
                data, number = self._ready.popleft(), 1
            else:
                data, number = self._rows(most - count, size - have)
                if not number:
                    self.passing = self._passed >= _PASSED_BYTES
                    if self.passing or not self._step():
                        break
                    continue
            found.append(data)
            count += number
            have += len(data)
            self._passed = 0
        return b"".join(found)

    def _rows(self, most: int, room: int) -> tuple[bytes, int]:
        """The rows of one table in one transaction that come next, as records, and how many there are; none where they
        are not simply handed out."""
        belongs = whose(self._data, self._at)
        if belongs is None or belongs[0] not in _CHANGES or belongs[1] not in self._live:
            return b"", 0
        _, tx, number = belongs
        captured, version = self._version(number)
        if (
            captured is None
            or version is None
            or version.pick is not None
            or version.columns != captured.told
        ):
            return b"", 0
        data, self._at, count = log_records(
            *(self._data, self._at, self._here, tx, number, captured.label, version.lengths, most, room)
        )
        return data, count

    def _step(self) -> bool:
        """Go on by one record, or read more; False where there is no more."""
        if self._error:
            return False
        try:
            entry = entry_at(self._data, self._at, self._place)
            if entry is None:
                self._data, self._place = self._log.chunk(self._here, _READ_BYTES)
                self._at = 0
                return bool(self._data)
        except (Gone, Damaged) as problem:
            self._error = records.error(POSITION_GONE if isinstance(problem, Gone) else UNREADABLE)
            self._ready.append(self._error)
            return True
        size = size_of(entry)
        self._at += size
        self._passed += size
        self._make(entry)
        return True

    def _make(self, entry: Entry) -> None:
        """A record as the client has it, if it is for it."""
        kind, tx, lsn = entry.kind, entry.tx, entry.lsn
        if kind == RecordKind.BEGINTX:
            if lsn >= self._start or self._before.get(tx) == lsn:
                self._live.add(tx)
                self._ready.append(records.begin(lsn, tx, *begin_of(entry)))
        elif tx not in self._live:
            return
        elif kind in _CHANGES:
            self._change(entry)
        elif kind == RecordKind.COMMTX:
            self._live.discard(tx)
            self._ready.append(records.commit(lsn, tx, time_of(entry)))
        elif kind == RecordKind.RBTX:
            self._live.discard(tx)
            self._ready.append(records.rollback(lsn, tx))
        elif kind == RecordKind.DISCARD:
            self._ready.append(records.discard(place_of(entry), tx))
        elif kind == RecordKind.TRUNCATE:
            captured, _ = self._version(entry.table)
            if captured is not None:
                self._ready.append(records.truncate(lsn, tx, captured.label))

    def _version(self, number: int) -> tuple[Captured | None, _Version | None]:
        """What is captured of the table of a description, and how its rows are given."""
        table = self._log.table(number)
        captured = None if table is None else self._tables.get((table.database, table.tabid))
        if table is None or captured is None:
            return None, None
        return captured, captured.version(number, table)

    def _change(self, entry: Entry) -> None:
        captured, version = self._version(entry.table)
        if captured is None or version is None:
            return
        if version.columns != captured.told:  # logged before or after an ALTER TABLE
            captured.told = version.columns
            self._ready.append(records.schema(captured.label, version.columns))
        body = entry.body if version.pick is None else version.pick(entry.body)
        self._ready.append(
            records.change(entry.kind, entry.lsn, entry.tx, captured.label, body, version.lengths)
        )
