"""Table names as users write them, and the prefix of catalogue tables in queries."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..wire.errors import InterfaceError, ProgrammingError
from ..wire.quoting import WORD

_QUOTED = r'"(?:[^"]|"")+"'
_TABLE = re.compile(
    rf"(?:(?P<database>{WORD}(?:@{WORD})?):)?"
    rf"(?:(?P<owner>{WORD}|{_QUOTED}|'{WORD}')\.)?(?P<name>{WORD}|{_QUOTED})"
)
_DATABASE = re.compile(rf"{WORD}(?:@{WORD})?")


@dataclass(frozen=True, slots=True)
class TableName:
    """A table as a user names it. ``owner`` and ``database`` are "" if they were not given.

    A name in double quotes is taken exactly. Any other name is folded to lower case, as Informix does.
    """

    name: str
    owner: str = ""
    database: str = ""
    exact_owner: bool = False

    @classmethod
    def parse(cls, text: object) -> TableName:
        """Parse ``table``, ``owner.table`` or ``database:owner.table``. Raises ``InterfaceError`` for other text."""
        match = _TABLE.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise InterfaceError(
                f"{text!r} is not a table name. Write table, owner.table or database:owner.table."
            )
        owner = match["owner"] or ""
        return cls(
            _fold_name(match["name"]),
            _fold_name(owner) if owner else "",
            (match["database"] or "").lower(),
            owner[:1] in ("'", '"'),
        )

    def is_owned_by(self, owner: str) -> bool:
        """Return whether the name can refer to a table of this owner."""
        if not self.owner:
            return True
        return owner == self.owner if self.exact_owner else owner.lower() == self.owner.lower()


def _fold_name(name: str) -> str:
    if name[0] == '"':
        return name[1:-1].replace('""', '"')
    return name[1:-1] if name[0] == "'" else name.lower()


def check_texts(**filters: object) -> None:
    """Raise ``InterfaceError`` for a pattern or a name that is neither str nor None."""
    for name, value in filters.items():
        if value is not None and not isinstance(value, str):
            raise InterfaceError(f"{name} must be a str, got {value!r}.")


def catalogue(database: str) -> str:
    """Return the prefix of a catalogue table: the owner, with the database if it is not the current one."""
    if database and _DATABASE.fullmatch(database) is None:
        raise InterfaceError(f"{database!r} is not a database name.")
    return f"{database}:informix." if database else "informix."


def no_table(name: str, database: str) -> ProgrammingError:
    """Return the error for a table that does not exist, with the server's code."""
    where = f"the database {database}" if database else "this database"
    return ProgrammingError(
        f"The table {name!r} does not exist in {where} (SQLCODE -206).\n"
        "Check the spelling, the owner (owner.table) and the current database. Unquoted names are lower case.",
        sqlcode=-206,
        near=name,
        sqlstate="42000",
    )
