"""Parsed CREATE TRIGGER, DROP TRIGGER and SET TRIGGERS."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import StatementBlock

NO_NAME = "\0new"
"""Name of the values after the statement if REFERENCING does not name them. INTO of an action still assigns to them.

No identifier contains a NUL.
"""


@dataclass(frozen=True, slots=True)
class CreateTrigger:
    """A parsed trigger.

    `event` is I, U or D. `columns` are those of UPDATE OF. `old` and `new` are the names of REFERENCING, "" for none.
    `header` is the text before the actions, `text` the actions. `before`, `each_row` and `after` are the actions as
    statements of a routine.
    """

    name: str
    event: str
    table: str
    columns: tuple[str, ...]
    old: str
    new: str
    before: StatementBlock
    each_row: StatementBlock
    after: StatementBlock
    header: str
    text: str
    instead: bool = False
    enabled: bool = True
    if_not_exists: bool = False


@dataclass(frozen=True, slots=True)
class DropTrigger:
    name: str
    if_exists: bool


@dataclass(frozen=True, slots=True)
class SetTriggers:
    """SET TRIGGERS: the named triggers, or all of a table."""

    enabled: bool
    names: tuple[str, ...] = ()
    table: str = ""
