"""The report of a load, the rows that were refused, and how errors describe a row."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from ..rows import arrow_compute as pc
from ..wire.errors import Error

#: The first columns of the table of rejected rows. A column of the data with one of these names, with or without
#: ``data_`` in front (even repeatedly), gets one more ``data_``. So no two columns share a name.
REJECT_FIELDS = (
    pa.field("row", pa.int64(), nullable=False),
    pa.field("column", pa.utf8()),
    pa.field("sqlcode", pa.int32()),
    pa.field("isam", pa.int32()),
    pa.field("message", pa.utf8(), nullable=False),
)
_SHOWN_CHARACTERS, _SHOWN_IN_ALL = 60, 200  # characters of a value, and of a row without a known key


@dataclass(frozen=True, slots=True)
class WriteReport:
    """The outcome of :meth:`Connection.write_arrow`.

    Attributes
    ----------
    table
        The table that was written to.
    mode
        The requested mode.
    rows
        Rows that this load wrote. For an upsert, rows inserted or updated by the MERGE.
    inserted, updated
        How many of ``rows`` are new, and how many existed and have new values. Only an upsert updates rows.
    rejected
        The rejected rows, in order: ``row`` (0-based number in the data), ``column`` of the table (null if the server
        did not report it), ``sqlcode`` and ``isam`` of the server (null if the driver refused the row before sending
        it), ``message``, and the columns of the row itself. A column of the row that has one of these names is called
        ``data_`` plus its name. Empty with ``on_error="abort"``.
    batches
        Groups of rows sent.
    seconds
        Elapsed time, COMMIT included.
    bytes
        Bytes of rows sent.
    method
        ``"put"`` (insert cursor), ``"pipeline"`` (one execution per row, sent without waiting for replies) or
        ``"rows"`` (one at a time: BLOB and CLOB that cannot be pipelined).
    commits
        Transactions committed: 0 inside the user's own transaction and in an unlogged database.
    transaction
        ``"own"``: the load began and committed it. ``"savepoint"``: it ran in the transaction that was open,
        which stays open. ``"none"``: the database is unlogged, every row is final at once.
    created
        Whether this call created the table.
    serial
        The last SERIAL, SERIAL8 or BIGSERIAL value that the server reported. None if there was none.
    dropped
        What ``mode="replace"`` dropped together with the old table: keys, indexes, defaults, grants, triggers, views
        and synonyms that the new table does not have, and foreign keys of other tables. Each is a text such as
        ``"index ix_day (day)"``. Empty if the table had the same columns. It was then emptied and keeps all of these.
    connections
        Number of connections that loaded rows.
    """

    table: str
    mode: str
    rows: int
    rejected: pa.Table = field(repr=False)
    batches: int
    seconds: float
    bytes: int
    method: str
    commits: int
    transaction: str
    created: bool = False
    serial: int | None = None
    updated: int = 0
    dropped: tuple[str, ...] = ()
    connections: int = 1

    @property
    def inserted(self) -> int:
        """Rows that are new in the table."""
        return self.rows - self.updated

    def __str__(self) -> str:
        rate = f", {self.rows / self.seconds:,.0f} rows/s" if self.seconds > 0 else ""
        refused = f", {self.rejected.num_rows:,} rejected" if self.rejected.num_rows else ""
        pending = ", not committed: part of the open transaction" if self.transaction == "savepoint" else ""
        return f"{self.rows:,} rows into {self.table} by {self.method} in {self.seconds:.2f} s{rate}{refused}{pending}"


class RejectedRows:
    """Collects rejected rows. It copies their values, so that one row does not keep a whole batch in memory."""

    def __init__(self, schema: pa.Schema) -> None:
        names = [_data_name(name) for name in schema.names]
        own = [each.with_name(name).with_nullable(True) for each, name in zip(schema, names, strict=True)]
        self.schema = pa.schema([*REJECT_FIELDS, *own])
        self._pending_rows: list[tuple[int, str | None, int | None, int | None, str]] = []
        self._pending_indexes: list[int] = []  # in self._source, one for each of self._pending_rows
        self._source: pa.RecordBatch | None = None
        self._tables: list[pa.Table] = []

    def __len__(self) -> int:
        return len(self._pending_rows) + sum([int(table.num_rows) for table in self._tables])

    def add(self, source: pa.RecordBatch, place: int, row: int, error: Error) -> None:
        """Add row ``row`` of the load, which is row ``place`` of ``source``."""
        if source is not self._source:
            self._flush()
            self._source = source
        self._pending_rows.append((row, error.column, error.sqlcode, error.isamcode or None, str(error)))
        self._pending_indexes.append(place)

    def table(self) -> pa.Table:
        """Return all rejected rows, in the order of the data."""
        self._flush()
        if not self._tables:
            return self.schema.empty_table()
        table = pa.concat_tables(self._tables)
        order = pc.sort_indices(table.column("row"))
        if order.equals(pa.array(range(len(order)), pa.uint64())):
            return table
        try:
            return table.take(order)
        except pa.ArrowNotImplementedError:  # views and run-end encoding, in some versions of pyarrow
            return pa.concat_tables([table.slice(place, 1) for place in order.to_pylist()])

    def _flush(self) -> None:
        if self._source is None or not self._pending_rows:
            return
        columns = zip(*self._pending_rows, strict=True)
        reasons = [pa.array(column, each.type) for column, each in zip(columns, REJECT_FIELDS, strict=True)]
        values = [take_values(column, self._pending_indexes) for column in self._source.columns]
        self._tables.append(pa.Table.from_arrays([*reasons, *values], schema=self.schema))
        self._pending_rows, self._pending_indexes = [], []


def _data_name(name: str) -> str:
    bare = name
    while bare.startswith("data_"):
        bare = bare[len("data_") :]
    return f"data_{name}" if any(bare == each.name for each in REJECT_FIELDS) else name


def take_values(column: pa.Array, places: Sequence[int]) -> pa.Array:
    """Return copies of some values of a column of any type."""
    try:
        return column.take(pa.array(places, pa.int64()))
    except pa.ArrowNotImplementedError:  # views and run-end encoding, in some versions of pyarrow
        pieces = [column.slice(place, 1) for place in places]
        return pa.concat_arrays(pieces) if pieces else column.slice(0, 0)


def show_value(column: pa.Array, place: int, most: int) -> str:
    """Return a value for an error's text, shortened to ``most`` characters. It never raises."""
    try:
        text = repr(column[place].as_py())
    except Exception:  # noqa: BLE001 - dates and nanoseconds that Python cannot hold, invalid UTF-8
        one = column.slice(place, 1)
        text_like = pa.types.is_string(one.type) or pa.types.is_large_string(one.type)
        try:
            text = repr(one.cast(pa.binary() if text_like else pa.utf8())[0].as_py())
        except pa.ArrowException:
            text = f"a {one.type} that Python cannot show"
    return text if len(text) <= most else text[: most - 3] + "..."


def describe_row(
    batch: pa.RecordBatch, place: int, key: Sequence[str], loaded: Sequence[str] | None = None
) -> str:
    """Return ``id=7, name='x'``: the values of a row's key columns, or of its first columns if there is no key.

    Without a key, only the columns in ``loaded`` are shown if it is given.
    """
    names = [name for name in key if name in batch.schema.names]
    shown: list[str] = []
    for name in names or (batch.schema.names if loaded is None else loaded):
        value = show_value(batch.column(batch.schema.names.index(name)), place, _SHOWN_CHARACTERS)
        if not names and shown and sum(map(len, shown)) + len(name) + len(value) > _SHOWN_IN_ALL:
            shown.append("...")
            break
        shown.append(f"{name}={value}")
    return ", ".join(shown)


def add_text(error: BaseException, text: str) -> None:
    """Append a line to an error of this package. Any other error gets it as a note, from Python 3.11 on."""
    if not text:
        return
    if isinstance(error, Error):
        error.args = (f"{error.args[0] if error.args else ''}\n{text}".lstrip("\n"), *error.args[1:])
    elif sys.version_info >= (3, 11):
        error.add_note(text)
