"""The files of ``capture -o DIR``: one for each table and group of transactions, named after their LSNs.

A file is ``TABLE-FIRST-LAST.SUFFIX``: the commit LSNs, in hexadecimal, of the first and the last transaction of its
group. The token is stored after the files. A capture that is repeated, because the token was not stored, writes the
same transactions again, in groups of other sizes maybe. So a group replaces all files whose transactions it repeats.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, TypeAlias
from urllib.parse import quote

from ..core.disk import sync_directory
from .exit_codes import Failure
from .files import PART_SUFFIX

if TYPE_CHECKING:
    from ..cdc.assembler import Transaction
    from ..cdc.open_transaction import Change

#: Writes what a group has of one table: the changes, each with its transaction.
WriteChanges: TypeAlias = "Callable[[IO[bytes], Iterable[tuple[Transaction, Change]]], None]"

_NAME = re.compile(r"(.+)-([0-9a-f]{16})-([0-9a-f]{16})\.(?:jsonl|parquet)")


class ChangeDirectory:
    """A directory of files of changes.

    Parameters
    ----------
    path
        The directory, which is made if it is missing.
    tables
        The captured tables. Files of other tables are left alone.
    suffix, write
        Suffix of the files, and what writes one.
    """

    def __init__(self, path: str, tables: Iterable[str], suffix: str, write: WriteChanges) -> None:
        self._path, self._suffix, self._write_changes = Path(path), suffix, write
        self._path.mkdir(parents=True, exist_ok=True)
        self._names = {_plain_name(table) for table in tables}

    def write(self, group: Sequence[Transaction]) -> None:
        """Write a group of transactions, in place of files that have some of them, and wait until it is on disk."""
        first, last = group[0].commit_lsn, group[-1].commit_lsn
        replaced = self._find_replaced(first, last)
        paths = []
        for table in dict.fromkeys(change.table for one in group for change in one.batches):
            path = self._path / f"{_plain_name(table)}-{first:016x}-{last:016x}.{self._suffix}"
            with open(f"{path}{PART_SUFFIX}", "wb") as file:
                self._write_changes(
                    file, ((one, change) for one in group for change in one.batches if change.table == table)
                )
                file.flush()
                os.fsync(file.fileno())
            paths.append(path)
        for path in replaced:
            if path not in paths:
                path.unlink()
        for path in paths:
            os.replace(f"{path}{PART_SUFFIX}", path)
        sync_directory(self._path)

    def _find_replaced(self, first: int, last: int) -> list[Path]:
        """Return the files that have transactions of a group.

        Raises ``Failure`` if one also has transactions before the group, which would be lost with it.
        """
        found = []
        for path in self._path.iterdir():
            match = _NAME.fullmatch(path.name)
            if match is None or match[1] not in self._names:
                continue
            begins, ends = int(match[2], 16), int(match[3], 16)
            if begins > last or ends < first:
                continue
            if begins < first:
                raise Failure(
                    f"{path} has changes from before and after the position in --state. Use an empty "
                    "directory for -o, or the state file that belongs to this one."
                )
            found.append(path)
        return found


def _plain_name(table: str) -> str:
    """Return a table's name as a part of a file's name, a different one for each table."""
    return quote(table, safe="")
