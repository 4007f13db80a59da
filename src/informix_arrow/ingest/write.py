"""Run one load, from describing the table to the report."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import pyarrow as pa

from ..operations.bulk_insert import Loader, LoadOutcome, LoadSpec, is_connection_lost
from ..operations.cancel import cancel_requested
from ..operations.instrument import report, report_rows
from ..operations.io_steps import Exchange
from ..operations.load_transaction import LoadTransaction, LoadTransactionKind
from ..operations.object_load import ObjectLoader
from ..operations.object_pipeline import ObjectPipeline, object_specifications
from ..operations.prepare import acquire, release_after, release_statement, return_statement
from ..operations.replayable_iterator import ReplayableIterator
from ..operations.request_reply import drain_pending_replies
from ..operations.session import Session, TransactionStatus
from ..operations.statement_cache import PreparedStatement
from ..wire import messages as m
from ..wire.assignment import Inexact
from ..wire.describe import Column
from ..wire.errors import (
    INTERRUPTED,
    Error,
    IntegrityError,
    NotSupportedError,
    ProgrammingError,
)
from ..wire.types import COMPLEX_CODES, ColumnType, TypeCode
from . import create_table, merge, table_dependencies, target_table
from .batch_sources import ArrivingBatches, SharedBatchSource
from .convert import Converter, converter
from .error_hints import hint_for
from .report import RejectedRows, WriteReport, add_text
from .row_feed import CHUNK_ROWS, ArrowRowSource

_CREATING_MODES = ("create", "replace", "create_append")
MODES = ("append", "create", "replace", "create_append", "truncate", "upsert")


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """The checked arguments of :meth:`Connection.write_arrow`."""

    table: str
    schema: pa.Schema
    mode: str = "append"
    columns: Sequence[str] | Mapping[str, str] | None = None
    collect: bool = False
    commit_every: int | None = None
    method: str = "auto"
    key: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    serial: str | None = None
    types: Mapping[str, str] = field(default_factory=dict)
    temporary: bool = False
    delimident: bool = False
    cascade: bool = False
    inexact: Inexact = "error"
    time_zone: str | None = None
    group_bytes: int = 1 << 20
    window_bytes: int = 512 << 10
    window_rows: int = 4096
    object_bytes: int | None = None  # limits the contents sent without waiting, below the connection's limit
    piece_rows: int = CHUNK_ROWS


class _OutOfDate(Error):
    """The cached columns of a table no longer match the table."""


@dataclass(frozen=True, slots=True)
class _CachedTable:
    """A table's columns and INSERT from an earlier load (see
    :class:`informix_arrow.operations.bulk_insert.CachedTableMetadata`)."""

    session: Session
    table: str
    columns: tuple[Column, ...]  # all columns of the table
    mapped: list[tuple[str, Column]]
    prepared: PreparedStatement  # the INSERT, which only this load uses
    rejects: RejectedRows

    @property
    def had_rejections(self) -> bool:
        """True if rows were refused."""
        return len(self.rejects) > 0

    def verify(self) -> Exchange[None]:
        """Describe the table again. Raises ``_OutOfDate`` if it has changed."""
        columns = yield from target_table.describe_table(self.session, self.table)
        if columns != self.columns:
            raise _OutOfDate


class TableWrite:
    """Runs a write request. ``progress`` is called with the rows confirmed, bytes sent and seconds elapsed."""

    def __init__(
        self,
        session: Session,
        request: WriteRequest,
        batches: Iterator[pa.RecordBatch],
        progress: Callable[[int, int, float], object] | None = None,
    ) -> None:
        self._session, self._request, self._batches = session, request, batches
        # The batches, as long as the load may have to start again.
        self._replayable_batches: ReplayableIterator[pa.RecordBatch] | None = None
        self._progress = progress
        self._began = time.monotonic()
        self._rejects = RejectedRows(request.schema)
        self._loader: Loader | None = None
        self._feed: ArrowRowSource | None = None
        self._target: tuple[Column, ...] = ()
        self._staging = ""  # temporary table to drop after a failure
        self._created = False
        self._emptied = False  # by TRUNCATE, which cannot be undone
        self._updated = 0
        self._dropped: tuple[str, ...] = ()

    def run(self) -> Exchange[WriteReport]:
        """Run the load. On an error everything since the last commit is undone, if the database can.

        A table that was loaded before is not described again. If the cached description turns out to be out of
        date, or may be because a row was refused, the rows sent so far are undone and the load starts again
        without it.
        """
        report(self._session, "load", self._request.table)
        known = self._find_cached_table()
        if known is not None:
            self._batches = self._replayable_batches = ReplayableIterator(self._batches)
            try:
                return (yield from self._run(known))
            except _OutOfDate:
                self._batches, self._replayable_batches = self._replayable_batches.replay(), None
                self._rejects, self._loader, self._feed = RejectedRows(self._request.schema), None, None
        return (yield from self._run(None))

    def _run(self, known: _CachedTable | None) -> Exchange[WriteReport]:
        session = self._session
        try:
            scope = yield from self._begin_transaction(known)
        except Error as error:
            if is_connection_lost(error):
                add_text(error, "Nothing of this load was sent.")
            raise
        try:
            rows = yield from self._write(scope, known)
            yield from scope.complete()
        except Exception as error:
            if known is not None and self._out_of_date(error) and (yield from scope.rollback()):
                raise _OutOfDate from error
            yield from self._undo(scope, error)
            raise
        assert self._loader is not None
        done = self._loader.outcome
        report_rows(session, rows)
        return WriteReport(
            table=self._request.table,
            mode=self._request.mode,
            rows=rows,
            rejected=self._rejects.table(),
            batches=done.groups,
            seconds=time.monotonic() - self._began,
            bytes=done.bytes,
            method=done.method,
            commits=scope.commits,
            transaction=scope.kind.value,
            created=self._created,
            serial=done.serial or None,
            updated=self._updated,
            dropped=self._dropped,
        )

    def _find_cached_table(self) -> _CachedTable | None:
        """Return the cached table of the last load into it. None if this load cannot use it."""
        session, request = self._session, self._request
        columns = session.statements.tables.get(request.table)
        if (
            columns is None
            or request.mode != "append"
            or isinstance(self._batches, ArrivingBatches | SharedBatchSource)  # they cannot be replayed
            or not session.logged
            or session.transaction not in (TransactionStatus.NONE, TransactionStatus.OPEN)
        ):
            return None
        try:
            mapped = target_table.map_columns(request.schema, columns, request.columns, request.table)
            self._check(mapped)
            mapped, sql = self._insert(request.table, mapped)
        except Error:  # the table may have changed
            return None
        if any(_is_smart(column.type) for _, column in mapped):
            return None
        prepared = session.statements.pop(sql)
        if prepared is None:
            return None
        return _CachedTable(session, request.table, columns, mapped, prepared, self._rejects)

    def _begin_transaction(self, known: _CachedTable | None) -> Exchange[LoadTransaction]:
        session, commit_every = self._session, self._request.commit_every
        if known is None:
            yield from drain_pending_replies(session)
            return (yield from LoadTransaction.begin(session, commit_every))
        try:
            if any(reply.bulky for reply in session.pending_replies):
                yield from drain_pending_replies(session)
            return LoadTransaction.begin_deferred(session, commit_every)
        except Exception as error:
            yield from release_after(session, known.prepared.statement_id, error)
            raise

    def _out_of_date(self, error: Exception) -> bool:
        """Return whether ``error`` may come from an outdated description of the table.

        That is so if the server no longer knows the statement, or if a value was refused before it was sent.
        """
        loader = self._loader
        return (
            isinstance(error, Error)
            and error is not self._session.caller_error
            and (self._feed is None or error is not self._feed.source_error)
            and error.sqlcode != INTERRUPTED
            and self._session.usable_after(error)
            and (
                loader is None
                or not loader.first_rows_accepted
                or (not loader.metadata_verified and error.sqlcode is None and not loader.outcome.commits)
            )
        )

    @property
    def outcome(self) -> LoadOutcome:
        """The progress of the load, up to its failure if it failed."""
        return self._loader.outcome if self._loader else LoadOutcome()

    # ---- the load ------------------------------------------------------------------------------------------

    def _write(self, scope: LoadTransaction, known: _CachedTable | None) -> Exchange[int]:
        request = self._request
        if known is not None:
            self._target = known.columns
            return (yield from self._load(scope, request.table, known.mapped, known))
        if request.mode in _CREATING_MODES:
            yield from self._make_table(scope)
        self._target = yield from target_table.describe_table(self._session, request.table)
        mapped = target_table.map_columns(request.schema, self._target, request.columns, request.table)
        self._check(mapped)
        if request.mode == "truncate":
            yield from self._empty_table(scope)
        if request.mode != "upsert":
            return (yield from self._load(scope, request.table, mapped))
        columns = [column for _, column in mapped]
        names = [target_table.quote(column.name, request.delimident) for column in columns]
        key = [
            target_table.quote(name, request.delimident) for name in merge.key_columns(request.key, mapped)
        ]
        staging = f"ifx_upsert_{self._session.next_cursor_name()[-6:]}"
        sql = create_table.staging_table(staging, [column.type for column in columns], names, key)
        yield from self._execute(sql)
        self._staging = staging
        staged = yield from self._load(scope, staging, mapped)
        rows, self._updated = yield from merge.merge(
            self._session, request.table, self._target, staging, columns, names, key, staged
        )
        yield from self._execute(f"DROP TABLE {staging}")
        self._staging = ""
        return rows

    def _check(self, mapped: Sequence[tuple[str, Column]]) -> None:
        """Refuse types that do not fit, before anything is dropped, emptied or written."""
        _choose_method(self._request.method, [self._converter(name, column) for name, column in mapped])

    def _converter(self, name: str, column: Column) -> Converter:
        request = self._request
        return converter(
            column,
            name,
            request.schema.field(name).type,
            self._session.framing.encoding,
            inexact=request.inexact,
            time_zone=request.time_zone,
        )

    def _make_table(self, scope: LoadTransaction) -> Exchange[None]:
        """Create the table if the mode says so, in place of an existing one for ``replace``."""
        request = self._request
        exists = False
        if request.mode != "create":
            exists = yield from target_table.table_exists(self._session, request.table)
            if exists and request.mode == "create_append":
                return
        schema = self._new_columns()
        sql = create_table.create_table(
            request.table,
            schema,
            types=request.types,
            primary_key=request.primary_key,
            serial=request.serial,
            temporary=request.temporary,
            delimident=request.delimident,
        )
        self._check(self._new_types(schema))
        if exists:
            emptied = yield from self._clear_old_table(scope, schema)
            if emptied:
                return
        yield from self._execute(sql)
        self._created = True

    def _clear_old_table(self, scope: LoadTransaction, schema: pa.Schema) -> Exchange[bool]:
        """Empty the table to be replaced and return True if it has the same columns. Otherwise drop it and return
        False."""
        session, request = self._session, self._request
        columns = yield from target_table.describe_table(session, request.table)
        refers = yield from table_dependencies.referring_foreign_keys(session, request.table)
        if refers and not request.cascade:
            raise IntegrityError(
                f"Foreign keys of other tables refer to {request.table}: {', '.join(refers)}. Replacing the "
                "table would drop them. Use cascade=True to drop them, or load with mode='truncate' or "
                "mode='upsert'."
            )
        key = yield from target_table.key_columns(session, request.table, columns)
        same_key = not request.primary_key or {name.lower() for name in key} == {
            name.lower() for name in request.primary_key
        }
        same = same_key and table_dependencies.same_columns(columns, self._new_declared(schema))
        if same and not refers and not request.temporary:
            yield from self._empty_table(scope)
            return True
        dropped = yield from table_dependencies.dependencies_of(session, request.table, columns)
        others = yield from table_dependencies.views_and_synonyms(session, request.table)
        yield from self._execute(f"DROP TABLE {request.table}")
        others -= yield from table_dependencies.views_and_synonyms(session, request.table)
        self._dropped = (*dropped, *(f"foreign key {each}" for each in refers), *sorted(others))
        return False

    def _new_declared(self, schema: pa.Schema) -> list[tuple[str, str, pa.DataType | None]]:
        """Return name and declared type of the columns that the new table would have.

        If the type was derived from the data's Arrow type, that is the third item. Otherwise it is None.
        """
        request = self._request
        declared_names = {name.lower() for name in request.types} | {(request.serial or "").lower()}
        columns = create_table.new_columns(
            schema, types=request.types, primary_key=request.primary_key, serial=request.serial
        )
        fields = {each.name: each for each in schema}
        return [
            (
                name,
                text,
                None
                if name not in fields
                or name.lower() in declared_names
                or b"informix.type" in (fields[name].metadata or {})
                else fields[name].type,
            )
            for name, text, _ in columns
        ]

    def _new_types(self, schema: pa.Schema) -> list[tuple[str, Column]]:
        """Return the data's columns and the new table's columns for them.

        Columns of user-defined types are left out, because their text does not describe them.
        """
        request = self._request
        declared = {
            name: text
            for name, text, _ in create_table.new_columns(
                schema, types=request.types, primary_key=request.primary_key, serial=request.serial
            )
        }
        # The columns of the data, in the order of ``schema``.
        names = list(request.columns) if isinstance(request.columns, Mapping) else request.schema.names
        columns = []
        for source, field_ in zip(names, schema, strict=True):
            try:
                ct = ColumnType.parse_sql(declared[field_.name])
            except ValueError:  # a user-defined type: only DESCRIBE knows what it is
                continue
            columns.append((source, Column(field_.name, ct)))
        return columns

    def _empty_table(self, scope: LoadTransaction) -> Exchange[None]:
        # After TRUNCATE a transaction allows only COMMIT or ROLLBACK. DELETE has no such limit and can be undone.
        table = self._request.table
        if scope.kind is not LoadTransactionKind.NONE and self._request.commit_every is None:
            yield from self._execute(f"DELETE FROM {table}")
            return
        yield from self._execute(f"TRUNCATE TABLE {table}")
        if scope.kind is LoadTransactionKind.OWN_TRANSACTION:
            yield from scope.commit()
        self._emptied = True

    def _new_columns(self) -> pa.Schema:
        """Return the schema of a table to be created: that of the data, under the names that ``columns`` gives."""
        schema, columns = self._request.schema, self._request.columns
        if self._request.time_zone is not None:
            schema = pa.schema([_without_zone(each) for each in schema])
        if columns is None:
            return schema
        if isinstance(columns, Mapping):
            unknown = [name for name in columns if name not in schema.names]
            if unknown:
                raise ProgrammingError(f"The data has no column {', '.join(unknown)}.")
            return pa.schema([schema.field(name).with_name(into) for name, into in columns.items()])
        if isinstance(columns, str) or len(columns) != len(schema.names):
            raise ProgrammingError(f"columns must name the {len(schema.names)} columns of the data.")
        return pa.schema([each.with_name(name) for each, name in zip(schema, columns, strict=True)])

    def _insert(
        self, table: str, mapped: Sequence[tuple[str, Column]]
    ) -> tuple[list[tuple[str, Column]], str]:
        """Return the columns in the order of the INSERT, and its text."""
        # BLOB and CLOB come first, because their locators precede the values that the encoder writes.
        ordered = sorted(mapped, key=lambda each: not _is_smart(each[1].type))
        columns = [column for _, column in ordered]
        return ordered, target_table.insert_statement(table, columns, self._request.delimident)

    def _load(
        self,
        scope: LoadTransaction,
        table: str,
        mapped: Sequence[tuple[str, Column]],
        known: _CachedTable | None = None,
    ) -> Exchange[int]:
        session, request = self._session, self._request
        mapped, sql = self._insert(table, mapped)
        if known is not None:
            prepared = known.prepared
        else:
            prepared = yield from acquire(session, sql, len(mapped), anew=True)
        describe = prepared.describe
        try:
            if len(describe.columns) == len(mapped):  # the types that the INSERT reports take precedence
                mapped = [
                    (name, Column(column.name, described.type))
                    for (name, column), described in zip(mapped, describe.columns, strict=True)
                ]
            framing = session.framing
            converters = [self._converter(name, column) for name, column in mapped]
            self._feed = ArrowRowSource(
                self._batches,
                converters,
                framing.encoding,
                *self._row_frame(describe.statement_id, converters),
                self._rejects if request.collect else None,
                piece_rows=request.piece_rows,
                is_cancelled=partial(cancel_requested, session),
            )
            job = LoadSpec(
                describe.statement_id,
                sql,
                describe.statement_type,
                tuple(column.type for _, column in mapped),
                _choose_method(request.method, converters, prepared.load_method),
                request.collect,
                request.commit_every,
                request.group_bytes,
                request.window_bytes,
                request.window_rows,
                cached_metadata=known,
            )
            if any(each.content for each in converters):
                self._loader = yield from self._object_loader(scope, table, job, self._feed)
            else:
                self._loader = Loader(session, job, self._feed, scope, self._report_progress)
            yield from self._loader.run()
        except Exception as error:
            yield from release_after(session, describe.statement_id, error)
            raise
        if (
            request.mode != "append"
            or scope.kind is LoadTransactionKind.NONE
            or isinstance(self._loader, ObjectLoader)
        ):
            yield from release_statement(session, describe.statement_id)
        else:
            prepared.load_method = self._loader.outcome.method
            session.statements.store_table(table, self._target)
            yield from return_statement(session, prepared)
        return self._loader.outcome.rows

    def _object_loader(
        self, scope: LoadTransaction, table: str, job: LoadSpec, feed: ArrowRowSource
    ) -> Exchange[ObjectLoader]:
        """Return the loader for rows with BLOB and CLOB values.

        It sends contents without waiting for replies if a failure can be undone or does not end the load, and if
        the server reports how the objects of the columns are created.
        """
        session, request = self._session, self._request
        job = replace(job, window_bytes=1, window_rows=1)
        names = [each.column.name for each in feed.converters]
        objects = [
            (number, each.column.type.is_clob) for number, each in enumerate(feed.converters) if each.content
        ]
        window = min(session.lob_window, request.object_bytes or session.lob_window)
        in_front = [number for number, _ in objects] == list(range(len(objects)))
        if window and in_front and (scope.can_undo or job.collect):
            made_as = yield from object_specifications(session, table, names[: len(objects)])
            if made_as is not None:
                return ObjectPipeline(
                    session, job, feed, scope, self._report_progress, objects, made_as, window
                )
        return ObjectLoader(session, job, feed, scope, self._report_progress, objects)

    def _row_frame(self, statement_id: int, converters: Sequence[Converter]) -> tuple[bytes, bytes]:
        """Return the bytes before and after each row in BIND form. Both are empty for rows with BLOB or CLOB
        values."""
        framing = self._session.framing
        if any(each.content for each in converters):
            return b"", b""
        return m.Id(statement_id).encode(framing), b"".join(
            message.encode(framing) for message in (m.Execute(), m.EndOfTurn())
        )

    def _report_progress(self, outcome: LoadOutcome) -> None:
        if (
            self._replayable_batches is not None
            and self._loader is not None
            and self._loader.metadata_verified
        ):
            self._replayable_batches.commit()
        if self._progress is not None:
            self._progress(outcome.answered, outcome.bytes, time.monotonic() - self._began)

    def _execute(self, sql: str) -> Exchange[int]:
        """Run a statement of the driver's own and return the number of rows that it changed."""
        return (yield from merge.execute(self._session, sql))

    # ---- when it fails -------------------------------------------------------------------------------------

    def _undo(self, scope: LoadTransaction, error: Exception) -> Exchange[None]:
        """Undo what can be undone, and append to the error what remains of the load."""
        session = self._session
        if not session.usable_after(error):
            if is_connection_lost(error):
                add_text(error, self._connection_lost_message(scope))
            return
        try:
            undone = yield from scope.rollback()
            if self._staging:
                yield from self._drop_staging()
            yield from self._name_row(error)
        except Error as another:  # the connection was lost meanwhile
            if is_connection_lost(another):
                add_text(another, self._connection_lost_message(scope))
            raise another from error
        if isinstance(error, Error) and error is not session.caller_error:
            add_text(error, hint_for(error))
        if self._loader is not None or self._emptied:
            add_text(error, self._remaining_effect(scope, undone))

    def _drop_staging(self) -> Exchange[None]:
        try:
            yield from self._execute(f"DROP TABLE {self._staging}")
        except Error as error:
            if not self._session.usable_after(error):
                raise

    def _name_row(self, error: Exception) -> Exchange[None]:
        """Prefix the error with number and key of the row that ended the load."""
        if self._feed is None or self._feed.failed_row is None or self._feed.failed_row[2] is not error:
            return
        request = self._request
        key = request.key or request.primary_key
        if not key:
            near = self._feed.failed_row[2].near or ""
            key = yield from target_table.key_columns(self._session, request.table, self._target, near)
        self._feed.describe_failed_row(self._data_names(key))

    def _data_names(self, key: Sequence[str]) -> tuple[str, ...]:
        """Return the data's names for some of the table's columns."""
        assert self._feed is not None
        names = {each.column.name.lower(): each.source for each in self._feed.converters}
        return tuple(names[name.lower()] for name in key if name.lower() in names)

    def _remaining_effect(self, scope: LoadTransaction, undone: bool) -> str:
        outcome = self.outcome
        gone = "\nThe previous rows of the table are gone, because TRUNCATE cannot be rolled back."
        before = gone if self._emptied else ""
        if scope.kind is LoadTransactionKind.NONE:
            rows = 0 if self._request.mode == "upsert" else outcome.rows
            return (
                f"The database has no transaction log, so nothing can be rolled back. {rows:,} rows of this load are "
                f"in the table {self._request.table}.{before}"
            )
        if not undone:
            return "The server did not undo the load. Roll the transaction back before you continue."
        if scope.ended_by_server:
            stay = f" {self._commit_summary()} remain." if outcome.commits else ""
            return (
                "The server ended the load's transaction itself and rolled it back. Rows that were sent after that "
                f"may be in the table {self._request.table}. Check before you load them again."
                f"{stay}{before}"
            )
        if outcome.commits:
            return (
                f"The uncommitted rows were rolled back. {self._commit_summary()}, in the order of the data, remain "
                f"in the table.{before}"
            )
        if scope.kind is LoadTransactionKind.SAVEPOINT:
            return "Nothing of this load is in the table. The transaction is still open."
        return f"The load was rolled back. Nothing of it is in the table.{before}"

    def _commit_summary(self) -> str:
        outcome = self.outcome
        return (
            f"{outcome.commits} commits of {self._request.commit_every or 0:,} rows each ({outcome.committed:,} rows "
            "inserted)"
        )

    def _connection_lost_message(self, scope: LoadTransaction) -> str:
        outcome = self.outcome
        if scope.kind is LoadTransactionKind.NONE:
            return f"The database has no transaction log. {outcome.rows:,} rows or more are in the table."
        stand = f"{self._commit_summary()} remain in the table." if outcome.commits else ""
        if scope.in_doubt:
            unknown = (
                "The answer to COMMIT was lost. Check whether the rows are there before you load them again."
            )
            return f"{stand} {unknown}".lstrip()
        if stand:
            return f"{stand} The server rolls the rest back."
        emptied = " The table was emptied by TRUNCATE before." if self._emptied else ""
        return f"Nothing of this load was committed. The server rolls it back.{emptied}"


def _without_zone(field_: pa.Field) -> pa.Field:
    zoned = pa.types.is_timestamp(field_.type) and field_.type.tz is not None
    return field_.with_type(pa.timestamp(field_.type.unit)) if zoned else field_


def _choose_method(requested: str, converters: Sequence[Converter], last_method: str = "") -> str:
    """Return the load method. An insert cursor does not take large objects, collections, rows or opaque types.

    ``last_method`` is the method of the last load into the table.
    """
    odd = next((each for each in converters if not _can_be_put(each)), None)
    if odd is None:
        return "pipeline" if requested == "auto" and last_method == "pipeline" else requested
    if requested == "put":
        raise NotSupportedError(
            f"Column {odd.column.name!r} is a {odd.column.type.sql}, which an insert cursor does not "
            "support. Leave method= at 'auto'.",
            column=odd.column.name,
        )
    return "pipeline"


def _is_smart(ct: ColumnType) -> bool:
    """Return whether a column is a BLOB or CLOB."""
    return ct.is_large_object and ct.code not in (TypeCode.BYTE, TypeCode.TEXT)


def _can_be_put(each: Converter) -> bool:
    ct = each.column.type
    if ct.is_boolean or ct.is_lvarchar:
        return True
    large = (TypeCode.BYTE, TypeCode.TEXT, TypeCode.UDTVAR, TypeCode.UDTFIXED, TypeCode.SENDRECV)
    return ct.code not in large and ct.code not in COMPLEX_CODES
