"""``python -m informix_arrow.trace FILE``: print a trace in readable form."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

from . import FORM

_KNOWN_KEYS = ("at", "conn", "way", "what")


def lines_of(records: Iterable[str], only: str = "") -> Iterator[str]:
    """Yield the lines of a trace in readable form: seconds since its beginning, connection, direction, message, facts.

    Parameters
    ----------
    records
        The lines of the file.
    only
        Only this connection, named as in the second column.

    Raises
    ------
    ValueError
        A line is not from a trace. The text says which.
    """
    began = 0.0
    numbers: dict[str, str] = {}
    for place, line in enumerate(records, 1):
        record = _record(line, place)
        if not began:
            began = record["at"]
            yield f"# {time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(began))}"
        number = numbers.setdefault(record["conn"], f"#{len(numbers) + 1}")
        if only and number != only:
            continue
        facts = "".join(
            f"  {_printable(key)}={_format_value(value)}"
            for key, value in record.items()
            if key not in _KNOWN_KEYS and value != []
        )
        what = _printable(str(record["what"]))
        yield f"{record['at'] - began:11.6f} {number:>4} {_printable(str(record['way']))} {what}{facts}"


def _record(line: str, place: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
        known = isinstance(record, dict) and all(key in record for key in _KNOWN_KEYS)
        known = known and isinstance(record["at"], float | int) and record.get("form", FORM) == FORM
    except ValueError:
        known = False
    if not known:
        raise ValueError(f"Line {place} is not a line of a trace that this release writes.")
    fields: dict[str, Any] = record
    return fields


def _format_value(value: object) -> str:
    if isinstance(value, list):
        return f"({', '.join(_printable(str(each)) for each in value)})"
    if isinstance(value, dict):
        return f"({', '.join(_printable(f'{name}={each}') for name, each in value.items())})"
    return f'"{_printable(value)}"' if isinstance(value, str) else json.dumps(value)


def _printable(text: str) -> str:
    """Escape control characters and line breaks."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def main(arguments: list[str] | None = None) -> int:
    """Print a trace. Return 0, or 1 if the file cannot be read or is not a trace."""
    parser = argparse.ArgumentParser(
        prog="python -m informix_arrow.trace",
        description="Print the wire dialogue that connect(.., trace=FILE) wrote.",
    )
    parser.add_argument("file", help="the trace; - for standard input")
    parser.add_argument("--connection", metavar="N", type=int, help="only the Nth connection of the file")
    options = parser.parse_args(arguments)
    only = f"#{options.connection}" if options.connection else ""
    try:
        if options.file == "-":
            _print(lines_of(sys.stdin, only))
        else:
            with open(options.file, encoding="utf-8", errors="replace") as records:
                _print(lines_of(records, only))
    except BrokenPipeError:  # | head
        sys.stderr.close()
    except (OSError, ValueError) as error:
        text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        print(f"{options.file}: {text}", file=sys.stderr)
        return 1
    return 0


def _print(lines: Iterable[str]) -> None:
    encoding = sys.stdout.encoding or "utf-8"
    for line in lines:
        print(line.encode(encoding, "backslashreplace").decode(encoding))


if __name__ == "__main__":
    sys.exit(main())
