"""Names of tables as users write them, and how catalogue queries are written."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..wire.errors import InterfaceError, ProgrammingError

_WORD = r"[^\W\d][\w$]*"
_QUOTED = r'"(?:[^"]|"")+"'
_TABLE = re.compile(
    rf"(?:(?P<database>{_WORD}(?:@{_WORD})?):)?"
    rf"(?:(?P<owner>{_WORD}|{_QUOTED}|'{_WORD}')\.)?(?P<name>{_WORD}|{_QUOTED})"
)
_DATABASE = re.compile(rf"{_WORD}(?:@{_WORD})?")


@dataclass(frozen=True, slots=True)
class TableName:
    """A table as a user names it; ``owner`` and ``database`` are "" where they were not given.

    A name in double quotes means exactly that one, any other is what Informix makes of it: lower case.
    """

    name: str
    owner: str = ""
    database: str = ""
    exact_owner: bool = False

    @classmethod
    def parse(cls, text: object) -> TableName:
        """``table``, ``owner.table``, ``database:owner.table``; ``InterfaceError`` for anything else."""
        match = _TABLE.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise InterfaceError(
                f"not a table's name: {text!r}; write table, owner.table or database:owner.table"
            )
        owner = match["owner"] or ""
        return cls(
            _fold_name(match["name"]),
            _fold_name(owner) if owner else "",
            (match["database"] or "").lower(),
            owner[:1] in ("'", '"'),
        )

    def is_owned_by(self, owner: str) -> bool:
        """Whether a table of this owner is meant."""
        if not self.owner:
            return True
        return owner == self.owner if self.exact_owner else owner.lower() == self.owner.lower()


def _fold_name(name: str) -> str:
    if name[0] == '"':
        return name[1:-1].replace('""', '"')
    return name[1:-1] if name[0] == "'" else name.lower()


def check_texts(**filters: object) -> None:
    """``InterfaceError`` for a pattern or a name that is neither str nor None."""
    for name, value in filters.items():
        if value is not None and not isinstance(value, str):
            raise InterfaceError(f"{name} must be a str, got {value!r}")


def catalogue(database: str) -> str:
    """What stands before a catalogue table's name: the owner, and the database if it is not the current one."""
    if database and _DATABASE.fullmatch(database) is None:
        raise InterfaceError(f"not a database's name: {database!r}")
    return f"{database}:informix." if database else "informix."


def no_table(name: str, database: str) -> ProgrammingError:
    """The error for a table that is not there, with the server's own code."""
    where = f"the database {database}" if database else "this database"
    return ProgrammingError(
        f"The table {name!r} does not exist in {where} (SQLCODE -206)\n"
        "Check spelling, owner (owner.table) and the current database; unquoted names are lower-case.",
        sqlcode=-206,
        near=name,
        sqlstate="42000",
    )
