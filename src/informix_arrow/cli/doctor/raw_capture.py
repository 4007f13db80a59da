"""A session of change capture with access to single records, which ``capture()`` hides."""

from __future__ import annotations

import contextlib
import struct
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ...cdc.requests import CaptureReader, read_changes
from ...connection import Connection
from ...wire import changes as wire
from ...wire.errors import Error, OperationalError
from .harness import CheckSkipped, Harness, require_logged, skip_unsupported

MISSING = (-83701, -83704)  # no syscdcv1, no log
_NO_DATABASE = (-329, -349)
_COMMON = struct.Struct(">iiii")
_STILL_LOGGED = -19816
_WAIT_SECONDS = 30.0  # seconds: the server may deliver the log late, and switch logging off late


#: The routines that every session calls, with the number of their arguments.
_ROUTINES = {
    "opensess": 6,
    "set_fullrowlogging": 2,
    "startcapture": 5,
    "activatesess": 2,
    "endcapture": 3,
    "closesess": 1,
}


def _statement(routine: str, arguments: int) -> str:
    return f"EXECUTE FUNCTION informix.cdc_{routine}({', '.join('?' * arguments)})"


class Record(NamedTuple):
    """A record: its number, its own header, and its payload."""

    number: int
    head: bytes
    payload: bytes


class RawCapture:
    """A connection to ``syscdcv1`` with the routines of capture, and one session at a time."""

    def __init__(self, bench: Harness) -> None:
        require_logged(bench)
        locale = bench.connection.locale
        with skip_unsupported(*_NO_DATABASE):
            self.connection: Connection = bench.connect(
                database="syscdcv1",
                db_locale=locale,
                client_locale=locale or bench.parameters.client_locale,
                encoding=bench.connection.encoding,
            )
        self.connection.prepare([_statement(routine, count) for routine, count in _ROUTINES.items()])
        self._bench = bench
        self._server = str(bench.value("SELECT DBSERVERNAME FROM systables WHERE tabid = 1")).strip()
        self._owner = ""  # of the tables that the checks make
        self._tables: list[str] = []  # whose full row logging is on
        self._started: list[str] = []  # that the session captures
        self._data = bytearray()
        self._full = False  # the last read returned all bytes that were requested
        self.session = 0

    def call(self, routine: str, *arguments: object) -> int:
        """Call a routine and return its result."""
        with skip_unsupported():
            cursor = self.connection.execute(_statement(routine, len(arguments)), arguments)
            ((answer,),) = cursor.fetchall()
        return int(answer)

    def open(self, timeout: int = 1, max_records: int = 100, reopen: int = 0) -> int:
        """Call ``cdc_opensess``. Return the session, or an error code."""
        reply = self.call("opensess", self._server, reopen, timeout, max_records, 1, 1)
        if reply in MISSING:
            raise CheckSkipped(f"cdc_opensess answers {reply}")
        if reply > 0:
            self.session = reply
        return reply

    def full_name(self, table: str) -> str:
        """Return the table's name as the routines expect it."""
        if not self._owner:
            owner = self._bench.value("SELECT owner FROM systables WHERE tabname = ?", table)
            self._owner = str(owner).strip()
        return f"{self._bench.connection.database}:{self._owner}.{table}"

    def log(self, table: str) -> None:
        """Switch the full row logging of a table on. It is switched off by ``end``."""
        self._require(self.call("set_fullrowlogging", self.full_name(table), 1), "cdc_set_fullrowlogging")
        self._tables.append(table)

    def start(self, table: str, columns: str = "", label: int = 1) -> int:
        """Call ``cdc_startcapture``."""
        reply = self.call("startcapture", self.session, 0, self.full_name(table), columns, label)
        if reply == 0:
            self._started.append(table)
        return reply

    def begin(self, table: str, columns: str = "", timeout: int = 1, max_records: int = 100) -> None:
        """Open a session that captures a table from now on."""
        self._require(self.open(timeout, max_records), "cdc_opensess")
        self.log(table)
        self._require(self.start(table, columns), "cdc_startcapture")
        self.activate()

    def activate(self) -> None:
        """Call ``cdc_activatesess``: read from now on."""
        self._require(self.call("activatesess", self.session, 0), "cdc_activatesess")

    @staticmethod
    def _require(reply: int, routine: str) -> None:
        if reply in MISSING:
            raise CheckSkipped(f"{routine} answers {reply}")
        if reply < 0:
            raise OperationalError(f"{routine} answers {reply}", sqlcode=reply)

    def read(self, count: int = 1 << 16) -> bytes:
        """Return the bytes of one read."""
        got = bytearray()
        reads = CaptureReader(self.session, count, 1 << 30, got.extend)
        self.connection._run(read_changes(self.connection._session, reads))
        return bytes(got)

    def records(self, count: int = 1 << 16) -> list[Record]:
        """Return the complete records of one read, including the rest of the one before."""
        got = self.read(count)
        self._data += got
        self._full = len(got) >= count
        records = []
        while len(self._data) >= _COMMON.size:
            header, payload, _, number = _COMMON.unpack_from(self._data)
            if header + payload > len(self._data):
                break
            head = bytes(self._data[_COMMON.size : header])
            records.append(Record(number, head, bytes(self._data[header : header + payload])))
            del self._data[: header + payload]
        return records

    @property
    def cut(self) -> bool:
        """True if the last read ended in the middle of a record although there was room for more."""
        return bool(self._data) and not self._full

    def read_until(self, done: Callable[[list[Record]], bool]) -> list[Record]:
        """Return records until ``done`` accepts them; fewer if that does not happen in time."""
        records: list[Record] = []
        until = time.monotonic() + _WAIT_SECONDS
        while not done(records) and time.monotonic() < until:
            records += [record for record in self.records() if record.number != wire.TIMEOUT]
        return records

    def transaction(self) -> list[Record]:
        """Return records up to a commit after a row."""
        return self.read_until(
            lambda found: any(r.number in wire.ROWS for r in found) and found[-1].number == wire.COMMIT
        )

    def end(self) -> None:
        """Close the session, and switch the logging of its tables off."""
        if self.session:
            for table in self._started:
                self.call("endcapture", self.session, 0, self.full_name(table))
            self.call("closesess", self.session)
            self.session = 0
        self._started.clear()
        self._data.clear()
        until = time.monotonic() + _WAIT_SECONDS
        while self._tables:
            reply = self.call("set_fullrowlogging", self.full_name(self._tables[-1]), 0)
            if reply == _STILL_LOGGED and time.monotonic() < until:
                time.sleep(1)
            else:
                self._tables.pop()


@contextlib.contextmanager
def raw_capture(bench: Harness) -> Iterator[RawCapture]:
    """Provide the routines of capture, and end what was begun."""
    raw = RawCapture(bench)
    try:
        yield raw
    finally:
        with contextlib.suppress(Error):  # any effect of this is reported when the table is dropped
            raw.end()
        with contextlib.suppress(Error):
            raw.connection.close()
