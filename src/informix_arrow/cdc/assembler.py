"""Records of a log put together to committed transactions (CDC sections 4 and 6).

Bytes go in as they arrive, cut anywhere; whole transactions come out, in the order in which they were committed. Row
images are decoded where they stand, into batches of their transaction, before anybody knows whether it will be
committed: a transaction costs what its columns cost, and beyond a limit its place is a file.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import pyarrow as pa

from .._changes import FULL
from ..wire import changes as records
from ..wire.errors import OperationalError, ProtocolError
from ..wire.plan_ops import TypeOptions
from .open_transaction import ChangeList, OpenTransaction
from .table_batches import Sizes, TableBatches
from .token import Token, lsn_text

OnTruncate = Literal["deliver", "ignore", "error"]
ON_TRUNCATE: tuple[OnTruncate, ...] = ("deliver", "ignore", "error")


@dataclass(frozen=True, slots=True)
class Transaction:
    """A committed transaction.

    Attributes
    ----------
    batches
        Its changes in their order, a :class:`Change` for each table and run of changes; a sequence, which may be read
        again. Those of a large transaction lie in a temporary file, which goes with the transaction.
    commit_lsn, begin_lsn
        Where its COMMIT and its BEGIN stand in the log: 64 bits, rising over all transactions.
    commit_time, begin_time
        By the server's clock, UTC, whole seconds.
    transaction
        The server's number for it, which is used again afterwards.
    user
        The user id (uid) under which it was made.
    token
        Where a capture goes on behind it.
    """

    batches: ChangeList
    commit_lsn: int
    begin_lsn: int
    commit_time: dt.datetime
    begin_time: dt.datetime
    transaction: int
    user: int
    token: str

    @property
    def rows(self) -> int:
        """How many changes it has."""
        return self.batches.rows

    def __repr__(self) -> str:
        return f"<Transaction committed at {lsn_text(self.commit_lsn)}: {self.batches!r}>"


@dataclass(slots=True)
class CapturedTable:
    """A table that is captured.

    ``name`` is what users called it, ``label`` the user data of its records, ``columns`` their names in the order that
    users are to get, ``batches`` what the last TABSCHEMA has made of it.
    """

    name: str
    label: int
    columns: Sequence[str]
    batches: TableBatches | None = None


@dataclass(slots=True)
class Assembler:
    """Makes transactions of records.

    Parameters
    ----------
    tables
        Those that are captured.
    options, encoding
        How their values become Arrow's, and the Python codec of their text.
    start
        Where the capture goes on; None when it begins.
    begun
        The place at which it begins, where that is known; what was committed before does not come.
    transaction_bytes
        What open transactions may hold in memory together; the largest ones go to files beyond it.
    """

    tables: Sequence[CapturedTable]
    options: TypeOptions
    encoding: str
    start: Token | None = None
    start_lsn: int | None = None
    transaction_bytes: int = 256 << 20
    on_truncate: OnTruncate = "deliver"
    sizes: Sizes = field(default_factory=Sizes)
    position: int = 0  # the greatest LSN heard of
    idle: bool = False  # the last record said that there is nothing more
    quiet_at: int | None = None  # how far the log was read when there was nothing more
    records_read: int = 0  # records read so far, rows among them
    missed: int = 0  # transactions that had begun before the capture did
    _buffer: bytearray = field(default_factory=bytearray)
    _at: int = 0
    _open: dict[int, OpenTransaction] = field(default_factory=dict)
    _unseen_transactions: set[int] = field(
        default_factory=set
    )  # transactions with changes whose BEGINTX never came
    _token: Token | None = None
    _labels: dict[int, CapturedTable] = field(default_factory=dict)
    _warnings: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._labels = {table.label: table for table in self.tables}
        self._token = self.start
        if self.start is None and self.start_lsn is not None:
            self._token = Token(self.start_lsn, 0)

    @property
    def token(self) -> Token | None:
        """Where to go on behind what was handed out; None when nothing is known yet."""
        return self._token

    def write(self, piece: bytes | bytearray | memoryview) -> None:
        """Take in bytes."""
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        self._buffer += piece

    def warnings(self) -> list[str]:
        """What there is to say of the changes read since this was asked last."""
        found, self._warnings = self._warnings, []
        for table in self.tables:
            if table.batches is not None and table.batches.warnings:
                found += table.batches.warnings
                table.batches.warnings.clear()
        return found

    def close(self) -> None:
        """Drop what is open, and its files."""
        for transaction in self._open.values():
            transaction.changes.close()
        self._open.clear()
        self._buffer.clear()
        self._at = 0

    def next(self) -> Transaction | None:
        """The next committed transaction; None when the bytes do not hold its end.

        Raises
        ------
        ProtocolError
            Records that break the format.
        DataError
            A value that its Arrow type cannot hold, or that is no text of the code set.
        OperationalError
            The server reports an error in the stream, a table was emptied (``on_truncate="error"``), or a transaction
            is not whole.
        """
        buffer = self._buffer
        while True:
            found = records.parse_record(buffer, self._at, len(buffer))
            if found is None:
                self._keep_within_memory()
                return None
            record, behind = found
            self.idle = False
            if isinstance(record, records.RowRecord):
                self._at = self._rows(record, behind)
                continue
            self._at = behind
            self.records_read += 1
            if isinstance(record, records.CommitRecord):
                done = self._commit(record)
                if done is not None:
                    return done
            elif record is not None:
                self._handle_record(record)

    def _handle_record(self, record: records.Record) -> None:
        if isinstance(record, records.BeginRecord):
            if record.transaction in self._open:
                raise ProtocolError(
                    f"the transaction {record.transaction} begins at {lsn_text(record.lsn)} while another of that "
                    "number is open"
                )
            self._unseen_transactions.discard(record.transaction)
            self._open[record.transaction] = OpenTransaction(
                record.transaction, record.lsn, record.time, record.user
            )
            self._advance_position(record.lsn)
        elif isinstance(record, records.RollbackRecord):
            self._unseen_transactions.discard(record.transaction)
            undone = self._open.pop(record.transaction, None)
            if undone is not None:
                undone.drop()
            self._advance_position(record.lsn)
        elif isinstance(record, records.DiscardRecord):
            transaction = self._open.get(record.transaction)
            if transaction is not None:
                transaction.discard(record.lsn)
        elif isinstance(record, records.TruncateRecord):
            self._truncate(record)
        elif isinstance(record, records.TableSchemaRecord):
            self._set_table_schema(record)
        elif isinstance(record, records.TimeoutRecord):
            self._advance_position(record.lsn)
            self.idle, self.quiet_at = True, record.lsn
            if not self._open and self._token is not None:
                self._token = Token(max(self._token.restart, record.lsn), self._token.commit)
            elif not self._open and not self._unseen_transactions:
                self._token = Token(record.lsn, 0)
        elif isinstance(record, records.ErrorRecord):
            self._error(record)

    def _advance_position(self, lsn: int) -> None:
        self.position = max(self.position, lsn)

    def _rows(self, row: records.RowRecord, behind: int) -> int:
        """Decode the row images of one table in one transaction; where they end."""
        transaction = self._open.get(row.transaction)
        if transaction is None:
            self._unseen_transactions.add(row.transaction)
            self.records_read += 1
            return behind
        table = self._table(row.label)
        if table.batches is None:
            raise ProtocolError(
                f"a change of {table.name} came before its columns were described (TABSCHEMA)"
            )
        decoder = transaction.decoder_for(table.batches)
        held = decoder.rows
        at, status = decoder.feed(self._buffer, self._at, len(self._buffer))
        self.records_read += decoder.rows - held
        if status == FULL:
            transaction.flush_rows()
            self._keep_within_memory()
        elif at == self._at:
            raise ProtocolError(f"a change of {table.name} at {lsn_text(row.lsn)} cannot be read")
        return at

    def _truncate(self, record: records.TruncateRecord) -> None:
        transaction = self._open.get(record.transaction)
        if transaction is None:
            self._unseen_transactions.add(record.transaction)
            return
        table = self._table(record.label)
        if self.on_truncate == "ignore":
            return
        if table.batches is None:
            raise ProtocolError(f"{table.name} was emptied before its columns were described (TABSCHEMA)")
        if self.on_truncate == "error":
            transaction.truncated = table.name
        transaction.truncate(table.batches, record.lsn)

    def _set_table_schema(self, record: records.TableSchemaRecord) -> None:
        table = self._table(record.label)
        if table.batches is not None and table.batches.table_schema == record:
            return
        if table.batches is not None:
            for transaction in self._open.values():
                if transaction.table is table.batches:
                    transaction.end_run()
            self._warnings += table.batches.warnings
        table.batches = TableBatches(
            table.name, table.label, record, table.columns, self.options, self.encoding, self.sizes
        )

    def _table(self, label: int) -> CapturedTable:
        table = self._labels.get(label)
        if table is None:
            raise ProtocolError(f"a change record of a table that is not captured (user data {label})")
        return table

    def _error(self, record: records.ErrorRecord) -> None:
        text = f"the server reports an error in the stream of changes ({record.code})"
        if record.final:
            raise OperationalError(
                f"{text}, and the capture session is dead; go on with a new one from the last token",
                sqlcode=record.code,
            )
        self._warnings.append(f"{text} and goes on: changes may be missing, compare the tables")

    def _commit(self, record: records.CommitRecord) -> Transaction | None:
        self._advance_position(record.lsn)
        transaction = self._open.pop(record.transaction, None)
        skip = self.start.commit if self.start is not None else 0
        if transaction is None:
            if record.transaction in self._unseen_transactions and record.lsn > skip:
                self._report_unseen(record)
            self._unseen_transactions.discard(record.transaction)
            return None
        transaction.end_run()
        if record.lsn <= skip:  # it was handed out before this capture began
            transaction.drop()
            return None
        if transaction.truncated and len(transaction.changes):
            raise OperationalError(
                f"{transaction.truncated} was emptied by TRUNCATE in the transaction committed at "
                f"{lsn_text(record.lsn)} (on_truncate='error')"
            )
        restart = min((other.begin_lsn for other in self._open.values()), default=record.lsn)
        self._token = Token(restart, record.lsn)
        if not len(transaction.changes):
            return None
        return Transaction(
            transaction.changes,
            record.lsn,
            transaction.begin_lsn,
            dt.datetime.fromtimestamp(record.time, dt.timezone.utc),
            dt.datetime.fromtimestamp(transaction.begin_time, dt.timezone.utc),
            record.transaction,
            transaction.user,
            str(self._token),
        )

    def _report_unseen(self, record: records.CommitRecord) -> None:
        """A transaction with changes, of which the beginning was not seen, has been committed: it was open already when
        the capture first began, as a token covers all that were seen to begin."""
        self.missed += 1
        self._warnings.append(
            f"a transaction committed at {lsn_text(record.lsn)} had begun before the capture did, and is not part of it"
        )

    def _keep_within_memory(self) -> None:
        held = sum(transaction.bytes for transaction in self._open.values())
        if held <= self.transaction_bytes:
            return
        for transaction in sorted(self._open.values(), key=lambda one: one.bytes, reverse=True):
            before = transaction.bytes
            if transaction.decoder is not None and not transaction.decoder.owed:
                transaction.flush_rows()
            transaction.changes.spill()
            held -= before - transaction.bytes
            if held <= self.transaction_bytes // 2:
                return

    def schema(self, name: str) -> pa.Schema | None:
        """The schema of a table's batches, as far as it is known."""
        for table in self.tables:
            if table.name == name:
                return None if table.batches is None else table.batches.schema
        raise KeyError(name)
