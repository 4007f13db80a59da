"""Options of reading, Python parameters of every kind, and text in code sets, against the embedded server."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from tests.real_server import database_name

import informix_arrow as ifx
from informix_arrow.server import Server


@pytest.fixture
def conn(server: Server) -> Iterator[ifx.Connection]:
    with ifx.connect(server.url("stores_demo")) as connection:
        yield connection
        if not connection.closed:
            connection.rollback()


@pytest.fixture(scope="module")
def table(server: Server) -> str:
    with ifx.connect(server.url("stores_demo")) as connection:
        connection.execute(
            "CREATE TABLE client_options (id INT, word VARCHAR(20), code CHAR(6), months INTERVAL YEAR(4) TO MONTH, "
            "span INTERVAL DAY(5) TO FRACTION(5), amount DECIMAL(9,0), sentinel INT)"
        )
        connection.cursor().executemany(
            "INSERT INTO client_options VALUES (?, ?, ?, ?, ?, ?, 12345)",
            [(number, *values) for number, values in enumerate(VALUES)],
        )
    return "client_options"


SPANS = (
    timedelta(days=3, hours=3, minutes=27, seconds=1, microseconds=123450),
    -timedelta(days=99999, hours=23, minutes=59, seconds=59, microseconds=999990),
    timedelta(0),
)
VALUES: list[tuple[Any, ...]] = [
    ("größe", "ab", ifx.YearMonthInterval(63), SPANS[0], 1),
    ("a", "", ifx.YearMonthInterval(-1), SPANS[1], -999_999_999),
    (None, None, None, None, None),
    ("a", "  x", ifx.YearMonthInterval("0-00"), SPANS[2], 0),
    ("日本", "größ", ifx.YearMonthInterval(9999 * 12 + 11), -SPANS[0], 999_999_999),
]


@pytest.mark.parametrize(
    ("strings", "kind"),
    [
        ("utf8", pa.utf8()),
        ("large", pa.large_utf8()),
        ("view", pa.string_view()),
        ("dictionary", pa.dictionary(pa.int32(), pa.utf8())),
    ],
)
def test_strings_in_every_form(conn: ifx.Connection, table: str, strings: Any, kind: pa.DataType) -> None:
    found = conn.read_arrow(f"SELECT word, code, sentinel FROM {table} ORDER BY id", strings=strings)
    assert found.schema.types == [kind, kind, pa.int32()]
    assert found["word"].to_pylist() == [row[0] for row in VALUES]
    assert found["code"].to_pylist() == ["ab", "", None, "  x", "größ"]
    assert found["sentinel"].to_pylist() == [12345] * 5
    none = conn.read_arrow(f"SELECT word, code, sentinel FROM {table} WHERE id < 0", strings=strings)
    assert none.schema == found.schema
    streamed = pa.RecordBatchReader.from_stream(
        conn.query(f"SELECT word FROM {table} ORDER BY id", strings=strings, batch_rows=2)
    ).read_all()
    assert streamed["word"].to_pylist() == [row[0] for row in VALUES]


def test_intervals_are_months_and_durations(conn: ifx.Connection, table: str) -> None:
    found = conn.read_arrow(f"SELECT months, span, sentinel FROM {table} ORDER BY id")
    assert found.schema.types == [pa.int32(), pa.duration("us"), pa.int32()]
    assert found["months"].to_pylist() == [63, -1, None, 0, 9999 * 12 + 11]
    assert found["span"].to_pylist() == [SPANS[0], SPANS[1], None, SPANS[2], -SPANS[0]]
    assert conn.execute(f"SELECT months, span FROM {table} WHERE id = 0").fetchall() == [(63, SPANS[0])]


def test_intervals_as_month_day_nano(conn: ifx.Connection, table: str) -> None:
    sql = f"SELECT months, span, sentinel FROM {table} WHERE id < 3 ORDER BY id"
    found = conn.read_arrow(sql, intervals="month_day_nano")
    assert found.schema.types[:2] == [pa.month_day_nano_interval()] * 2
    assert found["months"].to_pylist() == [pa.MonthDayNano([63, 0, 0]), pa.MonthDayNano([-1, 0, 0]), None]
    nanos = (3 * 3600 + 27 * 60 + 1) * 10**9 + 123_450_000
    assert found["span"].to_pylist()[0] == pa.MonthDayNano([0, 3, nanos])
    cursor = conn.cursor()
    cursor.intervals = "month_day_nano"
    assert cursor.execute(f"SELECT months FROM {table} WHERE id = 0").fetchall() == [
        (pa.MonthDayNano([63, 0, 0]),)
    ]


def test_interval_parameters_in_a_condition(conn: ifx.Connection, table: str) -> None:
    sql = f"SELECT id FROM {table} WHERE span = ? OR months = ? ORDER BY id"
    found = conn.read_arrow(sql, (SPANS[1], ifx.YearMonthInterval("5-03")))
    assert found["id"].to_pylist() == [0, 1]
    found = conn.read_arrow(sql, (pa.MonthDayNano([0, 0, 0]), pa.MonthDayNano([-1, 0, 0])))
    assert found["id"].to_pylist() == [1, 3]


def test_integer_aggregates(conn: ifx.Connection, table: str) -> None:
    sql = f"SELECT COUNT(*) AS n, SUM(id) AS s, MAX(amount) AS m FROM {table}"
    found = conn.read_arrow(sql, integer_aggregates=True)
    assert found.schema.types == [pa.int64()] * 3
    assert found.to_pylist() == [{"n": 5, "s": 10, "m": 999_999_999}]
    plain = conn.read_arrow(sql)
    assert pa.types.is_decimal(plain.schema.field("n").type)
    assert plain["m"].to_pylist() == [Decimal(999_999_999)]


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("strings", "tiny"),
        ("intervals", "text"),
        ("lobs", "some"),
        ("nested", "json"),
        ("encoding_errors", "ignore"),
        ("char_padding", "trim"),
    ],
)
def test_options_are_checked(conn: ifx.Connection, option: str, value: str) -> None:
    with pytest.raises(ifx.InterfaceError, match=option):
        conn.query("SELECT 1 FROM systables", **{option: value})  # type: ignore[arg-type]
    if option != "strings":
        cursor = conn.cursor()
        setattr(cursor, option, value)
        with pytest.raises(ifx.InterfaceError, match=option):
            cursor.execute("SELECT 1 FROM systables")


# ---- collections and ROW --------------------------------------------------------------------------------------------


@pytest.fixture
def nested(conn: ifx.Connection) -> str:
    conn.execute(
        "CREATE TABLE client_nested (id INT, numbers SET(INTEGER NOT NULL), words LIST(VARCHAR(20) NOT NULL), "
        "bag MULTISET(DECIMAL(8,2) NOT NULL), person ROW(name VARCHAR(20), born DATE, age INTEGER), sentinel INT)"
    )
    return "client_nested"


ALICE = {"name": "Alice", "born": date(1996, 2, 29), "age": 30}
NESTED: list[tuple[Any, ...]] = [
    (0, [1, 2, 3], ["it's", "größe", ""], [Decimal("1.50"), Decimal("1.50")], ALICE),
    (1, None, None, None, None),
    (2, [], [], [], {"name": None, "born": None, "age": -1}),
]


def test_collections_and_rows_there_and_back(conn: ifx.Connection, nested: str) -> None:
    cursor = conn.cursor()
    cursor.executemany(f"INSERT INTO {nested} VALUES (?, ?, ?, ?, ?, 12345)", NESTED)
    found = conn.read_arrow(f"SELECT * FROM {nested} ORDER BY id")
    rows = [tuple(row.values()) for row in found.to_pylist()]
    assert [(key, sorted(n) if n else n, *rest) for key, n, *rest in rows] == [
        (*row, 12345) for row in NESTED
    ]
    assert found.schema.field("numbers").type.value_type == pa.int32()
    assert found.schema.field("person").type.field("born").type == pa.date32()
    assert found.schema.field("person").metadata[b"informix.nested"] == b"arrow"


def test_one_row_with_literals_and_sets(conn: ifx.Connection, nested: str) -> None:
    cursor = conn.cursor()
    cursor.execute(
        f"INSERT INTO {nested} VALUES (?, ?, ?, ?, ?, 12345)",
        (5, {7}, "LIST{'a','b'}", [1], ("Bob", None, 7)),
    )
    found = conn.read_arrow(f"SELECT * FROM {nested}").to_pylist()
    assert found == [
        {
            "id": 5,
            "numbers": [7],
            "words": ["a", "b"],
            "bag": [Decimal("1.00")],
            "person": {"name": "Bob", "born": None, "age": 7},
            "sentinel": 12345,
        }
    ]


def test_nested_as_text(conn: ifx.Connection, nested: str) -> None:
    conn.cursor().executemany(f"INSERT INTO {nested} VALUES (?, ?, ?, ?, ?, 12345)", NESTED[:2])
    found = conn.read_arrow(f"SELECT words, sentinel FROM {nested} ORDER BY id", nested="text")
    assert found.schema.field("words").type == pa.utf8()
    assert found.schema.field("words").metadata[b"informix.nested"] == b"literal"
    text = found["words"].to_pylist()[0]
    assert text.startswith("LIST{")
    assert "it''s" in text
    assert found["sentinel"].to_pylist() == [12345] * 2


def test_what_a_collection_cannot_hold_is_refused(conn: ifx.Connection, nested: str) -> None:
    cursor = conn.cursor()
    for values in ([1, None], ["x"]):
        with pytest.raises(ifx.DataError, match="Parameter 1"):
            cursor.execute(f"INSERT INTO {nested} (numbers) VALUES (?)", (values,))
    with pytest.raises((ifx.DataError, ifx.NotSupportedError), match="Parameter 1"):
        cursor.execute(f"INSERT INTO {nested} (id) VALUES (?)", ([1],))


# ---- text -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def latin(server: Server) -> Iterator[str]:
    """A database of code set 8859-1 with texts, some of them in another encoding."""
    with ifx.connect(
        server.url("sysmaster"), autocommit=True, db_locale="en_US.819", client_locale="en_US.819"
    ) as c:
        c.execute(f"CREATE DATABASE {database_name(server, 'client_latin')} WITH LOG")
    with ifx.connect(server.url("client_latin"), encoding="latin-1", autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE texts (id INT, v VARCHAR(40), c CHAR(20), x TEXT IN TABLE, k CLOB, sentinel INT)"
        )
        connection.cursor().executemany(
            "INSERT INTO texts VALUES (?, ?, ?, ?, ?, 12345)",
            [(number, text, text, text, text) for number, text in enumerate(LATIN)],
        )
    yield "client_latin"
    server.drop_database("client_latin")


#: The last but one is UTF-8 that was stored as latin-1. The last is plain ASCII.
LATIN = ["größe", "", "çà\xa0ÿ", "größe".encode().decode("latin-1"), "ascii"]


def test_text_of_a_latin_database_arrives_as_utf8(server: Server, latin: str) -> None:
    with ifx.connect(server.url(latin)) as connection:
        found = connection.read_arrow("SELECT v, c, x, k, sentinel FROM texts ORDER BY id")
    for name in "vcxk":
        assert found[name].to_pylist() == LATIN
    assert found["sentinel"].to_pylist() == [12345] * 5


def test_a_lying_label_is_overruled(server: Server, latin: str) -> None:
    """The rows are latin-1 and UTF-8. With encoding="utf-8" the error names the first bad row, and earlier rows are
    returned."""
    with ifx.connect(server.url(latin), encoding="utf-8") as connection:
        sql = "SELECT v, c, x, k, sentinel FROM texts WHERE id IN (1, 3, 4) ORDER BY id"
        found = connection.read_arrow(sql)
        for name in "vcxk":
            assert found[name].to_pylist() == ["", "größe", "ascii"]
        for name in "vcxk":
            sql = f"SELECT {name} FROM texts WHERE id IN (1, 3, 4, 0) ORDER BY id DESC"
            batches = connection.query(sql).batches()
            before: list[Any] = []
            with pytest.raises(ifx.DataError) as caught:
                before.extend(batch for batch in batches)
            assert (caught.value.row, caught.value.column) == (3, name)
            assert [value for batch in before for value in batch[name].to_pylist()] == ["ascii", "größe", ""]
            assert connection.read_arrow("SELECT id FROM texts WHERE id = 2")["id"].to_pylist() == [2]


@pytest.mark.parametrize("where", ["connection", "read"])
def test_bad_bytes_can_be_replaced_or_read_as_bytes(server: Server, latin: str, where: str) -> None:
    for errors in ("replace", "binary"):
        at_connection: Any = {"encoding_errors": errors} if where == "connection" else {}
        at_read: Any = {} if where == "connection" else {"encoding_errors": errors}
        with ifx.connect(server.url(latin), encoding="utf-8", **at_connection) as connection:
            found = connection.read_arrow("SELECT v, c, x, k, sentinel FROM texts ORDER BY id", **at_read)
            raw = [text.encode("latin-1") for text in LATIN]
            expected = raw if errors == "binary" else [value.decode("utf-8", "replace") for value in raw]
            for name in "vcxk":
                assert found[name].to_pylist() == expected
            assert found["sentinel"].to_pylist() == [12345] * 5
            cursor = connection.cursor()
            cursor.encoding_errors = "replace"
            cursor.execute("SELECT v FROM texts WHERE id = 0")
            assert cursor.fetchall() == [("größe".encode("latin-1").decode("utf-8", "replace"),)]


def test_text_that_the_database_cannot_hold_is_refused_before_it_is_sent(server: Server, latin: str) -> None:
    with ifx.connect(server.url(latin)) as connection:
        cursor = connection.cursor()
        for values in (("€",), ("\udcff",)):
            with pytest.raises(ifx.DataError, match="does not exist"):
                cursor.execute("UPDATE texts SET v = ?", values)
        for sql in ("UPDATE texts SET v = '€'", "SELECT v AS \udcff FROM texts"):
            with pytest.raises(ifx.DataError, match="does not exist"):
                cursor.execute(sql)
        for column in "xk":
            with pytest.raises(ifx.DataError, match=r"Parameter 1.*does not exist"):
                cursor.execute(f"UPDATE texts SET {column} = ?", ("€",))
        found = connection.read_arrow("SELECT v, x, k FROM texts ORDER BY id")
        assert found["v"].to_pylist() == found["x"].to_pylist() == found["k"].to_pylist() == LATIN


def test_a_multi_byte_code_set_is_read_and_written(server: Server, latin: str) -> None:
    """The server keeps bytes of an 8859-1 database unchanged, so Shift-JIS with encoding= can be stored and read."""
    texts = ["日本語", "ascii", "", "表示"]
    with ifx.connect(server.url(latin), encoding="cp932") as connection:
        connection.execute("CREATE TEMP TABLE sjis (id INT, v VARCHAR(40), c CHAR(10), x TEXT, sentinel INT)")
        connection.cursor().executemany(
            "INSERT INTO sjis VALUES (?, ?, ?, ?, 12345)",
            [(number, text, text, text) for number, text in enumerate(texts)],
        )
        found = connection.read_arrow("SELECT v, c, x, sentinel FROM sjis ORDER BY id")
        for name in "vcx":
            assert found[name].to_pylist() == texts
        assert found["sentinel"].to_pylist() == [12345] * 4


def test_datetimes_and_more_as_parameters_still_work(conn: ifx.Connection) -> None:
    conn.execute(
        "CREATE TEMP TABLE client_params (d DATE, t DATETIME YEAR TO SECOND, n DECIMAL(8,2), sentinel INT)"
    )
    values = (date(2026, 1, 2), datetime(2026, 1, 2, 3, 4, 5), Decimal("-1.25"))
    conn.execute("INSERT INTO client_params VALUES (?, ?, ?, 12345)", values)
    assert conn.execute("SELECT * FROM client_params").fetchall() == [(*values, 12345)]
    conn.execute("DROP TABLE client_params")


STRANGE: list[Any] = ["x", "1", 1, 1.5, True, b"x", [], {}, object(), -5, 10**30, float("nan")]
TAKEN: dict[str, list[Any]] = {
    "batch_bytes": [],
    "batch_rows": [1],
    "decimals": [],
    "floating_decimals": [],
    "strings": [],
    "lobs": [],
    "encoding_errors": [],
    "integer_aggregates": [True],
    "json": [],
    "bson": [],
    "isolation": [],
    "lock_wait": [1],
    "timeout": [1, 1.5, 10**30],
}


@pytest.mark.parametrize("option", TAKEN)
def test_a_value_of_another_type_is_refused_with_the_name_of_the_option(
    conn: ifx.Connection, option: str
) -> None:
    """Regression: ``integer_aggregates=[]`` lost the connection, ``integer_aggregates="x"`` and ``lock_wait="1"`` were
    accepted."""
    taken = []
    for value in STRANGE:
        try:
            conn.query("SELECT 1 FROM systables WHERE tabid = 1", **{option: value}).close()
        except ifx.InterfaceError as error:
            assert option in str(error)  # noqa: PT017
        else:
            taken.append(value)
    assert [(type(each), each) for each in taken] == [(type(each), each) for each in TAKEN[option]]
    assert not conn.closed


def test_settings_of_a_connection_are_no_texts_where_they_are_numbers(
    conn: ifx.Connection, server: Server
) -> None:
    with pytest.raises(ifx.InterfaceError, match=r"lock_wait must be a whole number .*, got '1'"):
        conn.lock_wait = "1"  # type: ignore[assignment]
    for value in (float("inf"), 1e10):  # regression: a TypeError or an OverflowError of the socket
        with pytest.raises(ifx.InterfaceError, match="keepalive must be true, false or a number of seconds"):
            ifx.connect(server.url("stores_demo"), keepalive=value)
