"""``informix-arrow doctor``: check what works against this server, line by line."""

from __future__ import annotations

import argparse
import contextlib
import json
import platform
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any

import pyarrow as pa

from ...dsn import Parameters
from ...wire.errors import Error
from .. import connection_options
from ..exit_codes import DONE, FAILED, UsageError
from ..files import new_file
from ..parser import Commands, command
from . import cdc_checks, cdc_unverified, checks, fetch_checks, type_checks
from .harness import CHECKS, CheckSkipped, DoctorCheck, Harness, ServerDiffers, first_line
from .unverifiable import UNVERIFIABLE

EXAMPLE = "  informix-arrow doctor informix://user@host:9088/scratch --report doctor.json"
_SESSIONS = 4  # checks that run at the same time, most of which wait for the network
_POLL_SECONDS = 0.2  # seconds between looks for Ctrl-C
_SHOWN = {"ok": "ok     ", "differs": "differs", "skipped": "skipped", "failed": "FAILED "}
_MODULES = (checks, fetch_checks, type_checks, cdc_checks, cdc_unverified)  # modules that declare checks


@dataclass(frozen=True)
class Finding:
    """The outcome of a check: ``ok``, ``differs``, ``skipped`` or ``failed``.

    ``differs`` means that the server behaves in its own way, which the client supports.
    """

    check: DoctorCheck
    status: str
    detail: str
    milliseconds: float

    def entry(self) -> dict[str, Any]:
        """Return the finding as an entry of the report."""
        return {
            "check": self.check.name,
            "title": self.check.title,
            "about": list(self.check.about),
            "status": self.status,
            "detail": self.detail,
            "milliseconds": round(self.milliseconds, 1),
        }


def add(commands: Commands) -> None:
    """Declare the command and its options."""
    parser = command(commands, "doctor", EXAMPLE)
    parser.add_argument(
        "--report",
        metavar="FILE",
        help="also write the findings to FILE as JSON for a bug report, without names, data and passwords",
    )
    parser.add_argument("--overwrite", action="store_true", help="replace FILE if it exists")
    parser.add_argument("--only", metavar="TEXT", help="run only the checks whose name contains TEXT")
    connection_options.add_options(parser, "URL", "; it must name a database")


def run(options: argparse.Namespace) -> int:
    """Run all checks. Return 1 if any has failed."""
    checks_to_run = [each for each in CHECKS if not options.only or options.only in each.name]
    if not checks_to_run:
        names = ", ".join(each.name for each in CHECKS)
        raise UsageError(f"--only {options.only}: No check has that in its name. The checks are {names}.")
    (url,) = connection_options.take_url(options.words, ())
    benches = _open(connection_options.resolve_parameters(url, options), min(_SESSIONS, len(checks_to_run)))
    findings = []
    try:
        for finding in _run_all(benches, checks_to_run):
            findings.append(finding)
            each = finding.check
            print(f"{_SHOWN[finding.status]}  {each.name}: {each.title}: {finding.detail}", flush=True)
    finally:
        remaining = [statement for bench in benches for statement in bench.remaining_cleanup]
        for bench in benches:
            bench.close()
    if not options.only:
        for point, reason in UNVERIFIABLE.items():
            print(f"not asked {point}: {reason}")
    for statement in remaining:
        print(f"FAILED   it could not be removed: {statement}")
    counts = {status: sum(each.status == status for each in findings) for status in _SHOWN}
    print(", ".join(f"{count} {status}" for status, count in counts.items() if count))
    if options.report:
        with new_file(options.report, overwrite=options.overwrite) as file:
            file.write(json.dumps(report(findings), indent=2, ensure_ascii=False).encode() + b"\n")
    return FAILED if counts["failed"] or remaining else DONE


def _open(parameters: Parameters, count: int) -> list[Harness]:
    """Open ``count`` sessions, or as many as the server lets in. Raises the first one's error."""
    benches = [Harness(parameters)]
    with contextlib.suppress(Error):
        while len(benches) < count:
            benches.append(Harness(parameters))
    return benches


def _run_all(benches: list[Harness], checks_to_run: list[DoctorCheck]) -> Iterator[Finding]:
    """Run the checks, one in each session at a time. Yields their findings in the order of the checks.

    Those that must run alone run before the others.
    """
    idle: SimpleQueue[Harness] = SimpleQueue()
    for bench in benches:
        idle.put(bench)

    def run_next(each: DoctorCheck) -> Finding:
        bench = idle.get()
        try:
            return run_check(bench, each)
        finally:
            idle.put(bench)

    alone = {each.name: run_next(each) for each in checks_to_run if each.alone}
    with ThreadPoolExecutor(len(benches)) as threads:
        others = {each.name: threads.submit(run_next, each) for each in checks_to_run if not each.alone}
        try:
            for each in checks_to_run:
                if each.alone:
                    yield alone[each.name]
                    continue
                while wait([others[each.name]], _POLL_SECONDS).not_done:
                    pass  # a wait without a limit is not ended by Ctrl-C once a library has a signal handler
                yield others[each.name].result()
        finally:
            for other in others.values():
                other.cancel()


def run_check(bench: Harness, each: DoctorCheck) -> Finding:
    """Run one check, and remove the objects that it created."""
    began = time.monotonic()
    try:
        status, detail = "ok", each.run(bench)
    except ServerDiffers as found:
        status, detail = "differs", str(found)
    except CheckSkipped as found:
        status, detail = "skipped", str(found)
    except (Error, AssertionError, pa.ArrowException, OSError, ValueError, LookupError, TypeError) as error:
        status, detail = "failed", f"{type(error).__name__}: {first_line(error)}"
    milliseconds = (time.monotonic() - began) * 1e3
    bench.clean()
    return Finding(each, status, " ".join(detail.split()), milliseconds)


def report(findings: list[Finding]) -> dict[str, Any]:
    """Return the report, which can be attached to an issue."""
    from ... import __version__

    return {
        "informix_arrow": __version__,
        "python": platform.python_version(),
        "pyarrow": pa.__version__,
        "system": f"{platform.system()} {platform.machine()}",
        "findings": [each.entry() for each in findings],
        "not_asked": UNVERIFIABLE,
    }
