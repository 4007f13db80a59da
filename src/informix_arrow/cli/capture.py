"""``informix-arrow capture``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from . import connection_options
from .change_files import ChangeDirectory, WriteChanges
from .exit_codes import DONE, Failure, UsageError, print_error
from .files import STDIO
from .interrupts import Interrupts
from .parser import Commands, command, whole_number

if TYPE_CHECKING:
    from ..cdc.assembler import Transaction
    from ..cdc.capture import Changes
    from ..cdc.open_transaction import Change

EXAMPLE = """\
  informix-arrow capture informix://informix@host/stores orders items --state orders.state > changes.jsonl
  informix-arrow capture informix://informix@host/stores orders -o changes/ --format parquet --state orders.state
  informix-arrow capture informix://informix@host/stores orders items --apply shop.duckdb
  informix-arrow capture informix://informix@host/stores orders items --off"""

FORMATS = ("jsonl", "debezium-json", "parquet")
TOPIC_PREFIX = "informix"
IDLE_SECONDS = 60.0  # seconds without changes after which the token is stored in the target
_LETTERS = {"insert": "c", "update": "u", "delete": "d", "truncate": "t"}


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "capture", EXAMPLE)
    parser.add_argument(
        "-o",
        "--output",
        metavar="DIR",
        help="write files TABLE-FIRST-LAST into DIR, named after the LSNs of their first and last transaction "
        "(default: standard output)",
    )
    parser.add_argument("--format", choices=FORMATS, help="format of the changes (default: jsonl)")
    parser.add_argument(
        "--topic-prefix",
        metavar="NAME",
        help=f"source.name in debezium-json, as Debezium's topic.prefix (default: {TOPIC_PREFIX})",
    )
    parser.add_argument(
        "--apply",
        metavar="TARGET",
        help="apply the changes to a copy of the tables: FILE.duckdb, postgresql://.., informix://.. or delta:DIR; "
        "the target also stores the position",
    )
    parser.add_argument(
        "--state",
        metavar="FILE",
        help="store the position in FILE, where the next run continues (default: start from now)",
    )
    parser.add_argument(
        "--off",
        action="store_true",
        help="switch off the full row logging that a capture has switched on, and end: ALTER TABLE requires it",
    )
    limits = parser.add_argument_group("limits")
    limits.add_argument(
        "--idle",
        type=_seconds,
        metavar="SECONDS",
        help="end after this many seconds without changes; 0: when all changes are read (default: never)",
    )
    limits.add_argument(
        "--max-rows",
        type=whole_number,
        default=100_000,
        metavar="N",
        help="changes in a file of -o, or in a transaction of --apply (default: 100,000)",
    )
    limits.add_argument(
        "--max-seconds",
        type=_seconds,
        metavar="N",
        help="seconds for a file of -o (default: 60), or for a transaction of --apply (default: 1)",
    )
    connection_options.add_options(parser, "URL TABLE", ", and the tables")


def run(options: argparse.Namespace) -> int:
    """Follow the changes until Ctrl-C, or until there are none for the idle time. With --off, end their capture."""
    from ..cdc.capture import capture

    url, *tables = connection_options.take_url(options.words, ("TABLE",), more=True)
    if options.off:
        return _switch_off(url, tables, options)
    if options.apply is not None:
        return _apply(url, tables, options)
    options.output, options.format = options.output or STDIO, options.format or "jsonl"
    if options.format == "parquet" and options.output == STDIO:
        raise UsageError("Parquet files go into a directory. Name it with -o DIR.")
    if options.topic_prefix is not None and options.format != "debezium-json":
        raise UsageError("--topic-prefix goes with --format debezium-json.")
    start = _read_token(options.state)
    with connection_options.connect_from_options(url, options) as connection:
        changes = capture(connection, tables, start=start, idle=options.idle)
    with changes:
        _write_token(
            options.state, changes.token
        )  # otherwise a run that is stopped before the first transaction would start over
        make: Lines = plain_lines
        if options.format == "debezium-json":
            names = {table: changes.full_name(table) for table in changes.tables}
            make = debezium_lines(names, options.topic_prefix or TOPIC_PREFIX)
        if options.output == STDIO:
            _to_stdout(changes, options, make)
        elif options.format == "parquet":
            _to_directory(changes, tables, options, "parquet", _write_parquet)
        else:
            _to_directory(changes, tables, options, "jsonl", partial(_write_lines, make))
        _write_token(options.state, changes.token)
    return DONE


def _reject_options(options: argparse.Namespace, names: Iterable[str], chosen: str, reason: str) -> None:
    """Raise UsageError if one of these options is given, which has no meaning with the chosen one."""
    for name in names:
        if getattr(options, name) is not None:
            raise UsageError(f"{chosen} and --{name.replace('_', '-')} cannot be combined. {reason}")


def _switch_off(url: str, tables: list[str], options: argparse.Namespace) -> int:
    """Switch off the full row logging of the tables."""
    from ..cdc.capture import capture_off

    unused = ("apply", "output", "format", "topic_prefix", "state", "idle", "max_seconds")
    _reject_options(options, unused, "--off", "--off captures nothing.")
    with connection_options.connect_from_options(url, options) as connection:
        capture_off(connection, tables)
    return DONE


def _apply(url: str, tables: list[str], options: argparse.Namespace) -> int:
    """Apply changes to a copy until Ctrl-C, or until there are none for the idle time."""
    from ..cdc.capture import capture
    from ..replicate.apply import applied_token, apply_changes, keep_token

    unused = ("output", "format", "state", "topic_prefix")
    _reject_options(options, unused, "--apply TARGET", "The target itself stores the data and the position.")
    start = applied_token(options.apply)
    seconds = 1.0 if options.max_seconds is None else options.max_seconds
    with connection_options.connect_from_options(url, options) as connection:
        if start is None:
            with capture(connection, tables, idle=0, timeout=1) as begun:
                for _ in begun:
                    pass
                start = begun.token
            if start is None:
                raise Failure("The server did not report how far its log has been written. Try again.")
            keep_token(options.apply, start)
            print_error("The target has no position of changes yet. Changes are captured from now on.")
        idle = IDLE_SECONDS if options.idle is None else options.idle
        changes = capture(connection, tables, start=start, idle=idle, floating_decimals="string")
    with changes:
        while True:
            done = apply_changes(
                changes.batches(max_rows=options.max_rows, max_seconds=seconds), options.apply
            )
            if changes.token is not None:
                keep_token(options.apply, changes.token)
            if options.idle is not None:
                print_error(f"{done.transactions:,} transactions with {done.rows:,} changes applied")
                return DONE


def _to_stdout(changes: Changes, options: argparse.Namespace, make: Lines) -> None:
    """Print a line for each change, and store the token after the lines of a transaction are written."""
    file = sys.stdout.buffer
    for transaction in changes:
        with Interrupts() as interrupts:
            interrupts.wait()
            _write_lines(make, file, ((transaction, change) for change in transaction.batches))
            file.flush()
            _write_token(options.state, transaction.token)


def _to_directory(
    changes: Changes, tables: list[str], options: argparse.Namespace, suffix: str, write: WriteChanges
) -> None:
    """Write a file for each table and group of transactions, and store the token after each group."""
    directory = ChangeDirectory(options.output, tables, suffix, write)
    seconds = 60.0 if options.max_seconds is None else options.max_seconds
    for group in changes.groups(max_rows=options.max_rows, max_seconds=seconds):
        with Interrupts() as interrupts:
            interrupts.wait()
            directory.write(group)
            _write_token(options.state, group[-1].token)


def _write_lines(make: Lines, file: IO[bytes], changes: Iterable[tuple[Transaction, Change]]) -> None:
    for transaction, change in changes:
        for line in make(change.table, change.data, transaction):
            file.write(line.encode() + b"\n")


def _write_parquet(file: IO[bytes], changes: Iterable[tuple[Transaction, Change]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.Table.from_batches([change.data for _, change in changes]), file)


# ---- lines ---------------------------------------------------------------------------------------------------------

Lines = Callable[[str, Any, "Transaction"], Iterable[str]]


def plain_lines(table: str, data: Any, transaction: Transaction) -> Iterable[str]:
    """Return changes as lines in our own format."""
    head = f'{{"table": {_json(table)}, "op": "'
    middle = (
        f', "commit_lsn": {transaction.commit_lsn}, "commit_time": "{transaction.commit_time.isoformat()}", '
        f'"transaction": {transaction.transaction}, "data": '
    )
    for operation, lsn, row, before in _change_rows(data):
        yield f'{head}{operation}", "lsn": {lsn}{middle}{row}, "before": {before}}}'


def debezium_lines(names: Mapping[str, str], topic_prefix: str) -> Lines:
    """Return the function that writes changes in Debezium's envelope, without its schemas.

    The values of columns are as in our own format. ``source`` has the fields of Debezium's Informix connector in its
    order, and two of its conventions: ``change_lsn`` of a transaction's last change is the position of the COMMIT, and
    ``begin_lsn`` is the BEGIN of the oldest open transaction, where a capture has to start in order to continue.

    Parameters
    ----------
    names
        ``database:owner.table`` by the name of a captured table.
    topic_prefix
        The name of the source, as Debezium's ``topic.prefix``.
    """
    from .. import __version__
    from ..cdc.token import Token

    heads = {}
    for table, full_name in names.items():
        database, _, rest = full_name.partition(":")
        owner, _, name = rest.partition(".")
        heads[table] = (
            f'{{"version": {_json(__version__)}, "connector": "informix", "name": {_json(topic_prefix)}, ',
            f'"snapshot": "false", "db": {_json(database)}, "sequence": null, ',
            f'"schema": {_json(owner)}, "table": {_json(name)}, ',
        )

    def lines(table: str, data: Any, transaction: Transaction) -> Iterable[str]:
        first, where, what = heads[table]
        seconds, commit = int(transaction.commit_time.timestamp()), transaction.commit_lsn
        last, restart = transaction.batches.last_lsn, Token.parse(transaction.token).restart
        begin = min(restart, transaction.begin_lsn)
        head = (
            f'{first}"ts_ms": {seconds}000, {where}"ts_us": {seconds}000000, "ts_ns": {seconds}000000000, {what}'
            f'"commit_lsn": "{commit}", "change_lsn": "'
        )
        now = time.time_ns()
        tail = f'"ts_ms": {now // 1_000_000}, "ts_us": {now // 1_000}, "ts_ns": {now}'
        for operation, lsn, row, before in _change_rows(data):
            change_lsn, begin_lsn = (commit, restart) if lsn == last else (lsn, begin)
            source = f'{head}{change_lsn}", "txId": "{transaction.transaction}", "begin_lsn": "{begin_lsn}"}}'
            old, new = (row, "null") if operation == "delete" else (before, row)
            if operation == "truncate":
                new = "null"
            yield (
                f'{{"before": {old}, "after": {new}, "source": {source}, "transaction": null, '
                f'"op": "{_LETTERS[operation]}", {tail}}}'
            )

    return lines


def _change_rows(data: Any) -> Iterable[tuple[str, int, str, str]]:
    """Yield operation, LSN, and the row after and before, as JSON."""
    operations = data.column(0).to_pylist()
    before = data.column(data.num_columns - 1)
    fields = list(data.schema)[2:-1]
    rows = _objects(fields, data.columns[2:-1])
    olds = _objects(fields, before.flatten()) if before.null_count < len(before) else ["null"] * len(before)
    there = before.is_valid().to_pylist()
    for operation, lsn, row, old, valid in zip(
        operations, data.column(1).to_pylist(), rows, olds, there, strict=True
    ):
        yield operation, lsn, "null" if operation == "truncate" else row, old if valid else "null"


def _objects(fields: list[Any], columns: list[Any]) -> list[str]:
    import pyarrow as pa
    import pyarrow.compute as pc

    from .formats.json_text import json_texts

    pieces_of_json: list[Any] = []
    for number, (field, column) in enumerate(zip(fields, columns, strict=True)):
        pieces_of_json += [pa.scalar(("{" if number == 0 else ", ") + _json(field.name) + ": ")]
        pieces_of_json += [pc.fill_null(json_texts(column, field), "null")]
    lines: list[str] = pc.binary_join_element_wise(*pieces_of_json, pa.scalar("}"), "").to_pylist()
    return lines


def _json(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


# ---- state ---------------------------------------------------------------------------------------------------------


def _read_token(path: str | None) -> str | None:
    """Return the token that was stored; None if there is none."""
    if path is None:
        return None
    try:
        text = Path(path).read_text(encoding="ascii").strip()
    except FileNotFoundError:
        print_error(f"{path} does not exist yet. Changes are captured from now on.")
        return None
    except (OSError, ValueError) as error:
        raise Failure(f"{path} cannot be read ({error}).") from error
    if not text:
        raise Failure(f"{path} is empty. It should hold a token. Remove it to start from the present.")
    return text


def _write_token(path: str | None, token: str | None) -> None:
    """Store the token atomically."""
    if path is None or token is None:
        return
    folder = os.path.dirname(os.path.abspath(path))
    handle, part = tempfile.mkstemp(prefix=".informix-arrow-", dir=folder)
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(token + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    except BaseException:
        os.unlink(part)
        raise


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = -1
    if not 0 <= value < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds (0 or more).")
    return value
