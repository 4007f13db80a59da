"""Exports and imports: one date format for a whole export, code sets of files, and databases that an import creates."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.real_server import database_name

import informix_arrow
from informix_arrow.transfer import export_database, import_database, open_or_create
from informix_arrow.wire.errors import DataError, InterfaceError

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from informix_arrow import Connection
    from informix_arrow.server import Server

Made = Callable[..., Path]


@pytest.fixture(autouse=True)
def _no_formats(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DBDATE", "GL_DATE", "DBCENTURY", "DBMONEY", "CLIENT_LOCALE", "DB_LOCALE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """A function that writes an export by hand: ``made(default, file)``."""

    def write(default: str, unl: bytes, *, header: str = "", encoding: str = "utf-8") -> Path:
        directory = tmp_path / "shop.exp"
        directory.mkdir()
        rows = unl.count(b"\n")
        text = (
            f"{{ DATABASE shop  delimiter | }}\n{header}\n"
            '{ TABLE "me".sale row size = 30 number of columns = 4 index size = 0 }\n'
            f"{{ unload file name = sale_00100.unl number of rows = {rows} }}\n\n"
            'create table "me".sale \n  (\n    id integer,\n    price decimal(8,2),\n'
            f"    day date \n        default '{default}',\n    name varchar(6)\n  );\n"
        )
        (directory / "shop.sql").write_bytes(text.encode(encoding))
        (directory / "sale_00100.unl").write_bytes(unl)
        return directory

    return write


@pytest.fixture
def new(server: Server) -> Iterator[Callable[[str], str]]:
    """A function that returns the URL of a database that does not exist. It is dropped afterwards if it was created."""
    names: list[str] = []

    def url(name: str) -> str:
        names.append(database_name(server, name))
        return server.url(name).replace(f":{server.password}@", "@")

    yield url
    for name in names:
        if name in databases(server):
            server.drop_database(name)


def databases(server: Server) -> list[str]:
    with informix_arrow.connect(server.url("sysmaster")) as connection:
        return [str(name) for (name,) in connection.execute("SELECT name FROM sysdatabases").fetchall()]


@pytest.mark.parametrize(
    ("literal", "dbdate", "day"),
    [
        ("02/16/2004", None, dt.date(2004, 2, 16)),
        ("02/16/2004", "MDY4/", dt.date(2004, 2, 16)),
        ("02/01/04", "MDY2/", dt.date(2004, 2, 1)),
        ("10.11.12", "DMY2.", dt.date(2012, 11, 10)),
        ("16.02.2004", None, dt.date(2004, 2, 16)),
        ("2004-02-16", None, dt.date(2004, 2, 16)),
    ],
)
def test_the_defaults_and_the_rows_of_an_import_have_one_format_of_dates(
    conn: Connection, made: Made, literal: str, dbdate: str | None, day: dt.date
) -> None:
    directory = made(literal, f"1|1.50|{literal}|a|\n2|2.0||b|\n".encode())
    import_database(directory, conn, dbdate=dbdate)
    conn.execute("INSERT INTO \"me\".sale (id, name) VALUES (3, 'c')")
    assert conn.execute('SELECT id, day, name FROM "me".sale ORDER BY id').fetchall() == [
        (1, day, "a"),
        (2, None, "b"),
        (3, day, "c"),
    ]


def test_dates_that_may_mean_two_days_are_asked_for(cli: Cli, url: str, made: Made, conn: Connection) -> None:
    directory = made("02/01/2004", b"1|1.50|03/04/2005|a|\n")
    ran = cli("import", directory, url)
    assert ran.code == 2
    assert "may be MDY4/ or DMY4/. Name the format with --dbdate" in ran.err
    assert "sale" not in conn.tables()["table_name"].to_pylist()
    assert cli("import", directory, url, "--dbdate", "DMY4/").code == 0
    assert conn.execute('SELECT day FROM "me".sale').fetchall() == [(dt.date(2005, 4, 3),)]


def test_the_environment_says_how_dates_are_written(
    conn: Connection, server: Server, made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DBDATE", "DMY4/")
    with informix_arrow.connect(server.url(str(conn.adbc_current_catalog)), autocommit=True) as other:
        import_database(made("02/01/2004", b"1|1.50|03/04/2005|a|\n"), other)
    assert conn.execute('SELECT day FROM "me".sale').fetchall() == [(dt.date(2005, 4, 3),)]


@pytest.mark.parametrize("literal", ["2004-02-16", "02/16/2004", None])
def test_an_export_has_one_format_of_dates_and_says_which(
    conn: Connection, server: Server, tmp_path: Path, literal: str | None
) -> None:
    conn.execute("CREATE TABLE sale (id INT, day DATE, tail INT)")
    if literal:
        dbdate = "Y4MD-" if "-" in literal else "MDY4/"
        name = str(conn.adbc_current_catalog)
        with informix_arrow.connect(server.url(name), autocommit=True, env={"DBDATE": dbdate}) as other:
            other.execute(f"CREATE VIEW late (id) AS SELECT id FROM sale WHERE day > '{literal}'")
    conn.execute("INSERT INTO sale VALUES (1, MDY(2, 3, 2005), 9)")
    report = export_database(conn, tmp_path, format="unl")
    (script,) = report.directory.glob("*.sql")
    (rows,) = report.directory.glob("*.unl")
    year_first = literal == "2004-02-16"
    assert rows.read_text() == ("1|2005-02-03|9|\n" if year_first else "1|02/03/2005|9|\n")
    assert f"{{ DBDATE {'Y4MD-' if year_first else 'MDY4/'}  DBMONEY . }}" in script.read_text()


def test_a_second_script_beside_that_of_the_export_does_not_matter(conn: Connection, made: Made) -> None:
    directory = made("2004-02-16", b"1|1.50|2005-02-03|a|\n")
    (directory / "reload.sql").write_text("-- mine\n")
    assert import_database(directory, conn).tables == {'"me".sale': 1}


def test_a_byte_order_mark_is_no_part_of_the_script(conn: Connection, made: Made) -> None:
    directory = made("2004-02-16", b"\xef\xbb\xbf1|1.50|2005-02-03|a|\n", encoding="utf-8-sig")
    report = import_database(directory, conn)
    assert (report.tables, report.refused) == ({'"me".sale': 1}, [])


@pytest.mark.parametrize("keep", [False, True])
def test_a_database_that_was_made_goes_with_an_import_that_fails(
    cli: Cli, url: str, server: Server, new: Callable[[str], str], made: Made, keep: bool
) -> None:
    directory = made("2004-02-16", b"1|x|2005-02-03|a|\n")
    ran = cli("import", directory, new("made_fails"), *(["--keep"] if keep else []))
    assert ran.code == 1
    assert (database_name(server, "made_fails") in databases(server)) is keep
    assert url.rpartition("/")[2].partition("?")[0] in databases(server)


def test_a_database_that_was_there_stays(cli: Cli, url: str, conn: Connection, made: Made) -> None:
    assert cli("import", made("2004-02-16", b"1|x|2005-02-03|a|\n"), url).code == 1
    assert conn.tables().num_rows


def test_a_directory_that_is_not_there_is_found_before_a_database_is_made(
    cli: Cli, url: str, server: Server, new: Callable[[str], str], tmp_path: Path
) -> None:
    ran = cli("import", tmp_path / "nothing.exp", new("made_early"))
    assert ran.code == 2
    assert database_name(server, "made_early") not in databases(server)


@pytest.mark.parametrize(
    ("options", "locale"),
    [
        (["--encoding", "iso8859-1"], "en_US.819"),
        (["--encoding", "de_DE.8859-1"], "de_DE.819"),
        (["--encoding", "iso8859-1", "--db-locale", "en_US.8859-15"], "en_US.923"),
    ],
)
def test_a_new_database_has_the_code_set_of_the_files(
    cli: Cli, url: str, server: Server, new: Callable[[str], str], made: Made, options: list[str], locale: str
) -> None:
    directory = made("2004-02-16", "1|1.50|2005-02-03|España|\n".encode("latin-1"))
    ran = cli("import", directory, new("made_latin"), *options)
    assert (ran.code, ran.err) == (0, "")
    with informix_arrow.connect(server.url("made_latin")) as connection:
        assert connection.execute('SELECT name FROM "me".sale').fetchall() == [("España",)]
        found = connection.databases().to_pylist()
    name = database_name(server, "made_latin")
    assert [each["locale"] for each in found if each["database_name"] == name] == [locale]


def test_texts_that_do_not_fit_in_utf8_are_reported_with_the_cure(
    cli: Cli, url: str, server: Server, new: Callable[[str], str], made: Made
) -> None:
    directory = made("2004-02-16", "1|1.50|2005-02-03|España|\n".encode("latin-1"))
    ran = cli("import", directory, new("made_utf"), "--encoding", "latin-1", "--db-locale", "en_US.utf8")
    assert ran.code == 1
    assert "import into a new database with --db-locale en_US.8859-1" in ran.err
    name = database_name(server, "made_utf")
    with open_or_create(
        lambda each: informix_arrow.connect(server.url(each), autocommit=True), name
    ) as fresh:
        assert fresh.encoding == "utf-8"
        with pytest.raises(DataError, match="db_locale=en_US"):
            import_database(directory, fresh, encoding="latin-1")


def test_a_script_in_another_code_set_is_run(
    cli: Cli, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "month.sql"
    script.write_bytes("\nselect 'España' land from systables where tabid = 1;\n".encode("latin-1"))
    refused = cli("query", url, "-f", script)
    assert refused.code == 1
    assert f"{script}, line 2: The byte f1 is not text in utf-8" in refused.err
    assert "with --encoding" in refused.err
    for options, locale in ((["--encoding", "iso8859-1"], ""), ([], "en_US.8859-1")):
        monkeypatch.setenv("CLIENT_LOCALE", locale)
        ran = cli("query", url, "-f", script, *options)
        assert ran.out.splitlines() == ['"land"', '"España"'], ran.err
    marked = tmp_path / "marked.sql"
    marked.write_text("select 'Ж' land from systables where tabid = 1", encoding="utf-8-sig")
    monkeypatch.delenv("CLIENT_LOCALE")
    assert '"Ж"' in cli("query", url, "-f", marked).out


def test_messages_name_the_options_of_the_command_line(cli: Cli, url: str, made: Made) -> None:
    directory = made("2004-02-16", b"1|1.50|2005-02-03|\xf1|\n")
    ran = cli("import", directory, url, "--dbdate", "XYZ")
    assert "--dbdate XYZ" in ran.err
    ran = cli("import", directory, url)
    assert "--encoding" in ran.err
    assert "encoding=" not in ran.err


def test_an_export_is_refused_where_no_script_is_the_one(conn: Connection, tmp_path: Path) -> None:
    for name in ("a.sql", "b.sql"):
        (tmp_path / name).write_text("{ DATABASE x  delimiter | }\n")
    with pytest.raises(InterfaceError, match=r"found 2 \.sql files"):
        import_database(tmp_path, conn)


@pytest.mark.parametrize(
    ("literal", "dbdate", "default", "row"),
    [
        ("02/16/2004", None, "02/16/2004", "02/03/2005"),
        ("16.02.2004", None, "16.02.2004", "03.02.2005"),
        ("2004-02-16", None, "2004-02-16", "2005-02-03"),
        (None, None, "02/16/2004", "02/03/2005"),
        (None, "DMY2.", "16.02.04", "03.02.05"),
    ],
)
def test_the_default_of_a_date_is_exported_in_the_format_of_the_rows(
    conn: Connection,
    server: Server,
    tmp_path: Path,
    literal: str | None,
    dbdate: str | None,
    default: str,
    row: str,
) -> None:
    conn.execute("CREATE TABLE sale (day DATE DEFAULT '2004-02-16' NOT NULL, tail CHAR(3) DEFAULT 'x')")
    if literal:
        session = {"/": "MDY4/", ".": "DMY4.", "-": "Y4MD-"}[next(c for c in literal if not c.isdigit())]
        name = str(conn.adbc_current_catalog)
        with informix_arrow.connect(server.url(name), autocommit=True, env={"DBDATE": session}) as other:
            other.execute(f"CREATE VIEW late (tail) AS SELECT tail FROM sale WHERE day > DATE('{literal}')")
    conn.execute("INSERT INTO sale VALUES (MDY(2, 3, 2005), 'y')")
    report = export_database(conn, tmp_path, format="unl", dbdate=dbdate)
    (script,) = report.directory.glob("*.sql")
    (rows,) = report.directory.glob("*.unl")
    assert f"day DATE default '{default}' not null,\n    tail CHAR(3) default 'x'" in script.read_text()
    assert rows.read_text() == f"{row}|y|\n"
    assert not [each for each in report.omitted if not each.startswith("users, roles")]


def test_a_dbdate_that_does_not_read_the_schema_is_reported(
    conn: Connection, server: Server, tmp_path: Path
) -> None:
    conn.execute("CREATE TABLE sale (day DATE)")
    with informix_arrow.connect(
        server.url(str(conn.adbc_current_catalog)), autocommit=True, env={"DBDATE": "MDY4/"}
    ) as other:
        other.execute("CREATE VIEW late (day) AS SELECT day FROM sale WHERE day > DATE('02/16/2004')")
    report = export_database(conn, tmp_path, format="unl", dbdate="DMY4/")
    assert any("'02/16/2004', which DBDATE DMY4/ does not read" in each for each in report.omitted)
