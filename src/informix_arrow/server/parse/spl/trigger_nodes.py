"""What CREATE TRIGGER, DROP TRIGGER and SET TRIGGERS say."""

from __future__ import annotations

from dataclasses import dataclass

from .nodes import StatementBlock

NO_NAME = "\0new"
"""What the values after the statement are called where REFERENCING does not name them: INTO of an action gives them new
values all the same. No identifier has a NUL."""


@dataclass(frozen=True, slots=True)
class CreateTrigger:
    """A trigger as it is written. `event` is I, U or D; `columns` are those of UPDATE OF; `old` and `new` the names of
    REFERENCING, "" for none. `header` is the text up to the actions, `text` the actions; `before`, `each_row` and `after`
    are these as statements of a routine."""

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
    """SET TRIGGERS: those named, or all of a table."""

    enabled: bool
    names: tuple[str, ...] = ()
    table: str = ""
