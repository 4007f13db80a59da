"""An unload in parts at the same time, each over its own connection into its own file."""

from __future__ import annotations

import contextlib
import os
import threading
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from ..connection import Connection, open_base_connection
from ..dsn import Parameters
from ..partition.result import plan_partitions
from ..wire.errors import Error
from .files import new_file
from .formats import Options, open_stream_writer
from .manifest import Manifest, ManifestFile
from .progress import ProgressReporter
from .unload_file import HashingFile, numbered_path, read

_POLL_SECONDS = 0.2  # seconds between looks for Ctrl-C, and between attempts to end the parts


def plan_parts(connection: Connection, statement: str, on: str | None, parts: int) -> list[dict[str, Any]]:
    """Return the parts of a table or a query, as the manifest stores them. A resumed unload keeps to them."""
    partitions = plan_partitions(connection, statement, on, parts)
    return [
        {
            "number": each.number + 1,
            "sql": each.sql,
            "parameters": list(each.parameters),
            "condition": each.condition,
        }
        for each in partitions
    ]


@dataclass(eq=False, repr=False)
class PartitionedUnload:
    """The parts of an unload that are still to be written."""

    _parameters: Parameters
    _path: str
    _manifest: Manifest
    _options: Options
    _bar: ProgressReporter
    _: KW_ONLY
    overwrite: bool
    # guards the manifest and the bar
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _connections: list[Connection] = field(default_factory=list, init=False)
    _ended: bool = field(default=False, init=False)

    def run(self) -> None:
        """Write all parts. The first error ends the others."""
        there = {each.file for each in self._manifest.entries}
        remaining = [
            part
            for part in self._manifest.partitions
            if os.path.basename(numbered_path(self._path, part["number"])) not in there
        ]
        if not remaining:
            return
        with ThreadPoolExecutor(len(remaining)) as pool:
            futures: list[Future[None]] = []
            try:
                for part in remaining:
                    futures.append(pool.submit(self._write_part, part))
                running = set(futures)
                while running:
                    # A wait without a limit is not ended by Ctrl-C once a library has installed a signal handler.
                    done, running = wait(running, _POLL_SECONDS, FIRST_EXCEPTION)
                    for each in done:
                        each.result()
            except BaseException:
                self._end()
                # A cancel that arrives just before a thread waits has no effect, so it is repeated.
                while wait(futures, _POLL_SECONDS).not_done:
                    self._end()
                raise

    def _end(self) -> None:
        """Stop all parts."""
        self._ended = True
        with self._lock:
            for connection in self._connections:
                with contextlib.suppress(Error, OSError):
                    connection.cancel()

    def _write_part(self, part: dict[str, Any]) -> None:
        path = numbered_path(self._path, part["number"])
        rows = 0
        with open_base_connection(self._parameters) as connection:
            with self._lock:
                self._connections.append(connection)
            with (
                read(connection, part["sql"], part["parameters"], self._manifest.format) as result,
                new_file(path, overwrite=self.overwrite) as plain,
            ):
                hashed = HashingFile(plain)
                with open_stream_writer(
                    hashed, path, self._manifest.format, result.schema, self._options
                ) as writer:
                    for batch in result.batches():
                        if self._ended:
                            raise InterruptedError("another part has failed")
                        writer.write(batch)
                        rows += batch.num_rows
                        with self._lock:
                            self._bar.add(batch.num_rows, batch.nbytes)
        entry = ManifestFile(
            os.path.basename(path), rows, hashed.size, hashed.digest(), condition=part["condition"]
        )
        with self._lock:
            self._manifest.add(entry)
