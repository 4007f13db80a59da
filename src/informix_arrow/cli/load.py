"""``informix-arrow load``: files into a table."""

from __future__ import annotations

import argparse
import codecs
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from ..connection import Connection
from ..ingest import create_table
from ..ingest.report import WriteReport
from ..ingest.target_table import NO_SUCH_TABLE, check_table, map_columns
from ..unl.columns import columns_of
from ..wire.describe import Column
from ..wire.errors import Error, set_place
from ..wire.types import ColumnType
from . import connection_options, output, progress
from .checkpoint import Checkpoint, LoadPosition, can_record, forget, require_record
from .exit_codes import DONE, REJECTS, Failure, UsageError, add_note, one_line, print_error
from .files import PART_SUFFIX, STDIO, expand_paths
from .formats import READABLE, Options, format_of
from .interrupts import Interrupts
from .load_source import LoadFiles
from .parser import Commands, command, split_names, whole_number
from .rechunk import BatchSlicer
from .rejects import Reject, RejectFiles, from_report, from_source, in_order

EXAMPLE = """\
  informix-arrow load stores@ol_shop orders orders.csv --rejects refused.csv --max-errors 100
  informix-arrow load stores@ol_shop orders 'orders-*.parquet' --commit-every 100000
  zcat orders.csv.gz | informix-arrow load stores@ol_shop orders - --date-format %d.%m.%Y"""

MODES = ("append", "create", "replace", "create_append", "truncate", "upsert")
_CREATING = ("create", "replace", "create_append")
_RECORDED = ("append", "create_append")  # modes that add rows again when they are repeated
_CHUNK_ROWS = 50_000  # rows after which errors are counted


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "load", EXAMPLE)
    table = parser.add_argument_group("table")
    table.add_argument("--mode", choices=MODES, default="append", help="default: %(default)s")
    table.add_argument("--key", metavar="COLUMNS", help="columns that identify a row, for --mode upsert")
    table.add_argument(
        "--columns",
        metavar="LIST",
        help="columns of the table, in the order of the file: a,b,c; or by name: in_file=a,other=b",
    )
    table.add_argument(
        "--types",
        action="append",
        default=[],
        metavar="COLUMN=TYPE",
        help="type of a column of a new table; repeatable",
    )
    table.add_argument("--primary-key", metavar="COLUMNS", help="primary key of a new table")
    table.add_argument(
        "--cascade",
        action="store_true",
        help="with --mode replace: also drop the foreign keys of other tables that refer to the table",
    )
    files = parser.add_argument_group("files")
    files.add_argument(
        "--format", choices=READABLE, help="format of the files (default: by their suffix; CSV from -)"
    )
    files.add_argument("--delimiter", default="", metavar="C", help="field delimiter (default: the format's)")
    files.add_argument("--null", metavar="TEXT", help="text of NULL in CSV (default: an empty field)")
    files.add_argument(
        "--encoding", default="utf-8", metavar="NAME", help="code set of the files (default: %(default)s)"
    )
    files.add_argument(
        "--date-format",
        default="",
        metavar="FORMAT",
        help="format of dates, such as %%d.%%m.%%Y (default: ISO 8601); for .unl a DBDATE (default: MDY4/)",
    )
    files.add_argument(
        "--lob-directory",
        default="",
        metavar="DIR",
        help="directory of the contents of BLOB and CLOB columns of .unl files (default: that of the file)",
    )
    files.add_argument(
        "--inexact",
        choices=("error", "round", "truncate"),
        default="error",
        help="refuse, round or drop digits that a column cannot hold (default: %(default)s)",
    )
    files.add_argument(
        "--time-zone",
        metavar="ZONE",
        help="convert timestamps with a time zone to the local time of ZONE, such as Europe/Berlin "
        "(default: they are refused)",
    )
    errors = parser.add_argument_group("refused rows")
    errors.add_argument(
        "--rejects",
        metavar="FILE",
        help="write refused rows to FILE in the input's format, and the reasons to FILE.jsonl",
    )
    errors.add_argument(
        "--max-errors",
        type=int,
        metavar="N",
        help="load nothing if more than N rows are refused (exit code 1)",
    )
    errors.add_argument(
        "--on-error",
        choices=("abort", "collect"),
        help="end at the first refused row (default), or load the others (default with --rejects, --max-errors)",
    )
    errors.add_argument("--overwrite", action="store_true", help="replace the files of --rejects")
    work = parser.add_argument_group("transactions")
    work.add_argument("--dry-run", action="store_true", help="show the mapping of columns, and load nothing")
    work.add_argument(
        "--commit-every",
        type=whole_number,
        metavar="N",
        help="commit after every N rows, and record the position; the same command continues an interrupted load, and "
        "does nothing after a finished one (default: all or nothing, without a record)",
    )
    work.add_argument(
        "--resume",
        action="store_true",
        help="continue an interrupted load; refused if none is recorded and the table has rows",
    )
    work.add_argument(
        "--again", action="store_true", help="load all rows, also if these files were loaded before"
    )
    work.add_argument(
        "--forget", action="store_true", help="delete the record of loads of these files, and load nothing"
    )
    progress.add_options(parser.add_argument_group("other"))
    connection_options.add_options(
        parser, "URL TABLE FILE", "; the table; and files or patterns (-: standard input)"
    )


def run(options: argparse.Namespace) -> int:
    """Load the files."""
    url, table, *patterns = connection_options.take_url(options.words, ("TABLE", "FILE"), more=True)
    _check(options, table)
    paths = expand_paths(patterns)
    kind = format_of(paths[0], options.format, READABLE, "csv" if paths[0] == STDIO else None)
    with connection_options.connect_from_options(url, options) as connection:
        if options.forget:
            return _forget(connection, table, paths)
        target = _target(connection, table, options.mode)
        file_options = Options(
            delimiter=options.delimiter,
            null=options.null,
            encoding=options.encoding,
            collect=options.collect,
            nested={} if target is None else _nested_types(target.schema),
            types=_unl_types(target, options) if kind == "unl" else None,
            date_format=options.date_format,
            content_directory=options.lob_directory,
        )
        source = LoadFiles(paths, kind, file_options, connection._runner.call_timeout(None))
        try:
            plan = _plan(source, target, table, options)
            if options.dry_run:
                output.show(
                    plan.shown(source), argparse.Namespace(output=STDIO, format=None, overwrite=False)
                )
                return DONE
            return _Load(connection, source, plan, table, target is not None, options).run()
        finally:
            source.close()


def _forget(connection: Connection, table: str, paths: Sequence[str]) -> int:
    count = forget(connection, table, paths)
    print(f"{count} records of loads of these files into {table} deleted")
    return DONE


def _check(options: argparse.Namespace, table: str) -> None:
    """Raise ``UsageError`` for options that contradict each other. Sets ``collect``."""
    check_table(table)
    try:
        codecs.lookup(options.encoding)
    except LookupError:
        raise UsageError(f"--encoding {options.encoding}: Python has no such codec.") from None
    wants = options.rejects is not None or options.max_errors is not None
    if options.max_errors is not None and options.max_errors < 0:
        raise UsageError(f"--max-errors {options.max_errors}: It must be at least 0.")
    if options.on_error == "abort" and wants:
        raise UsageError(
            "--on-error abort ends the load at the first refused row. Leave --rejects and --max-errors out."
        )
    options.collect = options.on_error == "collect" or wants
    if options.primary_key and options.mode not in _CREATING:
        raise UsageError(
            f"--primary-key needs a mode that creates the table. --mode {options.mode} does not."
        )
    if options.forget and (options.again or options.resume):
        raise UsageError("--forget only deletes the record. Leave --again and --resume out.")
    if options.resume and options.mode == "upsert":
        raise UsageError(
            "--resume works with --mode append only. An upsert is one MERGE, which refuses duplicate keys "
            "and cannot be split. Leave --resume out and run the same command again. Rows that are there "
            "already are updated to the same values."
        )
    if (options.resume or options.again) and options.mode not in _RECORDED:
        word = "--resume" if options.resume else "--again"
        raise UsageError(
            f"{word} works with --mode append only. --mode {options.mode} creates or empties the table "
            "first, and would do so again. Do that in a command of its own, then load with --mode append."
        )
    if options.resume and options.commit_every is None:
        raise UsageError("--resume needs --commit-every N. Without it nothing is committed before the end.")
    if options.again and options.commit_every is None:
        raise UsageError("--again needs --commit-every N. A load in one transaction keeps no record.")


@dataclass(frozen=True)
class _Target:
    """The columns of the existing table."""

    schema: pa.Schema
    columns: tuple[Column, ...]


def _target(connection: Connection, table: str, mode: str) -> _Target | None:
    """Return the table; None if it does not exist and the mode creates it."""
    try:
        with connection.query(f"SELECT * FROM {table} WHERE 1 = 0", floating_decimals="string") as result:
            return _Target(result.schema, result.columns)
    except Error as error:
        if error.sqlcode == NO_SUCH_TABLE and mode in _CREATING:
            return None
        raise


def _unl_types(target: _Target | None, options: argparse.Namespace) -> pa.Schema:
    """Return the columns of .unl files: the table's, or those of --columns, in order."""
    requested = _columns(options.columns)
    if isinstance(requested, Mapping):
        raise UsageError(
            "--columns: The columns of a .unl file have no names. List the columns of the table: a,b,c"
        )
    if target is None:
        declared = _types(options.types)
        if requested is not None and any(name not in declared for name in requested):
            raise UsageError("--columns: Give the type of each column with --types.")
        types = {name: declared[name] for name in requested} if requested else declared
        if not types:
            raise UsageError(
                "A .unl file has no types. Give the types of all columns with --types, in order."
            )
        return columns_of(types)[0]
    if requested is None:
        return target.schema
    known = {each.name.lower(): each for each in target.schema}
    unknown = [name for name in requested if name.lower() not in known]
    if unknown:
        raise UsageError(
            f"--columns: The table has no column {', '.join(unknown)}. Its columns are {', '.join(known)}."
        )
    return pa.schema([known[name.lower()] for name in requested])


def _nested_types(schema: pa.Schema) -> dict[str, pa.DataType]:
    return {each.name.lower(): each.type for each in schema if pa.types.is_nested(each.type)}


@dataclass(frozen=True)
class _LoadPlan:
    """The mapping of file columns to table columns, and the types of a table that is created."""

    columns: Mapping[str, str]  # by the names in the file
    types: Mapping[str, str]  # of the table's columns, as far as they were given
    declared: Mapping[str, str]  # of the table's columns, as they are or will be

    def shown(self, source: LoadFiles) -> pa.Table:
        names = list(source.schema.names)
        return pa.table(
            {
                "file_column": names,
                "file_type": [str(source.schema.field(name).type) for name in names],
                "table_column": pa.array([self.columns.get(name) for name in names], pa.utf8()),
                "table_type": pa.array(
                    [self.declared.get(self.columns.get(name, "")) for name in names], pa.utf8()
                ),
            }
        )


def _plan(source: LoadFiles, target: _Target | None, table: str, options: argparse.Namespace) -> _LoadPlan:
    requested = None if source.kind == "unl" else _columns(options.columns)
    given_types = _types(options.types)
    if target is not None and options.mode not in ("create",):
        mapped = map_columns(source.schema, target.columns, requested, table)
        columns = {name: column.name for name, column in mapped}
        declared = {column.name: column.type.sql for _, column in mapped}
        targets = {name: column.type for name, column in mapped}
        types = {}
        if options.mode in ("replace", "create_append"):
            texts = {name for name in columns if pa.types.is_string(source.schema.field(name).type)}
            types = {columns[name]: declared[columns[name]] for name in texts} | given_types
        elif given_types:
            raise UsageError(f"--types needs a mode that creates the table. --mode {options.mode} does not.")
    else:
        columns = _new_names(source.schema, requested)
        missing = [
            into
            for name, into in columns.items()
            if into not in given_types and _is_untyped(source.schema.field(name))
        ]
        if missing:
            raise UsageError(
                f"The table {table} does not exist yet, and the file does not give the types of these "
                "columns. Use " + " ".join(f"--types {name}=TYPE" for name in missing)
            )
        schema = pa.schema([source.schema.field(name).with_name(into) for name, into in columns.items()])
        types = given_types
        declared = {name: text for name, text, _ in create_table.new_columns(schema, types=given_types)}
        targets = _parse_types(columns, declared)
    source.convert(targets, options.date_format)
    return _LoadPlan(columns, types, declared)


def _is_untyped(field: pa.Field) -> bool:
    return bool(pa.types.is_string(field.type) and b"informix.type" not in (field.metadata or {}))


def _parse_types(columns: Mapping[str, str], declared: Mapping[str, str]) -> dict[str, ColumnType]:
    types = {}
    for name, into in columns.items():
        try:
            types[name] = ColumnType.parse_sql(declared[into])
        except ValueError:  # a type of the database's own
            continue
    return types


def _new_names(schema: pa.Schema, requested: Sequence[str] | Mapping[str, str] | None) -> dict[str, str]:
    names = list(schema.names)
    if isinstance(requested, Mapping):
        unknown = [name for name in requested if name not in names]
        if unknown:
            raise UsageError(
                f"--columns: The file has no column {', '.join(unknown)}. Its columns are {', '.join(names)}."
            )
        return dict(requested)
    if requested is not None and len(requested) != len(names):
        raise UsageError(f"--columns names {len(requested)} columns, but the file has {len(names)}.")
    return dict(zip(names, requested or names, strict=True))


def _columns(text: str | None) -> Sequence[str] | Mapping[str, str] | None:
    if text is None:
        return None
    words = split_names(text)
    if not all(words):
        raise UsageError("--columns: A name is empty.")
    if not any("=" in word for word in words):
        return words
    pairs = [word.partition("=") for word in words]
    if not all(name and sign and into for name, sign, into in pairs):
        raise UsageError("--columns: Write either a,b,c or in_file=a,other=b, not a mixture.")
    return {name: into for name, _, into in pairs}


def _types(words: Sequence[str]) -> dict[str, str]:
    pairs = [word.partition("=") for word in words]
    if not all(name and sign and kind for name, sign, kind in pairs):
        raise UsageError("--types: Write COLUMN=TYPE, for example --types 'price=DECIMAL(10,2)'.")
    return {name: kind for name, _, kind in pairs}


@dataclass(eq=False, repr=False)
class _Load:
    """A load: in one call, or in chunks if errors are counted or its position is stored."""

    _connection: Connection
    _source: LoadFiles
    _plan: _LoadPlan
    _table: str
    _table_exists: bool
    _options: argparse.Namespace
    _rejects: RejectFiles = field(init=False)
    _reported_refused: int = field(default=0, init=False)  # of source.refused
    _position: LoadPosition = field(default_factory=LoadPosition, init=False)
    _committed: int = field(default=0, init=False)  # rows, if there are commits before the end
    _has_committed: bool = field(default=False, init=False)  # also if all rows were refused
    _earlier: int = field(default=0, init=False)  # rows that were committed by earlier runs
    _bar: progress.ProgressReporter = field(init=False)

    def __post_init__(self) -> None:
        options = self._options
        counted = options.max_errors is not None or (options.collect and options.commit_every is not None)
        self._stepwise = counted and options.mode == "append"

    def run(self) -> int:
        options = self._options
        checkpoint = self._open_checkpoint()
        if checkpoint is not None and checkpoint.finished is not None:
            return self._report_finished(checkpoint.finished)
        self._committed = self._earlier = self._position.loaded
        self._has_committed = self._position.read > 0
        sizes = (self._position.reject_bytes, self._position.log_bytes)
        self._rejects = RejectFiles(options.rejects, self._source, overwrite=options.overwrite, sizes=sizes)
        self._rejects.count = self._position.rejected
        try:
            with progress.ProgressReporter(options.progress, self._source.total) as self._bar:
                if checkpoint is not None or self._stepwise:
                    self._load_in_chunks(checkpoint)
                else:
                    self._load_at_once()
        except BaseException as error:
            self._describe_outcome(error, checkpoint)
            if isinstance(error, Error) and error.row is not None:
                place = self._source.origin_of(self._offset + error.row)
                set_place(error, place or "A row")  # the error's own counts the rows that were sent
                raise Failure(one_line(error)) from error
            raise
        self._rejects.end()
        return self._print_result()

    def _open_checkpoint(self) -> Checkpoint | None:
        """Return the record of this load, and take its position; None if the load keeps no record."""
        options = self._options
        if options.commit_every is None or options.mode not in _RECORDED:
            return None
        if not can_record(self._connection, self._source.paths):
            if options.resume or options.again:
                require_record(self._connection, self._source.paths)
            return None
        checkpoint = Checkpoint(self._connection, self._table, self._source.paths, self._options_text())
        self._position = checkpoint.find(self._has_rows, resume=options.resume, again=options.again)
        return checkpoint

    def _has_rows(self) -> bool:
        if not self._table_exists:
            return False
        with self._connection.query(f"SELECT FIRST 1 1 FROM {self._table}") as result:
            return bool(result.read_all().num_rows)

    def _report_finished(self, finished: str) -> int:
        at = self._position
        RejectFiles.complete(self._options.rejects, self._source, (at.reject_bytes, at.log_bytes))
        refused = f", {at.rejected:,} refused" if at.rejected else ""
        now = "" if self._has_rows() or not at.loaded else f" {self._table} has no rows now."
        print(
            f"already loaded: {at.loaded:,} rows into {self._table}{refused}, finished at {finished}.{now} Use --again "
            "to load them again."
        )
        return REJECTS if at.rejected else DONE

    def _describe_outcome(self, error: BaseException, checkpoint: Checkpoint | None) -> None:
        """Add a note to the error about what is in effect. Files of refused rows are kept if something was loaded."""
        if checkpoint is not None:
            if self._has_committed:
                self._rejects.suspend()
            else:
                self._rejects.drop()
            add_note(
                error,
                f"{self._committed:,} rows are committed. Run the same command again to continue after them.",
            )
            if self._has_committed and self._rejects.path is not None and self._rejects.count:
                add_note(error, f"Refused rows are in {self._rejects.path}{PART_SUFFIX}.")
            return
        if isinstance(error, _TooManyRejects):  # its text is complete
            self._rejects.end()
            return
        if self._stepwise and self._options.commit_every is not None:
            add_note(error, f"{self._committed:,} rows are committed and remain in the table.")
        elif isinstance(error, OSError) and self._position.loaded:  # no space for the refused rows
            undone = self._connection.logged and self._options.commit_every is None
            add_note(
                error,
                "Nothing was loaded."
                if undone
                else f"{self._position.loaded:,} rows are loaded and remain in the table.",
            )
        elif isinstance(error, KeyboardInterrupt) and error.__cause__ is None:
            whole = self._connection.logged and self._options.commit_every is None
            add_note(error, "Nothing was loaded." if whole else "What was committed before stays.")
        if not self._committed:
            self._rejects.drop()
            return
        try:
            self._rejects.end()
        except OSError as full:
            add_note(
                error,
                f"The refused rows are in {self._rejects.path}{PART_SUFFIX}, as far as they are ({one_line(full)}).",
            )

    def _print_result(self) -> int:
        rejected = self._rejects.count
        refused = f", {rejected:,} refused" if rejected else ""
        earlier = f", {self._earlier:,} of them before this run" if self._earlier else ""
        print(f"{self._position.loaded:,} rows into {self._table}{refused}{earlier}")
        if not rejected:
            return DONE
        first = self._rejects.first
        if self._rejects.path is None and first is not None:
            print_error(f"{_reject_line(first)} (--rejects FILE keeps all refused rows)")
        return REJECTS

    def _options_text(self) -> str:
        options = self._options
        return repr(
            [
                self._plan.columns,
                self._source.kind,
                options.delimiter,
                options.null,
                options.encoding,
                options.date_format,
                options.collect,
                *(each for each in (options.inexact, options.time_zone) if each not in ("error", None)),
            ]
        )

    # ---- in one call ---------------------------------------------------------------------------------------------

    _offset = 0  # rows that were sent before the current call

    def _load_at_once(self) -> None:
        options = self._options
        undone = options.max_errors is not None or (options.rejects and options.commit_every is None)
        if not undone or not self._connection.logged:
            self._record_report(self._write(self._source.batches(), options.commit_every))
            self._count_errors("The database has no transaction log. They remain in the table.")
            return
        with self._connection.transaction():
            self._record_report(self._write(self._source.batches(), None))
            self._count_errors("Nothing was loaded.")

    def _write(self, batches: Iterator[pa.RecordBatch], commit_every: int | None) -> WriteReport:
        options = self._options
        schema = self._source.batch_schema
        more: dict[str, Any] = {}
        if options.mode in _CREATING:
            more["types"] = dict(self._plan.types)
            if options.primary_key:
                more["primary_key"] = split_names(options.primary_key)
        if options.key:
            more["key"] = split_names(options.key)
        if options.cascade:
            more["cascade"] = True
        rows, size = self._bar.rows, self._bar.bytes
        with self._limited():
            return self._connection.write_arrow(
                self._table,
                pa.RecordBatchReader.from_batches(schema, batches),
                mode=options.mode,
                columns={self._source.name_of(name): into for name, into in self._plan.columns.items()},
                on_error="collect" if options.collect else "abort",
                commit_every=commit_every,
                inexact=options.inexact,
                time_zone=options.time_zone,
                progress=lambda more_rows, more_bytes, _: self._bar(rows + more_rows, size + more_bytes),
                **more,
            )

    def _limited(self) -> AbstractContextManager[None]:
        """Limit the waits for the data of a pipe within a block."""
        return self._source.limit.applied(self._connection._runner.call_timeout(None))

    def _record_report(self, report: WriteReport, until: int | None = None) -> None:
        """Count the rows in the table, and those that were refused, up to the row ``until``."""
        new = self._source.refused[self._reported_refused :]
        if until is not None:
            new = [each for each in new if each.position < until]
        self._reported_refused += len(new)
        self._position.loaded += report.rows
        rejects: list[Reject] = from_report(report.rejected, self._source) + from_source(new, self._source)
        self._rejects.add(in_order(rejects, self._source))

    def _count_errors(self, effect: str) -> None:
        limit = self._options.max_errors
        if limit is not None and self._rejects.count > limit:
            first = self._rejects.first
            why = "" if first is None else f" The first: {_reject_line(first)}"
            raise _TooManyRejects(
                f"{self._rejects.count:,} rows were refused, more than --max-errors {limit:,}. {effect}{why}"
            )

    # ---- in chunks -------------------------------------------------------------------------------------------

    def _load_in_chunks(self, checkpoint: Checkpoint | None) -> None:
        options = self._options
        batches = BatchSlicer(self._source.batches())
        self._skip(batches)
        if options.commit_every is None and self._connection.logged:
            with self._connection.transaction():
                self._load_chunks(batches, None, "Nothing was loaded.")
            return
        self._load_chunks(batches, checkpoint, "")

    def _load_chunks(self, batches: BatchSlicer, checkpoint: Checkpoint | None, effect: str) -> None:
        options = self._options
        own_transactions = self._connection.logged and options.commit_every is not None
        size = options.commit_every or _CHUNK_ROWS
        while True:
            with self._limited():
                more = batches.has_rows()
            until = self._position.read + size if more else None
            if own_transactions:
                stay = (
                    ""
                    if checkpoint is not None
                    else f"{self._committed:,} rows are committed and remain in the table."
                )
                with Interrupts() as interrupts:
                    with self._connection.transaction():
                        self._load_chunk(batches, size, until, effect or stay)
                        if checkpoint is not None:
                            checkpoint.put(self._position, finished=not more)
                        interrupts.wait()
                    self._committed, self._has_committed = self._position.loaded, True
            else:
                self._load_chunk(
                    batches,
                    size,
                    until,
                    effect or "The database has no transaction log. The loaded rows remain in the table.",
                )
            if not more:
                return

    def _load_chunk(self, batches: BatchSlicer, size: int, until: int | None, effect: str) -> None:
        self._offset = self._position.read
        seen = 0

        def counted() -> Iterator[pa.RecordBatch]:
            nonlocal seen
            for batch in batches.slice_rows(size):
                seen += batch.num_rows
                yield batch

        report = self._write(counted(), None)
        self._record_report(report, until)
        self._position.read += seen
        self._position.rejected = self._rejects.count
        self._position.reject_bytes, self._position.log_bytes = self._rejects.sizes
        self._count_errors(effect)

    def _skip(self, batches: BatchSlicer) -> None:
        """Skip the rows that were loaded before, and those refused among them."""
        for _ in batches.slice_rows(self._position.read) if self._position.read else ():
            pass
        self._reported_refused = sum(each.position < self._position.read for each in self._source.refused)


class _TooManyRejects(Failure):
    """More rows were refused than allowed."""


def _reject_line(entry: Mapping[str, Any]) -> str:
    """Return the place and the error of a refused row as a line."""
    location = f"line {entry['line']}" if "line" in entry else f"row {entry['row']}"
    return f"{entry['file']}, {location}: {entry['text']}"
