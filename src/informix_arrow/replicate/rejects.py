"""Rows with values that a target cannot hold: an error, or left out and logged."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..core.disk_errors import name_file_in_errors
from ..wire.errors import DataError

MAX_SHOWN_CHARACTERS = 200  # characters of a value


@dataclass(frozen=True, slots=True)
class UnrepresentableValue:
    """A value that the target cannot hold: the index of its row in a batch, its column and the reason."""

    row: int
    column: str
    reason: str


class RejectLog:
    """A file of rejected values, one line of JSON each. Thread-safe."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._lock = threading.Lock()
        with name_file_in_errors(path):
            self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115 - closed by close()

    def add(self, lines: Sequence[str]) -> None:
        """Append lines and wait until they are on disk."""
        with self._lock, name_file_in_errors(self._path):
            self._file.writelines(f"{line}\n" for line in lines)
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class RejectFilter:
    """A filter for the rows of one table that do not fit. It counts them in ``rows``."""

    def __init__(
        self,
        table: str,
        key_of: Callable[[], Sequence[str]],
        key: Sequence[str],
        find_unrepresentable: Callable[[pa.RecordBatch], Sequence[UnrepresentableValue]],
        rejects: RejectLog | None,
    ) -> None:
        self.rows = 0
        self._table = table
        self._find_key = key_of
        self._key = tuple(key) or None
        self._find_unrepresentable = find_unrepresentable
        self._rejects = rejects
        self._lines: list[str] = []

    def filter_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows that fit. Without a log, raise ``DataError`` for the first one that does not."""
        values = self._find_unrepresentable(batch)
        if not values:
            return batch
        for each in values:
            row = batch.slice(each.row, 1).to_pylist()[0]
            key = {name: row[name] for name in self._key_of(batch)}
            if self._rejects is None:
                text = ", ".join(f"{name}={value!r}" for name, value in key.items())
                raise DataError(
                    f"{self._table}: {each.column} {each.reason}, in the row {text[:MAX_SHOWN_CHARACTERS]}. "
                    "Use rejects (--rejects) to leave such rows out.",
                    column=each.column,
                )
            entry = {
                "table": self._table,
                "key": key,
                "column": each.column,
                "value": row[each.column],
                "reason": each.reason,
            }
            self._lines.append(json.dumps(entry, ensure_ascii=False, default=_json_value))
        rows = {each.row for each in values}
        self.rows += len(rows)
        return batch.filter(pa.array(row_number not in rows for row_number in range(batch.num_rows)))

    def flush(self) -> None:
        """Log the rows that were left out, before the copy counts."""
        if self._lines and self._rejects is not None:
            self._rejects.add(self._lines)
            self._lines = []

    def _key_of(self, batch: pa.RecordBatch) -> tuple[str, ...]:
        """Return the columns that identify a row: the key of the call, the table's primary key, or all columns."""
        if self._key is None:
            self._key = tuple(self._find_key()) or tuple(batch.schema.names)
        return self._key


def find_characters(batch: pa.RecordBatch, pattern: str, reason: str) -> list[UnrepresentableValue]:
    """Return the texts that contain a character which ``pattern`` describes."""
    values = []
    for field, column in zip(batch.schema, batch.columns, strict=True):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            rows = pc.indices_nonzero(pc.fill_null(pc.match_substring_regex(column, pattern), False))
            values += [UnrepresentableValue(row, field.name, reason) for row in rows.to_pylist()]
    return sorted(values, key=lambda each: each.row)


def _json_value(value: Any) -> str:
    return value.hex() if isinstance(value, bytes) else str(value)
