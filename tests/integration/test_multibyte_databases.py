"""Databases whose code set has several bytes per character: everything that contains text, in both directions."""

from __future__ import annotations

import io
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pytest
from tests.internals import session_of
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.server import Server

from .raw import RawClient, connect_request


@dataclass(frozen=True)
class CodeSet:
    locale: str
    codec: str
    words: tuple[str, ...]  # the second bytes of some are ASCII: backslash, digits, letters
    missing: str  # a character that it lacks, "" if it has all


CODE_SETS = (
    CodeSet("zh_cn.gb18030-2000", "gb18030", ("数据", "𠮷野家", "€ü", "丂丄"), ""),
    CodeSet("zh_cn.gb", "gbk", ("数据", "丂丄", "乗"), "𠮷"),
    CodeSet("zh_tw.big5", "big5", ("功許蓋", "中文", "郭"), "€"),
    CodeSet("ja_jp.sjis-s", "cp932", ("表ソ能", "ｱｲｳ", "日本"), "ü"),
    CodeSet("ja_jp.ujis", "euc_jp", ("表ソ能", "日本", "ｱ"), "😀"),
    CodeSet("ko_kr.ksc", "cp949", ("한국어", "뷁똠", "가"), "ü"),
)
COLUMNS = (
    "id INT, c CHAR(16), n NCHAR(9), v VARCHAR(40), lv LVARCHAR(3000), x TEXT IN TABLE, cl CLOB, sentinel INT"
)
TEXTS = ("c", "n", "v", "lv", "x", "cl")


@pytest.fixture(scope="module", params=CODE_SETS, ids=lambda each: each.codec)
def code_set(request: pytest.FixtureRequest) -> CodeSet:
    assert isinstance(request.param, CodeSet)
    return request.param


@pytest.fixture(scope="session")
def made() -> set[str]:
    """The databases that exist already. A worker may get more tests of a code set and use its database again."""
    return set()


@pytest.fixture(scope="module")
def url(server: Server, code_set: CodeSet, made: set[str]) -> str:
    """URL of a database with the code set, which DB_LOCALE sets when it is created."""
    name = f"mb_{code_set.codec}"
    if name in made:
        return server.url(name)
    made.add(name)
    with ifx.connect(
        server.url(""), db_locale=code_set.locale, client_locale=code_set.locale, autocommit=True
    ) as connection:
        connection.execute(f"CREATE DATABASE {database_name(server, name)} WITH LOG")
        connection.execute(f"CREATE TABLE t ({COLUMNS})")
        connection.cursor().executemany(f"INSERT INTO t VALUES ({', '.join('?' * 8)})", rows(code_set))
    return server.url(name)


@pytest.fixture(scope="module")
def logged_in(url: str) -> Iterator[ifx.Connection]:
    """A connection with default options: the driver detects the database's code set."""
    with ifx.connect(url) as connection:
        yield connection


@pytest.fixture
def conn(logged_in: ifx.Connection) -> Iterator[ifx.Connection]:
    """Nothing is left of what a test does."""
    yield logged_in
    logged_in.rollback()


def fitted(text: str, width: int, codec: str) -> str:
    """Return as much of a text as fits, without trailing blanks, which CHAR columns do not keep."""
    while len(text.encode(codec)) > width:
        text = text[:-1]
    return text.rstrip(" ")


def rows(code_set: CodeSet) -> list[tuple[object, ...]]:
    """Return rows: each word alone, padded to the full width, long, with blanks before and after; empty and NULL."""
    texts = [*code_set.words, "ascii only", "", " ", code_set.words[0] * 12, "\\'\"" + code_set.words[0]]
    made: list[tuple[object, ...]] = []
    for number, text in enumerate(texts):
        word = code_set.words[number % len(code_set.words)]
        codec = code_set.codec
        made.append((
            number,
            fitted(text, 16, codec),
            fitted(word * 5, 9, codec),
            fitted(text + word, 40, codec) + "",
            text + " ",
            text * 300,
            (word + text) * 1000,
            12345,
        ))  # fmt: skip
        made.append((number + 100, *(None if (number + k) % 2 else word for k in range(6)), 12345))
    return made


def found(connection: ifx.Connection, **options: object) -> list[tuple[object, ...]]:
    table = connection.read_arrow("SELECT * FROM t ORDER BY id", **options)  # type: ignore[arg-type]
    return [tuple(row.values()) for row in table.to_pylist()]


def expected(code_set: CodeSet) -> list[tuple[object, ...]]:
    return sorted(rows(code_set), key=lambda row: int(str(row[0])))


def test_the_connection_learns_the_code_set_from_the_database(url: str, code_set: CodeSet) -> None:
    with ifx.connect(url) as connection:
        assert session_of(connection).framing.encoding == code_set.codec
        word = code_set.words[0]
        assert connection.execute(f"SELECT '{word}' FROM t WHERE id = 0").fetchone() == (word,)


def test_every_kind_of_text_comes_back_as_it_was_bound(conn: ifx.Connection, code_set: CodeSet) -> None:
    assert found(conn) == expected(code_set)


@pytest.mark.parametrize(
    "options",
    [
        {"strings": "large", "batch_rows": 3},
        {"strings": "view", "batch_bytes": 4096},
        {"strings": "dictionary", "encoding_errors": "replace"},
        {"strings": "dictionary", "batch_rows": 3},
    ],
    ids=repr,
)
def test_it_does_so_in_any_form_and_in_any_batches(
    conn: ifx.Connection, code_set: CodeSet, options: dict[str, object]
) -> None:
    assert found(conn, **options) == expected(code_set)


def test_a_small_fetch_buffer_makes_no_difference(url: str, code_set: CodeSet) -> None:
    with ifx.connect(url, fetch_buffer_size=4096) as connection:
        assert found(connection) == expected(code_set)


def test_padding_is_counted_in_bytes_and_kept_when_asked(conn: ifx.Connection, code_set: CodeSet) -> None:
    for got, want in zip(found(conn, char_padding="keep"), expected(code_set), strict=True):
        for place, width in ((1, 16), (2, 9)):
            text, plain = got[place], want[place]
            if plain is None:
                assert text is None
                continue
            assert isinstance(text, str)
            assert text.rstrip(" ") == plain
            assert len(text.encode(code_set.codec)) == width
        assert got[3:] == want[3:]


def test_raw_text_is_the_bytes_of_the_code_set(conn: ifx.Connection, code_set: CodeSet) -> None:
    for got, want in zip(found(conn, encoding_errors="binary"), expected(code_set), strict=True):
        encoded = [None if text is None else str(text).encode(code_set.codec) for text in want[1:7]]
        assert list(got[1:7]) == encoded
        assert got[7] == 12345


def test_the_server_s_own_text_agrees(conn: ifx.Connection, code_set: CodeSet) -> None:
    cursor = conn.execute(
        "SELECT id, v::LVARCHAR(100), LENGTH(v), OCTET_LENGTH(v), sentinel FROM t WHERE id < 100 ORDER BY id"
    )
    for got, want in zip(cursor, (row for row in expected(code_set) if int(str(row[0])) < 100), strict=True):
        text = str(want[3])
        assert got[1] == text
        assert got[3] == len(text.encode(code_set.codec))
        assert got[4] == 12345


def test_what_is_too_long_is_cut_between_characters(conn: ifx.Connection, code_set: CodeSet) -> None:
    """The limit is in bytes of the code set: for a literal, an expression, and text that a query computes. A parameter
    that is too long is refused before it is sent."""
    conn.execute("CREATE TEMP TABLE narrow (id INT, v VARCHAR(7), sentinel INT)")
    word = code_set.words[0] * 4
    want = fitted(word, 7, code_set.codec)
    assert 4 <= len(want.encode(code_set.codec)) <= 7
    with pytest.warns(ifx.Warning, match="truncated"):
        conn.execute(f"INSERT INTO narrow VALUES (1, '{word}', 12345)")
    with pytest.raises(
        ifx.DataError, match=f"text of {len(word.encode(code_set.codec))} bytes is too long for VARCHAR"
    ):
        conn.execute("INSERT INTO narrow VALUES (2, ?, 12345)", (word,))
    with pytest.warns(ifx.Warning, match="truncated"):
        conn.execute("INSERT INTO narrow VALUES (2, ? || '', 12345)", (word,))
    with pytest.warns(ifx.Warning, match="truncated"):
        conn.cursor().executemany(
            "INSERT INTO narrow VALUES (?, ? || '', 12345)", [(3, word), (4, "a"), (5, word)]
        )
    conn.execute("INSERT INTO narrow VALUES (6, 'a', 12345)")
    with pytest.warns(ifx.Warning, match="truncated"):
        conn.execute("UPDATE narrow SET v = (SELECT lv || lv || lv FROM t WHERE id = 0) WHERE id = 6")
    rows = conn.execute("SELECT id, v, sentinel FROM narrow ORDER BY id").fetchall()
    lv = fitted((code_set.words[0] + " ") * 3, 7, code_set.codec)
    assert [row[1].rstrip() for row in rows] == [want, want, want, "a", want, lv]
    assert {row[2] for row in rows} == {12345}
    assert conn.execute(f"SELECT '{word}'::VARCHAR(7), sentinel FROM narrow WHERE id = 1").fetchone() == (
        want,
        12345,
    )


def test_text_in_sql_and_in_parameters_finds_its_row(conn: ifx.Connection, code_set: CodeSet) -> None:
    word = code_set.words[0]
    want = [row[0] for row in expected(code_set) if row[1] == word]
    for sql, values in (("c = ?", (word,)), (f"c = '{word}'", ())):
        assert [row[0] for row in conn.execute(f"SELECT id FROM t WHERE {sql} ORDER BY id", values)] == want
    assert want


def test_each_way_of_writing_stores_the_same(conn: ifx.Connection, code_set: CodeSet) -> None:
    conn.execute(f"CREATE TEMP TABLE w ({COLUMNS})")
    words = code_set.words
    marks = f"INSERT INTO w VALUES ({', '.join('?' * 8)})"
    texts = [words[0], words[1], words[-1], words[0], words[1] * 50, words[-1] * 500]
    texts[1] = fitted(texts[1], 9, code_set.codec)
    conn.execute(marks, (1, *texts, 12345))
    conn.execute(marks, (2, *texts[:4], io.StringIO(texts[4]), io.StringIO(texts[5]), 12345))
    raw = [text.encode(code_set.codec) for text in texts[4:]]
    conn.execute(marks, (3, *texts[:4], raw[0], io.BytesIO(raw[1]), 12345))
    literals = ", ".join(f"'{text}'" for text in texts[:4])
    conn.execute(f"INSERT INTO w VALUES (4, {literals}, ?, ?, 12345)", texts[4:])
    data = {"id": [5, 6], **{name: [text, None] for name, text in zip(TEXTS, texts, strict=True)}}
    conn.write_arrow("w", pa.table({**data, "sentinel": pa.array([12345, 12345], pa.int32())}))
    plain = {name: data[name] for name in ("id", "c", "n", "v", "lv")}
    conn.cursor().executemany(
        "INSERT INTO w (id, c, n, v, lv, sentinel) VALUES (?, ?, ?, ?, ?, 12345)",
        [(number, *texts[:4]) for number in range(10, 110)],
    )
    for method in ("put", "pipeline"):
        conn.write_arrow(
            "w", pa.table({**plain, "sentinel": pa.array([12345] * 2, pa.int32())}), method=method
        )
    table = conn.read_arrow("SELECT * FROM w ORDER BY id").to_pylist()
    whole = [tuple(row.values())[1:] for row in table if row["id"] < 6 and row["cl"] is not None]
    assert whole == [(*texts, 12345)] * 5
    short = [tuple(row.values())[1:5] for row in table if row["id"] >= 10]
    assert short == [tuple(texts[:4])] * 100
    assert all(row["sentinel"] == 12345 for row in table)
    assert sum(row["c"] is None for row in table) == 3


def test_a_character_that_the_code_set_lacks_is_refused_before_anything_is_sent(
    conn: ifx.Connection, code_set: CodeSet
) -> None:
    if not code_set.missing:
        assert "😀é".encode(code_set.codec)  # it has all characters, so nothing is refused
        return
    for values in ((1, code_set.missing, None), (1, None, code_set.missing)):
        with pytest.raises(ifx.DataError):
            conn.execute("INSERT INTO t (id, v, cl) VALUES (?, ?, ?)", values)
    with pytest.raises(ifx.DataError):
        conn.execute(f"SELECT '{code_set.missing}' FROM t")
    assert conn.execute("SELECT COUNT(*)::INT FROM t WHERE id = 1").fetchone() == (1,)


def test_an_error_message_names_things_in_the_code_set(conn: ifx.Connection, code_set: CodeSet) -> None:
    word = code_set.words[0]
    with pytest.raises(ifx.ProgrammingError) as caught:
        conn.execute(f"SELECT '{word}' FROM no_such_{word}")
    assert word in str(caught.value)
    assert caught.value.sqlcode == -206


def test_a_bad_byte_names_row_and_column_and_the_rows_before_it_come(url: str, code_set: CodeSet) -> None:
    """A wrong encoding: the database's bytes are read as ASCII."""
    with ifx.connect(url, encoding="ascii") as connection:
        with pytest.raises(ifx.DataError) as caught:
            connection.read_arrow("SELECT id, v, sentinel FROM t WHERE id < 100 ORDER BY id")
        assert (caught.value.row, caught.value.column) == (0, "v")
        assert not connection.closed


def test_lazy_text_is_decoded_by_the_code_set(conn: ifx.Connection, code_set: CodeSet) -> None:
    cursor = conn.cursor()
    cursor.lobs = "lazy"
    cursor.execute("SELECT x, cl, sentinel FROM t WHERE id = 0")
    row = cursor.fetchone()
    assert row is not None
    want = next(row for row in expected(code_set) if row[0] == 0)
    assert (row[0].text().read(), row[1].text().read(), row[2]) == (want[5], want[6], 12345)


@pytest.mark.usefixtures("url")
def test_a_server_side_name_of_the_code_set_in_a_login_is_enough(server: Server, code_set: CodeSet) -> None:
    """A client that sets the locale itself gets the bytes unchanged."""
    with RawClient(server, login=connect_request(locale=code_set.locale)) as client:
        client.open_database(database_name(server, f"mb_{code_set.codec}"))
        client.framing = client.framing.with_encoding(code_set.codec)
        (row,) = client.select("SELECT c, sentinel FROM t WHERE id = 0")
        assert row == code_set.words[0].encode(code_set.codec).ljust(16) + (12345).to_bytes(4, "big")


def test_a_session_with_a_utf8_db_locale_makes_a_utf8_database(server: Server) -> None:
    with ifx.connect(server.url(""), db_locale="en_US.utf8") as conn:
        conn.execute(f"CREATE DATABASE {database_name(server, 'made_in_utf8')} WITH LOG")
        conn.execute("CREATE TABLE t (name VARCHAR(40), sentinel INT)")
        conn.execute("INSERT INTO t VALUES (?, ?)", ("Ångström 日本 🦉", 12345))
    try:
        with ifx.connect(server.url("made_in_utf8")) as conn:
            assert conn.read_arrow("SELECT * FROM t").to_pylist() == [
                {"name": "Ångström 日本 🦉", "sentinel": 12345}
            ]
            site = "SELECT site FROM systables WHERE tabname = ' GL_CTYPE'"
            assert conn.read_arrow(site)["site"].to_pylist()[0].strip().lower().startswith("en_us.")
            assert conn.encoding == "utf-8"
    finally:
        server.drop_database("made_in_utf8")
