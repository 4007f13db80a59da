"""Progress of a command: a bar on a terminal, JSON lines for programs, nothing into a pipe."""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..ingest.progress import Bar

if TYPE_CHECKING:
    from typing_extensions import Self

_EVERY = 0.5  # seconds between two JSON lines


def add_options(parser: argparse._ActionsContainer) -> None:
    """Declare ``--progress``."""
    parser.add_argument(
        "--progress",
        choices=("auto", "json", "never"),
        default="auto",
        help="auto: show a bar if stderr is a terminal (default). json: write JSON lines with rows, bytes and "
        "seconds to stderr",
    )


class ProgressReporter:
    """A report of the rows and bytes so far. Use it as a context manager around the work::

        with ProgressReporter(options.progress, total=rows) as progress:
            progress(rows_so_far, bytes_so_far)

    Parameters
    ----------
    mode
        ``"auto"``, ``"json"`` or ``"never"``.
    total
        The number of rows to come; None if unknown.
    """

    def __init__(self, mode: str, total: int | None = None) -> None:
        self.rows = self.bytes = 0
        self._total = total
        self._began = time.monotonic()
        self._last_report = self._began
        self._show: _Json | _Rich | Bar | None = None
        if mode == "json":
            self._show = _Json(total)
        elif mode == "auto" and sys.stderr.isatty():
            self._show = _Rich(total) if importlib.util.find_spec("rich") else Bar(total)

    def __call__(self, rows: int, size: int, seconds: float | None = None) -> None:
        """Set the number of rows and bytes so far."""
        self.rows, self.bytes = rows, size
        if self._show is not None:
            self._show(rows, size, time.monotonic() - self._began)

    def add(self, rows: int, size: int) -> None:
        """Add to the number of rows and bytes."""
        self(self.rows + rows, self.bytes + size)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._show is not None:
            self._show.finish(self.rows, self.bytes, time.monotonic() - self._began)


class _Json:
    def __init__(self, total: int | None) -> None:
        self._total = total
        self._last_report = 0.0

    def __call__(self, rows: int, size: int, seconds: float) -> None:
        if seconds - self._last_report >= _EVERY:
            self._last_report = seconds
            self._line(rows, size, seconds, False)

    def finish(self, rows: int, size: int, seconds: float) -> None:
        self._line(rows, size, seconds, True)

    def _line(self, rows: int, size: int, seconds: float, ended: bool) -> None:
        line = {"rows": rows, "bytes": size, "seconds": round(seconds, 3), "ended": ended}
        if self._total is not None:
            line["total"] = self._total
        print(json.dumps(line), file=sys.stderr, flush=True)


class _Rich:
    """A bar by rich: rows, MB/s, and the remaining time if the total is known."""

    def __init__(self, total: int | None) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        columns: list[Any] = [TextColumn("{task.completed:,.0f} rows"), TextColumn("{task.fields[speed]}")]
        if total is not None:
            columns = [BarColumn(), *columns, TimeRemainingColumn()]
        self._bar = RichProgress(*columns, console=Console(stderr=True))
        self._task = self._bar.add_task("", total=total, speed="")
        self._bar.start()

    def __call__(self, rows: int, size: int, seconds: float) -> None:
        speed = f"{size / seconds / 1e6:,.1f} MB/s" if seconds > 0 else ""
        self._bar.update(self._task, completed=rows, speed=speed)

    def finish(self, rows: int, size: int, seconds: float) -> None:
        self(rows, size, seconds)
        self._bar.stop()
