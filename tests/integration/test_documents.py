"""JSON and BSON: how the server stores, casts and computes them, and how the client reads and writes them."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import informix_arrow as ifx
from informix_arrow import unl
from informix_arrow.server import Server

#: A document as bytes: {"hello": "world"}.
HELLO = bytes.fromhex("16000000 02 68656c6c6f 00 06000000 776f726c64 00 00")
EMPTY = b"\5\0\0\0\0"
SHELL = (
    '{id:100, name:\'Joe "J"\', when:ISODate("2013-05-18T00:33:14.000Z"), f:1.5, yes:true, no:"f", '
    'n:{x:[1,2]}, big:NumberLong(12345678901), o:ObjectId("313233343536373839303132"), u:"é", z:null}'
)


@pytest.fixture(scope="module")
def shared_connection(server: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(server.url("stores_demo"), autocommit=True) as connection:
        connection.execute("CREATE TEMP TABLE docs (id SERIAL, v JSON, b BSON, tail INTEGER)")
        yield connection


@pytest.fixture
def conn(shared_connection: ifx.Connection) -> ifx.Connection:
    """A connection with an empty table of documents. All tests share both."""
    shared_connection.execute("TRUNCATE TABLE docs")
    return shared_connection


def stored(conn: ifx.Connection, **options: Any) -> list[tuple[Any, ...]]:
    found = conn.read_arrow("SELECT v, b, tail FROM docs ORDER BY id", **options).to_pylist()
    return [tuple(row.values()) for row in found]


def insert(conn: ifx.Connection, *rows: tuple[object, object]) -> None:
    for row in rows:
        conn.execute("INSERT INTO docs (v, b, tail) VALUES (?, ?, 12345)", row)


@pytest.mark.parametrize(
    ("v", "b", "text", "document"),
    [
        ('{"a" : 1}', HELLO, '{"a" : 1}', HELLO),
        ({"a": ["é", None]}, {"hello": "world"}, '{"a":["é",null]}', HELLO),
        ([1, {}], '{"hello": "world"}', "[1,{}]", HELLO),
        (None, EMPTY, None, EMPTY),
        ("{}", None, "{}", None),
        ({"x": "y" * 40_000}, bytearray(HELLO), '{"x":"' + "y" * 40_000 + '"}', HELLO),
    ],
    ids=range(6),
)
def test_parameters_are_stored_and_read(
    conn: ifx.Connection, v: object, b: object, text: str, document: bytes
) -> None:
    insert(conn, (v, b))
    conn.cursor().executemany("INSERT INTO docs (v, b, tail) VALUES (?, ?, 12345)", [(v, b), (v, b)])
    conn.execute("UPDATE docs SET v = ?, b = ? WHERE id = 1", (v, b))
    assert stored(conn) == [(text, document, 12345)] * 3
    assert conn.execute("SELECT v, b, tail FROM docs").fetchall() == [(text, document, 12345)] * 3


@pytest.mark.parametrize(
    "value", ['{"a":', "", "1", '"x"', "{a:}", "[1,]", '{"a":1} x', "{a b:1}", "{a:NaN}"]
)
def test_a_text_that_is_no_json_is_refused(conn: ifx.Connection, value: str) -> None:
    for statement, parameters in (
        ("INSERT INTO docs (v) VALUES (?)", (value,)),
        (f"INSERT INTO docs (v) VALUES ('{value}')", ()),
    ):
        with pytest.raises(ifx.DataError) as refused:
            conn.execute(statement, parameters)
        assert refused.value.sqlcode == -9660
    with pytest.raises(ifx.Error) as failed:
        conn.cursor().executemany("INSERT INTO docs (v, tail) VALUES (?, 1)", [(value,), (value,)])
    assert failed.value.sqlcode == -9660
    assert stored(conn) == []


def test_bytes_that_are_no_bson_are_refused(conn: ifx.Connection) -> None:
    for document in (b"", b"\4\0\0\0", EMPTY + b"\0", HELLO[:-1] + b"\1"):
        with pytest.raises(ifx.DataError) as refused:
            insert(conn, (None, document))
        assert refused.value.sqlcode == -9660
    assert stored(conn) == []


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (({1: 2}, None), "the key 1 is not a str"),
        (({"a": float("nan")}, None), "not JSON"),
        ((None, [1]), "not an object"),
        ((None, {"a": 2**63}), "64 bits"),
        ((b"{}", None), "Decode it to a str"),
    ],
)
def test_what_cannot_be_such_a_value_is_refused_before_it_is_sent(
    conn: ifx.Connection, value: tuple[object, object], message: str
) -> None:
    with pytest.raises(ifx.DataError, match=message):
        insert(conn, value)
    assert stored(conn) == []


def test_casts_go_by_way_of_json(conn: ifx.Connection) -> None:
    conn.execute(
        "INSERT INTO docs (v, b, tail) VALUES (?::json, ?::json::bson, 1)", ("{}", '{"hello":"world"}')
    )
    conn.execute("INSERT INTO docs (v, b, tail) VALUES ('{\"a\":1}', '{hello:\"world\"}'::JSON, 2)")
    found = conn.read_arrow(
        "SELECT v::LVARCHAR k, b::JSON l, b::JSON::LVARCHAR(7) m, v::BSON::JSON n, tail FROM docs"
    )
    world = '{"hello":"world"}'
    assert [tuple(row.values()) for row in found.to_pylist()] == [
        ("{}", world, world[:7], "{}", 1),
        ('{"a":1}', world, world[:7], '{"a":1}', 2),
    ]
    for expression in ("b::LVARCHAR", "b::INTEGER", "v::INTEGER", "tail::JSON", "'{}'::BSON", "MAX(v)"):
        with pytest.raises(ifx.ProgrammingError) as refused:
            conn.read_arrow(f"SELECT {expression} FROM docs")
        assert refused.value.sqlcode == -9634
    with pytest.raises(ifx.ProgrammingError) as refused:
        conn.read_arrow("SELECT id FROM docs WHERE v = '{}'")
    assert refused.value.sqlcode == -9634
    conn.execute("INSERT INTO docs (v) VALUES ('[]')")
    with pytest.raises(ifx.DataError) as invalid:
        conn.read_arrow("SELECT v::BSON FROM docs")
    assert invalid.value.sqlcode == -9660


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("BSON_VALUE_INT(b, 'id')", 100),
        ("BSON_VALUE_INT(b, 'n.x.1')", 2),
        ("BSON_VALUE_INT(b, 'f')", 1),
        ("BSON_VALUE_INT(b, 'u')", None),
        ("BSON_VALUE_BIGINT(b, 'big')", 12345678901),
        ("BSON_VALUE_DOUBLE(b, 'f')", 1.5),
        ("BSON_VALUE_DOUBLE(b, 'missing')", None),
        ("BSON_VALUE_VARCHAR(b, 'name')", 'Joe "J"'),
        ("BSON_VALUE_LVARCHAR(b, 'u')", "é"),
        ("BSON_VALUE_LVARCHAR(b, 'z')", None),
        ("BSON_VALUE_OBJECTID(b, 'o')", "313233343536373839303132"),
        ("BSON_VALUE_DATE(b, 'when')", dt.date(2013, 5, 18)),
        ("BSON_VALUE_TIMESTAMP(b, 'when')", dt.datetime(2013, 5, 18, 0, 33, 14)),
        ("BSON_VALUE_BOOLEAN(b, 'yes')", True),
        ("BSON_VALUE_BOOLEAN(b, 'no')", False),
        ("BSON_SIZE(b, 'name')", 4 + len('Joe "J"') + 1),
        ("BSON_SIZE(b, 'id')", 4),
        ("BSON_GET(b, 'id')::JSON", '{"id":100}'),
        ("BSON_GET(b, 'id', 'number')::JSON", '{"number":100}'),
        ("BSON_GET(b, 'missing')::JSON", None),
        ("BSON_VALUE_INT('{a:3}'::JSON, 'a')", 3),
    ],
)
def test_functions_of_bson(conn: ifx.Connection, expression: str, value: object) -> None:
    conn.execute("INSERT INTO docs (b, tail) VALUES (?::JSON, 12345)", (SHELL,))
    assert conn.execute(f"SELECT {expression}, tail FROM docs").fetchall() == [(value, 12345)]


def test_functions_select_rows_and_refuse_other_types(conn: ifx.Connection) -> None:
    insert(conn, (None, {"n": 2**31}), (None, {"n": 2, "s": "x" * 256}), (None, None))
    query = "SELECT BSON_VALUE_BIGINT(b, 'n'), tail FROM docs WHERE BSON_VALUE_BIGINT(b, ?) < 5"
    assert conn.execute(query, ("n",)).fetchall() == [(2, 12345)]
    for expression, code in (
        ("BSON_VALUE_INT(b, 'n')", -1215),
        ("BSON_VALUE_VARCHAR(b, 's')", -881),
        ("BSON_VALUE_INT(id, 'n')", -9634),
        ("BSON_VALUE_INT(b)", -664),
    ):
        with pytest.raises(ifx.Error) as refused:
            conn.read_arrow(f"SELECT {expression} FROM docs")
        assert refused.value.sqlcode == code


@pytest.mark.embedded  # a real server has these functions
@pytest.mark.parametrize(
    ("statement", "code", "message"),
    [
        ("SELECT GENBSON(docs) FROM docs", -674, "'genbson'"),
        ("SELECT GENBSON(ROW(id, tail), 0, 1)::JSON FROM docs", -674, "'genbson'"),
        ('UPDATE docs SET b = BSON_UPDATE(b, \'{"$set":{"a":2}}\')', -674, "'bson_update'"),
        ("SELECT b.a FROM docs", -201, "not supported by this server: the field of a document"),
        ("SELECT docs.b.a.c::JSON, tail FROM docs", -201, "(use BSON_GET or BSON_VALUE_..)"),
        ("SELECT d.v.a FROM docs d", -201, "the field of a document"),
        ("SELECT tail FROM docs WHERE b.a = 1", -201, "the field of a document"),
        ("SELECT tail.a FROM docs", -217, "'a'"),
    ],
)
def test_what_the_server_lacks_for_documents_is_named(
    conn: ifx.Connection, caplog: pytest.LogCaptureFixture, statement: str, code: int, message: str
) -> None:
    insert(conn, ({"a": 1}, {"a": {"c": 2}}))
    with pytest.raises(ifx.ProgrammingError) as refused:
        conn.execute(statement)
    assert refused.value.sqlcode == code
    assert message in (caplog.text if code == -201 else str(refused.value))
    assert stored(conn) == [
        ('{"a":1}', bytes.fromhex("14000000 03 6100 0c000000 10 6300 02000000 00 00"), 12345)
    ]


def test_json_is_arrows_json_and_bson_is_json_by_option(conn: ifx.Connection) -> None:
    insert(conn, ({"a": "é"}, {"hello": "world"}), (None, None))
    plain = conn.read_arrow("SELECT v, b, tail FROM docs", bson="json")
    assert plain.schema.types == [pa.utf8(), pa.utf8(), pa.int32()]
    assert plain["b"].to_pylist() == ['{"hello":"world"}', None]
    found = conn.read_arrow("SELECT v, b, tail FROM docs", json="arrow", bson="json", strings="large")
    assert found.schema.types == [pa.json_(pa.large_utf8())] * 2 + [pa.int32()]
    assert found["v"].to_pylist() == ['{"a":"é"}', None]
    assert found["tail"].to_pylist() == [12345] * 2
    bytes_of_text = conn.read_arrow(
        "SELECT v, b FROM docs", encoding_errors="binary", bson="json", json="arrow"
    )
    assert bytes_of_text.schema.types == [pa.binary(), pa.json_()]
    cursor = conn.cursor()
    cursor.bson = "json"
    assert cursor.execute("SELECT b FROM docs").fetchall() == [('{"hello":"world"}',), (None,)]


@pytest.mark.parametrize(
    "data",
    [
        {"v": pa.array(['{"a":1}', None], pa.json_()), "b": pa.array([HELLO, None], pa.binary())},
        {"v": pa.array(['{"a":1}', None], pa.large_utf8()), "b": pa.array([HELLO, None], pa.large_binary())},
        {"v": [{"a": 1}, None], "b": [{"hello": "world"}, None]},
        {"v": pa.array(['{"a":1}', None]).dictionary_encode(), "b": pa.array(['{"hello": "world"}', None])},
    ],
    ids=["JSON", "large", "struct", "text"],
)
def test_arrow_data_is_loaded(conn: ifx.Connection, data: dict[str, Any]) -> None:
    conn.write_arrow("docs", pa.table({**data, "tail": pa.array([1, 2], pa.int32())}))
    assert stored(conn) == [('{"a":1}', HELLO, 1), (None, None, 2)]


def test_rows_that_the_server_or_the_client_refuses_are_collected(conn: ifx.Connection) -> None:
    data = pa.table({"v": ["{}", "{", "[]"], "b": ["{}", "{}", "[]"], "tail": [1, 2, 3]})
    report = conn.write_arrow("docs", data, on_error="collect")
    assert report.rejected is not None
    assert report.rejected["row"].to_pylist() == [1, 2]
    assert stored(conn) == [("{}", EMPTY, 1)]


def test_a_table_is_made_again_from_what_was_read(conn: ifx.Connection) -> None:
    insert(conn, ({"a": 1}, {"hello": "world"}))
    for options in ({}, {"json": "arrow", "bson": "json"}):
        found = conn.read_arrow("SELECT v, b FROM docs", **options)
        conn.write_arrow("docs_again", found, mode="replace")
        again = conn.read_arrow("SELECT v, b FROM docs_again")
        assert again.schema.field("b").metadata == {b"informix.type": b"BSON"}
        assert [tuple(row.values()) for row in again.to_pylist()] == [('{"a":1}', HELLO)]
    conn.execute("DROP TABLE docs_again")
    conn.write_arrow("docs_new", pa.table({"x": pa.array(['{"a":1}'], pa.json_())}), mode="create")
    made = conn.read_arrow("SELECT x FROM docs_new")
    conn.execute("DROP TABLE docs_new")
    assert made.schema.field("x").metadata == {b"informix.type": b"JSON"}
    assert made["x"].to_pylist() == ['{"a":1}']


def test_a_unl_file_has_the_text(conn: ifx.Connection, tmp_path: Path) -> None:
    insert(conn, ({"a": "|\n\\"}, {"hello": "world"}), (None, None))
    found = conn.read_arrow("SELECT v, b, tail FROM docs", bson="json", json="arrow")
    path = tmp_path / "docs.unl"
    unl.write_unl(found.to_batches(), path)
    back = pa.Table.from_batches(
        list(unl.read_unl(path, conn.read_arrow("SELECT v, b, tail FROM docs", bson="json").schema))
    )
    assert json.loads(back["v"][0].as_py()) == {"a": "|\n\\"}
    assert back["b"].to_pylist() == ['{"hello":"world"}', None]
    assert back["tail"].to_pylist() == [12345] * 2
    with pytest.raises(ifx.NotSupportedError, match='bson="json"'):
        unl.write_unl(conn.read_arrow("SELECT b FROM docs").to_batches(), tmp_path / "b.unl")


def test_the_catalogue_knows_both_types(conn: ifx.Connection) -> None:
    found = conn.execute(
        "SELECT extended_id, name, type FROM sysxtdtypes WHERE name IN ('json', 'bson')"
    ).fetchall()
    assert sorted(found) == [(25, "json", 40), (26, "bson", 40)]
    conn.execute("CREATE DISTINCT TYPE IF NOT EXISTS document AS JSON")
    conn.execute("CREATE TEMP TABLE typed (v document, tail INTEGER)")
    conn.execute("INSERT INTO typed VALUES ('{}', 7)")
    assert conn.execute("SELECT v, tail FROM typed").fetchall() == [("{}", 7)]
