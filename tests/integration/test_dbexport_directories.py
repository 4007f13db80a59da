"""Directories in the formats of dbexport's releases are imported, exported, imported again and compared.

tests/dbexport has one directory for each form, made by hand after published ones: 7.x has short file names and no owner
in REVOKE, 9.x the owners of built-in types, 11.x and later blank lines between the comments, and so on.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.real_server import database_name

import informix_arrow
from informix_arrow.comparison import DatabaseSide, compare_tables
from informix_arrow.server import Server
from informix_arrow.transfer import export_database, import_new_database
from informix_arrow.transfer.schema_file import SchemaFile, TableEntry, find_script, parse

DIRECTORIES = sorted((Path(__file__).parent.parent / "dbexport").glob("*.exp"))
LATIN = ("latin115",)
POINTER = re.compile(rb"(?<=[|;])([0-9a-f]+),([0-9a-f]+),([cb]lob[0-9a-f]+)(?=[|;])")

Connect = Callable[[str], informix_arrow.Connection]


@pytest.fixture
def connect(server: Server) -> Iterator[Connect]:
    """Open a connection to a database, which is dropped at the end."""
    names: set[str] = set()

    def opened(name: str) -> informix_arrow.Connection:
        names.add(name)
        return informix_arrow.connect(server.url(name), autocommit=True)

    yield opened
    for name in names - {"sysmaster"}:
        server.drop_database(name)


def schema_of(directory: Path, encoding: str = "utf-8") -> SchemaFile:
    script = find_script(directory)
    assert script is not None
    return parse(script.read_text(encoding), script.name)


def rows_of(directory: Path, table: TableEntry, encoding: str = "utf-8") -> bytes:
    """Return the bytes of a table's file in UTF-8, with the contents of large objects instead of their file names."""
    data = (directory / table.file).read_bytes().decode(encoding).encode()
    return POINTER.sub(
        lambda match: (
            (directory / match[3].decode())
            .read_bytes()[int(match[1], 16) :][: int(match[2], 16)]
            .hex()
            .encode()
        ),
        data,
    )


def known(row: dict[str, Any]) -> dict[str, Any]:
    """Return the columns of a catalogue row that a copy has in common, without the database's name and generated
    numbers and names."""
    other = ("table_catalog", "extended_id", "data_type" if (row.get("extended_id") or 0) >= 2048 else "")
    return {
        name: value
        for name, value in row.items()
        if name not in other and not re.fullmatch(r"[urc]\d+_\d+", str(value))
    }


def test_there_are_ten_directories() -> None:
    assert len(DIRECTORIES) == 10


@pytest.mark.parametrize("directory", DIRECTORIES, ids=lambda path: path.stem)
def test_what_was_imported_is_exported_byte_for_byte_and_imported_again_the_same(
    directory: Path, server: Server, connect: Connect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_name, second_name = (database_name(server, f"{directory.stem}_{number}") for number in (1, 2))
    for name in ("DBDATE", "GL_DATE", "CLIENT_LOCALE", "DBMONEY"):
        monkeypatch.delenv(name, raising=False)
    encoding = "latin-1" if directory.stem in LATIN else "utf-8"
    schema = schema_of(directory, encoding)
    first = import_new_database(directory, connect, first_name, encoding=encoding)
    assert first.refused == []
    assert first.tables == {table.name: table.rows for table in schema.tables}
    assert first.statements > len(schema.after)  # and UPDATE STATISTICS

    with connect(first_name) as connection:
        export = export_database(connection, tmp_path, format="unl", dbdate=schema.dbdate or None)
    exported = {table.name: table for table in schema_of(export.directory).tables}
    assert list(exported) == [table.name for table in schema.tables]
    for table in schema.tables:
        found = rows_of(export.directory, exported[table.name])
        if schema.delimiter != "|":
            found = (
                found.replace(b"\\|", b"\0").replace(b";", b"\\;").replace(b"|", b";").replace(b"\0", b"|")
            )
        assert found == rows_of(directory, table, encoding), table.name

    locale = (
        "en_US.8859-1" if directory.stem in LATIN else None
    )  # the export is in UTF-8, the database is not
    second = import_new_database(export.directory, connect, second_name, db_locale=locale)
    assert second.refused == []
    with connect(first_name) as one, connect(second_name) as two:
        a, b = DatabaseSide(one).tables(), DatabaseSide(two).tables()
        assert a.keys() == b.keys()
        for name in a:
            result = compare_tables(a[name], b[name])
            assert result.same, (name, result)
            assert (result.only_a, result.only_b) == ((), ())
        for kinds in ("columns", "primary_key", "foreign_keys"):
            left, right = (getattr(each, kinds)().to_pylist() for each in (one, two))
            assert [known(row) for row in left] == [known(row) for row in right], kinds
