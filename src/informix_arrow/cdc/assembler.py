"""The assembler: build committed transactions from the records of a log (CDC sections 4 and 6).

It takes bytes as they arrive, cut at any position, and returns complete transactions in commit order. Row images are
decoded at once into batches of their transaction, before it is known whether the transaction will be committed. So a
transaction takes as much memory as its columns, and beyond a limit it is moved to a file.
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
        Its changes in order, one :class:`Change` for each run of changes of one table. A sequence that may be read
        several times. The changes of a large transaction are in a temporary file, which is deleted with the
        transaction.
    commit_lsn, begin_lsn
        Position of its COMMIT and its BEGIN in the log: 64 bits, increasing over all transactions.
    commit_time, begin_time
        By the server's clock, in UTC, in whole seconds.
    transaction
        The server's number of the transaction, which is reused later.
    user
        The user id (uid) of the session that made it.
    token
        The position after this transaction, to continue a capture.
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
        """Number of changes."""
        return self.batches.rows

    def __repr__(self) -> str:
        return f"<Transaction committed at {lsn_text(self.commit_lsn)}: {self.batches!r}>"


@dataclass(slots=True)
class CapturedTable:
    """A table that is captured.

    ``name`` is the user's name for it, ``label`` the user data of its records, ``columns`` its columns in the order in
    which users get them, ``full_name`` is ``database:owner.table``, and ``batches`` builds its batches according to
    the last TABSCHEMA.
    """

    name: str
    label: int
    columns: Sequence[str]
    full_name: str = ""
    batches: TableBatches | None = None


@dataclass(slots=True)
class Assembler:
    """Builds transactions from records.

    Parameters
    ----------
    tables
        The captured tables.
    options, encoding
        How values are converted to Arrow, and the Python codec of their text.
    start
        The token at which the capture continues, or None for a new capture.
    start_lsn
        The position at which a new capture begins, if it is known. Transactions committed before are left out.
    transaction_bytes
        Bytes that open transactions may hold in memory together. Beyond that the largest ones are moved to files.
    on_truncate
        How TRUNCATE is handled.
    sizes
        Limits of one batch.
    """

    tables: Sequence[CapturedTable]
    options: TypeOptions
    encoding: str
    start: Token | None = None
    start_lsn: int | None = None
    transaction_bytes: int = 256 << 20
    on_truncate: OnTruncate = "deliver"
    sizes: Sizes = field(default_factory=Sizes)
    position: int = 0  # the greatest LSN seen
    idle: bool = False  # the last record reported that there are no more changes
    quiet_at: int | None = None  # how far the log was read at that time
    records_read: int = 0  # records read so far, rows among them
    missed: int = 0  # transactions that had begun before the capture did
    _buffer: bytearray = field(default_factory=bytearray)
    _at: int = 0
    _open: dict[int, OpenTransaction] = field(default_factory=dict)
    # Transactions with changes whose BEGINTX was never received.
    _unseen_transactions: set[int] = field(default_factory=set)
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
        """The position after the last transaction returned, or None if it is not known yet."""
        return self._token

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Add bytes of the stream of records."""
        if self._at:
            del self._buffer[: self._at]
            self._at = 0
        self._buffer += data

    def warnings(self) -> list[str]:
        """Return the warnings since the last call."""
        warnings, self._warnings = self._warnings, []
        for table in self.tables:
            if table.batches is not None and table.batches.warnings:
                warnings += table.batches.warnings
                table.batches.warnings.clear()
        return warnings

    def close(self) -> None:
        """Discard open transactions and their files."""
        for transaction in self._open.values():
            transaction.changes.close()
        self._open.clear()
        self._buffer.clear()
        self._at = 0

    def next(self) -> Transaction | None:
        """Return the next committed transaction, or None if its end has not arrived yet.

        Raises
        ------
        ProtocolError
            Records violate the format.
        DataError
            A value does not fit its Arrow type, or is not text in the code set.
        OperationalError
            The server reports an error in the stream, a table was emptied (``on_truncate="error"``), or a transaction
            is incomplete.
        """
        buffer = self._buffer
        while True:
            parsed = records.parse_record(buffer, self._at, len(buffer))
            if parsed is None:
                self._keep_within_memory()
                return None
            record, end = parsed
            self.idle = False
            if isinstance(record, records.RowRecord):
                self._at = self._rows(record, end)
                continue
            self._at = end
            self.records_read += 1
            if isinstance(record, records.CommitRecord):
                transaction = self._commit(record)
                if transaction is not None:
                    return transaction
            elif record is not None:
                self._handle_record(record)

    def _handle_record(self, record: records.Record) -> None:
        if isinstance(record, records.BeginRecord):
            if record.transaction in self._open:
                raise ProtocolError(
                    f"The transaction {record.transaction} begins at {lsn_text(record.lsn)} while another "
                    "of that number is open."
                )
            self._unseen_transactions.discard(record.transaction)
            self._open[record.transaction] = OpenTransaction(
                record.transaction, record.lsn, record.time, record.user
            )
            self._advance_position(record.lsn)
        elif isinstance(record, records.RollbackRecord):
            self._unseen_transactions.discard(record.transaction)
            rolled_back = self._open.pop(record.transaction, None)
            if rolled_back is not None:
                rolled_back.drop()
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

    def _rows(self, row: records.RowRecord, end: int) -> int:
        """Decode consecutive row images of one table in one transaction. Return the position where they end."""
        transaction = self._open.get(row.transaction)
        if transaction is None:
            self._unseen_transactions.add(row.transaction)
            self.records_read += 1
            return end
        table = self._table(row.label)
        if table.batches is None:
            raise ProtocolError(
                f"A change of {table.name} came before its columns were described (TABSCHEMA)."
            )
        decoder = transaction.decoder_for(table.batches)
        rows_before = decoder.rows
        at, status = decoder.feed(self._buffer, self._at, len(self._buffer))
        self.records_read += decoder.rows - rows_before
        if status == FULL:
            transaction.flush_rows()
            self._keep_within_memory()
        elif at == self._at:
            raise ProtocolError(f"A change of {table.name} at {lsn_text(row.lsn)} cannot be read.")
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
            raise ProtocolError(f"{table.name} was emptied before its columns were described (TABSCHEMA).")
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
            raise ProtocolError(f"A change record of a table that is not captured (user data {label}).")
        return table

    def _error(self, record: records.ErrorRecord) -> None:
        text = f"The server reports an error in the stream of changes ({record.code})"
        if record.final:
            raise OperationalError(
                f"{text}, and the capture session has ended. Continue with a new one from the last token.",
                sqlcode=record.code,
            )
        self._warnings.append(f"{text} and continues. Changes may be missing. Compare the tables.")

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
        if record.lsn <= skip:  # it was returned by an earlier capture
            transaction.drop()
            return None
        if transaction.truncated and len(transaction.changes):
            raise OperationalError(
                f"{transaction.truncated} was emptied by TRUNCATE in the transaction committed at "
                f"{lsn_text(record.lsn)} (on_truncate='error')."
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
        """Warn of a committed transaction whose beginning was not seen.

        It was open when the capture first began: a token covers all transactions that were seen to begin.
        """
        self.missed += 1
        self._warnings.append(
            f"A transaction committed at {lsn_text(record.lsn)} began before the capture and is not part of it."
        )

    def _keep_within_memory(self) -> None:
        held = sum(transaction.bytes for transaction in self._open.values())
        if held <= self.transaction_bytes:
            return
        for transaction in sorted(self._open.values(), key=lambda one: one.bytes, reverse=True):
            before = transaction.bytes
            if transaction.decoder is not None and not transaction.decoder.expects_after_image:
                transaction.flush_rows()
            transaction.changes.spill()
            held -= before - transaction.bytes
            if held <= self.transaction_bytes // 2:
                return

    def schema(self, name: str) -> pa.Schema | None:
        """Return the schema of a table's batches, or None before the server has described the table."""
        for table in self.tables:
            if table.name == name:
                return None if table.batches is None else table.batches.schema
        raise KeyError(name)
