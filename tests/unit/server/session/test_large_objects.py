"""BYTE, TEXT, BLOB and CLOB in the engine: contents, locators, and files of the client (TYPES sections 12 and 13)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pytest
from tests.unit.server.sql_session import Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.routines.session_routines import SplLibrary
from informix_arrow.server.session.engine import Engine
from informix_arrow.server.session.smart_object_store import CHUNK
from informix_arrow.wire.type_codes import LOCATOR_SIZE

pytestmark = pytest.mark.slow

SIZES = [0, 1, 255, 256, 32_767, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7]


class Files:
    """The files of a client. `log` has the server's requests."""

    def __init__(self, **contents: bytes) -> None:
        self.contents = contents
        self.log: list[str] = []

    def read(self, name: str) -> Iterator[bytes]:
        self.log.append(f"read {name}")
        if name not in self.contents:
            raise SqlError(-9810, near=name)
        data = self.contents[name]
        for at in range(0, len(data), 30_000):
            yield data[at : at + 30_000]

    def write(self, name: str, chunks: Iterable[bytes]) -> str:
        self.log.append(f"write {name}")
        made = f"{name}.{len(self.log)}"
        self.contents[made] = b"".join(chunks)
        return made


def content(size: int) -> bytes:
    return bytes(i * 7 % 251 for i in range(min(size, 997))) * (size // 997 + 1) if size else b""


@pytest.fixture
def engine(fresh_engine: Engine) -> Engine:
    return fresh_engine


class FakeClient:
    """A client. `opened` has the locator and the mode of each object that was opened for it."""

    def __init__(self) -> None:
        self.files = Files()
        self.opened: list[tuple[bytes, int]] = []

    def open(self, locator: bytes, mode: int) -> int:
        self.opened.append((locator, mode))
        return 40 + len(self.opened)


@pytest.fixture
def client() -> FakeClient:
    return FakeClient()


@pytest.fixture
def db(engine: Engine, client: FakeClient) -> Db:
    return connect(engine, client=client)


@pytest.fixture
def files(db: Db, client: FakeClient) -> Files:
    client.files = found = Files(x=b"hello", empty=b"", big=content(SIZES[-1])[: SIZES[-1]])
    db.run(
        "create table b (id integer, d blob, c clob, tail integer) put d in (sbspace1), c in (sbspace1) (log)"
    )
    return found


# ---- the store ---------------------------------------------------------------------------------
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["blob", "clob"])
def test_an_object_gives_back_its_bytes_whole_and_in_parts(db: Db, kind: str, size: int) -> None:
    lobs = db.session.lobs
    data = content(size)[:size]
    locator = lobs.create("blob" if kind == "blob" else "clob")
    assert (len(locator), lobs.size(locator), lobs.read(locator, 0, 10)) == (LOCATOR_SIZE, 0, b"")
    assert lobs.append(locator, [data[:3], data[3:]]) == size
    assert lobs.size(locator) == size
    assert b"".join(lobs.chunks(locator)) == data
    for offset, count in (
        (0, 10),
        (size // 2, CHUNK),
        (max(size - 1, 0), 5),
        (size, 5),
        (size + 100, 5),
        (0, 0),
    ):
        assert lobs.read(locator, offset, count) == data[offset : offset + count]


def test_writes_anywhere_and_truncation_do_what_a_file_does(db: Db) -> None:
    lobs = db.session.lobs
    locator = lobs.create("blob")
    model = bytearray()
    for offset, size in (
        (5, 3),
        (0, 2),
        (4, 2),
        (CHUNK - 1, 2),
        (10, CHUNK),
        (0, 2 * CHUNK + 5),
        (7, 1),
        (0, 0),
    ):
        piece = bytes((offset + i) % 250 + 1 for i in range(size))
        model.extend(b"\0" * (offset - len(model)))
        model[offset : offset + size] = piece
        assert lobs.write(locator, offset, piece) == size
        assert b"".join(lobs.chunks(locator)) == bytes(model)
    for size in (len(model) + 3, CHUNK + 1, CHUNK, 5, 0, 2):
        lobs.truncate(locator, size)
        model = model[:size].ljust(size, b"\0")
        assert lobs.size(locator) == size
        assert b"".join(lobs.chunks(locator)) == bytes(model)


def test_rollback_undoes_creations_and_writes(db: Db) -> None:
    session, lobs = db.session, db.session.lobs
    kept = lobs.create("clob")
    lobs.write(kept, 0, b"before")
    session.begin()
    lobs.write(kept, 3, b"XX")
    made = lobs.create("blob")
    lobs.write(made, 0, b"new")
    assert (lobs.read(kept, 0, 9), lobs.read(made, 0, 9)) == (b"befXXe", b"new")
    assert (
        db.fails("insert into nowhere values (1)").sqlcode == -206
    )  # a failing statement releases nothing else
    assert lobs.read(made, 0, 9) == b"new"
    session.transaction.savepoint("s")
    lobs.write(made, 0, b"NEW")
    session.transaction.rollback_to_savepoint("s")
    assert lobs.read(made, 0, 9) == b"new"
    session.rollback()
    assert lobs.read(kept, 0, 9) == b"before"
    assert lobs.exists(kept)
    assert not lobs.exists(made)


@pytest.mark.parametrize(
    "locator", [b"", b"x" * 72, b"IFLO\x01\x01" + bytes(66), b"IFLO\x01\x03" + bytes(66)]
)
def test_bytes_that_are_no_locator_are_minus_9810(db: Db, locator: bytes) -> None:
    lobs = db.session.lobs
    assert not lobs.exists(locator)
    for call in (
        lobs.size,
        lambda x: lobs.read(x, 0, 1),
        lambda x: lobs.write(x, 0, b"a"),
        lambda x: lobs.truncate(x, 0),
    ):
        with pytest.raises(SqlError) as caught:
            call(locator)
        assert caught.value.sqlcode == -9810


def test_an_object_is_seen_by_other_sessions_once_committed(db: Db, engine: Engine) -> None:
    other = connect(engine)
    db.session.begin()
    locator = db.session.lobs.create("blob")
    db.session.lobs.write(locator, 0, b"abc")
    assert not other.session.lobs.exists(locator)
    assert other.session.lobs.create("blob") != locator
    db.session.commit()
    assert other.session.lobs.read(locator, 0, 9) == b"abc"
    sysmaster = connect(engine, "sysmaster")
    assert sysmaster.session.lobs.read(locator, 1, 1) == b"b"  # the locator contains its database


# ---- BYTE and TEXT -------------------------------------------------------------------------------
def test_simple_objects_hold_what_was_sent(db: Db) -> None:
    db.run("create table s (id integer, a byte in blobspace1, x text in table, tail integer)")
    rows = [
        (1, b"\0\xff\x80", "plain", 77),
        (2, b"", "", 77),
        (3, None, None, 77),
        (4, bytes(70_000), b"\xe9", 77),
    ]
    db.many("insert into s values (?, ?, ?, ?)", rows)
    stored = [(n, a, x.encode() if isinstance(x, str) else x, t) for n, a, x, t in rows]
    assert db.rows("select * from s order by id") == stored
    assert db.rows("select length(a), octet_length(x), tail from s order by id") == [
        (3, 5, 77), (0, 0, 77), (None, None, 77), (70_000, 1, 77),
    ]  # fmt: skip
    (batch,) = db.session.query(db.session.prepare("select a, x from s"), ()).batches()
    assert batch.schema.types == [pa.large_binary(), pa.large_binary()]
    db.run("update s set a = ?, x = ? where id = ?", b"new", None, 1)
    db.run("update s set a = null where id = 4")
    assert db.rows("select a, x, tail from s where id in (1, 4) order by id") == [
        (b"new", None, 77),
        (None, b"\xe9", 77),
    ]


def test_text_is_kept_in_the_databases_code_set(engine: Engine) -> None:
    latin = connect(engine, "sysmaster")
    latin.run("create temp table s (x text, tail integer)")
    latin.run("insert into s values (?, 77)", "café")
    assert latin.rows("select x, tail from s") == [(b"caf\xe9", 77)]
    assert latin.fails("insert into s values (?, 78)", "\u20ac").sqlcode == -23103
    assert latin.rows("select count(*) from s")[0][0] == 1


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("insert into s values (1, 'abc', null, 77)", -617),
        ("insert into s values (1, null, 'abc', 77)", -617),
        ("insert into s values (1, 5, null, 77)", -617),
        ("update s set x = 'abc'", -617),
        ("select id from s where a = a", -615),
        ("select id from s where x = 'a'", -615),
        ("select max(a) from s", -9634),
        ("select a::blob from s", -9634),
        ("select x::lvarchar from s", -9634),
        ("alter table s add (z byte default 'x')", -591),
    ],
)
def test_what_simple_objects_cannot_do_is_refused(db: Db, sql: str, code: int) -> None:
    db.run("create table s (id integer, a byte, x text, tail integer)")
    db.run("insert into s values (9, ?, ?, 79)", b"a", b"x")
    assert db.fails(sql).sqlcode == code
    assert db.rows("select * from s") == [(9, b"a", b"x", 79)]


def test_a_number_is_no_byte_parameter(db: Db) -> None:
    db.run("create table s (a byte, x text, tail integer)")
    assert db.fails("insert into s values (?, ?, 77)", 5, None).sqlcode == -617
    assert db.fails("insert into s values (?, ?, 77)", "text", None).sqlcode == -617


# ---- BLOB and CLOB -------------------------------------------------------------------------------
def test_files_become_objects_and_objects_files(db: Db, files: Files) -> None:
    db.run("insert into b values (1, filetoblob('x', 'client'), filetoclob('big', 'CLIENT'), 77)")
    db.run("insert into b values (?, informix.filetoblob(?, 'client'), null, 77)", 2, "empty")
    outcomes = db.many(
        "insert into b values (?, filetoblob(?, 'client'), null, 77)", [(3, "x"), (4, "nowhere"), (5, None)]
    )
    assert [getattr(o, "sqlcode", None) for o in outcomes] == [None, -9810, None]
    assert files.log == ["read x", "read big", "read empty", "read x", "read nowhere"]
    sql = "select lotofile(d, 'out', 'client') as name, id, lotofile(c, ?, 'client'), tail from b order by id"
    prepared = db.session.prepare(sql)
    assert [(c.name, c.type.sql) for c in prepared.columns][:2] == [
        ("name", "LVARCHAR(2048)"),
        ("id", "INTEGER"),
    ]
    assert len(files.log) == 5
    rows = iter(db.session.query(prepared, ("c!",)).batches())
    first = next(rows)
    assert files.log[5:] == ["write out", "write c!"]  # the other rows have not been read
    assert first.to_pylist()[0]["tail"] == 77
    assert files.contents[first.to_pylist()[0]["name"]] == b"hello"
    assert files.contents[first.column(2)[0].as_py()] == files.contents["big"]
    rest = [row for batch in rows for row in batch.to_pylist()]
    assert [(r["id"], r["name"] and files.contents[r["name"]], r["tail"]) for r in rest] == [
        (2, b"", 77), (3, b"hello", 77), (5, None, 77),
    ]  # fmt: skip


def test_a_query_without_rows_makes_no_file(db: Db, files: Files) -> None:
    (batch,) = db.session.query(
        db.session.prepare("select lotofile(d, 'o', 'client'), tail from b"), ()
    ).batches()
    assert (batch.num_rows, batch.schema.types) == (0, [pa.string(), pa.int32()])
    assert files.log == []


def test_an_update_makes_an_object_for_each_row_and_none_without_rows(db: Db, files: Files) -> None:
    db.many("insert into b values (?, null, null, 77)", [(1,), (2,), (3,)])
    assert db.run("update b set d = filetoblob(?, 'client'), tail = ? where id < ?", "x", 78, 3).rows == 2
    assert db.run("update b set d = filetoblob('x', 'client') where id > 99").rows == 0
    assert files.log == ["read x", "read x"]
    rows = db.rows("select d, tail from b order by id")
    assert rows[0][0] != rows[1][0]
    assert [db.session.lobs.read(rows[n][0], 0, 9) for n in (0, 1)] == [b"hello", b"hello"]
    assert [tail for _, tail in rows] == [78, 78, 77]


def test_a_failing_file_leaves_nothing(db: Db, files: Files) -> None:
    sql = "select count(*) from d_stores_demo._ifx.lob_chunks"
    assert db.fails(
        "insert into b values (1, filetoblob('x', 'client'), filetoclob('nowhere', 'client'), 77)"
    ).sqlcode
    assert db.rows("select * from b") == []
    assert db.session.transaction.con.execute(sql).fetchall() == [(0,)]
    db.run("create table c (id integer primary key, d blob, tail integer not null)")
    db.run("insert into c values (1, null, 77)")
    insert = "insert into c values (?, filetoblob('x', 'client'), ?)"
    for begin in (False, True):
        if begin:
            db.session.begin()
            db.run("insert into c values (2, null, 77)")
        assert db.fails(insert, 1, 77).sqlcode == -268
        assert db.fails(insert, 3, None).sqlcode == -391
        assert [type(each) for each in db.many(insert, [(1, 77), (3, None)])] == [SqlError, SqlError]
        assert db.session.transaction.con.execute(sql).fetchall() == [(0,)]  # nor of a refused row
    db.session.commit()
    assert db.rows("select id, tail from c order by id") == [(1, 77), (2, 77)]
    db.session.begin()
    db.run("insert into b values (1, filetoblob('x', 'client'), null, 77)")
    db.session.rollback()
    assert db.session.transaction.con.execute(sql).fetchall() == [(0,)]


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("insert into b values (1, filetoblob('x', 'server'), null, 77)", -9810),
        ("insert into b values (1, filetoblob('x'), null, 77)", -664),
        ("insert into b values (1, filetoclob('x', 'client'), null, 77)", -9634),
        ("insert into b (id) select filetoblob('x', 'client') from b", -201),
        ("select filetoblob('x', 'client') from b", -201),
        ("select lotofile(d, 'x', 'server') from b", -9810),
        ("select lotofile(id, 'x', 'client') from b", -9634),
        ("select upper(lotofile(d, 'x', 'client')) from b", -201),
        ("select id from b where lotofile(d, 'x', 'client') = 'x'", -201),
        ("select id from b where ifx_lo_open(d, 4) = 0", -201),
        ("select lotofile(d, 'x', 'client') as n from b into temp tt", -201),
        ("insert into b (id) select ifx_lo_open(d, 4) from b", -201),
        ("select lotofile(d, 'x', 'client') from b union select 'a' from b", -201),
        ("insert into b values (1, 'hello', null, 77)", -9810),
        ("insert into b values (1, 5, null, 77)", -9634),
        ("select d::lvarchar from b", -9634),
        ("alter table b add (z blob default 'x')", -591),
    ],
)
def test_what_smart_objects_cannot_do_is_refused_and_no_file_is_touched(
    db: Db, files: Files, sql: str, code: int
) -> None:
    assert db.fails(sql).sqlcode == code
    assert files.log == []


def test_without_a_client_there_are_no_files(db: Db, files: Files, engine: Engine) -> None:
    db.run("insert into b values (1, filetoblob('x', 'client'), null, 77)")
    alone = connect(engine)
    assert alone.fails("insert into b values (2, filetoblob('x', 'client'), null, 77)").sqlcode == -9810
    with pytest.raises(SqlError) as caught:
        alone.rows("select lotofile(d, 'x', 'client') from b")
    assert caught.value.sqlcode == -9810


def test_ifx_lo_open_in_a_query_asks_the_client_for_each_row(
    db: Db, client: FakeClient, files: Files, engine: Engine
) -> None:
    db.many(
        "insert into b values (?, filetoblob(?, 'client'), null, 77)", [(1, "x"), (2, None), (3, "empty")]
    )
    with pytest.raises(SqlError):
        connect(engine).rows("select ifx_lo_open(d, 4) from b")
    assert db.types("select ifx_lo_open(d, 4), id from b")[0] == ("(ifx_lo_open)", "INTEGER")
    assert db.rows("select ifx_lo_open(d, ?), tail, id from b order by id", 8) == [
        (41, 77, 1),
        (None, 77, 2),
        (42, 77, 3),
    ]
    locators = db.rows("select d, id from b where d is not null order by id")
    assert client.opened == [(locators[0][0], 8), (locators[1][0], 8)]


def test_a_locator_goes_back_as_bytes_and_as_hexadecimal_text(db: Db, files: Files) -> None:
    db.run("insert into b values (1, filetoblob('x', 'client'), filetoclob('x', 'client'), 77)")
    blob, clob = db.rows("select d, c from b")[0]
    db.run("insert into b values (2, ?, ?, 77)", blob, clob.hex())
    db.run(f"insert into b values (3, '{blob.hex().upper()}'::blob, '{clob.hex()}', 77)")
    db.run("update b set d = ? where id = ?", blob.hex(), 3)
    assert db.rows("select * from b order by id") == [(n, blob, clob, 77) for n in (1, 2, 3)]
    assert db.rows(f"select '{blob.hex()}'::blob, tail from b where id = 1") == [(blob, 77)]
    for given, code in (
        (clob.hex(), -9634),
        (b"hello", -9810),
        (blob[:-1], -9810),
        ("zz", -9810),
        (5, -9634),
    ):
        assert db.fails("insert into b values (4, ?, null, 77)", given).sqlcode == code
    (batch,) = db.session.query(db.session.prepare("select d, c from b"), ()).batches()
    assert batch.schema.types == [pa.binary(), pa.binary()]


def test_a_copied_locator_shares_its_object_which_goes_with_the_last_table(db: Db, files: Files) -> None:
    sql = "select count(*) from d_stores_demo._ifx.lob_chunks"
    db.run("insert into b values (1, filetoblob('x', 'client'), null, 77)")
    db.run("create table other (d blob, tail integer)")
    db.run("insert into other select d, tail from b")
    db.run("select d, tail from b into temp third")
    (first,), (second,) = db.rows("select d from b")[0], db.rows("select d from other")[0]
    assert first == second
    db.session.lobs.write(first, 0, b"J")
    for table in ("b", "other"):
        db.run(f"drop table {table}")
        assert db.session.lobs.read(second, 0, 9) == b"Jello"
    db.run("drop table third")
    assert not db.session.lobs.exists(second)
    assert db.session.transaction.con.execute(sql).fetchall() == [(0,)]


def test_dropping_a_table_keeps_objects_that_another_sessions_temporary_table_may_hold(
    db: Db, files: Files, engine: Engine
) -> None:
    db.run("insert into b values (1, filetoblob('x', 'client'), null, 77)")
    other = connect(engine)
    other.run("select d, tail from b into temp mine")
    db.run("drop table b")
    ((locator, tail),) = other.rows("select d, tail from mine")
    assert (other.session.lobs.read(locator, 0, 9), tail) == (b"hello", 77)


def test_objects_are_there_after_a_restart(tmp_path: object) -> None:
    from pathlib import Path

    assert isinstance(tmp_path, Path)
    engine = Engine(tmp_path, "informix", "IBM Informix Dynamic Server Version 14.10.FC7W1DE", SplLibrary())
    db = connect(engine)
    locator = db.session.lobs.create("blob")
    db.session.lobs.write(locator, 0, b"kept")
    engine.close()
    engine = Engine(tmp_path, "informix", "IBM Informix Dynamic Server Version 14.10.FC7W1DE", SplLibrary())
    db = connect(engine)
    assert db.session.lobs.read(locator, 0, 9) == b"kept"
    assert db.session.lobs.create("blob") != locator
    engine.close()


def test_an_object_of_a_refused_row_goes_with_the_session_that_made_it(fresh_engine: Engine) -> None:
    mine, other = connect(fresh_engine), connect(fresh_engine)
    mine.run("create table c (id integer primary key, d blob, e clob, tail integer)")

    def objects() -> int:
        sql = "select count(distinct id) from d_stores_demo._ifx.lob_chunks"
        ((count,),) = other.session.transaction.con.execute(sql).fetchall()
        return int(count)

    def made(db: Db, content: bytes) -> bytes:
        locator = db.session.lobs.create("blob")
        db.session.lobs.write(locator, 0, content)
        return locator

    insert = "insert into c (id, d, tail) values (?, ?, 77)"
    kept, again, lost = made(mine, b"kept"), made(mine, b"again"), made(mine, b"lost" * 1000)
    mine.run(insert, 1, kept)
    for locator in (again, lost):
        assert mine.fails(insert, 1, locator).sqlcode == -268
    mine.run(insert, 2, again)  # the client may try again with another key
    foreign = made(other, b"foreign")
    assert objects() == 4
    mine.session.close()
    assert objects() == 3
    assert [other.session.lobs.read(d, 0, 9) for (d,) in other.rows("select d from c order by id")] == [
        b"kept",
        b"again",
    ]
    assert other.session.lobs.read(foreign, 0, 9) == b"foreign"

    many = connect(fresh_engine)
    rows = [(number, made(many, b"row")) for number in (1, 3, 4)]
    assert [isinstance(each, SqlError) for each in many.many(insert, rows)] == [True, False, False]
    unsure = connect(fresh_engine)
    object_of_unsure = made(unsure, b"unsure")
    assert unsure.fails(insert, 1, object_of_unsure).sqlcode == -268
    other.session.begin()  # the session may have read the locator, and may use it unnoticed
    unsure.session.close()
    other.session.rollback()
    assert other.session.lobs.read(object_of_unsure, 0, 9) == b"unsure"
    before = objects()
    many.session.close()
    assert objects() == before - 1
    assert other.rows("select id, tail from c order by id") == [(1, 77), (2, 77), (3, 77), (4, 77)]
