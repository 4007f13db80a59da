"""``informix-arrow unload``: a table or a query into files."""

from __future__ import annotations

import argparse
import datetime as dt
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from ..connection import Connection
from ..dsn import Parameters
from ..ingest.target_table import check_table
from ..result import Result
from . import connection_options, manifest, progress
from .exit_codes import DONE, Failure, UsageError, add_note
from .files import STDIO, exists, new_file, refuse_existing, remove
from .formats import Options, format_of, open_stream_writer
from .formats.write_behind import write_behind
from .manifest import Manifest, ManifestFile
from .parser import Commands, command, whole_number
from .rechunk import BatchSlicer
from .unload_file import HashingFile, numbered_path, read, sha256_of
from .unload_parts import PartitionedUnload, plan_parts

EXAMPLE = """\
  informix-arrow unload stores@ol_shop orders -o orders.parquet
  informix-arrow unload stores@ol_shop orders -o s3://lake/orders.csv.gz --rows-per-file 100000 --resume
  informix-arrow unload stores@ol_shop --query "SELECT * FROM orders WHERE day = TODAY" -o o.jsonl"""

FORMATS = ("csv", "json", "jsonl", "parquet", "arrow", "unl")
_SINGLE = "SELECT * FROM {}"


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "unload", EXAMPLE)
    parser.add_argument("-o", "--output", metavar="PATH", help="output file (-: standard output); required")
    parser.add_argument("--query", metavar="SQL", help="unload the rows of a query instead of a table")
    parser.add_argument("--overwrite", action="store_true", help="replace existing files")
    form = parser.add_argument_group("format")
    form.add_argument("--format", choices=FORMATS, help="format of the file (default: by its suffix)")
    form.add_argument("--delimiter", default="", metavar="C", help="field delimiter (default: the format's)")
    form.add_argument(
        "--compression", metavar="NAME", help="of Parquet and Arrow files: zstd, snappy, none .."
    )
    form.add_argument("--checksum", action="store_true", help="also write PATH.sha256, for sha256sum --check")
    parts = parser.add_argument_group("several files")
    parts.add_argument(
        "--rows-per-file",
        type=whole_number,
        metavar="N",
        help="start a new file after N rows: PATH becomes PATH-00001, PATH-00002 .. before its suffix",
    )
    parts.add_argument(
        "--resume",
        action="store_true",
        help="continue after the last complete file; rows are ordered by --key, else by the primary key",
    )
    parts.add_argument(
        "--key", metavar="COLUMNS", help="order the rows by these columns, which identify a row"
    )
    parts.add_argument(
        "--partitions",
        type=whole_number,
        metavar="N",
        help="read N parts in parallel, each into its own file",
    )
    parts.add_argument(
        "--partition-on", metavar="COLUMN", help="divide the rows by ranges of COLUMN (default: the key)"
    )
    progress.add_options(parser.add_argument_group("other"))
    connection_options.add_options(parser, "URL TABLE", ", and the table")


def run(options: argparse.Namespace) -> int:
    """Write the files."""
    if options.output is None:
        raise UsageError(
            "The output is missing. Use -o, for example -o orders.parquet, or -o - for standard output."
        )
    if options.query is None:
        url, table = connection_options.take_url(options.words, ("TABLE",))
        statement = _SINGLE.format(check_table(table))
    else:
        (url,) = connection_options.take_url(options.words, ())
        table, statement = "", options.query.strip().rstrip(";")
    kind = format_of(options.output, options.format, FORMATS, "csv" if options.output == STDIO else None)
    if options.partitions is None and options.partition_on is not None:
        raise UsageError("--partition-on names the column and --partitions N the number of parts. Give both.")
    if options.partitions is not None and (options.rows_per_file is not None or options.key is not None):
        raise UsageError("--partitions writes one file per part. Leave --rows-per-file and --key out.")
    parameters = connection_options.resolve_parameters(url, options, autocommit=True)
    with connection_options.open_from_parameters(parameters) as connection:
        return _Unload(connection, parameters, options, table, statement, kind).run()


@dataclass(eq=False, repr=False)
class _Unload:
    """One unload: the query, the files, and the manifest that lists the complete ones."""

    _connection: Connection
    _parameters: Parameters
    _options: argparse.Namespace
    _table: str
    _statement: str
    _kind: str

    def __post_init__(self) -> None:
        options = self._options
        self._format_options = Options(delimiter=options.delimiter, compression=options.compression)
        self._key = [name.strip().lower() for name in (options.key or "").split(",") if name.strip()]
        self._numbered = options.rows_per_file is not None or options.partitions is not None
        self._checksum_path = options.output + ".sha256"

    def run(self) -> int:
        options = self._options
        if options.output == STDIO:
            return self._to_stdout()
        path = options.output + manifest.SUFFIX
        found = self._read_manifest(path)
        current = None
        if found is not None and options.resume:
            current = manifest.resume(found, self._statement, self._kind, self._key)
        if current is not None and current.done:
            self._check(current)
            if options.checksum and not exists(self._checksum_path):
                self._checksums(current)
            return DONE
        if current is None:
            current = self._begin(path, found)
        else:
            self._key = list(current.key)
            self._numbered = current.numbered
            current.replaces = current.names() - {each.file for each in current.entries}
            self._check(current)
        try:
            with progress.ProgressReporter(options.progress, self._total()) as bar:
                bar.add(current.rows, 0)
                if current.partitions:
                    current.begin()
                    overwrite = options.overwrite or options.resume or bool(current.replaces)
                    PartitionedUnload(
                        self._parameters,
                        options.output,
                        current,
                        self._format_options,
                        bar,
                        overwrite=overwrite,
                    ).run()
                elif self._numbered or not current.entries:
                    self._files(current, bar)
        except BaseException as error:
            more = " Use --resume to write the rest." if current.partitions else ""
            if self._key and options.rows_per_file:
                more = " Use --resume to continue after them."
            add_note(error, f"{len(current.entries)} files with {current.rows:,} rows are complete.{more}")
            current.withdraw()
            raise
        current.remove_replaced()
        if options.checksum:
            self._checksums(current)
        elif current.replaces:
            remove(self._checksum_path)  # of the files that were replaced
        current.end()
        return DONE

    def _read_manifest(self, path: str) -> Manifest | None:
        """Return the manifest of an earlier unload that this one may continue or replace."""
        if not exists(path):
            return None
        if self._options.overwrite or self._options.resume:
            return manifest.read(path)
        try:
            found = manifest.read(path)
        except Failure:
            return None
        begun = not found.done and not found.entries  # no file is complete
        return found if begun and (found.statement, found.format) == (self._statement, self._kind) else None

    def _begin(self, path: str, found: Manifest | None) -> Manifest:
        """Return the manifest of an unload that begins. ``found`` is the one that it replaces."""
        options = self._options
        if options.resume and options.partitions is None:
            self._key = self._key or self._primary_key()
        overwrite = options.overwrite or found is not None
        refuse_existing(path, overwrite=overwrite)
        refuse_existing(self._name(1), overwrite=overwrite)
        current = Manifest(path, self._statement, self._kind, self._key, numbered=self._numbered)
        if found is not None:
            current.replaces = found.names()
        if options.partitions is not None:
            source = self._table or self._statement
            current.partitions = plan_parts(
                self._connection, source, options.partition_on, options.partitions
            )
        return current

    def _to_stdout(self) -> int:
        options = self._options
        for name in ("rows_per_file", "partitions", "resume", "checksum"):
            if getattr(options, name):
                raise UsageError(f"--{name.replace('_', '-')} works with files, not with standard output.")
        sql, values = self._query(None)
        with (
            self._open_result(sql, values) as result,
            new_file(STDIO) as file,
            open_stream_writer(file, STDIO, self._kind, result.schema, self._format_options) as writer,
        ):
            for batch in result.batches():
                writer.write(batch)
        return DONE

    # ---- the query -------------------------------------------------------------------------------------------

    def _open_result(self, sql: str, values: Sequence[object]) -> Result:
        return read(self._connection, sql, values, self._kind)

    def _query(self, last: Sequence[object] | None) -> tuple[str, list[object]]:
        """Return the statement, ordered by the key and starting after ``last``, and its parameters."""
        if not self._key:
            return self._statement, []
        source = self._statement if self._table else f"SELECT * FROM ({self._statement}) q"
        order = f" ORDER BY {', '.join(self._key)}"
        if last is None:
            return source + order, []
        # (a > ?) OR (a = ? AND b > ?) ..: Informix does not compare row values.
        cases, values = [], list[object]()
        for number, name in enumerate(self._key):
            same = [f"{each} = ?" for each in self._key[:number]]
            cases.append(f"({' AND '.join([*same, f'{name} > ?'])})")
            values += last[: number + 1]
        return f"{source} WHERE {' OR '.join(cases)}{order}", values

    def _primary_key(self) -> list[str]:
        if not self._table:
            raise UsageError(
                "--resume needs an order. Name with --key the columns that identify a row of the query."
            )
        names = self._connection.primary_key(self._table).column("column_name").to_pylist()
        if not names:
            raise UsageError(
                f"--resume needs an order, and {self._table} has no primary key. Name with --key the "
                "columns that identify a row."
            )
        return [str(name) for name in names]

    def _total(self) -> int | None:
        """Return the number of rows to come, if progress is shown and the number is cheap to get."""
        watched = self._options.progress == "json" or (
            self._options.progress == "auto" and sys.stderr.isatty()
        )
        if not self._table or not watched:
            return None
        count = self._connection.read_arrow(f"SELECT COUNT(*) FROM {self._table}")
        return int(count.column(0)[0].as_py())

    # ---- the files -------------------------------------------------------------------------------------------

    def _name(self, number: int) -> str:
        """Return the name of a file."""
        return numbered_path(self._options.output, number) if self._numbered else self._options.output

    def _files(self, manifest: Manifest, bar: progress.ProgressReporter) -> None:
        behind = manifest.entries[-1].last if manifest.entries else None
        sql, values = self._query(None)
        if behind is not None:
            with self._open_result(sql, values) as result:  # for the types of the key only
                schema = result.schema
            sql, values = self._query(
                [
                    _value(text, schema.field(_index(schema, name)))
                    for text, name in zip(behind, self._key, strict=True)
                ]
            )
        with self._open_result(sql, values) as result:
            manifest.begin()
            batches = BatchSlicer(result.batches())
            while batches.has_rows() or not manifest.entries:
                self._file(manifest, result.schema, batches, bar)

    def _file(
        self, manifest: Manifest, schema: pa.Schema, batches: BatchSlicer, bar: progress.ProgressReporter
    ) -> None:
        path = self._name(len(manifest.entries) + 1)
        key = _KeyRange(schema, self._key, manifest.entries[-1].last if manifest.entries else None)
        overwrite = self._options.overwrite or self._options.resume or bool(manifest.replaces)
        rows = 0
        with new_file(path, overwrite=overwrite) as plain:
            hashed = HashingFile(plain)
            with (
                open_stream_writer(hashed, path, self._kind, schema, self._format_options) as plain_writer,
                write_behind(plain_writer) as writer,
            ):
                for batch in batches.slice_rows(self._options.rows_per_file):
                    key.update(batch)
                    writer.write(batch)
                    rows += batch.num_rows
                    bar.add(batch.num_rows, batch.nbytes)
        name = os.path.basename(path)
        manifest.add(ManifestFile(name, rows, hashed.size, hashed.digest(), key.first, key.last))

    def _check(self, manifest: Manifest) -> None:
        """Raise ``Failure`` if a file of the manifest is missing or has changed."""
        for each in manifest.entries:
            path = os.path.join(os.path.dirname(self._options.output), each.file)
            if not exists(path):
                raise Failure(f"{path} is in the manifest but is missing. Start again with --overwrite.")
            if self._options.checksum and sha256_of(path) != each.sha256:
                raise Failure(
                    f"{path} has changed since it was written (sha256). Start again with --overwrite."
                )

    def _checksums(self, manifest: Manifest) -> None:
        with new_file(self._checksum_path, overwrite=True) as file:
            for each in manifest.entries:
                file.write(f"{each.sha256}  {each.file}\n".encode())


class _KeyRange:
    """The keys of the first and last row of a file.

    Raises ``Failure`` if they do not identify rows, because rows would be lost when the unload continues after the last
    one.
    """

    def __init__(self, schema: pa.Schema, names: Sequence[str], before: list[str] | None) -> None:
        self.first: list[str] | None = None
        self.last: list[str] | None = None
        self._before = before
        self._names = names
        self._columns = [_index(schema, name) for name in names]

    def update(self, batch: pa.RecordBatch) -> None:
        if not self._columns or not batch.num_rows:
            return
        columns = [batch.column(number) for number in self._columns]
        if any(column.null_count for column in columns):
            raise Failure(f"The key {', '.join(self._names)} is NULL in a row. Choose another --key.")
        same = pa.scalar(True)
        for column in columns:
            same = pc.and_(same, pc.equal(column.slice(1), column.slice(0, len(column) - 1)))
        start, end = [_text(column[0]) for column in columns], [_text(column[-1]) for column in columns]
        if start == (self.last or self._before) or (batch.num_rows > 1 and pc.any(same).as_py()):
            raise Failure(
                f"Two rows have the same {', '.join(self._names)}, so it is not a key. Choose another --key."
            )
        self.first = self.first or start
        self.last = end


def _index(schema: pa.Schema, name: str) -> int:
    positions = [number for number, each in enumerate(schema.names) if each.lower() == name]
    if len(positions) != 1:
        raise UsageError(
            f"--key {name}: The rows have {'no' if not positions else 'more than one'} such column."
        )
    kind = schema.field(positions[0]).type
    if not (
        pa.types.is_integer(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_string(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
    ):
        raise UsageError(
            f"--key {name}: A column of type {kind} cannot be a key here. Use numbers, texts or dates."
        )
    return positions[0]


def _text(value: pa.Scalar) -> str:
    return str(value.cast(pa.utf8()).as_py())


def _value(text: str, field: pa.Field) -> object:
    """Parse a part of a key as a parameter of its type."""
    kind = field.type
    if pa.types.is_integer(kind):
        return int(text)
    if pa.types.is_decimal(kind):
        return Decimal(text)
    if pa.types.is_date(kind):
        return dt.date.fromisoformat(text)
    if pa.types.is_timestamp(kind):
        return pa.scalar(text).cast(pa.timestamp("us")).as_py()
    declared = (field.metadata or {}).get(b"informix.type", b"")
    return Decimal(text) if declared.startswith(b"DECIMAL") else text
