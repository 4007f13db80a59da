"""The end of commands: exit codes, and errors as one line each."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection

from ..wire.errors import Error, InterfaceError
from ..wire.redaction import hide_credentials
from .interrupts import Terminated

DONE, FAILED, USAGE, REJECTS, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
"""Exit codes: success; failure; wrong usage; done, but rows were refused; ended by Ctrl-C; ended by SIGTERM."""

PROGRAM = "informix-arrow"


class Failure(Exception):
    """An error that ends a command with one line on stderr: what happened, where, and what to do."""

    code = FAILED


class UsageError(Failure):
    """The arguments contradict each other or are invalid. Nothing was done."""

    code = USAGE


def print_error(text: str) -> None:
    """Print a line on stderr, with the program's name in front and passwords of connection strings hidden."""
    print(f"{PROGRAM}: {hide_credentials(text)}", file=sys.stderr, flush=True)


def add_note(error: BaseException, text: str) -> None:
    """Add a note to an error about what is in effect in spite of it."""
    notes = [*getattr(error, "__notes__", ()), text]
    error.__dict__["__notes__"] = notes  # as add_note() does from Python 3.11 on


def one_line(error: BaseException) -> str:
    """Return an error's text as one line, with the position in the statement as numbers."""
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


# name=True, name='word', name=something longer, or name= alone
_ARGUMENT = re.compile(
    r"(?<![\w.?&;-])(?P<name>[a-z_]+)="
    r"""(?:(?P<true>True\b)|(?P<quote>['"])(?P<word>[\w./-]+)(?P=quote)|(?P<more>(?=[\w'"\[{(]|\.\.))|)"""
)


def with_option_names(text: str, options: Collection[str]) -> str:
    """Return a message with the command line's names in place of Python's: ``--db-locale X`` for ``db_locale=X``.

    ``options`` are the names in Python of the options that the command has. A parameter of ``connect()`` for which it
    has no option is shown as it is written in a URL: ``inexact=round in the connection URL``.
    """
    from ..dsn.keywords import ConnectKeywords  # slow to import, and needed only here

    keywords = frozenset(ConnectKeywords.__annotations__)

    def option(match: re.Match[str]) -> str:
        name, word = match["name"], match["word"] or ""
        if name in options:
            blank = " " if word or match["more"] is not None else ""
            return f"--{name.replace('_', '-')}{blank}{word}"
        return f"{name}={word}" if word and name in keywords else match[0]

    in_url = [
        each.end()
        for each in _ARGUMENT.finditer(text)
        if each["word"] and each["name"] in keywords - {*options}
    ]
    if in_url:
        text = f"{text[: in_url[-1]]} in the connection URL{text[in_url[-1] :]}"
    return _ARGUMENT.sub(option, text)


def run_guarded(run: Callable[[], int], *, verbose: bool = False, options: Collection[str] = ()) -> int:
    """Run a command and return its exit code. An error that ends it is printed on stderr.

    ``options`` are the names of the command's options, for :func:`with_option_names`.

    Errors of this package, of Arrow, of files and of wrong values are printed as one line. Any other error is a bug of
    the command, and is raised with its traceback.
    """
    try:
        code = run()
        _flush_output()
        return code
    except KeyboardInterrupt as interrupt:
        return report_interrupt(interrupt)
    except BrokenPipeError:
        _discard_output()  # the reader of the output is gone (``| head``)
        return FAILED
    except Failure as failure:
        print_error(with_option_names(str(failure) if verbose else one_line(failure), options))
        return failure.code
    except Exception as error:
        from pyarrow import ArrowException  # slow to import, and needed only here

        if not isinstance(error, (Error, ArrowException, OSError, UnicodeError)):
            raise
        print_error(with_option_names(str(error) if verbose else one_line(error), options))
        if isinstance(error, OSError):
            try:
                sys.stdout.flush()
            except OSError:  # the output could not be written
                _discard_output()
        return USAGE if isinstance(error, InterfaceError) else FAILED


def report_interrupt(interrupt: KeyboardInterrupt) -> int:
    """Print what ended a command and what is in effect, and return the exit code."""
    code, word = (
        (TERMINATED, "terminated") if isinstance(interrupt, Terminated) else (INTERRUPTED, "interrupted")
    )
    # Its cause, the error that ended the statement on the server, says what is in effect.
    cause = [] if interrupt.__cause__ is None else [one_line(interrupt.__cause__)]
    notes = [*cause, *_notes(interrupt)]
    print_error(" ".join([f"{word}:" if notes else word, *notes]))
    return code


def open_streams() -> None:
    """Replace standard streams that were closed (``>&-``) with unusable ones.

    Python has None for them, and the next file or socket that is opened would get their file descriptor.
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
    """Flush standard output, and raise an error if that fails. Python itself would only print a warning at exit."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        error.filename = error.filename or "standard output"
        raise


def _discard_output() -> None:
    """Discard what standard output still holds. Python would try to write it at exit, fail, and exit with 120."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
