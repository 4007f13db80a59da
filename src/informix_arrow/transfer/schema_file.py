"""The ``.sql`` file of an export: SQL statements, and comments that name the file of each table."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from ..rows.scripts import Statement, split
from ..wire.errors import DataError

_DATABASE = re.compile(r"\{\s*DATABASE\s+(?P<name>\S+)\s+delimiter\s+(?P<delimiter>\S| )\s*\}")
_FORMAT = re.compile(r"\{\s*DBDATE\s+(?P<dbdate>\S+)\s+DBMONEY\s+(?P<dbmoney>\S+)\s*\}")
_TABLE = re.compile(
    r"\{\s*TABLE\s+(?P<name>\"[^\"]*\"\.\S+|\S+)\s+row size\s*=\s*\d+\s+number of columns\s*=\s*(?P<columns>\d+)"
    r"\s+index size\s*=\s*\d+\s*\}"
)
_UNLOAD = re.compile(r"\{\s*unload file name\s*=\s*(?P<file>\S+)\s+number of rows\s*=\s*(?P<rows>\d+)\s*\}")
_CREATE_TABLE = re.compile(
    r"create\s+(?:standard\s+|raw\s+|static\s+|operational\s+)?table\s+(?:if\s+not\s+exists\s+)?(?P<name>[^\s(]+)",
    re.IGNORECASE,
)
_FIRST = re.compile(
    r"create\s+((?:standard\s+|raw\s+|static\s+|operational\s+)?table|(?:distinct|row|opaque)\s+type|sequence|schema|role)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A table of an export: its CREATE TABLE statement, its file and the file's number of rows."""

    name: str  # as in SQL: "owner".t
    create: str
    file: str
    rows: int
    row_size: int = 0
    columns: int = 0
    index_size: int = 0


@dataclass(frozen=True, slots=True)
class SchemaFile:
    """The contents of an export's ``.sql`` file."""

    database: str
    delimiter: str
    before: tuple[str, ...]  # statements for types and sequences, which tables need
    tables: tuple[TableEntry, ...]
    after: tuple[str, ...]  # statements for keys, indexes, views, routines, triggers, privileges
    omitted: tuple[str, ...] = field(default=())  # descriptions of what the export does not contain
    dbdate: str = ""  # format of the dates of the .unl files and of the literals; "" = the file does not say
    dbmoney: str = ""

    def text(self) -> str:
        """Return the file's text in dbexport's layout."""
        lines = [f"{{ DATABASE {self.database}  delimiter {self.delimiter} }}", ""]
        if self.dbdate:
            lines += [f"{{ DBDATE {self.dbdate}  DBMONEY {self.dbmoney} }}", ""]
        lines += [f"-- not carried over: {each}" for each in self.omitted]
        lines += [f"{statement};\n" for statement in self.before]
        for table in self.tables:
            lines += [
                f"{{ TABLE {table.name} row size = {table.row_size} number of columns = {table.columns} index size = "
                f"{table.index_size} }}",
                "",
                f"{{ unload file name = {table.file} number of rows = {table.rows} }}",
                "",
                f"{table.create};",
                "",
            ]
        lines += [f"{statement};\n" for statement in self.after]
        return "\n".join(lines) + "\n"


def parse(text: str, name: str) -> SchemaFile:
    """Parse a ``.sql`` file that this package or dbexport wrote.

    Raises ``DataError``, with the file's name and a line, for anything else.
    """
    database = _DATABASE.search(text)
    if database is None:
        raise DataError(
            f"{name}: It has no line {{ DATABASE name  delimiter c }}, so it was not written by dbexport."
        )
    before: list[str] = []
    tables: list[TableEntry] = []
    after: list[str] = []
    files = _files(text, name)
    for statement in split(text):
        created = _CREATE_TABLE.match(statement.text)
        if created is not None:
            tables.append(_entry(statement, created["name"], files, name))
        elif _FIRST.match(statement.text):
            before.append(statement.text)
        else:
            after.append(statement.text)
    if files:
        missing = ", ".join(files)
        raise DataError(
            f"{name}: There is no CREATE TABLE for {missing}, whose rows are in "
            f"{next(iter(files.values()))[0]}."
        )
    formats = _FORMAT.search(text)
    return SchemaFile(
        database["name"],
        database["delimiter"],
        tuple(before),
        tuple(tables),
        tuple(after),
        dbdate=formats["dbdate"] if formats else "",
        dbmoney=formats["dbmoney"] if formats else "",
    )


def find_script(directory: Path) -> Path | None:
    """Return the ``.sql`` file of an export's directory, None if there is none or several may be it.

    It is the one with the directory's name, or else the only one with dbexport's comment ``{ DATABASE ..``.
    """
    scripts = sorted(directory.glob("*.sql"))
    named = [each for each in scripts if each.stem == directory.name.removesuffix(".exp")]
    if len(scripts) > 1 and len(named) == 1:
        return named[0]
    if len(scripts) > 1:
        scripts = [
            each for each in scripts if _DATABASE.search(each.read_text(encoding="latin-1")) is not None
        ]
    return scripts[0] if len(scripts) == 1 else None


def _files(text: str, name: str) -> dict[str, tuple[str, int]]:
    """Return file and number of rows of each table, by its name in the comment."""
    files: dict[str, tuple[str, int]] = {}
    tables = list(_TABLE.finditer(text))
    for number, table in enumerate(tables):
        end = tables[number + 1].start() if number + 1 < len(tables) else len(text)
        unload = _UNLOAD.search(text, table.end(), end)
        if unload is None:
            line = 1 + text.count("\n", 0, table.start())
            raise DataError(
                f"{name}, line {line}: The table {table['name']} has no {{ unload file name = .. }} after it."
            )
        files[table["name"]] = unload["file"], int(unload["rows"])
    return files


def _entry(statement: Statement, name: str, files: dict[str, tuple[str, int]], source: str) -> TableEntry:
    owner_and_table = plain_name(name)
    for key in files:
        if plain_name(key) == owner_and_table:
            file, rows = files.pop(key)
            return TableEntry(name, statement.text, file, rows)
    raise DataError(
        f"{source}, line {statement.line}: The table {name} has no {{ TABLE .. }} comment before it that "
        "names its file."
    )


def plain_name(name: str) -> tuple[str, str]:
    """Return owner and table of a name as SQL has it. The owner is "" if there is none."""
    parts = [part.strip("\"'") for part in re.findall(r"\"[^\"]*\"|'[^']*'|[^.]+", name)]
    return (parts[0].strip(), parts[1].strip().lower()) if len(parts) == 2 else ("", parts[0].strip().lower())


def file_name(table: str, tabid: int, suffix: str) -> str:
    """Return a table's file name such as ``custo00100.unl``: five characters of the name and five digits of the
    number."""
    return f"{table[:5]:_<5}{tabid:05d}{suffix}"
