"""Delta tables in a local folder as targets of changes: ``DIR/table``, each transaction one commit of a table.

A commit stores the LSN that the table has reached as the version of an application (Delta's ``txn`` action, which
checkpoints keep), and names the token. A transaction of the source that changes several tables is one commit for each.
The commits are written down before the first one, and after a crash the next process that opens the folder finishes
them. Files that hold a row which is to be changed or removed are rewritten.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from deltalake import CommitProperties, Transaction

from ..wire.errors import OperationalError, error_at
from .delta import DeltaChange, DeltaFolder
from .folders import write_whole
from .net_changes import NetChanges, missing, overtaken
from .parquet_tables import write_files
from .row_matching import match_rows
from .state import CopyRows

STATE = "_informix_arrow_changes.json"
FORMAT = 1
APPLICATION = "informix-arrow-changes:"


@dataclass(frozen=True, slots=True)
class Step:
    """The change of one table: files to add and files to remove."""

    table: str
    schema: str  # Arrow's, in base64
    adding: list[str]
    removing: list[str]


@dataclass(frozen=True, slots=True)
class PendingTransaction:
    """A transaction that is being applied to its tables."""

    name: str
    token: str
    commit: int
    steps: list[Step]


class DeltaChangeTarget:
    """A folder, created if it is missing. No other program writes to it until it is closed."""

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._folder = DeltaFolder(path)
        try:
            self._tokens, due = self._read()
            if due is not None:
                self._recover(due)
        except BaseException:
            self._folder.close()
            raise

    def token(self, name: str) -> str | None:
        return self._tokens.get(name)

    def apply(
        self, name: str, before: str | None, token: str, commit: int, changes: Mapping[str, NetChanges]
    ) -> None:
        if self.token(name) != before:
            raise overtaken(str(self._path), name)
        due = PendingTransaction(
            name, token, commit, [self._prepare(table, net) for table, net in changes.items()]
        )
        self._write(due)
        for step in due.steps:
            self._publish(due, step)
        self._complete(due)

    def close(self) -> None:
        self._folder.close()

    # ---- preparing and publishing ---------------------------------------------------------------------------------

    def _prepare(self, table: str, net: NetChanges) -> Step:
        """Write the new files of a table."""
        change = self._folder.change(table, net.schema, whole=False)
        stored = change.schema
        batches, removing = net.added.cast(stored).to_batches(), list(change.files) if net.emptied else []
        if net.removed.num_rows:
            removed, left = net.removed.cast(stored), net.times.copy()
            for file in () if net.emptied else change.files:
                rows = _rows(change, file, stored, table)
                mask, matched = match_rows(removed, left, rows)
                if mask.any():
                    left -= matched
                    removing.append(file)
                    batches += rows.filter(pa.array(~mask)).to_batches()
                    if not left.any():
                        break
            if left.any():
                raise missing(table, int(net.times.sum()), int(left.sum()))
        batches = [batch for batch in batches if batch.num_rows]
        adding = write_files(table, change, CopyRows.counted(stored, batches))
        schema = base64.b64encode(net.schema.remove_metadata().serialize()).decode()
        return Step(table, schema, adding, removing)

    def _publish(self, due: PendingTransaction, step: Step) -> None:
        """Commit the change of one table, unless that was done before."""
        change = self._change(step)
        application = APPLICATION + due.name
        if (change.version(application) or 0) < due.commit:
            if not set(step.removing) <= set(change.files):
                raise OperationalError(
                    f"{self._path / step.table}: Another program has replaced the files in the meantime. "
                    "Apply the changes again."
                )
            properties = CommitProperties(
                custom_metadata={"informix_arrow.token": due.token},
                app_transactions=[Transaction(application, due.commit)],
            )
            change.publish(step.adding, step.removing, properties)

    # ---- the file of tokens ------------------------------------------------------------------------------------

    def _read(self) -> tuple[dict[str, str], PendingTransaction | None]:
        """Return the token of each name, and the transaction that was begun."""
        path = self._path / STATE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                raise ValueError("format")
            due = data["due"]
            if due is not None:
                due = PendingTransaction(
                    due["name"], due["token"], due["commit"], [Step(**each) for each in due["steps"]]
                )
            return dict(data["tokens"]), due
        except FileNotFoundError:
            return {}, None
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise OperationalError(
                f"{path} is not in a format that this release reads. Another release or another program has "
                "written it."
            ) from error

    def _write(self, due: PendingTransaction | None) -> None:
        data = {"format": FORMAT, "tokens": self._tokens, "due": None if due is None else asdict(due)}
        write_whole(self._path / STATE, json.dumps(data, ensure_ascii=False))

    def _complete(self, due: PendingTransaction) -> None:
        self._tokens[due.name] = due.token
        self._write(None)

    def _recover(self, due: PendingTransaction) -> None:
        """Finish the transaction of a process that died.

        It is given up if no table has it yet and others have written to a table since then.
        """
        waiting = [step for step in due.steps if not self._is_done(due, step)]
        if len(waiting) == len(due.steps) and any(self._is_lost(step) for step in waiting):
            self._write(None)
            return
        for step in waiting:
            self._publish(due, step)
        self._complete(due)

    def _is_done(self, due: PendingTransaction, step: Step) -> bool:
        return (self._change(step).version(APPLICATION + due.name) or 0) >= due.commit

    def _is_lost(self, step: Step) -> bool:
        """Return whether the table lost files that are to be replaced."""
        return not set(step.removing) <= set(self._change(step).files)

    def _change(self, step: Step) -> DeltaChange:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(step.schema)))
        return self._folder.change(step.table, schema, whole=False)


def _rows(change: DeltaChange, file: str, schema: pa.Schema, table: str) -> pa.Table:
    """Return all rows of a file, cast to the schema."""
    with change.open(file) as source, pq.ParquetFile(source) as parquet:
        rows = parquet.read()
    if rows.column_names != schema.names:
        raise error_at(
            OperationalError,
            table,
            f"{file} has the columns {', '.join(rows.column_names)}, but the captured table has "
            f"{', '.join(schema.names)}. Create the copy anew.",
        )
    return rows.cast(schema)
