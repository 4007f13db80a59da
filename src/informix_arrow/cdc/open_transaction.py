"""Open transactions: their changes so far, in memory or, if there are many, in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, overload

import numpy as np
import pyarrow as pa

from .._changes import ImageDecoder
from ..wire.errors import OperationalError
from .table_batches import TableBatches


@dataclass(frozen=True, slots=True)
class Change:
    """Consecutive changes of one table.

    Attributes
    ----------
    table
        The table, named as in the call of ``capture()``.
    data
        One row for each change: ``_op`` (``insert``, ``update``, ``delete``, ``truncate``), ``_lsn`` (its position in
        the log), the table's columns after the change (for a delete before it, for a truncate null), and ``_before``: a
        struct of the columns before the change, null except for updates.
    """

    table: str
    data: pa.RecordBatch

    def __repr__(self) -> str:
        return f"<Change of {self.table}: {self.data.num_rows} rows>"


@dataclass(slots=True)
class _StoredChange:
    """Changes of one table, in memory or as a range of bytes in the file."""

    table: str
    batch: pa.RecordBatch | None
    rows: int
    first: int  # LSN
    last: int
    offset: int = 0
    size: int = 0


class ChangeList(Sequence[Change]):
    """The changes of one transaction in order. Those in a file are read on access."""

    def __init__(self) -> None:
        self._stored: list[_StoredChange] = []
        self._file: IO[bytes] | None = None
        self.bytes = 0  # bytes in memory

    @property
    def rows(self) -> int:
        """Number of changes."""
        return sum(change.rows for change in self._stored)

    @property
    def last_lsn(self) -> int:
        """Position of the last change in the log; 0 if there is none."""
        return self._stored[-1].last if self._stored else 0

    @property
    def spilled(self) -> bool:
        """True if some changes are in a file."""
        return self._file is not None

    def append(self, table: str, batch: pa.RecordBatch) -> None:
        """Append changes."""
        lsns = batch.column(1)
        change = _StoredChange(table, batch, batch.num_rows, lsns[0].as_py(), lsns[-1].as_py())
        self._stored.append(change)
        self.bytes += batch.nbytes

    def cut(self, lsn: int) -> None:
        """Drop the changes from this LSN on."""
        while self._stored and self._stored[-1].last >= lsn:
            change = self._stored.pop()
            batch = self._batch(change)
            self.bytes -= change.batch.nbytes if change.batch is not None else 0
            remaining = int(np.searchsorted(batch.column(1).to_numpy(), lsn))
            if remaining:
                self.append(change.table, batch.slice(0, remaining))
                return

    def spill(self) -> None:
        """Move all changes from memory to the file."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="informix-arrow-changes-")  # noqa: SIM115 - see close()
            for change in self._stored:
                if change.batch is None:
                    continue
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, change.batch.schema) as writer:
                    writer.write_batch(change.batch)
                data = sink.getvalue()
                change.offset = self._file.seek(0, 2)
                change.size = self._file.write(data)
                self.bytes -= change.batch.nbytes
                change.batch = None
        except OSError as error:
            raise OperationalError(
                f"An open transaction could not be kept in a temporary file in {tempfile.gettempdir()} "
                f"(transaction_bytes): {error}"
            ) from error

    def close(self) -> None:
        """Drop all changes, and the file."""
        self._stored.clear()
        self.bytes = 0
        if self._file is not None:
            self._file.close()
            self._file = None

    def __len__(self) -> int:
        return len(self._stored)

    @overload
    def __getitem__(self, index: int) -> Change: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Change]: ...

    def __getitem__(self, index: int | slice) -> Change | Sequence[Change]:
        if isinstance(index, slice):
            return [self._change(change) for change in self._stored[index]]
        return self._change(self._stored[index])

    def __iter__(self) -> Iterator[Change]:
        for change in list(self._stored):
            yield self._change(change)

    def __repr__(self) -> str:
        return f"<{self.rows} changes in {len(self)} batches>"

    def __del__(self) -> None:
        self.close()

    def _change(self, change: _StoredChange) -> Change:
        return Change(change.table, self._batch(change))

    def _batch(self, change: _StoredChange) -> pa.RecordBatch:
        if change.batch is not None:
            return change.batch
        if self._file is None:
            raise OperationalError("The transaction was closed. Its changes are gone.")
        self._file.seek(change.offset)
        return pa.ipc.open_stream(self._file.read(change.size)).read_next_batch()


class OpenTransaction:
    """A transaction between its BEGINTX and its end."""

    def __init__(self, number: int, begin_lsn: int, begin_time: int, user: int) -> None:
        self.number, self.begin_lsn, self.begin_time, self.user = number, begin_lsn, begin_time, user
        self.changes = ChangeList()
        self.truncated = ""  # a table that was emptied, with on_truncate="error"
        self.table: TableBatches | None = None  # the table of the current run of rows
        self.decoder: ImageDecoder | None = None

    @property
    def bytes(self) -> int:
        """Approximate bytes held in memory."""
        return self.changes.bytes + (self.decoder.bytes if self.decoder is not None else 0)

    def decoder_for(self, table: TableBatches) -> ImageDecoder:
        """Return the decoder for the table's next rows. Ends the run of another table."""
        if self.table is not table or self.decoder is None:
            self.end_run()
            self.table, self.decoder = table, table.decoder(self.number)
        return self.decoder

    def flush_rows(self, *, undone: bool = False) -> None:
        """Append the rows decoded so far as a batch."""
        table, decoder = self.table, self.decoder
        if table is None or decoder is None or not decoder.rows:
            return
        batch = table.build_batch(decoder, undone=undone)
        if batch.num_rows:
            self.changes.append(table.table, batch)

    def end_run(self, *, undone: bool = False) -> None:
        """End the run of one table's rows. Raises ``ProtocolError`` if an update is incomplete."""
        table, decoder = self.table, self.decoder
        if table is None or decoder is None:
            return
        self.flush_rows(undone=undone)
        table.return_decoder(decoder)
        self.table = self.decoder = None

    def truncate(self, table: TableBatches, lsn: int) -> None:
        """Append a truncation of the table."""
        self.end_run()
        self.changes.append(table.table, table.truncated(lsn))

    def discard(self, lsn: int) -> None:
        """Drop the changes with this LSN or a greater one (a rollback to a savepoint)."""
        self.end_run(undone=True)
        self.changes.cut(lsn)

    def drop(self) -> None:
        """Drop all changes after a rollback."""
        if self.decoder is not None and self.table is not None:
            self.decoder.take()
            self.table.return_decoder(self.decoder)
            self.table = self.decoder = None
        self.changes.close()
