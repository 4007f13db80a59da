"""A transaction that is not over: its changes so far, in memory or, when they are many, in a temporary file."""

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
    """Changes of one table, one after the other.

    Attributes
    ----------
    table
        The table's name as it was asked for.
    data
        A row for each change: ``_op`` (``insert``, ``update``, ``delete``, ``truncate``), ``_lsn`` (where it stands in
        the log), the table's columns as they are afterwards (of a delete, as they were; of a truncate, null), and
        ``_before``: a struct of the columns as they were, null except for updates.
    """

    table: str
    data: pa.RecordBatch

    def __repr__(self) -> str:
        return f"<Change of {self.table}: {self.data.num_rows} rows>"


@dataclass(slots=True)
class _StoredChange:
    """Changes of one table: here, or so many bytes of the file."""

    table: str
    batch: pa.RecordBatch | None
    rows: int
    first: int  # LSN
    last: int
    offset: int = 0
    size: int = 0


class ChangeList(Sequence[Change]):
    """The changes of one transaction in their order; those that lie in a file are read when they are asked for."""

    def __init__(self) -> None:
        self._stored: list[_StoredChange] = []
        self._file: IO[bytes] | None = None
        self.bytes = 0  # in memory

    @property
    def rows(self) -> int:
        """How many changes there are."""
        return sum(piece.rows for piece in self._stored)

    @property
    def spilled(self) -> bool:
        """Whether some of them lie in a file."""
        return self._file is not None

    def append(self, table: str, batch: pa.RecordBatch) -> None:
        """Add changes behind those that are there."""
        lsns = batch.column(1)
        piece = _StoredChange(table, batch, batch.num_rows, lsns[0].as_py(), lsns[-1].as_py())
        self._stored.append(piece)
        self.bytes += batch.nbytes

    def cut(self, lsn: int) -> None:
        """Drop the changes from this LSN on."""
        while self._stored and self._stored[-1].last >= lsn:
            piece = self._stored.pop()
            batch = self._batch(piece)
            self.bytes -= piece.batch.nbytes if piece.batch is not None else 0
            kept = int(np.searchsorted(batch.column(1).to_numpy(), lsn))
            if kept:
                self.append(piece.table, batch.slice(0, kept))
                return

    def spill(self) -> None:
        """Bring everything that is in memory to the file."""
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(prefix="informix-arrow-changes-")  # noqa: SIM115 - see close()
            for piece in self._stored:
                if piece.batch is None:
                    continue
                sink = pa.BufferOutputStream()
                with pa.ipc.new_stream(sink, piece.batch.schema) as writer:
                    writer.write_batch(piece.batch)
                data = sink.getvalue()
                piece.offset = self._file.seek(0, 2)
                piece.size = self._file.write(data)
                self.bytes -= piece.batch.nbytes
                piece.batch = None
        except OSError as error:
            raise OperationalError(
                f"an open transaction could not be kept in a temporary file in {tempfile.gettempdir()} "
                f"(transaction_bytes): {error}"
            ) from error

    def close(self) -> None:
        """Drop everything, and the file with it."""
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
            return [self._change(piece) for piece in self._stored[index]]
        return self._change(self._stored[index])

    def __iter__(self) -> Iterator[Change]:
        for piece in list(self._stored):
            yield self._change(piece)

    def __repr__(self) -> str:
        return f"<{self.rows} changes in {len(self)} batches>"

    def __del__(self) -> None:
        self.close()

    def _change(self, piece: _StoredChange) -> Change:
        return Change(piece.table, self._batch(piece))

    def _batch(self, piece: _StoredChange) -> pa.RecordBatch:
        if piece.batch is not None:
            return piece.batch
        if self._file is None:
            raise OperationalError("the transaction was closed: its changes are gone")
        self._file.seek(piece.offset)
        return pa.ipc.open_stream(self._file.read(piece.size)).read_next_batch()


class OpenTransaction:
    """A transaction between its BEGINTX and its end."""

    def __init__(self, number: int, begin_lsn: int, begin_time: int, user: int) -> None:
        self.number, self.begin_lsn, self.begin_time, self.user = number, begin_lsn, begin_time, user
        self.changes = ChangeList()
        self.truncated = ""  # a table that it emptied
        self.table: TableBatches | None = None  # whose rows come now
        self.decoder: ImageDecoder | None = None

    @property
    def bytes(self) -> int:
        """What it holds in memory, about."""
        return self.changes.bytes + (self.decoder.bytes if self.decoder is not None else 0)

    def decoder_for(self, table: TableBatches) -> ImageDecoder:
        """What decodes the table's next rows; the run of another table ends."""
        if self.table is not table or self.decoder is None:
            self.end_run()
            self.table, self.decoder = table, table.decoder(self.number)
        return self.decoder

    def flush_rows(self, *, undone: bool = False) -> None:
        """Make a batch of the rows decoded so far."""
        table, decoder = self.table, self.decoder
        if table is None or decoder is None or not decoder.rows:
            return
        batch = table.build_batch(decoder, undone=undone)
        if batch.num_rows:
            self.changes.append(table.table, batch)

    def end_run(self, *, undone: bool = False) -> None:
        """What comes next are no rows of this table. ``ProtocolError`` when an update is not whole."""
        table, decoder = self.table, self.decoder
        if table is None or decoder is None:
            return
        self.flush_rows(undone=undone)
        table.return_decoder(decoder)
        self.table = self.decoder = None

    def truncate(self, table: TableBatches, lsn: int) -> None:
        """The table was emptied."""
        self.end_run()
        self.changes.append(table.table, table.truncated(lsn))

    def discard(self, lsn: int) -> None:
        """Undo what has this LSN or a greater one (a rollback to a savepoint)."""
        self.end_run(undone=True)
        self.changes.cut(lsn)

    def drop(self) -> None:
        """It was rolled back: nothing of it counts."""
        if self.decoder is not None and self.table is not None:
            self.decoder.take()
            self.table.return_decoder(self.decoder)
            self.table = self.decoder = None
        self.changes.close()
