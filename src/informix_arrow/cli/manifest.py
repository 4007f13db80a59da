"""The manifest next to the files of an unload: a line of JSON for the statement, and one for each complete file.

Its first line is written before the first file, and lists the files of the unload that this one replaces. So the
manifest names all files of an unload, whenever the process ends.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from .exit_codes import Failure, UsageError
from .files import PART_SUFFIX, exists, is_remote, new_file, open_input, remove
from .unload_file import numbered_path

SUFFIX = ".manifest.jsonl"
_VERSION = 1


@dataclass(frozen=True)
class ManifestFile:
    """A complete file.

    ``first`` and ``last`` are the keys of its first and last row as texts; None without a key or rows. ``condition``
    selects its rows, if it is one of several parts.
    """

    file: str
    rows: int
    bytes: int
    sha256: str
    first: list[str] | None = None
    last: list[str] | None = None
    condition: str | None = None


@dataclass
class Manifest:
    """Statement, format, key and files of an unload.

    Attributes
    ----------
    path
        The path of the manifest.
    statement
        The SQL of the user, without the order and the condition that resuming adds.
    key
        Columns by which the rows are ordered; empty if they are not.
    parts
        The parts of the unload; empty if it has none.
    numbered
        True if the names of the files have numbers.
    replaces
        Names of files of the unload that this one replaces. They are removed, or replaced by new ones of that name.
    entries
        Files that are complete.
    done
        True if these are all.
    """

    path: str
    statement: str
    format: str
    key: Sequence[str]
    partitions: list[dict[str, Any]] = field(default_factory=list)
    numbered: bool = False
    replaces: Collection[str] = ()
    entries: list[ManifestFile] = field(default_factory=list)
    done: bool = False

    _begun: bool = field(default=False, init=False, repr=False)

    def begin(self) -> None:
        """Write the first line, in place of an older manifest. Does nothing if it is there."""
        if self._begun:
            return
        with new_file(self.path, overwrite=True) as file:
            file.write(_line(self._head()))
        self._begun = True

    def withdraw(self) -> None:
        """Remove the manifest after an error, if there is no file that it is about."""
        paths = [os.path.join(os.path.dirname(self.path), name) for name in self.names()]
        if self._begun and not any(map(exists, paths)):
            remove(self.path)

    def add(self, entry: ManifestFile) -> None:
        """Add a complete file."""
        self.entries.append(entry)
        self._append(asdict(entry))

    def remove_replaced(self) -> None:
        """Remove the files of the unload that this one replaces, and what a killed process has left."""
        written = {each.file for each in self.entries}
        for name in {*self.replaces, *written}:
            path = os.path.join(os.path.dirname(self.path), name)
            if name not in written:
                remove(path)
            if not is_remote(path):
                remove(path + PART_SUFFIX)

    def end(self) -> None:
        """Mark the unload as complete."""
        self.done = True
        self._append({"done": True, "files": len(self.entries), "rows": self.rows})

    def names(self) -> set[str]:
        """Return the names of all files that may belong to the unload, complete or not."""
        return {*self.replaces, *self.unfinished_names(), *(each.file for each in self.entries)}

    def unfinished_names(self) -> set[str]:
        """Return the names of files that may have been written and are not in the manifest."""
        if self.done:
            return set()
        output = self.path.removesuffix(SUFFIX)
        numbers = [part["number"] for part in self.partitions] or [len(self.entries) + 1]
        paths = [numbered_path(output, number) for number in numbers] if self.numbered else [output]
        return {os.path.basename(path) for path in paths} - {each.file for each in self.entries}

    @property
    def rows(self) -> int:
        """The number of rows in complete files."""
        return sum(each.rows for each in self.entries)

    def _head(self) -> dict[str, Any]:
        return {
            "version": _VERSION,
            "statement": self.statement,
            "statement_sha256": hashlib.sha256(self.statement.encode()).hexdigest(),
            "format": self.format,
            "key": list(self.key),
            "parts": self.partitions,
            "numbered": self.numbered,
            "replaces": sorted(self.replaces),
        }

    def _append(self, entry: dict[str, Any]) -> None:
        if is_remote(self.path):  # object stores cannot append
            lines = [self._head(), *map(asdict, self.entries)]
            with new_file(self.path, overwrite=True) as file:
                file.write(b"".join(map(_line, lines if "file" in entry else [*lines, entry])))
            return
        with open(self.path, "ab") as file:
            file.write(_line(entry))
            file.flush()
            os.fsync(file.fileno())


def _line(entry: dict[str, Any]) -> bytes:
    return json.dumps(entry, ensure_ascii=False).encode() + b"\n"


def read(path: str) -> Manifest:
    """Read the manifest of an unload that was begun. Raises ``Failure`` for any other file.

    An incomplete last line is ignored: its file was not recorded.
    """
    with open_input(path) as file:
        lines = file.read().split(b"\n")
    try:
        head, *entries = [json.loads(line) for line in lines[:-1]]
        manifest = Manifest(path, head["statement"], head["format"], head["key"], head["parts"])
        manifest.replaces = head.get("replaces", ())  # release 0.1.0 wrote neither these nor "numbered"
        manifest._begun = True
        if head["version"] != _VERSION:
            raise Failure(
                f"{path} has the format version {head['version']}, but this release reads version "
                f"{_VERSION}. Use the release that wrote it."
            )
        for entry in entries:
            if entry.get("done"):
                manifest.done = True
            else:
                manifest.entries.append(ManifestFile(**entry))
        output = os.path.basename(path.removesuffix(SUFFIX))
        files = {each.file for each in manifest.entries}
        manifest.numbered = head.get("numbered", bool(manifest.partitions or files - {output}))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise Failure(f"{path} is not a manifest of an unload. Remove it, or choose another name.") from None
    if lines[-1] and not is_remote(path):
        with open(path, "r+b") as file:
            file.truncate(sum(len(line) + 1 for line in lines[:-1]))
    return manifest


def resume(manifest: Manifest, statement: str, kind: str, key: Sequence[str]) -> Manifest | None:
    """Return the manifest if its unload can be continued; None if no file of it is complete.

    Raises ``UsageError`` if it is of another unload.
    """
    path = manifest.path
    if manifest.statement != statement:
        raise UsageError(
            f"{path} belongs to another statement ({manifest.statement[:60]!r}). Nothing was written. "
            "Choose another -o."
        )
    if manifest.format != kind:
        raise UsageError(f"{path}: Its files are {manifest.format}. Use --format {manifest.format}.")
    if not manifest.done and not manifest.entries and not manifest.partitions:
        return None
    if manifest.done or (manifest.entries and not manifest.numbered):  # of one file, which is complete
        return manifest
    if not manifest.key and not manifest.partitions:
        raise UsageError(
            f"{path}: Its rows have no order, so the unload cannot be continued. Start again with "
            "--overwrite and --key."
        )
    if key and list(key) != list(manifest.key):
        raise UsageError(
            f"{path}: Its rows are ordered by {', '.join(manifest.key)}, not by {', '.join(key)}. Use the "
            "same --key."
        )
    return manifest
