"""Scripts of statements with the expected effect of each.

A script is a text file in `statements/`:

    -- a comment line
    --! ansi                        the script's database is MODE ANSI
    --! env DBDATE=MDY4/            environment of its session

    create table t (a int)
    => ok
    insert into t values (1)
    => 1 row
    select a from t
    => [(1,)]
    select nothing from t
    => -217

A statement ends at the line with its effect: `ok`, a number of rows changed, the rows of a query as Python writes
them (dates as text, numbers as int or float), a number of rows returned (`3 rows returned`), or an SQLCODE. A script
needs nothing but a server: it runs against the embedded one in test_corpus.py, and against any other through `run`.
"""

from __future__ import annotations

import ast
import datetime as dt
from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

import informix_arrow as ifx

STATEMENTS = Path(__file__).parent / "statements"
INNER_ERRORS = (-768, -999)


@dataclass(slots=True)
class Step:
    """One statement, its place, and its expected effect."""

    sql: str
    effect: str
    line: int


@dataclass(slots=True)
class Script:
    """The statements of one file."""

    name: str
    steps: list[Step] = field(default_factory=list)
    ansi: bool = False
    environment: dict[str, str] = field(default_factory=dict)


def read(path: Path) -> Script:
    """Read a script. Raises ValueError for a statement without an effect."""
    script = Script(path.stem)
    lines: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("--! env "):
            name, _, value = line.removeprefix("--! env ").partition("=")
            script.environment[name] = value
        elif line == "--! ansi":
            script.ansi = True
        elif line.startswith("=> "):
            effect = line.removeprefix("=> ").strip()
            if not lines or effect in map(str, INNER_ERRORS):
                raise ValueError(f"{path.name}:{number}: no statement, or an inner error is expected")
            script.steps.append(Step("\n".join(lines), effect, number))
            lines = []
        elif lines or (line.strip() and not line.startswith("--")):
            lines.append(line)
    if lines:
        raise ValueError(f"{path.name}: the last statement has no effect")
    return script


def all_scripts() -> list[Script]:
    return [read(path) for path in sorted(STATEMENTS.glob("*.sql"))]


def run(connection: ifx.Connection, script: Script) -> Iterator[str]:
    """Run a script. Yield a line for each statement with an unexpected effect."""
    for step in script.steps:
        found = _effect(connection, step)
        if not _is_same(step.effect, found):
            yield f"{script.name}.sql:{step.line}: {step.sql}\n    expected {step.effect}\n    found    {found}"


def _effect(connection: ifx.Connection, step: Step) -> str:
    try:
        cursor = connection.execute(step.sql)
        if cursor.description is None:
            return "ok" if step.effect == "ok" else f"{cursor.rowcount} row{'s' * (cursor.rowcount != 1)}"
        rows = cursor.fetchall()
    except ifx.Error as error:
        code = getattr(error, "sqlcode", None)
        return f"{code}" if step.effect.startswith("-") else f"{code}: {error}"
    if step.effect.endswith("returned"):
        return f"{len(rows)} row{'s' * (len(rows) != 1)} returned"
    return repr([tuple(map(_plain, row)) for row in rows])


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, (dt.date, dt.time, dt.timedelta)):
        return str(value)
    return value


def _is_same(expected: str, found: str) -> bool:
    if expected.startswith("[") and found.startswith("["):
        same: bool = ast.literal_eval(expected) == ast.literal_eval(found)
        return same
    return expected == found
