"""How commands end: exit codes, and errors as one line each."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from ..wire.errors import Error, InterfaceError
from .interrupts import Terminated

DONE, FAILED, USAGE, REJECTS, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
"""Exit codes: all done; failed; used wrongly; done, but for rows that were refused; ended by Ctrl-C; by SIGTERM."""

PROGRAM = "informix-arrow"


class Failure(Exception):
    """What ends a command with one line on stderr: what happened, where, and what to do."""

    code = FAILED


class UsageError(Failure):
    """The command line contradicts itself, or names what cannot be: nothing was done."""

    code = USAGE


def print_error(text: str) -> None:
    """A line on stderr, with the program's name before it."""
    print(f"{PROGRAM}: {text}", file=sys.stderr, flush=True)


def add_note(error: BaseException, text: str) -> None:
    """Add to an error what is in effect in spite of it."""
    notes = [*getattr(error, "__notes__", ()), text]
    error.__dict__["__notes__"] = notes  # as add_note() does from Python 3.11 on


def one_line(error: BaseException) -> str:
    """What an error says, as one line; the place in a statement as a number, in place of a caret under it."""
    if isinstance(error, OSError) and error.strerror and not isinstance(error, Error):
        where = f"{error.filename}: " if error.filename else ""
        notes = _notes(error)
        return " ".join([f"{where}{error.strerror}{'.' if notes else ''}", *notes])
    lines = str(error).strip().splitlines() or [type(error).__name__]
    if isinstance(error, Error):
        lines = [line for line in lines if not line.startswith("  ")]  # the statement and the caret
        if error.offset and error.statement:
            before = error.statement[: error.offset - 1]
            line, column = before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
            lines.append(f"(line {line}, column {column} of the statement)")
    return " ".join(" ".join((*lines, *_notes(error))).split())


def _notes(error: BaseException) -> list[str]:
    return [str(note) for note in getattr(error, "__notes__", ())]


def run_guarded(run: Callable[[], int], *, verbose: bool = False) -> int:
    """Run a command: its exit code, or that of the error that ended it, which is told on stderr.

    Errors of this package, of Arrow, of files and of a user's wrong values are told; any other is a fault of the
    command itself, and passes with its traceback.
    """
    try:
        code = run()
        _flush_output()
        return code
    except KeyboardInterrupt as interrupt:
        return report_interrupt(interrupt)
    except BrokenPipeError:
        _forget_output()  # whoever read it went away (``| head``)
        return FAILED
    except Failure as failure:
        print_error(str(failure) if verbose else one_line(failure))
        return failure.code
    except Exception as error:
        from pyarrow import ArrowException  # costly to import, and needed only now

        if not isinstance(error, (Error, ArrowException, OSError, UnicodeError)):
            raise
        print_error(str(error) if verbose else one_line(error))
        if isinstance(error, OSError):
            try:
                sys.stdout.flush()
            except OSError:  # it was the output that had no room
                _forget_output()
        return USAGE if isinstance(error, InterfaceError) else FAILED


def report_interrupt(interrupt: KeyboardInterrupt) -> int:
    """Tell what ended a command, and what is in effect: its exit code."""
    code, word = (
        (TERMINATED, "terminated") if isinstance(interrupt, Terminated) else (INTERRUPTED, "interrupted")
    )
    # The error that ended the statement on the server is its cause, and says what is in effect.
    cause = [] if interrupt.__cause__ is None else [one_line(interrupt.__cause__)]
    told = [*cause, *_notes(interrupt)]
    print_error(" ".join([f"{word}:" if told else word, *told]))
    return code


def open_streams() -> None:
    """Standard streams that were closed (``>&-``) as ones that cannot be used.

    Python has None in their place, and the next file or socket that is opened would take their number.
    """
    for number, name, mode, flags in (
        (0, "stdin", "r", os.O_WRONLY),
        (1, "stdout", "w", os.O_RDONLY),
        (2, "stderr", "w", os.O_WRONLY),
    ):
        if getattr(sys, name) is None:
            opened = os.open(os.devnull, flags)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _flush_output() -> None:
    """What is said is out, or that is an error: Python itself would only complain as it ends."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename = error.filename or "standard output"
        raise


def _forget_output() -> None:
    """What standard output still holds goes nowhere: Python would try once more as it ends, complain, and exit with
    120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
