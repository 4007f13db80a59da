"""Copy tables: select the rows that are due, read them and pass them to the target, several tables at once."""

from __future__ import annotations

import datetime as dt
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from decimal import Decimal
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from ..connection import Connection, connect, open_base_connection
from ..core.read_options import ReadKeywords
from ..ingest.target_table import quote
from ..metadata.table_names import TableName, catalogue
from ..partition.keys import PartitionKey
from ..partition.result import PartitionedResult
from ..result import Result
from ..shortcuts import partition_read
from ..wire.describe import Column
from ..wire.errors import Error, InterfaceError, OperationalError
from ..wire.quoting import quote_if_needed
from .checksums import ColumnChecksums
from .rejects import RejectFilter, RejectLog, publish
from .state import CopyRows, CopyTarget, State, describe_column_changes, find_column
from .target_names import TARGETS, open_target

FloatingDecimals: TypeAlias = Literal["float64", "string"] | pa.Decimal128Type
Mode: TypeAlias = Literal["full", "incremental", "append", "merge"]
_STOPPED = "the copy was ended before this table's turn was over"
POLL_SECONDS = 0.2  # seconds between looks for Ctrl-C, and between attempts to stop the workers
BATCH_BYTES = 2 << 20  # small, so that writing starts soon after the first rows arrive
RUN_ID_CHARACTERS = 200
RUN_IDS = 100  # names of appends that a target remembers
MODES = ("full", "incremental", "append", "merge")


@dataclass(frozen=True, slots=True)
class TableCopy:
    """The outcome of copying one table.

    Attributes
    ----------
    table
        The name as it was given.
    mode
        How it was copied. The first incremental copy is a full one.
    rows
        Rows read.
    target_rows
        Rows in the target now.
    bytes
        Size of the rows read, as Arrow data.
    seconds
        Elapsed time.
    watermark
        The highest value that was copied, as text; None without a watermark.
    error
        The error if the table was not copied, else None. After an error the target is unchanged.
    checks
        For each column, the number of values that are not NULL and the sum over them. The target was compared with
        these.
    rejected
        Rows that were read and left out, and are in the file of rejects.
    already_copied
        True if an append of this ``run_id`` was made before, so that nothing was read.
    """

    table: str
    mode: str
    rows: int = 0
    target_rows: int = 0
    bytes: int = 0
    seconds: float = 0.0
    watermark: str | None = None
    error: Exception | None = None
    checks: dict[str, Any] = field(default_factory=dict, repr=False)
    rejected: int = 0
    already_copied: bool = False

    def error_text(self, text: str) -> str:
        """Return the error's text with the table's name in front."""
        place = self.error.place if isinstance(self.error, Error) else ""
        return text if place == self.table else f"{self.table}: {text}"

    def to_json(self) -> dict[str, Any]:
        """Return the outcome as plain values, for a log."""
        error = None if self.error is None else str(self.error).partition("\n")[0]
        names = [each.name for each in fields(self) if each.name not in ("error", "checks")]
        return {**{name: getattr(self, name) for name in names}, "error": error, "checks": self.checks}


class CopyFailed(OperationalError):
    """Some tables were not copied. ``copies`` has the outcome of each."""

    copies: tuple[TableCopy, ...] = ()


def copy(
    source: Connection | str,
    target: str,
    tables: Sequence[str] | None = None,
    *,
    mode: Mode = "full",
    watermark: str | None = None,
    overlap: float | str = 0,
    key: str | Sequence[str] | None = None,
    where: str | None = None,
    partition_by: str | Sequence[str] | None = None,
    rejects: str | os.PathLike[str] | None = None,
    floating_decimals: FloatingDecimals = "string",
    evolve: bool = False,
    run_id: str | None = None,
    again: bool = False,
    jobs: int = 1,
    connections: int = 1,
    progress: Callable[[int, int], object] | None = None,
    done: Callable[[TableCopy], object] | None = None,
) -> tuple[TableCopy, ...]:
    """Copy tables to Parquet files or another database, in full or incrementally.

    Call ``copy(url, "lake/")`` each day. Each table is copied completely or not at all, even if this program is
    killed. The target records the last copy, and the next run continues from there.

    Parameters
    ----------
    source
        A URL, or an open connection. More connections with the same settings are opened.
    target
        ``"DIR/"``: a folder with a folder for each table. ``"delta:DIR"`` (extra ``[delta]``), ``"iceberg:DIR/"`` or
        ``"iceberg:CATALOGUE.NAMESPACE"`` (extra ``[iceberg]``), ``"FILE.duckdb"`` (needs duckdb),
        ``"postgresql://user@host/database"`` (extra ``[postgresql]``), ``"informix://user@host:9088/database"``: a
        table for each.
    tables
        Names, ``table`` or ``owner.table``. None (default): all tables of the database.
    mode
        ``"full"`` (default): the rows replace the last copy of the table. ``"incremental"``: rows whose ``watermark``
        is above the highest one that was copied are added, and replace rows with the same ``key`` if one is given. If
        the last copy had no watermark, the copy is a full one. ``"append"``: all rows are added to those that are
        there. ``"merge"``: all rows are added and replace those with the same ``key``.
    watermark
        A column whose values only grow: an integer, SERIAL, DATE, DATETIME or DECIMAL. Rows in which it is NULL are
        copied by full copies only.
    overlap
        How far below the highest watermark an incremental copy begins, for rows that were committed late: a number,
        days for a DATE, seconds for a DATETIME. Needs ``key``.
    key
        Columns that identify a row.
    where
        A condition in the source's SQL. From each table, only rows that meet it are read. None (default): all rows.
    partition_by
        For a folder of Parquet files: columns whose values name subfolders, ``col=value/``, in Hive's layout. NULL is
        ``__HIVE_DEFAULT_PARTITION__``. The files do not contain these columns. Readers take them from the names of the
        folders.
    rejects
        A file for rows with a value that the target cannot hold. They are left out of the copy and counted. For each
        such value a line of JSON is appended: table, key, column, value and reason. None (default): the first such
        value is an error.
    floating_decimals
        How DECIMAL(p) without a scale is read: ``"string"`` (default) keeps all digits, and becomes DECIMAL in
        Informix, ``numeric`` in PostgreSQL and text elsewhere; ``"float64"``; or a ``pyarrow.decimal128(p, s)``, exact
        or an error.
    evolve
        True: changes of columns since the last copy are adopted. A full copy adopts any change, other copies new
        columns only. False (default): a table whose columns changed is an error that names the change.
    run_id
        For ``mode="append"``: a name of this append of at most 200 characters, such as the day or the scheduler's id of
        the run. The target records it together with the rows, and keeps the last 100 names. If a table already has the
        rows of this name, nothing is added to it. So the call can be repeated after any error. Without a name a
        repeated call may append the rows twice, because the program may have ended just after its commit.
    again
        True: append the rows even if the target already has those of this ``run_id``. False by default.
    jobs
        Tables copied at once, 1 by default.
    connections
        Connections that read one table in a full copy, 1 by default.
    progress
        Called with the number of rows and bytes of each batch read, from any thread.
    done
        Called with each table's :class:`TableCopy`.

    Returns
    -------
    tuple of TableCopy
        In the order of the tables.

    Raises
    ------
    InterfaceError
        An argument or the target is invalid. Nothing was written.
    CopyFailed
        Some tables were not copied. The others were. The text names each of them and the reason.

    Notes
    -----
    After each table the target is read back. The row count, and for each column the number of values and their sum,
    must equal those of the rows that were read. Only then is the table recorded as copied.
    """
    for name, number in (("jobs", jobs), ("connections", connections)):
        if not isinstance(number, int) or isinstance(number, bool) or number < 1:
            raise InterfaceError(f"{name} must be a whole number of at least 1, got {number!r}.")
    for name, hook in (("progress", progress), ("done", done)):
        if hook is not None and not callable(hook):
            raise InterfaceError(f"{name} must be a function, got {hook!r}.")
    if not isinstance(target, str):
        raise InterfaceError(f"{target!r} is not a target. Write a string: {TARGETS}.")
    if rejects is not None and not isinstance(rejects, str | os.PathLike):
        raise InterfaceError(f"rejects must be the path of a file, got {rejects!r}.")
    plan = _CopyPlan(
        mode,
        watermark,
        overlap,
        _names("key", key),
        evolve,
        connections,
        where,
        floating_decimals,
        run_id,
        again,
    )
    own_connection = None if isinstance(source, Connection) else connect(source, autocommit=True)
    connection = own_connection or source
    assert isinstance(connection, Connection)
    try:
        names = _tables(connection, tables)
        opened = open_target(target, _names("partition_by", partition_by))
        reject_log = None if rejects is None else RejectLog(rejects)
        try:
            run = _CopyRun(connection, opened, plan, progress or (lambda rows, size: None), reject_log, jobs)
            if own_connection is not None:
                run.idle.append(own_connection)
            with closing(run), ThreadPoolExecutor(jobs + opened.overlapping, "copy") as pool:
                try:
                    futures = [pool.submit(run.table, name) for name in names]
                    copies = []
                    for future in futures:
                        while wait([future], POLL_SECONDS).not_done:
                            # A wait without a limit is not ended by Ctrl-C once a library such as Polars has
                            # installed its own signal handler.
                            pass
                        copies.append(future.result())
                        if done is not None:
                            done(copies[-1])
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    run.stop()
                    # Ctrl-C while the pool starts a thread leaves one that the pool does not know, so the run counts
                    # them. A cancel that arrives just before a worker waits has no effect, so it is repeated.
                    while run.workers:
                        time.sleep(POLL_SECONDS)
                        run.stop()
                    raise
        finally:
            opened.close()
            if reject_log is not None:
                reject_log.close()
    finally:
        if own_connection is not None:
            own_connection.close()
    failed = [each for each in copies if each.error is not None]
    if failed:
        texts = "; ".join(each.error_text(str(each.error).partition("\n")[0]) for each in failed)
        error = CopyFailed(f"{len(failed)} of {len(copies)} tables were not copied: {texts}")
        error.copies = tuple(copies)
        raise error
    return tuple(copies)


@dataclass(frozen=True, slots=True)
class _CopyPlan:
    """The checked arguments of a call."""

    mode: str
    watermark: str | None
    overlap: float | str
    key: tuple[str, ...]
    evolve: bool
    connections: int
    where: str | None
    floating_decimals: FloatingDecimals
    run_id: str | None = None
    again: bool = False

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise InterfaceError(f"mode must be one of {', '.join(map(repr, MODES))}, got {self.mode!r}.")
        if (self.mode == "incremental") != (self.watermark is not None):
            raise InterfaceError(
                "mode='incremental' needs watermark=, the column that identifies new rows. Other modes take "
                "none."
            )
        if self.mode == "merge" and not self.key:
            raise InterfaceError("mode='merge' needs key=, the columns that identify a row.")
        if self.mode in ("full", "append") and self.key:
            raise InterfaceError(f"mode={self.mode!r} takes no key=.")
        for name, value in (("watermark", self.watermark), ("where", self.where)):
            if value is not None and not isinstance(value, str):
                raise InterfaceError(f"{name} must be a string, got {value!r}.")
        if self.run_id is not None and (
            not isinstance(self.run_id, str) or not 0 < len(self.run_id) <= RUN_ID_CHARACTERS
        ):
            raise InterfaceError(
                f"run_id must be a string of 1 to {RUN_ID_CHARACTERS} characters, got {self.run_id!r}."
            )
        if self.run_id is not None and self.mode != "append":
            raise InterfaceError(
                f"run_id= goes with mode='append'. mode={self.mode!r} can be repeated as it is."
            )
        if not isinstance(self.again, bool):
            raise InterfaceError(f"again must be True or False, got {self.again!r}.")
        if self.again and self.run_id is None:
            raise InterfaceError("again= needs run_id=, the name of the append that is made once more.")
        if not isinstance(self.evolve, bool):
            raise InterfaceError(f"evolve must be True or False, got {self.evolve!r}.")
        try:
            overlap = Decimal(self.overlap)
        except (ArithmeticError, TypeError, ValueError):
            overlap = Decimal("NaN")
        if not overlap.is_finite() or overlap < 0:
            raise InterfaceError(f"overlap= must be a number of at least 0, got {self.overlap!r}.")
        if Decimal(self.overlap) and not self.key:
            raise InterfaceError(
                "overlap= reads rows again. Name the columns that identify a row with key=, so that they "
                "replace the copied ones."
            )
        if self.where is not None and not self.where.strip():
            raise InterfaceError("where= must be a condition, but is empty.")


class _CopyRun:
    """One call of copy(): the state that its worker threads share."""

    def __init__(
        self,
        connection: Connection,
        target: CopyTarget,
        plan: _CopyPlan,
        progress: Callable[[int, int], object],
        rejects: RejectLog | None,
        jobs: int,
    ) -> None:
        settings = connection._reconnect_parameters()
        self._settings = replace(settings, autocommit=True)
        self._target = target
        self._rejects = rejects
        self._plan = plan
        self._progress = progress
        self._database = connection.database
        self._where = f"{connection.server_name or settings.server}/{connection.database}"
        self.idle: list[Connection] = []  # connections for reading tables, closed at the end
        self._busy: set[Connection] = set()
        self._lock = threading.Lock()
        self._jobs = threading.Semaphore(jobs)
        self._id = uuid.uuid4().hex
        self.stopped = False
        self.workers = 0  # threads that copy a table; one that begins after stop() changes nothing

    def table(self, name: str) -> TableCopy:
        """Copy one table. An error is in the result."""
        with self._lock:
            self.workers += 1
        try:
            self._jobs.acquire()
            began = time.monotonic()
            try:
                with self._open_job_slot() as turn:
                    copied = self._copy(turn.connection, name, turn)
            except (Error, pa.ArrowException, OSError) as error:
                copied = TableCopy(name, self._plan.mode, error=error)
            return replace(copied, seconds=round(time.monotonic() - began, 3))
        finally:
            with self._lock:
                self.workers -= 1

    @contextmanager
    def _open_job_slot(self) -> Iterator[_JobSlot]:
        """Provide a connection to read a table, an idle one or a new one.

        The connection is returned when the slot is released, at the latest at the end of this block. After an error it
        is closed.
        """
        try:
            with self._lock:
                connection = self.idle.pop() if self.idle else None
            if connection is None:
                connection = open_base_connection(self._settings)
        except BaseException:
            self._jobs.release()
            raise
        with self._lock:
            self._busy.add(connection)
        turn = _JobSlot(connection, self._return_connection)
        try:
            if self.stopped:
                raise OperationalError(_STOPPED)
            yield turn
        except BaseException:
            turn.release(usable=False)
            raise
        turn.release()

    def _return_connection(self, connection: Connection, usable: bool) -> None:
        """Take a slot's connection back, and let the next table be read."""
        try:
            with self._lock:
                self._busy.discard(connection)
                if usable:
                    self.idle.append(connection)
            if not usable:
                connection.close()
        finally:
            self._jobs.release()

    def stop(self) -> None:
        """Stop all workers. The statements that they wait for are cancelled."""
        self.stopped = True
        with self._lock:
            busy = list(self._busy)
        for connection in busy:
            with suppress(Error, OSError):
                connection.cancel()
        self._target.cancel()

    def close(self) -> None:
        """Close the idle connections."""
        while self.idle:
            self.idle.pop().close()

    def _copy(self, connection: Connection, name: str, turn: _JobSlot) -> TableCopy:
        plan = self._plan
        folder = TableName.parse(name).name
        if '"' in name and not self._settings.delimident:
            raise InterfaceError(
                f"{name} is a name that a statement can use with DELIMIDENT only. Connect with "
                "env={'DELIMIDENT': 'y'}, or set DELIMIDENT in the environment."
            )
        source = f"{self._where}/{self._state_name(name)}"
        unfinished = [] if self._rejects is None else self._rejects.unfinished(name)
        try:
            before = self._target.state(folder)
            for part, _ in unfinished:
                if before is None or part != before.rejects:
                    os.unlink(part)  # of a copy that does not count
        finally:
            for _, handle in unfinished:
                os.close(handle)
        if before is not None and before.source != source and not self._is_same(before.source, source):
            raise OperationalError(
                f"{folder} in the target is a copy of {before.source}, and this is {source}. Choose another "
                "target."
            )
        mode = plan.mode
        if mode == "incremental" and (before is None or before.watermark is None):
            mode = "full"
        is_known = before is not None and plan.run_id in [each for each, _, _ in before.run_ids]
        # Rejects of a copy that ended behind its commit. A copy of all rows finds them again.
        rejects_again = before is not None and mode in ("full", "merge") and before.where == plan.where
        if before is not None and before.rejects and not rejects_again:
            publish(before.rejects)
        if before is not None and is_known and not plan.again:
            return TableCopy(name, mode, target_rows=before.rows, already_copied=True)
        if mode == "incremental" and before is not None and before.where != plan.where:
            conditions = [each or "no condition" for each in (before.where, plan.where)]
            raise OperationalError(
                f"The last copy used where = {conditions[0]}, and this one uses {conditions[1]}. Rows below "
                "the watermark that only one of them selects would be missing or stay. Copy the table in "
                "full to change the condition."
            )
        tabid = self._tabid(connection, name) if plan.watermark is not None else None
        last = before.tabid if before is not None and mode == "incremental" else None
        if None not in (last, tabid) and last != tabid:
            raise OperationalError(
                "The table was dropped and created again since the last copy. Rows below the last "
                "watermark would be missing. Copy the table in full, or merge it by its key."
            )
        result, columns = self._read(connection, name, mode, before)
        with result:
            now = tuple((column.name, self._declared_type(column)) for column in columns)
            if before is not None:
                self._check_column_changes(before, now, mode)
            checks = ColumnChecksums(result.schema)
            watermark = None
            if plan.watermark is not None:
                watermark = _watermark_key(_column("the table", columns, plan.watermark))
            highest = _WatermarkTracker(result.schema, watermark)
            key = [_column(name, columns, each).name for each in plan.key]
            if len(set(key)) < len(key):
                raise InterfaceError(f"{name}: key names a column twice: {', '.join(key)}.")
            reject_filter = RejectFilter(
                name,
                lambda: self._primary_key(name),
                key,
                self._target.unrepresentable_values,
                self._rejects,
                self._id,
            )
            batches = self._track_batches(result.batches(), checks, highest, reject_filter)
            rows = CopyRows(result.schema, _release_after(batches, result, turn), checks, turn.cancel)

            def state() -> State:
                part = reject_filter.flush()
                run_ids = () if before is None else before.run_ids
                if plan.run_id is not None:
                    rows_read = checks.rows + reject_filter.rows
                    now_text = dt.datetime.now(dt.timezone.utc).isoformat(" ", "seconds")
                    run_ids = (*run_ids, (plan.run_id, now_text, rows_read))[-RUN_IDS:]
                mark = highest.text
                if mark is None and before is not None and mode == "incremental":
                    mark = before.watermark
                return State(
                    source,
                    now,
                    mark,
                    self._id,
                    checks=checks.to_json(),
                    where=plan.where,
                    tabid=tabid,
                    rejects=part,
                    run_ids=run_ids,
                )

            try:
                if before is None or mode == "full":
                    stored = self._target.replace(folder, rows, state, key)
                elif key:
                    stored = self._target.merge(folder, rows, state, key)
                else:
                    stored = self._target.append(folder, rows, state)
            except BaseException:
                turn.cancel()  # or closing the result would wait for rows that nobody takes
                raise
        if stored.rejects:
            publish(stored.rejects)
        if before is not None and before.rejects and rejects_again:
            with suppress(FileNotFoundError):
                os.unlink(before.rejects)
        mark = stored.watermark[1] if stored.watermark else None
        return TableCopy(
            name,
            mode,
            checks.rows + reject_filter.rows,
            stored.rows,
            highest.bytes,
            watermark=mark,
            checks=checks.to_json(),
            rejected=reject_filter.rows,
        )

    def _read(
        self, connection: Connection, name: str, mode: str, before: State | None
    ) -> tuple[Result | PartitionedResult, Sequence[Column]]:
        """Return the open result with the rows that are due, and the columns of the table."""
        plan = self._plan
        query = f"SELECT * FROM {name}"
        options: ReadKeywords = {
            "floating_decimals": plan.floating_decimals,
            "batch_bytes": BATCH_BYTES,
        }
        if plan.where is not None:
            query = f"{query} WHERE ({plan.where}\n)"  # on a line of its own, in case the condition ends with a comment
        if mode == "incremental" and before is not None:
            assert before.watermark is not None
            with connection.query(f"SELECT * FROM {name} WHERE 1 = 0") as empty:
                columns = empty.columns
            column = _column(name, columns, plan.watermark or "")
            if before.watermark[0] != column.name:
                raise OperationalError(
                    f"{name}: The last copy used the watermark {before.watermark[0]}, not {column.name}. "
                    "Copy the table in full to change that."
                )
            key = _watermark_key(column)
            since = _subtract_overlap(key, key.parse(before.watermark[1]), plan.overlap)
            (cut,) = key.cuts([since])
            sign = ">=" if Decimal(plan.overlap) else ">"
            mark = quote(column.name, self._settings.delimident)
            joined = "WHERE" if plan.where is None else "AND"
            result = connection.query(
                f"{query} {joined} {mark} {sign} {cut.sql}",
                cut.parameters,
                **options,
            )
            return result, result.columns
        if plan.connections == 1:
            result = connection.query(query, **options)
            return result, result.columns
        with connection.query(f"SELECT * FROM {name} WHERE 1 = 0") as empty:
            columns = empty.columns
        source = name if plan.where is None else query
        parts = partition_read(
            connection, source, None, 4 * plan.connections, connections=plan.connections, **options
        )
        return parts, columns

    def _declared_type(self, column: Column) -> str:
        """Return the SQL type of a column, with the way it is read where there is a choice."""
        kind, reading = column.type, self._plan.floating_decimals
        return f"{kind.sql} as {reading}" if kind.is_floating_decimal and reading != "string" else kind.sql

    def _state_name(self, name: str) -> str:
        """Return the table's name as states spell it, however the caller spelled it."""
        table = TableName.parse(name)
        database = f"{table.database}:" if table.database not in ("", self._database) else ""
        owner = f"{table.owner}." if table.owner else ""
        return database + owner + quote_if_needed(table.name)

    def _is_same(self, before: str, source: str) -> bool:
        """Return whether a state of an older release, which has the name as the caller spelled it, is of this table."""
        if not before.startswith(f"{self._where}/"):
            return False
        try:
            return f"{self._where}/{self._state_name(before[len(self._where) + 1 :])}" == source
        except InterfaceError:
            return False

    def _tabid(self, connection: Connection, name: str) -> int | None:
        """Return the source's number of a table, or None if it has none or several owners have a table of that name."""
        table = TableName.parse(name)
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT tabid, owner FROM {catalogue(table.database)}systables WHERE tabname = ?",
                (table.name,),
            )
            tabids = [
                int(tabid) for tabid, owner in cursor.fetchall() if table.is_owned_by(str(owner).rstrip())
            ]
        return tabids[0] if len(tabids) == 1 else None

    def _primary_key(self, name: str) -> list[str]:
        """Return the columns of a table's primary key. Uses a new connection, because rows arrive on the other one."""
        with open_base_connection(self._settings) as connection:
            columns: list[str] = connection.primary_key(name)["column_name"].to_pylist()
            return columns

    def _check_column_changes(self, before: State, now: Sequence[tuple[str, str]], mode: str) -> None:
        """Raise ``OperationalError`` if the columns changed and the change may not or cannot be adopted."""
        changes = describe_column_changes(before.columns, now)
        if not changes:
            return
        if not self._plan.evolve:
            raise OperationalError(
                f"The columns have changed since the last copy: {'; '.join(changes)}. Use evolve=True to "
                "take over the change."
            )
        others = [each for each in changes if not each.endswith(" is new")]
        if others and mode != "full":
            raise OperationalError(
                f"A copy that is not full can take over new columns only: {'; '.join(others)}."
            )

    def _track_batches(
        self,
        batches: Iterator[pa.RecordBatch],
        checks: ColumnChecksums,
        highest: _WatermarkTracker,
        reject_filter: RejectFilter,
    ) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            if self.stopped:
                raise OperationalError(_STOPPED)
            highest.add(batch)
            self._progress(batch.num_rows, batch.nbytes)
            fitting = reject_filter.filter_batch(batch)
            checks.add(fitting)
            yield fitting


class _JobSlot:
    """A table's turn to be read, with its connection. There are as many slots as jobs."""

    def __init__(self, connection: Connection, take_back: Callable[[Connection, bool], None]) -> None:
        self.connection = connection
        self._return_connection = take_back
        self._released = False
        self._lock = threading.Lock()  # a cancel must not reach the next user of the connection

    def cancel(self) -> None:
        """End the wait for rows, from any thread. Does nothing if the connection was returned."""
        with self._lock, suppress(Error, OSError):
            if not self._released:
                self.connection.cancel()

    def release(self, *, usable: bool = True) -> None:
        """Return the connection; further calls do nothing. A connection that is not usable is closed."""
        with self._lock:
            released, self._released = self._released, True
        if not released:
            self._return_connection(self.connection, usable)


def _release_after(
    batches: Iterator[pa.RecordBatch], result: Result | PartitionedResult, turn: _JobSlot
) -> Iterator[pa.RecordBatch]:
    """Yield the batches, and release the connection after the last one."""
    yield from batches
    result.close()
    turn.release()


class _WatermarkTracker:
    """The highest watermark of the rows that passed, and their size in bytes."""

    def __init__(self, schema: pa.Schema, key: PartitionKey | None) -> None:
        self.bytes = 0
        self._key = key
        self._column_index = schema.names.index(key.name) if key is not None else -1
        self._value: Any = None

    def add(self, batch: pa.RecordBatch) -> None:
        self.bytes += batch.nbytes
        if self._key is not None:
            highest = pc.max(batch.column(self._column_index)).as_py()
            if highest is not None and (self._value is None or highest > self._value):
                self._value = highest

    @property
    def text(self) -> tuple[str, str] | None:
        """The column and the value; None if there was no value."""
        return None if self._value is None or self._key is None else (self._key.name, str(self._value))


def _subtract_overlap(key: PartitionKey, value: Any, overlap: float | str) -> Any:
    """Return the value at which an incremental copy begins to read."""
    amount = Decimal(overlap)
    if not amount:
        return value
    if isinstance(value, dt.datetime):
        floor = dt.datetime.min
        seconds = dt.timedelta(seconds=float(amount))
        return value - seconds if value - floor > seconds else floor
    if isinstance(value, dt.date):
        return dt.date.fromordinal(max(value.toordinal() - int(amount), 1))
    if isinstance(value, dt.time):
        raise InterfaceError(f"The watermark {key.name} is a time of day, which supports no overlap.")
    return value - (amount if isinstance(value, Decimal) else int(amount))


def _watermark_key(column: Column) -> PartitionKey:
    """Return the watermark as a key, or raise ``InterfaceError`` for a column that cannot be one."""
    try:
        key = PartitionKey(column.name, column.type)
    except InterfaceError:
        key = None
    if key is None or not key.has_strides:
        raise InterfaceError(
            f"The watermark {column.name} is {column.type.sql}. A watermark can be an integer, SERIAL, "
            "DATE, DATETIME, or DECIMAL with a scale."
        )
    return key


def _column(table: str, columns: Sequence[Column], name: str) -> Column:
    found = find_column(table, [each.name for each in columns], name)
    return next(each for each in columns if each.name == found)


def _names(keyword: str, value: str | Sequence[str] | None) -> tuple[str, ...]:
    names = (value,) if isinstance(value, str) else () if value is None else value
    if not isinstance(names, Sequence) or not all(isinstance(each, str) for each in names):
        raise InterfaceError(f"{keyword} must be a column's name or a sequence of them, got {value!r}.")
    return tuple(names)


def _tables(connection: Connection, tables: Sequence[str] | None) -> list[str]:
    """Return the names of the tables to copy, as statements spell them."""
    if tables is not None and (
        isinstance(tables, str)
        or not isinstance(tables, Sequence)
        or not all(isinstance(each, str) for each in tables)
    ):
        raise InterfaceError(f"tables must be a sequence of names, got {tables!r}.")
    if tables is None:
        table_names: list[str] = connection.tables(types=("TABLE",))["table_name"].to_pylist()
        # with DELIMIDENT all names are quoted, so reserved words do not matter
        exact = connection._parameters.delimident
        names = [quote(name, exact) if exact else quote_if_needed(name) for name in table_names]
    else:
        names = list(tables)
    folders = [TableName.parse(name).name for name in names]
    duplicate = next((name for name in folders if folders.count(name) > 1), None)
    if duplicate is not None:
        raise InterfaceError(f"Two tables are called {duplicate}. They cannot be copied to one target.")
    return names
