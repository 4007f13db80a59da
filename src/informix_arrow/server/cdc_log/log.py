"""The change log: files of records in the order of the changes, and the list of fully logged tables.

A record's position is its log sequence number (LSN): the number of its file in the upper 32 bits, its offset in the
lower. Records of a transaction are written as its statements succeed, BEGINTX before the first, COMMTX or RBTX after
the last. If databases are stored in a directory, the files outlive the server. If the end of a transaction is missing
there, its database shows whether it was committed: the last write before COMMIT puts the LSN of its begin into a hidden
table.

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
"""Size in bytes after which a new file begins."""

RETAINED_BYTES = 1 << 30
"""Total size in bytes of all files, beyond which the oldest is deleted."""

PAGE_SHIFT = 12
"""The offset of an LSN is a page number and 12 bits of position in the page."""

FIRST_LOG = 2
"""Number of the first file. Log 1 stands for DuckDB's write-ahead logs (sysmaster:syslogs)."""

OPEN, TABLE = 250, 251
"""Kinds of records that clients never see."""

_MAGIC = b"IFXCHNGE"
_FILE_HEAD = struct.Struct(">8sQ")
_HEAD = struct.Struct(">IIBxxxII")
_CHECKSUM_START = 8  # bytes of a record before the part that its CRC covers
_BEGIN_BODY = struct.Struct(">qI")
_TIME_BODY = struct.Struct(">q")
_LSN_BODY = struct.Struct(">Q")
_OPEN_BODY = struct.Struct(">IQ")
_FIRST_TX = 16
_APPEND_ROWS = 4096  # rows appended at a time


class LogRecord(NamedTuple):
    """A record of the log and its position. `table` is the number of a table description, 0 for none."""

    lsn: int
    kind: int
    tx: int
    table: int
    body: bytes


class LogCorrupt(Exception):
    """Bytes in a log file are not a valid record."""


class LogPositionGone(Exception):
    """The log does not contain this position, or no longer."""


@dataclass(slots=True)
class _LogFile:
    number: int
    path: Path
    end: int = 0  # bytes of complete records, from the start

    @property
    def lsn(self) -> int:
        return self.number << 32


class ChangeLog:
    """The change log of a server. Thread-safe.

    Parameters
    ----------
    folder
        Directory of the files, None for a temporary directory. It is created when the first table is logged.
    temporary
        Parent of the temporary directory.
    """

    def __init__(self, folder: Path | None, temporary: str) -> None:
        self._folder = folder
        self._temporary = temporary
        self._temporary_folder: str | None = None
        self._lock = threading.Condition()
        self._committing = threading.Lock()
        self._files: list[_LogFile] = []
        self._handle: int | None = None
        self._unwritten_end_records = b""  # end records of transactions that could not be written yet
        self._open_transactions: dict[int, int] = {}  # open transactions and the LSN of their begin
        self._table_descriptions: dict[int, LoggedTable] = {}
        self._description_numbers: dict[LoggedTable, int] = {}
        self._described_tables: set[int] = set()  # tables described in the current file
        self._fully_logged: dict[str, set[int]] = {}
        self._closed = False
        if folder is not None and folder.is_dir():
            self._load(folder)

    @property
    def durable(self) -> bool:
        """True if the log outlives the server."""
        return self._folder is not None

    # ---- fully logged tables ----------------------------------------------------------------------
    def is_fully_logged(self, database: str, tabid: int) -> bool:
        """Return whether rows of a table are logged."""
        tables = self._fully_logged.get(database)
        return tables is not None and tabid in tables

    def set_fully_logged(self, database: str, tabid: int, on: bool) -> None:
        """Turn logging of a table's rows on or off, permanently. Raises OSError if that cannot be stored."""
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
        """Forget all other tables of a database when it is opened, as their numbers may be used again."""
        with self._lock:
            numbers = self._fully_logged.get(database, set())
            if not numbers <= set(tabids):
                self._write_fully_logged({**self._fully_logged, database: numbers & set(tabids)})

    def fully_logged_tables(self, database: str) -> list[int]:
        """Return the numbers of a database's fully logged tables."""
        return sorted(self._fully_logged.get(database, ()))

    def fully_logged_databases(self) -> list[str]:
        """Return the databases that have fully logged tables."""
        return list(self._fully_logged)

    def forget(self, database: str) -> None:
        """Forget the tables of a dropped database."""
        with self._lock:
            if database in self._fully_logged:
                self._write_fully_logged(
                    {name: numbers for name, numbers in self._fully_logged.items() if name != database}
                )

    def rename(self, database: str, new: str) -> None:
        """Rename a database."""
        with self._lock:
            if database in self._fully_logged:
                self._write_fully_logged(
                    {
                        new if name == database else name: numbers
                        for name, numbers in self._fully_logged.items()
                    }
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
        """Write BEGINTX and return the number of the new transaction. Raises OSError if it cannot be written."""
        with self._lock:
            tx = next(n for n in range(_FIRST_TX, 1 << 31) if n not in self._open_transactions)
            now = int(time.time())
            self._require_file()
            start = self._append([_encode_record(RecordKind.BEGINTX, tx, 0, _BEGIN_BODY.pack(now, user))])[0]
            self._open_transactions[tx] = start
            return tx

    def begin_lsn(self, tx: int) -> int:
        """Return the LSN of an open transaction's begin."""
        return self._open_transactions[tx]

    def log_changes(self, tx: int, table: LoggedTable, rows: Sequence[tuple[int, bytes]]) -> int:
        """Write changes of rows as pairs of kind and body, and return the LSN of the first.

        The two images of an UPDATE stay together, as they must follow one another. Raises OSError if the write fails,
        possibly after some of the rows.
        """
        first = 0
        # _APPEND_ROWS is even, so that the images of an UPDATE stay together
        for start in range(0, len(rows), _APPEND_ROWS):
            with self._lock:
                number = self._describe_table(table)
                records = [
                    _encode_record(kind, tx, number, body)
                    for kind, body in rows[start : start + _APPEND_ROWS]
                ]
                lsn = self._append(records)[0]
                first = first or lsn
        return first

    def log_truncate(self, tx: int, table: LoggedTable) -> int:
        """Write TRUNCATE and return its LSN."""
        with self._lock:
            return self._append([_encode_record(RecordKind.TRUNCATE, tx, self._describe_table(table), b"")])[
                0
            ]

    def discard(self, tx: int, lsn: int) -> None:
        """Void the records that a transaction has written from an LSN on."""
        with self._lock:
            self._require_file()
            self._append([_encode_record(RecordKind.DISCARD, tx, 0, _LSN_BODY.pack(lsn))])

    @contextmanager
    def committing(self) -> Iterator[None]:
        """Enclose a COMMIT and its `log_commit`, so that the records have the order of the commits."""
        with self._committing:
            yield

    def sync(self) -> None:
        """Flush written records to disk if the log is durable."""
        with self._lock:
            if self.durable and self._handle is not None:
                os.fsync(self._handle)

    def log_commit(self, tx: int) -> None:
        """Write COMMTX after the commit."""
        self._end(_encode_record(RecordKind.COMMTX, tx, 0, _TIME_BODY.pack(int(time.time()))), tx)

    def log_rollback(self, tx: int) -> None:
        """Write RBTX."""
        self._end(_encode_record(RecordKind.RBTX, tx, 0, b""), tx)

    def _end(self, record: bytes, tx: int) -> None:
        with self._lock:
            if tx not in self._open_transactions or self._closed:
                return
            try:
                self._require_file()  # a new file records the transaction as open
                self._append([record])
            except OSError as problem:  # the transaction has ended in any case
                self._unwritten_end_records += record
                log.error(
                    "The change log cannot be written. The end of a transaction is written when it can be again: %s",
                    problem,
                )
            del self._open_transactions[tx]

    def _append(self, records: Sequence[bytes]) -> list[int]:
        """Append records to the current file and return their LSNs."""
        file = self._files[-1]
        lsn = file.lsn + file.end
        lsns = []
        for record in records:
            lsns.append(lsn)
            lsn += len(record)
        self._write(file, b"".join(records))
        return lsns

    def _write(self, file: _LogFile, data: bytes) -> None:
        assert self._handle is not None
        view, at = memoryview(data), file.end
        while view:
            done = os.pwrite(self._handle, view, at)
            view, at = view[done:], at + done
        file.end = at
        self._lock.notify_all()

    def _require_file(self) -> None:
        """Open a file for writing if there is none, or the current one is full."""
        if self._closed:
            raise OSError("The server is not running.")
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
                break  # a reader may still need all of an open transaction
            del self._files[0]
            total -= oldest.end
            oldest.path.unlink(missing_ok=True)

    def _describe_table(self, table: LoggedTable) -> int:
        """Return the number of a table's description and write the description to the current file if it is missing
        there."""
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
        """The LSN of the next record, or a lower bound of it."""
        with self._lock:
            return self._files[-1].lsn + self._files[-1].end if self._files else FIRST_LOG << 32

    def table_description(self, number: int) -> LoggedTable | None:
        """Return a table description by number, None if there is none."""
        return self._table_descriptions.get(number)

    def wait(self, lsn: int, seconds: float) -> bool:
        """Wait until the log continues after an LSN. Return False on timeout."""
        with self._lock:
            return self._lock.wait_for(lambda: self.end > lsn, max(0.0, seconds))

    def notify_waiters(self) -> None:
        """Wake all waiting readers, so that they check whether to go on."""
        with self._lock:
            self._lock.notify_all()

    def read(self, lsn: int, max_bytes: int) -> tuple[list[LogRecord], int]:
        """Return the records from an LSN on, about `max_bytes` but at least one if there is any, and the LSN after
        them.

        Raises LogPositionGone if the log no longer has the position, LogCorrupt for bytes that are no record.
        """
        data, start = self.read_chunk(lsn, max_bytes)
        found = []
        at = 0
        try:
            while (entry := parse_record(data, at, start)) is not None:
                found.append(entry)
                at += record_size(entry)
        except LogCorrupt:
            if not found:
                raise
        return found, start + at

    def read_chunk(self, lsn: int, max_bytes: int) -> tuple[bytes, int]:
        """Return about `max_bytes` from a record's LSN on, the first record complete, and their LSN.

        The LSN differs from the given one if the data is in the next file. The bytes are empty if there is nothing yet.
        Raises the errors of `read`.
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
                        return _read_bytes(source, at, end, max_bytes), file.lsn + at
                except FileNotFoundError:
                    raise LogPositionGone from None
            if following is None:
                return b"", file.lsn + at
            lsn = following

    def _file_of(self, lsn: int) -> _LogFile | None:
        """Return the file that contains an LSN, None if nothing has been written there yet."""
        number = lsn >> 32
        if not self._files:
            if number > FIRST_LOG or number < FIRST_LOG - 1:
                raise LogPositionGone
            return None
        first = self._files[0].number
        if number == FIRST_LOG - 1 == first - 1:  # before the first record of all
            return self._files[0]
        if not first <= number <= self._files[-1].number:
            raise LogPositionGone
        return self._files[number - first]

    def find_start(self, lsn: int) -> tuple[int, int, dict[int, int]]:
        """Return how to start reading at an LSN, 0 for the end of the log.

        The result is the LSN of the next record or of the end, the LSN from which to read, and the transactions open
        there with the LSNs of their begins. Raises LogPositionGone if the log does not have the position.
        """
        with self._lock:
            if lsn == 0 or lsn == self.end:
                opened = dict(self._open_transactions)
                end_lsn = self.end
                return end_lsn, min([end_lsn, *opened.values()]), opened
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
            self._file_of(begin)  # raises for a transaction whose beginning is no longer in the log
        return lsn, begin, opened

    def files(self) -> list[dict[str, Any]]:
        """Return rows for sysmaster: number, complete pages used, and whether it is the current file."""
        with self._lock:
            return [
                {"uniqid": f.number, "used": f.end >> PAGE_SHIFT, "current": int(f is self._files[-1])}
                for f in self._files
            ]

    # ---- start and end ----------------------------------------------------------------------------
    def _load(self, folder: Path) -> None:
        """Load the files that an earlier server has left."""
        with suppress(FileNotFoundError):
            stored = json.loads((folder / "tables.json").read_text(encoding="utf-8"))
            self._fully_logged = {name: set(numbers) for name, numbers in stored.items()}
        for path in sorted(folder.glob("*.changes")):
            file = _LogFile(int(path.stem), path)
            size = path.stat().st_size
            with path.open("rb") as source:
                head = source.read(_FILE_HEAD.size)
                if len(head) < _FILE_HEAD.size or _FILE_HEAD.unpack(head) != (_MAGIC, file.number):
                    log.warning("%s is not a file of the change log and is ignored.", path)
                    file.end = _FILE_HEAD.size
                    self._files.append(file)
                    continue
                at = self._scan_file(source, file.lsn, size)
            file.end = at
            self._files.append(file)

    def _scan_file(self, source: Any, base: int, size: int) -> int:
        """Read the records of a file. Return the end of the last complete one."""
        at = _FILE_HEAD.size
        with suppress(LogCorrupt):  # the server was killed while it wrote the last record
            while at < size:
                data, start = _read_bytes(source, at, size, 1 << 20), at
                while (entry := parse_record(data, at - start, base + start)) is not None:
                    _update_open_transactions(self._open_transactions, entry)
                    if entry.kind == TABLE:
                        self._apply_record(entry)
                    at += record_size(entry)
        return at

    def _apply_record(self, entry: LogRecord) -> None:
        description = json.loads(entry.body)
        description["columns"] = tuple(LoggedColumn(**column) for column in description["columns"])
        table = LoggedTable(**description)
        self._table_descriptions[entry.table] = table
        self._description_numbers[table] = entry.table

    def recover(self, was_committed: Callable[[int], bool]) -> None:
        """End the transactions that an earlier server has left open. `was_committed` maps the LSN of a begin to whether
        the database has committed it."""
        with self._lock:
            for tx, lsn in sorted(self._open_transactions.items(), key=lambda item: item[1]):
                if was_committed(lsn):
                    self.log_commit(tx)
                else:
                    self.log_rollback(tx)

    @property
    def has_unwritten_ends(self) -> bool:
        """True if the end record of a transaction could not be written yet."""
        return bool(self._unwritten_end_records)

    @property
    def has_open_transactions(self) -> bool:
        """True if `recover` has transactions to end."""
        return bool(self._open_transactions)

    def close(self) -> None:
        """Close the log at the end of the server."""
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


def _read_bytes(source: Any, at: int, end: int, max_bytes: int) -> bytes:
    """Read about `max_bytes` of a file from `at` on, the first record complete. Raises LogCorrupt if that is
    impossible."""
    source.seek(at)
    data = bytes(source.read(min(max(max_bytes, _HEAD.size), end - at)))
    size = int.from_bytes(data[:4], "big")
    if size < _HEAD.size or at + size > end:
        raise LogCorrupt
    if size > len(data):
        data += source.read(size - len(data))
        if size > len(data):
            raise LogCorrupt
    return data


def parse_record(data: bytes, at: int, lsn: int) -> LogRecord | None:
    """Parse the record at data[at:]. `lsn` is that of data[0]. Return None if the record is incomplete. Raises
    LogCorrupt if it is invalid."""
    available = len(data) - at
    if available < _HEAD.size:
        return None
    size, check, kind, tx, table = _HEAD.unpack_from(data, at)
    if size < _HEAD.size:
        raise LogCorrupt
    if size > available:
        return None
    if zlib.crc32(memoryview(data)[at + _CHECKSUM_START : at + size]) != check:
        raise LogCorrupt
    return LogRecord(lsn + at, kind, tx, table, data[at + _HEAD.size : at + size])


def peek_record_header(data: bytes, at: int) -> tuple[int, int, int] | None:
    """Return kind, transaction and table of the record at data[at:] without any check, None if the header is
    incomplete."""
    if len(data) - at < _HEAD.size:
        return None
    _, _, kind, tx, table = _HEAD.unpack_from(data, at)
    return kind, tx, table


def record_size(entry: LogRecord) -> int:
    """Return the size of a record in the log, in bytes."""
    return _HEAD.size + len(entry.body)


def _update_open_transactions(opened: dict[int, int], entry: LogRecord) -> None:
    """Update the open transactions from a record."""
    if entry.kind == RecordKind.BEGINTX:
        opened[entry.tx] = entry.lsn
    elif entry.kind in (RecordKind.COMMTX, RecordKind.RBTX):
        opened.pop(entry.tx, None)
    elif entry.kind == OPEN:
        opened.clear()
        for offset in range(0, len(entry.body), _OPEN_BODY.size):
            tx, lsn = _OPEN_BODY.unpack_from(entry.body, offset)
            opened[tx] = lsn


def parse_begin(entry: LogRecord) -> tuple[int, int]:
    """Return time and user of a BEGINTX record."""
    time_, user = _BEGIN_BODY.unpack(entry.body)
    return time_, user


def parse_commit_time(entry: LogRecord) -> int:
    """Return the time of a COMMTX record."""
    return int(_TIME_BODY.unpack(entry.body)[0])


def parse_discard_lsn(entry: LogRecord) -> int:
    """Return the LSN in a DISCARD record."""
    return int(_LSN_BODY.unpack(entry.body)[0])
