"""``informix-arrow export`` and ``import``, also of exports in the form of dbexport."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

import informix_arrow
from informix_arrow.transfer import export_database, import_database
from informix_arrow.unl import read_unl

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.cli.conftest import Cli

    from informix_arrow import Connection
    from informix_arrow.server import Server

STATEMENTS = [
    "CREATE TABLE cust (id SERIAL, name VARCHAR(20) DEFAULT 'x' NOT NULL, since DATE DEFAULT TODAY, n DECIMAL(8,2), "
    "f DECIMAL(16), PRIMARY KEY (id) CONSTRAINT pk_cust) LOCK MODE ROW",
    "CREATE TABLE ord (o SERIAL8, cid INT, amt MONEY(8,2), UNIQUE (cid, amt) CONSTRAINT uq)",
    "ALTER TABLE ord ADD CONSTRAINT FOREIGN KEY (cid) REFERENCES cust (id) ON DELETE CASCADE CONSTRAINT fk_c",
    "ALTER TABLE cust ADD CONSTRAINT CHECK (n > 0) CONSTRAINT positive",
    "CREATE TABLE log (a INT NOT NULL, b INT)",
    "ALTER TABLE log ADD CONSTRAINT PRIMARY KEY (a)",
    "CREATE INDEX ix1 ON ord (amt DESC, cid)",
    "CREATE VIEW v (a, b) AS SELECT id, name FROM cust WHERE id > 1",
    "CREATE SYNONYM syn FOR cust",
    "CREATE SEQUENCE sq START WITH 5 INCREMENT BY 2",
    "CREATE PROCEDURE p1(x INT) RETURNING INT; DEFINE y INT; LET y = x + 1; RETURN y; END PROCEDURE",
    "CREATE DISTINCT TYPE euro AS DECIMAL(8,2)",
    "CREATE TABLE every (x euro, s SET(INTEGER NOT NULL), b BYTE, t TEXT, l BLOB, k CLOB, "
    "i INTERVAL DAY(3) TO SECOND, h DATETIME HOUR TO SECOND, c CHAR(9), z INT)",
    "CREATE ROW TYPE unused (a INT)",
    "GRANT SELECT ON cust TO bob",
    "INSERT INTO cust VALUES (0, 'a|b', MDY(12, 24, 2020), 1, 1.234567890123456)",
    "INSERT INTO cust VALUES (7, '', NULL, 0.5, NULL)",
    "INSERT INTO ord VALUES (0, 7, 3.50)",
    "CREATE TRIGGER tr INSERT ON ord REFERENCING NEW AS n FOR EACH ROW (INSERT INTO log (a, b) VALUES (n.cid, 2))",
]
EVERY = {
    "x": Decimal("1.50"), "s": [1, 2], "b": b"\0|", "t": "é\n|", "l": b"blob", "k": "clob é",
    "i": -dt.timedelta(days=3, seconds=5), "h": dt.time(1, 2, 3), "c": "padded", "z": 7,
}  # fmt: skip


@pytest.fixture
def full(conn: Connection) -> Connection:
    """A connection to a database with every kind of object that an export contains."""
    for statement in STATEMENTS:
        conn.execute(statement)
    schema = conn.query("SELECT * FROM every").schema
    conn.write_arrow("every", pa.Table.from_pylist([EVERY, dict.fromkeys(EVERY)], schema=schema))
    return conn


@pytest.fixture
def copy(server: Server, url: str) -> Iterator[str]:
    """URL of a database that does not exist yet."""
    name = f"{url.partition('?')[0].rpartition('/')[2]}_copy"
    yield url.replace(name.removesuffix("_copy"), name)
    server.drop_database(name)


def rows_of(connection: Connection, table: str) -> pa.Table:
    found = connection.read_arrow(f"SELECT * FROM {table}", floating_decimals="string")
    return found.sort_by(found.schema.names[-1])


def written(directory: Path) -> str:
    """Return the .sql file of an export, without the database's name and the tables' numbers."""
    (path,) = directory.glob("*.exp/*.sql")
    lines = path.read_text().replace(path.stem, "DB").splitlines()
    return "\n".join(line for line in lines if not line.startswith(("{ unload", "-- not carried")))


@pytest.mark.parametrize("kind", ["parquet", "unl"])
def test_a_copy_of_a_database_has_the_same_rows_and_is_made_of_the_same(
    cli: Cli, server: Server, url: str, full: Connection, copy: str, tmp_path: Path, kind: str, owner: str
) -> None:
    ran = cli("export", url, tmp_path / "one", "--format", kind, "--lock")
    assert ran.code == 0, ran.err
    assert "4 tables, 5 rows" in ran.out
    assert [line.partition("not exported: ")[2] for line in ran.err.splitlines()] == [
        "row type unused",
        "position of the sequence sq: it begins at 5 again",
        *([f"users, roles and their privileges on the database: {owner}"] if owner != "informix" else []),
    ]
    ran = cli("import", tmp_path / "one", copy)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == "4 tables, 5 rows, 12 keys, indexes, views and others\n"
    with informix_arrow.connect(copy, password=server.password, autocommit=True) as made:
        for table in ("cust", "ord", "log", "every"):
            assert rows_of(made, table).equals(rows_of(full, table)), table
        assert rows_of(made, "log").num_rows == 0  # the trigger was created after the rows
        made.execute("INSERT INTO cust (id, n) VALUES (0, 1)")
        assert made.execute("SELECT MAX(a), COUNT(*) FROM v").fetchall() == [(8, 2)]
        with pytest.raises(informix_arrow.IntegrityError):
            made.execute("INSERT INTO ord VALUES (0, 99, 1)")
        made.execute("DELETE FROM cust WHERE id = 8")
    assert cli("export", copy, tmp_path / "two", "--format", kind).code == 0
    assert written(tmp_path / "two") == written(tmp_path / "one")


def test_an_export_has_the_files_and_comments_of_dbexport(
    full: Connection, tmp_path: Path, owner: str
) -> None:
    report = export_database(full, tmp_path, format="unl")
    assert report.tables == {
        f'"{owner}".cust': 2,
        f'"{owner}".ord': 1,
        f'"{owner}".log': 0,
        f'"{owner}".every': 2,
    }
    files = {path.name for path in report.directory.glob("*.unl")}
    assert {file[:5] for file in files} == {"cust_", "ord__", "log__", "every"}
    assert all(len(file) == 14 for file in files)
    sql = (report.directory / f"{report.database}.sql").read_text()
    assert sql.startswith(f"{{ DATABASE {report.database}  delimiter | }}\n")
    assert f'{{ TABLE "{owner}".cust row size = 44 number of columns = 5 index size = ' in sql
    assert "number of rows = 2 }" in sql
    (customers,) = report.directory.glob("cust_*.unl")
    assert customers.read_bytes() == b"1|a\\|b|12/24/2020|1.0|1.234567890123456|\n7|\\ ||0.5||\n"
    (every,) = report.directory.glob("every*.unl")
    schema = full.query("SELECT * FROM every").schema
    assert read_unl(every, schema).read_all().equals(full.read_arrow("SELECT * FROM every"))
    assert not list(tmp_path.glob("*.part"))


DBEXPORT = """{ DATABASE stores  delimiter | }

grant dba to "informix";

{ TABLE "informix".customer row size = 39 number of columns = 4 index size = 9 }

{ unload file name = custo00100.unl number of rows = 3 }

create table "informix".customer
  (
    customer_num serial not null ,
    lname char(15), { it's the family's }
    since date,
    notes text,
    primary key (customer_num)  constraint "informix".pk_cust
  ) in rootdbs  extent size 16 next size 16 lock mode row;

revoke all on "informix".customer from "public" as "informix";

{ TABLE "informix".al row size = 8 number of columns = 2 index size = 0 }
{ unload file name = al___00101.unl number of rows = 1 }
create table "informix".al (a integer, day date);

create index "informix".by_name on "informix".customer (lname) using btree ;

create view "informix".late (n) as
  select customer_num from "informix".customer where since > mdy(1, 1, 2000);

create function "informix".more(x integer) returning integer;
  define y integer;
  let y = x + 1; -- a semicolon; in a comment
  return y;
end function;

grant select on "informix".customer to "public" as "informix";
"""


def dbexport(directory: Path) -> Path:
    made = directory / "stores.exp"
    made.mkdir()
    (made / "stores.sql").write_text(DBEXPORT)
    (made / "custo00100.unl").write_bytes(
        b"101|Pauli|12/24/2020|first\\\nsecond|\n102|M\xfcller|01/02/1999||\n117||||\n"
    )
    (made / "al___00101.unl").write_bytes(b"7|03/04/2021|\n")
    return made


def test_a_directory_of_dbexport_is_imported(
    cli: Cli, server: Server, conn: Connection, url: str, tmp_path: Path
) -> None:
    ran = cli("import", dbexport(tmp_path), url, "--encoding", "en_US.8859-1")
    assert ran.code == 0, ran.err
    assert conn.read_arrow("SELECT * FROM customer ORDER BY 1").to_pylist() == [
        {"customer_num": 101, "lname": "Pauli", "since": dt.date(2020, 12, 24), "notes": "first\nsecond"},
        {"customer_num": 102, "lname": "Müller", "since": dt.date(1999, 1, 2), "notes": None},
        {"customer_num": 117, "lname": None, "since": None, "notes": None},
    ]
    assert conn.execute("SELECT n FROM late").fetchall() == [(101,)]
    assert conn.execute("EXECUTE FUNCTION more(4)").fetchall() == [(5,)]
    assert "by_name" in conn.indexes("customer")["index_name"].to_pylist()
    again = cli("import", tmp_path, url)
    assert again.code == 2
    assert "is not empty" in again.err


def test_a_file_with_fewer_rows_than_the_export_says_is_refused(conn: Connection, tmp_path: Path) -> None:
    made = dbexport(tmp_path)
    (made / "custo00100.unl").write_bytes(b"101|Pauli|12/24/2020|x|\n")
    with pytest.raises(
        informix_arrow.DataError, match=r"custo00100\.unl has 1 rows, but stores\.exp records 3"
    ):
        import_database(made, conn)


def test_a_wrong_value_is_named_with_its_table_file_and_line(cli: Cli, url: str, tmp_path: Path) -> None:
    made = dbexport(tmp_path)
    (made / "custo00100.unl").write_bytes(b"101|Pauli|12/24/2020|x|\n102|x|24.12.2020||\n117||||\n")
    ran = cli("import", made, url)
    assert ran.code == 1
    assert "customer" in ran.err
    assert "custo00100.unl, line 2, column 'since' (field 3, DATE): '24.12.2020' is not a date" in ran.err


def test_statements_that_are_refused_are_listed_and_the_exit_code_says_so(
    cli: Cli, conn: Connection, url: str, tmp_path: Path
) -> None:
    made = dbexport(tmp_path)
    path = made / "stores.sql"
    path.write_text(path.read_text().replace("select customer_num from", "select no_such_column from"))
    ran = cli("import", made, url, "--encoding", "latin-1")
    assert ran.code == 1
    assert 'refused: create view "informix".late (n) as select no_such_column' in ran.err
    assert "1 statements were refused. Tables and rows are complete" in ran.err
    assert conn.execute("SELECT COUNT(*) FROM customer").fetchall() == [(3,)]


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda made: (made / "stores.sql").unlink(), "is not an export. Expected one .sql file"),
        (
            lambda made: (made / "al___00101.unl").unlink(),
            "al___00101.unl is missing. It should have the 1 rows of",
        ),
        (
            lambda made: (made / "stores.sql").write_text("create table t (a int);"),
            "It has no line { DATABASE",
        ),
        (
            lambda made: (made / "stores.sql").write_text(
                "{ DATABASE x  delimiter | }\ncreate table t (a int);"
            ),
            "line 2: The table t has no { TABLE .. } comment before it",
        ),
    ],
    ids=["no sql", "no file", "no comment", "no table comment"],
)
def test_what_is_no_export_is_refused_before_anything_is_made(
    cli: Cli, conn: Connection, url: str, tmp_path: Path, spoil: object, message: str
) -> None:
    made = dbexport(tmp_path)
    spoil(made)  # type: ignore[operator]
    ran = cli("import", made, url)
    assert ran.code in (1, 2)
    assert message in ran.err
    assert conn.tables().num_rows == 0


def test_nothing_is_left_where_an_export_fails(
    cli: Cli, url: str, full: Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, password: str
) -> None:
    def refuse(*_: object, **__: object) -> int:
        raise OSError(28, "No space left on device", "x.unl")

    monkeypatch.setattr("informix_arrow.transfer.database_export.write_unl", refuse)
    ran = cli("export", url, tmp_path, "--format", "unl")
    assert (ran.code, ran.err) == (1, "informix-arrow: x.unl: No space left on device\n")
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    monkeypatch.setenv("INFORMIX_ARROW_PASSWORD", password)
    assert cli("export", url, tmp_path).code == 0
    again = cli("export", url, tmp_path)
    assert again.code == 2
    assert "exists already" in again.err


def test_a_view_with_delimited_names_comes_back(
    server: Server, owner: str, url: str, copy: str, tmp_path: Path
) -> None:
    view = f'create view "{owner}"."Big View" ("Col A", b) as select n as "Col A", n as b from t'
    with informix_arrow.connect(url, password=server.password, autocommit=True) as plain:
        plain.execute("CREATE TABLE t (n INT, s VARCHAR(9))")
        plain.execute("INSERT INTO t VALUES (1, 'one')")
        plain.execute('CREATE VIEW w AS SELECT n FROM t WHERE n = 1 AND s = "one" WITH CHECK OPTION')
    with informix_arrow.connect(
        url, password=server.password, env={"DELIMIDENT": "y"}, autocommit=True
    ) as conn:
        conn.execute('CREATE VIEW "Big View" AS select n as "Col A", n as b from t')
        report = export_database(conn, tmp_path)
    assert f"{view};" in next(report.directory.glob("*.sql")).read_text().splitlines()
    server.create_database(copy.partition("?")[0].rpartition("/")[2])
    with informix_arrow.connect(
        copy, password=server.password, env={"DELIMIDENT": "y"}, autocommit=True
    ) as conn:
        assert import_database(report.directory, conn).refused == []
        assert conn.execute('SELECT "Col A", b FROM "Big View"').fetchall() == [(1, 1)]
        with pytest.raises(informix_arrow.Error, match="-385"):
            conn.execute("UPDATE w SET n = 2")
