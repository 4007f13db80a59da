"""Files of refused rows: one in the format of the source, to be repaired and loaded again, and one of JSON lines.

The JSON lines have the place, codes and reason.
"""

from __future__ import annotations

import codecs
import contextlib
import io
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import IO, Any

import pyarrow as pa
import pyarrow.csv as pc_csv

from ..core.disk import name_file_in_errors
from .exit_codes import UsageError
from .files import PART_SUFFIX, STDIO, is_remote, refuse_existing, remove, rename
from .formats import Options, open_writer
from .formats.file_rows import LINE, TEXT
from .formats.text_decoding import as_text
from .load_source import FILE, ROW, LoadFiles, RefusedInput

LOG_SUFFIX = ".jsonl"
_NEW_SUFFIX = ".new"  # of a Parquet or Arrow file that is being made of its streams
_JSON_START, _JSON_END = "[\n", "\n]\n"


@dataclass
class Reject:
    """A refused row: its entry in the log, and its text for the file."""

    entry: dict[str, Any]
    text: str | None
    values: pa.RecordBatch


def from_report(table: pa.Table, source: LoadFiles) -> list[Reject]:
    """Return the rows that the server refused, from ``report.rejected``."""
    rejects = []
    width = len(source.schema)
    for row in range(table.num_rows):
        one = {name: table.column(number)[row].as_py() for number, name in enumerate(table.schema.names[:5])}
        places = {name: table.column(name)[row].as_py() for name in (FILE, LINE, ROW)}
        values = pa.RecordBatch.from_arrays(
            [table.column(5 + number).slice(row, 1).combine_chunks() for number in range(width)],
            schema=source.schema,
        )
        entry = _entry(
            source,
            places[FILE],
            places[LINE],
            places[ROW],
            one["column"],
            one["sqlcode"],
            one["isam"],
            " ".join(one["message"].split()),
        )
        rejects.append(Reject(entry, table.column(TEXT)[row].as_py(), values))
    return rejects


def from_source(refused: Sequence[RefusedInput], source: LoadFiles) -> list[Reject]:
    """Return what the readers of the files refused."""
    empty = pa.RecordBatch.from_pylist([], schema=source.schema)
    return [
        Reject(
            _entry(source, each.file, each.line, each.row, each.column, None, None, each.problem),
            each.text,
            empty if each.values is None else each.values,
        )
        for each in refused
    ]


def _entry(
    source: LoadFiles,
    file: int,
    line: int | None,
    row: int | None,
    column: str | None,
    sqlcode: int | None,
    isam: int | None,
    text: str,
) -> dict[str, Any]:
    place = {"line": line} if line is not None else {"row": row}
    return {
        "file": source.paths[file],
        **place,
        "column": column,
        "sqlcode": sqlcode,
        "isam": isam,
        "text": text,
    }


def in_order(rejects: list[Reject], source: LoadFiles) -> list[Reject]:
    """Return the refused rows in the order of the files."""
    files = {path: number for number, path in enumerate(source.paths)}
    return sorted(
        rejects, key=lambda each: (files[each.entry["file"]], each.entry.get("line", each.entry.get("row")))
    )


class RejectFiles:
    """The two files. They are created with the first refused row, and get their names at the end of the load.

    Until then they are ``NAME.part``, to which a resumed load appends. Parquet and Arrow files cannot be appended to:
    their rows are Arrow streams, one after the other, until the end.

    ``sizes`` are the sizes that the files had at the last commit of a resumed load.
    """

    def __init__(
        self, path: str | None, source: LoadFiles, *, overwrite: bool, sizes: tuple[int, int] | None = None
    ) -> None:
        self.count = 0
        self.path = path
        self.first: dict[str, Any] | None = None
        self._source = source
        self._file: IO[bytes] | None = None
        self._log: IO[bytes] | None = None
        self._columnar = source.kind in ("parquet", "arrow")
        # One encoder for the whole file, because a byte order mark is written at its beginning only.
        self._encoder = codecs.getincrementalencoder(source.options.encoding)("surrogateescape")
        self._has_rows = False
        if path is None:
            if sizes is not None and any(sizes):
                raise UsageError(
                    "The interrupted load has written refused rows to a file. Give the same --rejects "
                    "again. Otherwise the rows refused from now on would be lost."
                )
            return
        if is_remote(path) or path in ("", STDIO):
            raise UsageError(f"--rejects {path}: It must be a file on this machine.")
        for name in (path, path + LOG_SUFFIX):
            refuse_existing(name, overwrite=overwrite)
            self._refuse_input(name)
        if sizes is not None and any(sizes):
            self._require_begun(sizes)
            self._reopen(sizes)
            self._encoder.encode("")  # the mark is written already
            self._has_rows = sizes[0] > len(_JSON_START.encode(source.options.encoding))

    def _refuse_input(self, path: str) -> None:
        """Raise ``UsageError`` if the file is an input, whose good rows would be lost."""
        for name in (path, path + PART_SUFFIX):
            for each in self._source.paths:
                there = os.path.exists(name) and not is_remote(each) and os.path.exists(each)
                if there and os.path.samefile(name, each):
                    raise UsageError(
                        f"--rejects {self.path} would overwrite {each}, which is being loaded. Choose "
                        "another name."
                    )

    def _require_begun(self, sizes: tuple[int, int]) -> None:
        """Raise ``UsageError`` if the files lack rows that were refused before."""
        assert self.path is not None
        for name, size in zip((self.path, self.path + LOG_SUFFIX), sizes, strict=True):
            found = os.path.getsize(name + PART_SUFFIX) if os.path.exists(name + PART_SUFFIX) else -1
            if found < size:
                what = "is missing" if found < 0 else f"has {found:,} bytes instead of {size:,}"
                raise UsageError(
                    f"{name}{PART_SUFFIX} {what}. The interrupted load has its refused rows in this file. "
                    "Give the same --rejects as then, or restore the file."
                )

    @staticmethod
    def complete(path: str | None, source: LoadFiles, sizes: tuple[int, int]) -> None:
        """Give the files of a finished load their names, if the process ended before it did."""
        if path is None or is_remote(path) or not any(sizes) or not os.path.exists(path + PART_SUFFIX):
            return
        log = path + LOG_SUFFIX
        found = log + PART_SUFFIX if os.path.exists(log + PART_SUFFIX) else log
        if not os.path.exists(found) or os.path.getsize(found) != sizes[1]:
            return  # the files of another load
        if found == log:
            rename(log, log + PART_SUFFIX)  # it had its name already
        RejectFiles(path, source, overwrite=True, sizes=sizes).end()

    def _open(self, mode: str) -> tuple[IO[bytes], IO[bytes]]:
        assert self.path is not None
        return open(self.path + PART_SUFFIX, mode), open(self.path + LOG_SUFFIX + PART_SUFFIX, mode)

    def _reopen(self, sizes: tuple[int, int]) -> None:
        """Open the files to append to what they had at these sizes."""
        self._file, self._log = self._open("r+b")
        for file, size in zip((self._file, self._log), sizes, strict=True):
            file.truncate(size)
            file.seek(size)

    def add(self, rejects: Sequence[Reject]) -> None:
        """Write refused rows and wait until they are on disk."""
        if self.path is not None and rejects:
            before = self.sizes
            try:
                with name_file_in_errors(self.path):
                    self._write_all(rejects)
            except OSError:
                self._truncate_to(before)
                raise
        self.count += len(rejects)
        if rejects and self.first is None:
            self.first = rejects[0].entry

    def _write_all(self, rejects: Sequence[Reject]) -> None:
        if self._file is None or self._log is None:
            self._file, self._log = self._open("wb")
            self._begin()
        if self._columnar:
            batches = [each.values for each in rejects]
            with pa.ipc.new_stream(self._file, self._source.schema) as stream:
                stream.write_table(pa.Table.from_batches(batches, self._source.schema).combine_chunks())
        for each in rejects:
            if not self._columnar:
                self._write_reject(each)
            self._log.write(
                json.dumps(each.entry, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
            )
        for file in (self._file, self._log):
            file.flush()
            os.fsync(file.fileno())

    def _truncate_to(self, sizes: tuple[int, int]) -> None:
        """Restore the files to their sizes before rows for which the disk was full."""
        self.suspend()
        if not any(sizes):
            self._remove()
            self._file = self._log = None
            return
        self._reopen(sizes)

    @property
    def sizes(self) -> tuple[int, int]:
        """Return the bytes in both files."""
        return (0, 0) if self._file is None or self._log is None else (self._file.tell(), self._log.tell())

    def end(self) -> None:
        """Give the files their names."""
        if self._file is None or self._log is None or self.path is None:
            return
        with name_file_in_errors(self.path):
            if self._source.kind == "json":
                self._text(_JSON_END)
            self._file.close()
            self._log.close()
            rename(self.path + LOG_SUFFIX + PART_SUFFIX, self.path + LOG_SUFFIX)
            if self._columnar:
                self._convert_streams(self.path + _NEW_SUFFIX)
                rename(self.path + _NEW_SUFFIX, self.path)
                remove(self.path + PART_SUFFIX)
            else:
                rename(self.path + PART_SUFFIX, self.path)

    def _convert_streams(self, path: str) -> None:
        """Write the streams of refused rows as a file of the source's format."""
        with open(f"{self.path}{PART_SUFFIX}", "rb") as streams, open(path, "wb") as file:
            size = os.fstat(streams.fileno()).st_size
            writer = open_writer(self._source.kind, file, self._source.schema, Options())
            while streams.tell() < size:
                for batch in pa.ipc.open_stream(streams):
                    writer.write(batch)
            writer.close()
            file.flush()
            os.fsync(file.fileno())

    def suspend(self) -> None:
        """Close the files without renaming them, for a load that is resumed later."""
        for file in (self._file, self._log):
            if file is not None:
                with contextlib.suppress(
                    OSError
                ):  # on a full disk it has more to write: add() has raised that
                    file.close()

    def drop(self) -> None:
        """Remove the files, because nothing was loaded."""
        self.suspend()
        if self._file is not None:
            self._remove()

    def _remove(self) -> None:
        if self.path is not None:
            for name in (self.path, self.path + LOG_SUFFIX):
                remove(name + PART_SUFFIX)

    def _begin(self) -> None:
        assert self._file is not None
        self._encoder.reset()
        if self._source.kind == "csv":
            self._text(self._csv([], header=True))
        elif self._source.kind == "json":
            self._text(_JSON_START)

    def _write_reject(self, each: Reject) -> None:
        if self._source.kind == "csv":
            self._text(self._csv([each.values], header=False) if each.text is None else f"{each.text}\n")
        elif each.text is not None:
            in_array = self._source.kind == "json"
            before, after = (",\n" * self._has_rows, "") if in_array else ("", "\n")
            self._text(f"{before}{each.text}{after}")
        self._has_rows = True

    def _text(self, text: str) -> None:
        assert self._file is not None
        self._file.write(self._encoder.encode(text))

    def _csv(self, batches: Sequence[pa.RecordBatch], *, header: bool) -> str:
        file = io.BytesIO()
        options = self._source.options
        null = {} if options.null is None else {"null_string": options.null}
        chosen = pc_csv.WriteOptions(include_header=header, delimiter=options.delimiter or ",", **null)
        with pc_csv.CSVWriter(file, self._source.schema, write_options=chosen) as writer:
            for batch in batches:
                writer.write_batch(batch)
        return as_text(file.getvalue(), options.encoding)
