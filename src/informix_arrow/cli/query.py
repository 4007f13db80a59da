"""``informix-arrow query``."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Sequence
from typing import Literal

from ..connection import Connection
from ..core.text_files import codec_of, decode_text
from ..result import Result
from ..rows.scripts import Statement, split
from ..wire.errors import NoResultError
from . import connection_options, output, progress
from .exit_codes import DONE, Failure, UsageError
from .files import STDIO, open_input, refuse_existing
from .formats import BatchWriter, Options, write_file
from .formats.write_behind import write_behind
from .parser import Commands, command

EXAMPLE = """\
  informix-arrow query informix://user@host:9088/stores "SELECT * FROM orders WHERE day >= ?" --param 2026-01-01
  informix-arrow query informix://user@host:9088/stores "SELECT * FROM orders" -o orders.parquet
  informix-arrow query informix://user@host:9088/stores -f month_end.sql"""

BATCH_BYTES = 4 << 20  # bytes of Arrow data in a batch; a few batches are in memory


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "query", EXAMPLE)
    output.add_options(parser)
    statements = parser.add_argument_group("statements")
    statements.add_argument(
        "-f", "--file", metavar="FILE", help="run the statements of FILE instead of SQL (-: standard input)"
    )
    statements.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="V",
        help="value of the next ? in a single statement, converted by the server; repeatable",
    )
    statements.add_argument(
        "--encoding", metavar="CODE_SET", help="code set of FILE (default: CLIENT_LOCALE, else UTF-8)"
    )
    form = parser.add_argument_group("format")
    form.add_argument("--delimiter", default="", metavar="C", help="field delimiter of CSV (default: comma)")
    form.add_argument(
        "--compression", metavar="NAME", help="of Parquet and Arrow files: zstd, snappy, none .."
    )
    progress.add_options(form)
    connection_options.add_options(parser, "URL SQL", ", and the SQL statements")


def run(options: argparse.Namespace) -> int:
    """Run the statements, one after another. Each is committed, unless BEGIN has opened a transaction."""
    url, statements = _statements(options)
    kind = output.chosen(options)
    if options.output != STDIO:
        refuse_existing(options.output, overwrite=options.overwrite)
    with connection_options.connect_from_options(url, options) as connection, contextlib.ExitStack() as stack:
        result_output = _ResultOutput(options, kind, stack)
        for statement in statements:
            try:
                _run_one(connection, statement, options.param, result_output)
            except Exception as error:
                if options.file is not None:
                    error.args = (
                        f"{_script_name(options)}, line {statement.line}: {error}",
                        *error.args[1:],
                    )
                elif len(statements) > 1:
                    error.args = (f"Line {statement.line}: {error}", *error.args[1:])
                raise
        if connection.in_transaction:
            connection.rollback()
            raise Failure("The transaction that BEGIN WORK opened has no COMMIT WORK. It was rolled back.")
    return DONE


def _script_name(options: argparse.Namespace) -> str:
    return "standard input" if options.file == STDIO else str(options.file)


def _statements(options: argparse.Namespace) -> tuple[str, list[Statement]]:
    if options.file is None:
        url, sql = connection_options.take_url(options.words, ("SQL",))
    else:
        (url,) = connection_options.take_url(options.words, ())
        with open_input(options.file) as file:
            codec = codec_of(options.encoding or os.environ.get("CLIENT_LOCALE") or "utf-8")
            sql = decode_text(file.read(), codec, _script_name(options))
    statements = list(split(sql))
    if not statements:
        raise UsageError("There is no statement to run.")
    if options.param and len(statements) > 1:
        raise UsageError(f"--param works with a single statement, but there are {len(statements)}.")
    return url, statements


def _run_one(
    connection: Connection, statement: Statement, values: Sequence[str], result_output: _ResultOutput
) -> None:
    nested: Literal["arrow", "text"] = "arrow" if result_output.kind in output.NESTED else "text"
    try:
        result = connection.query(
            statement.text, values, batch_bytes=BATCH_BYTES, floating_decimals="string", nested=nested
        )
    except NoResultError:
        with connection.cursor() as cursor:
            cursor.execute(statement.text, values)
            result_output.show_count(cursor.rowcount)
        return
    with result:
        result_output.rows(result)


class _ResultOutput:
    """The output for the rows of the statements."""

    def __init__(self, options: argparse.Namespace, kind: str, stack: contextlib.ExitStack) -> None:
        self.kind = kind
        self._options = options
        self._stack = stack  # a file gets its name when all statements are done
        self._results = 0

    def rows(self, result: Result) -> None:
        """Write the rows of a query."""
        self._results += 1
        path = self._options.output
        if self._results > 1 and (path != STDIO or self.kind not in ("table", "csv", "markdown", "jsonl")):
            raise Failure(
                "A second statement returns rows, and one file holds the rows of one statement. Run it in "
                "a command of its own."
            )
        file_options = Options(delimiter=self._options.delimiter, compression=self._options.compression)
        file = write_file(path, self.kind, result.schema, file_options, overwrite=self._options.overwrite)
        if path == STDIO:
            if self._results > 1:
                print(flush=True)
            with file as writer:
                self._copy(result, writer)
        else:
            self._copy(result, self._stack.enter_context(file))

    def _copy(self, result: Result, writer: BatchWriter) -> None:
        mode = "never" if self._options.output == STDIO and sys.stdout.isatty() else self._options.progress
        with progress.ProgressReporter(mode) as bar, write_behind(writer) as writing:
            for batch in result.batches():
                writing.write(batch)
                bar.add(batch.num_rows, batch.nbytes)

    def show_count(self, rows: int) -> None:
        """Print the effect of a statement without rows, for people."""
        if self.kind == "table" and self._options.output == STDIO:
            print(f"({rows:,} row{'s' if rows != 1 else ''} changed)" if rows >= 0 else "(done)", flush=True)
