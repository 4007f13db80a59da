"""The log itself: files of records in the order in which changes were made, and which tables are logged in full.

A record's place is its sequence number (LSN): the number of its file in the upper 32 bits, its offset in the lower.
Records of a transaction come as its statements succeed; BEGINTX in front of the first, COMMTX or RBTX behind the last.
What is in the files outlives the server where databases are kept in a directory. Whether a transaction whose end is
missing was committed is then known by its database: its last write before COMMIT is its begin's LSN, in a hidden table.

    file    "IFXCHNGE", its number, records
    record  size of all of it, CRC-32 of what follows, kind, transaction, table, body
    OPEN    first of each file: the transactions that are open there, and where they began
    TABLE   a table's description, in each file before its first change
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import struct
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .records import RecordKind
from .row_images import LoggedColumn, LoggedTable

log = logging.getLogger("informix_arrow.server")

FILE_BYTES = 32 << 20
"""Bytes after which the next file begins."""

RETAINED_BYTES = 1 << 30
"""Bytes of all files, after which the oldest goes."""

PAGE_SHIFT = 12
"""An LSN's offset is a page's number, and 12 bits of a place in it."""

FIRST_LOG = 2
"""Number of the first file: log 1 is what DuckDB writes ahead (sysmaster:syslogs)."""

OPEN, TABLE = 250, 251
"""Kinds of records that no client sees."""

_MAGIC = b"IFXCHNGE"
_FILE_HEAD = struct.Struct(">8sQ")
_HEAD = struct.Struct(">IIBxxxII")
_CHECKSUM_START = 8  # bytes of a record in front of what its CRC is of
_BEGIN_BODY = struct.Struct(">qI")
_TIME_BODY = struct.Struct(">q")
_LSN_BODY = struct.Struct(">Q")
_OPEN_BODY = struct.Struct(">IQ")
_FIRST_TX = 16
_APPEND_ROWS = 4096  # rows that are appended at a time


class LogRecord(NamedTuple):
    """A record of the log: where it is and what it is about. `table_description` is the number of a description, 0 for none."""

    lsn: int
    kind: int
    tx: int
    table: int
    body: bytes


class LogCorrupt(Exception):
    """What is in a file of the log is no record."""


class LogPositionGone(Exception):
    """A position of which there is no log, or none any more."""


@dataclass(slots=True)
class _LogFile:
    number: int
    path: Path
    end: int = 0  # bytes of whole records, from the start

    @property
    def lsn(self) -> int:
        return self.number << 32


class ChangeLog:
    """The log of an engine. Thread-safe.

    Parameters
    ----------
    folder
        Where the files are kept, None for a temporary place of their own. It is made when the first table is logged.
    temporary
        The directory for that place.
    """

    def __init__(self, folder: Path | None, temporary: str) -> None:
        self._folder = folder
        self._temporary = temporary
        self._temporary_folder: str | None = None
        self._lock = threading.Condition()
        self._committing = threading.Lock()
        self._files: list[_LogFile] = []
        self._handle: int | None = None
        self._unwritten_end_records = (
            b""  # records of transactions that have ended, which could not be written
        )
        self._open_transactions: dict[int, int] = {}  # transactions, and where they began
        self._table_descriptions: dict[int, LoggedTable] = {}
        self._description_numbers: dict[LoggedTable, int] = {}
        self._described_tables: set[int] = set()  # in the current file
        self._fully_logged: dict[str, set[int]] = {}
        self._closed = False
        if folder is not None and folder.is_dir():
            self._load(folder)

    @property
    def durable(self) -> bool:
        """Whether it outlives the server."""
        return self._folder is not None

    # ---- tables that are logged in full ---------------------------------------------------------
    def is_fully_logged(self, database: str, tabid: int) -> bool:
        """Whether rows of a table are logged."""
        tables = self._fully_logged.get(database)
        return tables is not None and tabid in tables

    def set_fully_logged(self, database: str, tabid: int, on: bool) -> None:
        """Log the rows of a table, or do not; what was said lasts. OSError where it cannot be written down."""
        with self._lock:
            tables = {name: set(numbers) for name, numbers in self._fully_logged.items()}
            numbers = tables.setdefault(database, set())
            if on:
                numbers.add(tabid)
            else:
                numbers.discard(tabid)
            self._require_folder()
            self._write_fully_logged(tables)

    def retain_tables(self, database: str, tabids: Collection[int]) -> None:
        """A database has these tables, when it is opened: the numbers of others may be given again."""
        with self._lock:
            numbers = self._fully_logged.get(database, set())
            if not numbers <= set(tabids):
                self._write_fully_logged({**self._fully_logged, database: numbers & set(tabids)})

    def fully_logged_tables(self, database: str) -> list[int]:
        """Numbers of a database's tables that are logged."""
        return sorted(self._fully_logged.get(database, ()))

    def fully_logged_databases(self) -> list[str]:
        """Databases of which tables are logged."""
        return list(self._fully_logged)

    def forget(self, database: str) -> None:
        """A database was dropped: another of its name is another."""
        with self._lock:
            if database in self._fully_logged:
                self._write_fully_logged(
                    {name: kept for name, kept in self._fully_logged.items() if name != database}
                )

    def rename(self, database: str, new: str) -> None:
        """A database was renamed."""
        with self._lock:
            if database in self._fully_logged:
                self._write_fully_logged(
                    {new if name == database else name: kept for name, kept in self._fully_logged.items()}
                )

    def _write_fully_logged(self, tables: dict[str, set[int]]) -> None:
        if self._folder is not None:
            text = json.dumps({name: sorted(numbers) for name, numbers in tables.items() if numbers})
            fresh = self._folder / "tables.new"
            with fresh.open("w", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self._folder / "tables.json")
        self._fully_logged = tables

    # ---- writing --------------------------------------------------------------------------------
    def begin(self, user: int) -> int:
        """BEGINTX; the number of a new transaction. OSError where nothing can be written."""
        with self._lock:
            tx = next(n for n in range(_FIRST_TX, 1 << 31) if n not in self._open_transactions)
            now = int(time.time())
            self._require_file()
            start = self._append([_encode_record(RecordKind.BEGINTX, tx, 0, _BEGIN_BODY.pack(now, user))])[0]
            self._open_transactions[tx] = start
            return tx

    def begin_lsn(self, tx: int) -> int:
        """Where an open transaction began."""
        return self._open_transactions[tx]

    def log_changes(self, tx: int, table: LoggedTable, rows: Sequence[tuple[int, bytes]]) -> int:
        """Changes of rows: kinds and bodies; where the first of them is. The two images of an UPDATE, which must follow
        one another, stay together. OSError where they cannot be written: some of them may be there."""
        first = 0
        for start in range(0, len(rows), _APPEND_ROWS):  # an even number
            with self._lock:
                number = self._describe_table(table)
                made = [
                    _encode_record(kind, tx, number, body)
                    for kind, body in rows[start : start + _APPEND_ROWS]
                ]
                place = self._append(made)[0]
                first = first or place
        return first

    def log_truncate(self, tx: int, table: LoggedTable) -> int:
        """TRUNCATE; where it is."""
        with self._lock:
            return self._append([_encode_record(RecordKind.TRUNCATE, tx, self._describe_table(table), b"")])[
                0
            ]

    def discard(self, tx: int, lsn: int) -> None:
        """What a transaction has written from a place on is not so."""
        with self._lock:
            self._require_file()
            self._append([_encode_record(RecordKind.DISCARD, tx, 0, _LSN_BODY.pack(lsn))])

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Around a COMMIT and its `log_commit`: these come in the order of those."""
        with self._committing:
            yield

    def sync(self) -> None:
        """What was written is on the disk, where it is to outlive the machine."""
        with self._lock:
            if self.durable and self._handle is not None:
                os.fsync(self._handle)

    def log_commit(self, tx: int) -> None:
        """COMMTX, when the transaction is committed."""
        self._end(_encode_record(RecordKind.COMMTX, tx, 0, _TIME_BODY.pack(int(time.time()))), tx)

    def log_rollback(self, tx: int) -> None:
        """RBTX."""
        self._end(_encode_record(RecordKind.RBTX, tx, 0, b""), tx)

    def _end(self, record: bytes, tx: int) -> None:
        with self._lock:
            if tx not in self._open_transactions or self._closed:
                return
            try:
                self._require_file()  # which says in a new file that it is open there
                self._append([record])
            except OSError as problem:  # it has ended all the same
                self._unwritten_end_records += record
                log.error("the end of a transaction waits to be written to the log of changes: %s", problem)
            del self._open_transactions[tx]

    def _append(self, records: Sequence[bytes]) -> list[int]:
        """Write records into the current file; where each of them is."""
        file = self._files[-1]
        at = file.lsn + file.end
        places = []
        for record in records:
            places.append(at)
            at += len(record)
        self._write(file, b"".join(records))
        return places

    def _write(self, file: _LogFile, data: bytes) -> None:
        assert self._handle is not None
        view, at = memoryview(data), file.end
        while view:
            done = os.pwrite(self._handle, view, at)
            view, at = view[done:], at + done
        file.end = at
        self._lock.notify_all()

    def _require_file(self) -> None:
        """Make sure that there is a file to write to."""
        if self._closed:
            raise OSError("the server is not running")
        if self._handle is None or self._files[-1].end >= FILE_BYTES:
            self._next_file()
        if self._unwritten_end_records:
            self._write(self._files[-1], self._unwritten_end_records)
            self._unwritten_end_records = b""

    def _next_file(self) -> None:
        folder = self._require_folder()
        number = self._files[-1].number + 1 if self._files else FIRST_LOG
        path = folder / f"{number:010d}.changes"
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        opened = b"".join(_OPEN_BODY.pack(tx, lsn) for tx, lsn in self._open_transactions.items())
        file = _LogFile(number, path)
        before, self._handle = self._handle, handle
        try:
            head = _FILE_HEAD.pack(_MAGIC, number) + _encode_record(OPEN, 0, 0, opened)
            self._write(file, head)
        except OSError:
            self._handle = before
            os.close(handle)
            path.unlink(missing_ok=True)
            raise
        if before is not None:
            if self.durable:
                os.fsync(before)
            os.close(before)
        self._files.append(file)
        self._described_tables.clear()
        total = sum(each.end for each in self._files)
        while total > RETAINED_BYTES and len(self._files) > 2:
            oldest = self._files[0]
            if any(lsn < self._files[1].lsn for lsn in self._open_transactions.values()):
                break  # somebody may still want to know all of an open transaction
            del self._files[0]
            total -= oldest.end
            oldest.path.unlink(missing_ok=True)

    def _describe_table(self, table: LoggedTable) -> int:
        """The number of a table's description, which stands in the current file then."""
        number = self._description_numbers.get(table)
        if number is None:
            number = self._description_numbers[table] = max(self._table_descriptions, default=0) + 1
            self._table_descriptions[number] = table
        self._require_file()
        if number not in self._described_tables:
            self._append([_encode_record(TABLE, 0, number, json.dumps(asdict(table)).encode())])
            self._described_tables.add(number)
        return number

    def _require_folder(self) -> Path:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
            return self._folder
        if self._temporary_folder is None:
            os.makedirs(self._temporary, exist_ok=True)
            self._temporary_folder = tempfile.mkdtemp(prefix="changes-", dir=self._temporary)
        return Path(self._temporary_folder)

    # ---- reading --------------------------------------------------------------------------------
    @property
    def end(self) -> int:
        """Where the next record will be, or later."""
        with self._lock:
            return self._files[-1].lsn + self._files[-1].end if self._files else FIRST_LOG << 32

    def table_description(self, number: int) -> LoggedTable | None:
        """A description; None where there is none of that number."""
        return self._table_descriptions.get(number)

    def wait(self, lsn: int, seconds: float) -> bool:
        """Wait until there is something behind a place; whether there is."""
        with self._lock:
            return self._lock.wait_for(lambda: self.end > lsn, max(0.0, seconds))

    def notify_waiters(self) -> None:
        """Let all who wait look whether they still have to."""
        with self._lock:
            self._lock.notify_all()

    def read(self, lsn: int, most: int) -> tuple[list[LogRecord], int]:
        """Records from the place of one on, at least one where there is one, of not much more than `most` bytes; and
        the place behind them. Gone for a place of which there is no log any more, Damaged for what is no record."""
        data, place = self.read_chunk(lsn, most)
        found = []
        at = 0
        try:
            while (entry := parse_record(data, at, place)) is not None:
                found.append(entry)
                at += record_size(entry)
        except LogCorrupt:
            if not found:
                raise
        return found, place + at

    def read_chunk(self, lsn: int, most: int) -> tuple[bytes, int]:
        """About `most` bytes from the place of a record on, the first record whole, and the place where they begin, as
        that may be in the next file. Empty where there is nothing yet. Gone and Damaged as `read`.
        """
        while True:
            with self._lock:
                file = self._file_of(lsn)
                if file is None:
                    return b"", lsn
                end, last = file.end, file is self._files[-1]
                following = None if last else self._files[self._files.index(file) + 1].lsn
            at = max(lsn & 0xFFFFFFFF, _FILE_HEAD.size)
            if at < end:
                try:
                    with file.path.open("rb") as source:
                        return _read_bytes(source, at, end, most), file.lsn + at
                except FileNotFoundError:
                    raise LogPositionGone from None
            if following is None:
                return b"", file.lsn + at
            lsn = following

    def _file_of(self, lsn: int) -> _LogFile | None:
        """The file of a place; None for one where nothing has been written yet."""
        number = lsn >> 32
        if not self._files:
            if number > FIRST_LOG or number < FIRST_LOG - 1:
                raise LogPositionGone
            return None
        first = self._files[0].number
        if number == FIRST_LOG - 1 == first - 1:  # before anything was logged
            return self._files[0]
        if not first <= number <= self._files[-1].number:
            raise LogPositionGone
        return self._files[number - first]

    def find_start(self, lsn: int) -> tuple[int, int, dict[int, int]]:
        """How to read from a place on, 0 for the end: the place itself, that of the next record or of the end; where to
        begin to read; and the transactions that are open there, with where they began. Gone for a place of which there
        is no log."""
        with self._lock:
            if lsn == 0 or lsn == self.end:
                opened = dict(self._open_transactions)
                place = self.end
                return place, min([place, *opened.values()]), opened
            if lsn > self.end:
                raise LogPositionGone
            file = self._file_of(lsn)
        if file is None:
            return self.end, self.end, {}
        opened = {}
        at = file.lsn if lsn >> 32 == file.number else 0
        at = max(at, file.lsn) + _FILE_HEAD.size
        while True:
            entries, behind = self.read(at, 1 << 20)
            if not entries:
                break
            for entry in entries:
                if entry.lsn >= lsn and entry.kind != OPEN:
                    return self._find_start(entry.lsn, opened)
                _update_open_transactions(opened, entry)
            at = behind
        return self._find_start(at, opened)

    def _find_start(self, lsn: int, opened: dict[int, int]) -> tuple[int, int, dict[int, int]]:
        begin = min([lsn, *opened.values()])
        with self._lock:
            self._file_of(begin)  # a transaction of which only the end is left would not be given
        return lsn, begin, opened

    def files(self) -> list[dict[str, Any]]:
        """For sysmaster: number, whole pages used, whether it is the current one."""
        with self._lock:
            return [
                {"uniqid": f.number, "used": f.end >> PAGE_SHIFT, "current": int(f is self._files[-1])}
                for f in self._files
            ]

    # ---- begin and end --------------------------------------------------------------------------
    def _load(self, folder: Path) -> None:
        """What an earlier server has left."""
        with suppress(FileNotFoundError):
            kept = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
            self._fully_logged = {name: set(numbers) for name, numbers in kept.items()}
        for path in sorted(folder.glob("*.changes")):
            file = _LogFile(int(path.stem), path)
            size = path.stat().st_size
            with path.open("rb") as source:
                head = source.read(_FILE_HEAD.size)
                if len(head) < _FILE_HEAD.size or _FILE_HEAD.unpack(head) != (_MAGIC, file.number):
                    log.warning("%s is no file of the log of changes", path)
                    file.end = _FILE_HEAD.size
                    self._files.append(file)
                    continue
                at = self._scan_file(source, file.lsn, size)
            file.end = at
            self._files.append(file)

    def _scan_file(self, source: Any, base: int, size: int) -> int:
        """Read a file's records; where the last whole one ends."""
        at = _FILE_HEAD.size
        with suppress(LogCorrupt):  # what was being written when the server was killed
            while at < size:
                data, place = _read_bytes(source, at, size, 1 << 20), at
                while (entry := parse_record(data, at - place, base + place)) is not None:
                    _update_open_transactions(self._open_transactions, entry)
                    if entry.kind == TABLE:
                        self._apply_record(entry)
                    at += record_size(entry)
        return at

    def _apply_record(self, entry: LogRecord) -> None:
        said = json.loads(entry.body)
        said["columns"] = tuple(LoggedColumn(**column) for column in said["columns"])
        table = LoggedTable(**said)
        self._table_descriptions[entry.table] = table
        self._description_numbers[table] = entry.table

    def recover(self, was_committed: Callable[[int], bool]) -> None:
        """End the transactions that an earlier server has left open: `was_committed` tells of their begin whether its
        database has them."""
        with self._lock:
            for tx, lsn in sorted(self._open_transactions.items(), key=lambda item: item[1]):
                if was_committed(lsn):
                    self.log_commit(tx)
                else:
                    self.log_rollback(tx)

    @property
    def has_unwritten_ends(self) -> bool:
        """Whether the end of a transaction could not be written yet."""
        return bool(self._unwritten_end_records)

    @property
    def has_open_transactions(self) -> bool:
        """Whether `recover` has anything to do."""
        return bool(self._open_transactions)

    def close(self) -> None:
        """The end of the engine."""
        with self._lock:
            self._closed = True
            if self._handle is not None:
                if self.durable:
                    with suppress(OSError):
                        os.fsync(self._handle)
                os.close(self._handle)
                self._handle = None
            if self._temporary_folder is not None:
                shutil.rmtree(self._temporary_folder, ignore_errors=True)
            self._lock.notify_all()


def _encode_record(kind: int, tx: int, table: int, body: bytes) -> bytes:
    size = _HEAD.size + len(body)
    checked = _HEAD.pack(size, 0, kind, tx, table)[_CHECKSUM_START:] + body
    return size.to_bytes(4, "big") + zlib.crc32(checked).to_bytes(4, "big") + checked


def _read_bytes(source: Any, at: int, end: int, most: int) -> bytes:
    """About `most` bytes of a file from `at` on, the first record whole. Damaged where that cannot be."""
    source.seek(at)
    data = bytes(source.read(min(max(most, _HEAD.size), end - at)))
    size = int.from_bytes(data[:4], "big")
    if size < _HEAD.size or at + size > end:
        raise LogCorrupt
    if size > len(data):
        data += source.read(size - len(data))
        if size > len(data):
            raise LogCorrupt
    return data


def parse_record(data: bytes, at: int, place: int) -> LogRecord | None:
    """The record at data[at:], of which `place` is the LSN of the first byte; None where it is not there whole. Damaged
    for what is no record."""
    left = len(data) - at
    if left < _HEAD.size:
        return None
    size, check, kind, tx, table = _HEAD.unpack_from(data, at)
    if size < _HEAD.size:
        raise LogCorrupt
    if size > left:
        return None
    if zlib.crc32(memoryview(data)[at + _CHECKSUM_START : at + size]) != check:
        raise LogCorrupt
    return LogRecord(place + at, kind, tx, table, data[at + _HEAD.size : at + size])


def peek_record_header(data: bytes, at: int) -> tuple[int, int, int] | None:
    """Kind, transaction and table of the record at data[at:], of which nothing was checked; None where it is cut."""
    if len(data) - at < _HEAD.size:
        return None
    _, _, kind, tx, table = _HEAD.unpack_from(data, at)
    return kind, tx, table


def record_size(entry: LogRecord) -> int:
    """Bytes of a record in the log."""
    return _HEAD.size + len(entry.body)


def _update_open_transactions(opened: dict[int, int], entry: LogRecord) -> None:
    """What a record makes of the transactions that are open."""
    if entry.kind == RecordKind.BEGINTX:
        opened[entry.tx] = entry.lsn
    elif entry.kind in (RecordKind.COMMTX, RecordKind.RBTX):
        opened.pop(entry.tx, None)
    elif entry.kind == OPEN:
        opened.clear()
        for place in range(0, len(entry.body), _OPEN_BODY.size):
            tx, lsn = _OPEN_BODY.unpack_from(entry.body, place)
            opened[tx] = lsn


def parse_begin(entry: LogRecord) -> tuple[int, int]:
    """Time and user of BEGINTX."""
    time_, user = _BEGIN_BODY.unpack(entry.body)
    return time_, user


def parse_commit_time(entry: LogRecord) -> int:
    """Time of COMMTX."""
    return int(_TIME_BODY.unpack(entry.body)[0])


def parse_discard_lsn(entry: LogRecord) -> int:
    """What DISCARD says."""
    return int(_LSN_BODY.unpack(entry.body)[0])
