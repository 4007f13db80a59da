"""The state of a table's copy, which its target stores, and the protocol of copy targets."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from typing import Any, Protocol

import pyarrow as pa

from ..wire.describe import declared_type
from ..wire.errors import InterfaceError, OperationalError, error_at
from .checksums import ColumnChecksums
from .rejects import UnrepresentableValue

FORMAT = 1


@dataclass(frozen=True, slots=True)
class State:
    """The last copy of one table.

    Attributes
    ----------
    source
        The table that was copied: ``server/database/table``.
    columns
        Names and declared types, in order.
    watermark
        The column and the highest value that was copied, as text; None without a watermark.
    run
        The run of ``copy`` that made it.
    rows
        Rows in the target.
    files
        Of a Parquet folder: the files that hold them.
    adding, removing
        Of a Parquet folder: files that may still have to be renamed or deleted.
    partition_by
        Of a Parquet folder: the columns whose values folders are named after.
    where
        The condition that rows had to meet; None for all.
    tabid
        The source's number of the table, which changes when the table is created anew; None if unknown.
    rejects
        The file with the rows that were left out, until they are in the file of rejects; "" for none.
    run_ids
        The last appends that had a name: ``run_id``, when, and how many rows.
    """

    source: str
    columns: tuple[tuple[str, str], ...]
    watermark: tuple[str, str] | None = None
    run: str = ""
    rows: int = 0
    files: tuple[str, ...] = ()
    adding: tuple[str, ...] = ()
    removing: tuple[str, ...] = ()
    checks: dict[str, Any] = field(default_factory=dict)
    partition_by: tuple[str, ...] = ()
    where: str | None = None
    tabid: int | None = None
    rejects: str = ""
    run_ids: tuple[tuple[str, str, int], ...] = ()

    def to_json(self) -> str:
        values = {"format": FORMAT, **{each.name: getattr(self, each.name) for each in fields(self)}}
        return json.dumps({**values, "digest": _digest(values)}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str, where: str) -> State:
        """Parse a state. Raises ``OperationalError`` for a text that no copy has written."""
        try:
            values = json.loads(text)
            digest = values.pop("digest", None)  # older releases did not write one
            if digest is not None and digest != _digest(values):
                raise ValueError("digest")
            if values.pop("format") != FORMAT:
                raise ValueError("format")
            values["columns"] = tuple((name, kind) for name, kind in values["columns"])
            values["watermark"] = tuple(values["watermark"]) if values["watermark"] else None
            for name in ("files", "adding", "removing", "partition_by"):
                values[name] = tuple(values.get(name, ()))
            values["run_ids"] = tuple((name, when, rows) for name, when, rows in values.get("run_ids", ()))
            return cls(**values)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise OperationalError(
                f"{where}: The record of the last copy cannot be read. It is damaged, or was written by "
                "another release or another program. Restore it, or remove the copy of this table and copy "
                "it again."
            ) from error


def _digest(values: dict[str, Any]) -> str:
    """Return a digest of the whole state: a damaged watermark would silently leave rows out."""
    return hashlib.sha256(json.dumps(values, ensure_ascii=False).encode("utf-8", "replace")).hexdigest()[:16]


def describe_column_changes(before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> list[str]:
    """Return the changes of a table's columns, in words."""
    old, new = dict(before), dict(now)
    changes = [f"{name} {kind} is new" for name, kind in now if name not in old]
    changes += [f"{name} is gone" for name, _ in before if name not in new]
    changes += [
        f"{name} was {old[name]} and is {kind}" for name, kind in now if name in old and old[name] != kind
    ]
    return changes


def find_column(table: str, names: Sequence[str], name: str) -> str:
    """Return the name as the table spells it: equal to ``name``, or equal except for case if no other is."""
    same = [each for each in names if each == name] or [
        each for each in names if each.lower() == name.lower()
    ]
    if len(same) != 1:
        raise InterfaceError(f"{table} has no column {name!r}. Its columns are {', '.join(names)}.")
    return same[0]


@dataclass(slots=True)
class CopyRows:
    """The rows that are due. They can be read once, and are counted as they are read.

    ``cancel`` ends the wait for the next ones, from any thread.
    """

    schema: pa.Schema
    batches: Iterator[pa.RecordBatch]
    checks: ColumnChecksums
    cancel: Callable[[], object] = lambda: None

    @classmethod
    def counted(cls, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> CopyRows:
        """Return batches as rows that are counted as they are read."""
        checks = ColumnChecksums(schema)

        def counted() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                checks.add(batch)
                yield batch

        return cls(schema, counted(), checks)

    @contextmanager
    def stream(
        self,
        schema: pa.Schema | None = None,
        convert: Callable[[pa.RecordBatch], pa.RecordBatch] = lambda batch: batch,
    ) -> Iterator[pa.RecordBatchReader]:
        """Provide the rows as an Arrow stream of a schema, which `convert` converts them to.

        An error of the source is raised as itself, and not as the consumer's error about it.
        """
        failed: list[BaseException] = []

        def batches() -> Iterator[pa.RecordBatch]:
            try:
                yield from map(convert, self.batches)
            except BaseException as error:
                failed.append(error)
                raise

        try:
            yield pa.RecordBatchReader.from_batches(self.schema if schema is None else schema, batches())
        except Exception:
            if failed:
                raise failed[0] from None
            raise


class CopyTarget(Protocol):
    """A place that tables are copied to."""

    overlapping: bool
    """True if the last rows of a table may still be written when the next table is begun."""

    def state(self, table: str) -> State | None:
        """Return the state of a table's last copy, after finishing it if it was interrupted; None if there was none.

        Raises ``OperationalError`` if the table is there and no copy has made it.
        """

    def replace(
        self, table: str, rows: CopyRows, state: Callable[[], State], key: Sequence[str] = ()
    ) -> State:
        """Replace the rows and the state, in one step. No two rows may have the same key."""

    def append(self, table: str, rows: CopyRows, state: Callable[[], State]) -> State:
        """Add rows and replace the state, in one step."""

    def merge(self, table: str, rows: CopyRows, state: Callable[[], State], key: Sequence[str]) -> State:
        """Add rows in place of those with the same key, and replace the state, in one step."""

    def unrepresentable_values(self, batch: pa.RecordBatch) -> Sequence[UnrepresentableValue]:
        """Return the values that the target cannot hold although it has their type, ordered by row."""

    def cancel(self) -> None:
        """End what the target waits for, from any thread. The copies that are being made fail."""

    def close(self) -> None:
        """Close the target."""


def reconcile(table: str, read: ColumnChecksums, stored: ColumnChecksums) -> None:
    """Raise ``OperationalError`` if a target holds something else than was read."""
    differences = read.differences(stored)
    if differences:
        raise error_at(OperationalError, table, f"{'; '.join(differences)}. The target is unchanged.")


def is_floating_decimal(field: pa.Field) -> bool:
    """Return whether a column holds a DECIMAL without a scale as text (``floating_decimals="string"``)."""
    if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
        return False
    declared = declared_type(field)
    return declared is not None and declared.is_floating_decimal
