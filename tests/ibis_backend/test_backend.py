"""The Ibis backend: connections, names, tables, SQL, streams, and refused operations."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import ibis
import ibis.common.exceptions as exc
import ibis.expr.operations as ops
import pyarrow as pa
import pytest

import informix_arrow
from informix_arrow.server import Server

from .data import ROWS


@pytest.fixture
def con(informix_database: str) -> Iterator[Any]:
    backend = ibis.informix.connect(informix_database)
    yield backend
    backend.disconnect()


@pytest.fixture
def t(con: Any) -> Any:
    return con.create_table("t", ROWS)


# ---- connections ---------------------------------------------------------------------------------------------------


def test_a_url_of_ibis_connects(informix_database: str) -> None:
    backend = ibis.connect(informix_database)
    assert backend.current_catalog == informix_database.rpartition("/")[2].partition("?")[0]
    assert backend.current_database == "informix"
    assert backend.current_catalog in backend.list_catalogs()
    assert backend.version
    backend.disconnect()
    assert backend.con.closed


def test_a_keyword_beside_the_url_is_used(informix_database: str) -> None:
    backend = ibis.connect(informix_database, lock_wait=7)
    assert backend.con.lock_wait == 7
    backend.reconnect()
    assert backend.con.lock_wait == 7
    backend.disconnect()


def test_an_open_connection_keeps_its_transaction(informix_database: str) -> None:
    with informix_arrow.connect(informix_database, env={"DELIMIDENT": "y"}) as conn:
        backend = ibis.informix.from_connection(conn)
        backend.create_table("kept", schema={"a": "int32"})
        conn.commit()
        with conn.transaction(force_rollback=True):
            backend.insert("kept", {"a": [1, 2]})
            assert backend.table("kept").count().execute() == 2
        assert backend.table("kept").count().execute() == 0


def test_a_connection_without_delimident_is_refused(informix_database: str) -> None:
    with (
        informix_arrow.connect(informix_database) as conn,
        pytest.raises(informix_arrow.Connection.InterfaceError, match=r"env=\{'DELIMIDENT': 'y'\}"),
    ):
        ibis.informix.from_connection(conn)


def test_compiling_needs_no_connection() -> None:
    table = ibis.table({"a": "int64", "Mixed": "string"}, name="t")
    assert ibis.informix.compile(table.filter(table.a > 1).limit(3)) == (
        'SELECT FIRST 3 * FROM "t" AS "t0" WHERE "t0"."a" > 1'
    )


# ---- names and schemas ---------------------------------------------------------------------------------------------


def test_tables_views_and_synonyms_are_listed(con: Any, t: Any) -> None:
    con.create_table("Mixed Case", schema={"x": "int64"})
    con.create_view("v", t.select("id"))
    con.raw_sql("CREATE SYNONYM s FOR t").close()
    assert con.list_tables() == ["Mixed Case", "s", "t", "v"]
    assert con.list_tables(like="^v") == ["v"]
    assert con.list_tables(database="informix") == con.list_tables()
    assert con.list_tables(database="nobody") == []
    assert con.list_databases() == ["informix"]
    assert con.table("s").columns == t.columns
    assert con.table("t", database="informix").count().execute() == len(ROWS)


def test_a_table_of_another_database_is_read(con: Any, t: Any, server: Server) -> None:
    here = con.current_catalog
    with informix_arrow.connect(server.url("stores_demo")) as elsewhere:
        backend = ibis.informix.connect(server.url("stores_demo"))
        found = backend.table("t", database=(here, "informix"))
        assert found.filter(found.id < 3).select("id", "s").to_pyarrow().to_pydict() == {
            "id": [1, 2],
            "s": ["Anna", "b c"],
        }
        backend.disconnect()
        assert elsewhere.database == "stores_demo"


def test_types_are_those_of_reading(con: Any, t: Any) -> None:
    assert dict(t.schema().items()) == {
        name: ibis.dtype(kind)
        for name, kind in {
            "id": "int32", "g": "string", "s": "string", "p": "string", "small": "int16", "i": "int32", "j": "int32",
            "big": "int64", "f": "float64", "m": "decimal(8, 2)", "b": "boolean", "d": "date", "ts": "timestamp(6)",
        }.items()
    }  # fmt: skip


def test_a_missing_table_has_ibis_error(con: Any) -> None:
    with pytest.raises(exc.TableNotFound, match="nowhere"):
        con.table("nowhere")


# ---- CHAR ----------------------------------------------------------------------------------------------------------


def test_char_columns_have_no_trailing_blanks_in_functions(con: Any) -> None:
    con.raw_sql('CREATE TABLE c (id INT, a CHAR(6), "B" NCHAR(5), v VARCHAR(9))').close()
    con.raw_sql("INSERT INTO c VALUES (1, 'ab', 'x', 'v ')").close()
    con.raw_sql("INSERT INTO c VALUES (2, NULL, '', NULL)").close()
    c = con.table("c")
    late = c.mutate(n=c.a).filter(c.id > 0).limit(5)
    found = late.select(
        "id",
        a=late.a.length(),
        b=late.B + "|",
        n=late.n + late.v + "|",
        r=late.a.reverse(),
        p=late.a.lpad(4, "*"),
        e=late.a.endswith("b"),
        k=late.a.like("ab"),
        m=ibis.coalesce(late.a, late.v) + "|",
        u=late.a.upper() + "|",
    ).order_by("id")
    assert found.to_pyarrow().to_pylist() == [
        {
            "id": 1, "a": 2, "b": "x|", "n": "abv |", "r": "ba", "p": "**ab", "e": True, "k": True, "m": "ab|",
            "u": "AB|",
        },
        {
            "id": 2, "a": None, "b": "|", "n": None, "r": None, "p": None, "e": None, "k": None, "m": None, "u": None,
        },
    ]  # fmt: skip
    both = c.select(x="a").union(c.select(x="v"))
    assert sorted(both.filter(both.x.notnull()).x.length().to_pyarrow().to_pylist()) == [1, 2]
    asked = con.sql("SELECT a FROM c WHERE id = 1")
    assert (asked.a + "|").to_pyarrow().to_pylist() == ["ab|"]
    assert c.group_by("id").aggregate(x=c.a.max().length()).order_by("id").x.to_pyarrow().to_pylist() == [
        2,
        None,
    ]
    assert c.filter(c.a == "ab").id.to_pyarrow().to_pylist() == [1]
    assert 'WHERE "t0"."a" = ' in con.compile(c.filter(c.a == "ab").id), "an index on a can be used"


# ---- SQL -----------------------------------------------------------------------------------------------------------


def test_sql_of_your_own_is_a_table(con: Any, t: Any) -> None:
    found = con.sql(
        "SELECT FIRST 2 id, s[1,2] AS head, WEEKDAY(d) AS w FROM t WHERE s MATCHES 'A*' ORDER BY id;"
    )
    assert found.schema().names == ("id", "head", "w")
    assert found.mutate(x=found.id + 1).to_pyarrow().to_pydict() == {
        "id": [1, 13], "head": ["An", "An"], "w": [3, 5], "x": [2, 14],
    }  # fmt: skip


def test_sql_on_an_expression(con: Any, t: Any) -> None:
    small = t.filter(t.id <= 4).alias("few")
    assert small.sql("SELECT MAX(id) AS top FROM few").to_pyarrow().to_pydict() == {"top": [4]}


def test_sql_of_another_dialect(con: Any, t: Any) -> None:
    found = con.sql("SELECT id FROM t WHERE id > 2 ORDER BY id LIMIT 2", dialect="postgres")
    assert found.to_pyarrow().to_pydict() == {"id": [3, 4]}


def test_raw_sql_returns_a_cursor(con: Any, t: Any) -> None:
    with con.raw_sql("SELECT COUNT(*) FROM t") as cursor:
        assert cursor.fetchall() == [(len(ROWS),)]


def test_ibis_shows_the_sql(con: Any, t: Any) -> None:
    assert "SELECT SKIP 2 FIRST 5 " in ibis.to_sql(t.order_by("id").limit(5, offset=2))
    named = t.alias("n").sql("SELECT id FROM n").limit(3)
    assert con.compile(named).startswith('WITH "n" AS (')
    assert named.count().execute() == 3


# ---- results -------------------------------------------------------------------------------------------------------


def test_batches_are_streamed_in_the_types_of_the_expression(con: Any, t: Any) -> None:
    reader = t.select("id", x=t.i.sum().over(group_by=t.g)).order_by("id").to_pyarrow_batches(chunk_size=7)
    assert reader.schema == pa.schema({"id": pa.int32(), "x": pa.int64()})
    sizes = [batch.num_rows for batch in reader]
    assert sum(sizes) == len(ROWS)
    assert max(sizes) <= 7


def test_scalars_columns_and_frames(con: Any, t: Any) -> None:
    assert t.count().to_pyarrow() == pa.scalar(len(ROWS), pa.int64())
    assert t.count().execute() == len(ROWS)
    assert t.order_by("id").m.to_pyarrow()[:2].to_pylist() == [Decimal("-7.00"), Decimal("-5.75")]
    frame = t.order_by("id").limit(4).select("id", "big", "s", "d").execute()
    assert list(frame.columns) == ["id", "big", "s", "d"]
    assert frame["big"].dtype == "Int64", "64 bits with a NULL"
    assert frame["big"][2] == 20_000_000_000
    assert t.order_by("id").limit(3).to_polars()["id"].to_list() == [1, 2, 3]


def test_parameters_and_limits(con: Any, t: Any) -> None:
    least = ibis.param("int32")
    expression = t.filter(t.id > least).order_by("id").select("id")
    assert con.to_pyarrow(expression, params={least: 20}, limit=2).to_pydict() == {"id": [21, 22]}


def test_a_memtable_is_made_once(con: Any, t: Any) -> None:
    rows = ibis.memtable(pa.table({"id": pa.array([1, 2], pa.int32()), "x": ["ä", None], "b": [True, None]}))
    joined = t.select("id").inner_join(rows, "id").order_by("id")
    for _again in range(2):
        assert joined.to_pyarrow().to_pylist() == [
            {"id": 1, "x": "ä", "b": True},
            {"id": 2, "x": None, "b": None},
        ]
    assert con.list_tables() == ["t"], "it is a temporary table"


def test_a_cached_table_is_a_temporary_one(con: Any, t: Any) -> None:
    with t.group_by("g").aggregate(n=t.count(), s=t.i.sum(), d=t.d.max()).cache() as cached:
        assert cached.n.sum().execute() == len(ROWS)
        assert con.list_tables() == ["t"]


# ---- tables --------------------------------------------------------------------------------------------------------


def _declared(con: Any, table: str) -> list[str]:
    return [str(each) for each in con.con.columns(table)["data_type"].to_pylist()]


def test_a_table_is_created_from_a_schema(con: Any) -> None:
    made = con.create_table(
        "made",
        schema=ibis.schema(
            {
                "a": "!int32", "b": "string", "c": ibis.expr.datatypes.String(length=60), "d": "decimal(10, 3)",
                "e": "timestamp(3)", "f": "time", "g": "binary", "h": "uint32", "i": "boolean", "j": "float32",
                "k": ibis.expr.datatypes.String(length=100),
            }
        ),
    )  # fmt: skip
    assert made.count().execute() == 0
    assert _declared(con, "made") == [
        "INTEGER", "LVARCHAR(2048)", "VARCHAR(240)", "DECIMAL(10,3)", "DATETIME YEAR TO FRACTION(3)",
        "DATETIME HOUR TO FRACTION(5)", "BYTE", "BIGINT", "BOOLEAN", "SMALLFLOAT", "LVARCHAR(400)",
    ]  # fmt: skip
    with pytest.raises(informix_arrow.Connection.IntegrityError):
        con.raw_sql("INSERT INTO made (a) VALUES (NULL)")
    for kind in ("array<int64>", "json", "timestamp('UTC')", "decimal(38, 2)", "interval('s')"):
        with pytest.raises(exc.UnsupportedBackendType, match="Informix has no column type"):
            con.create_table("wrong", schema={"a": kind})


def test_a_table_is_created_from_an_expression(con: Any, t: Any) -> None:
    made = con.create_table(
        "made", t.select("id", "s", "m", "ts", x=t.s + "!", n=t.i.sum().over(group_by=t.g))
    )
    assert _declared(con, "made")[:4] == [
        "INTEGER", _declared(con, "t")[2], "DECIMAL(8,2)", "DATETIME YEAR TO FRACTION(5)"
    ]  # fmt: skip
    assert made.order_by("id").select("id", "s", "m", "ts").to_pyarrow().cast(
        ROWS.select(["id", "s", "m", "ts"]).schema
    ) == ROWS.select(["id", "s", "m", "ts"])
    assert made.filter(made.id == 1).x.to_pyarrow().to_pylist() == ["Anna!"]


def test_overwriting_replaces_the_table(con: Any, t: Any) -> None:
    con.create_table("made", pa.table({"a": [1]}))
    with pytest.raises(informix_arrow.Connection.ProgrammingError):
        con.create_table("made", pa.table({"b": [1]}))
    old = con.table("made")
    con.create_table("made", old.mutate(b=old.a + 1), overwrite=True)
    assert con.table("made").to_pyarrow().to_pydict() == {"a": [1], "b": [2]}
    con.create_table("made", schema={"z": "int64"}, overwrite=True)
    assert con.table("made").columns == ("z",)
    assert con.list_tables() == ["made", "t"], "nothing else is left behind"


def test_a_failed_overwrite_keeps_the_table(con: Any) -> None:
    con.create_table("made", pa.table({"a": [1, 0]}))
    old = con.table("made")
    with pytest.raises(informix_arrow.Connection.Error):
        con.create_table("made", old.mutate(b=(old.a.cast("string") + "x").cast("int64")), overwrite=True)
    assert con.table("made").order_by("a").to_pyarrow().to_pydict() == {"a": [0, 1]}
    other = con.create_table("other", pa.table({"a": [1, 0]}), temp=True)
    with pytest.raises(informix_arrow.Connection.Error):
        con.insert("made", other.mutate(a=(other.a.cast("string") + "x").cast("int64")), overwrite=True)
    assert con.table("made").order_by("a").to_pyarrow().to_pydict() == {"a": [0, 1]}
    assert con.list_tables() == ["made"]


def test_rows_are_inserted_by_name_or_by_position(con: Any, t: Any) -> None:
    con.create_table("made", schema={"a": "int32", "b": "string", "c": "float64"})
    con.insert("made", {"c": [1.5], "a": [1]})
    con.insert("made", pa.table({"x": pa.array([2], pa.int32()), "y": ["zwei"], "z": [2.5]}))
    con.insert("made", t.filter(t.id == 3).select(a="id", b="s"))
    made = con.table("made").order_by("a")
    assert made.to_pyarrow().to_pydict() == {"a": [1, 2, 3], "b": [None, "zwei", ""], "c": [1.5, 2.5, None]}
    con.upsert("made", {"a": [2, 4], "b": ["two", "four"], "c": [None, 4.0]}, on="a")
    assert made.to_pyarrow().to_pydict()["b"] == [None, "two", "", "four"]
    con.insert("made", {"a": [9], "b": ["neun"], "c": [9.0]}, overwrite=True)
    assert made.to_pyarrow().to_pydict() == {"a": [9], "b": ["neun"], "c": [9.0]}
    con.insert("made", con.table("made").mutate(a=ibis.literal(5, "int32")), overwrite=True)
    assert made.a.to_pyarrow().to_pylist() == [5], "the old rows are read first"
    con.truncate_table("made")
    assert made.count().execute() == 0


def test_text_that_does_not_fit_is_refused(con: Any) -> None:
    con.create_table("made", schema={"a": ibis.expr.datatypes.String(length=2)})
    with pytest.raises(informix_arrow.Connection.DataError):
        con.insert("made", {"a": ["x" * 9]})
    assert con.table("made").count().execute() == 0


def test_temporary_tables_and_drops(con: Any, t: Any) -> None:
    temp = con.create_table("few", t.filter(t.id < 3).select("id"), temp=True)
    assert temp.to_pyarrow().to_pydict() == {"id": [1, 2]}
    con.create_table("few", pa.table({"id": [7]}), temp=True, overwrite=True)
    assert con.table("few").to_pyarrow().to_pydict() == {"id": [7]}
    con.drop_table("few")
    with pytest.raises(informix_arrow.Connection.ProgrammingError):
        con.drop_table("few")
    con.drop_table("few", force=True)
    con.rename_table("t", "Other")
    assert con.list_tables() == ["Other"]


def test_views(con: Any, t: Any) -> None:
    view = con.create_view("v", t.group_by("g").aggregate(n=t.count()))
    assert view.n.sum().execute() == len(ROWS)
    con.create_view("v", t.select("id", y=t.d.year()), overwrite=True)
    assert con.table("v").columns == ("id", "y")
    con.drop_view("v")
    con.drop_view("v", force=True)
    assert con.list_tables() == ["t"]


# ---- refused operations ------------------------------------------------------------------------------------------

REFUSED: dict[str, tuple[type[Exception], str, Callable[[Any], Any]]] = {
    "regular expressions": (exc.OperationNotDefinedError, "RegexSearch", lambda t: t.s.re_search("a+")),
    "replacing by them": (exc.OperationNotDefinedError, "RegexReplace", lambda t: t.s.re_replace("a", "b")),
    "split": (exc.OperationNotDefinedError, "StringSplit", lambda t: t.s.split(",")),
    "translate": (exc.OperationNotDefinedError, "Translate", lambda t: t.s.translate("a", "b")),
    "levenshtein": (exc.OperationNotDefinedError, "Levenshtein", lambda t: t.s.levenshtein("a")),
    "ascii": (exc.OperationNotDefinedError, "StringAscii", lambda t: t.s.ascii_str()),
    "hash": (exc.OperationNotDefinedError, "Hash", lambda t: t.s.hash()),
    "group_concat": (exc.OperationNotDefinedError, "GroupConcat", lambda t: t.s.group_concat()),
    "median": (exc.OperationNotDefinedError, "Median", lambda t: t.i.median()),
    "quantile": (exc.OperationNotDefinedError, "Quantile", lambda t: t.i.quantile(0.5)),
    "mode": (exc.OperationNotDefinedError, "Mode", lambda t: t.i.mode()),
    "kurtosis": (exc.OperationNotDefinedError, "Kurtosis", lambda t: t.i.kurtosis()),
    "argmax": (exc.OperationNotDefinedError, "ArgMax", lambda t: t.s.argmax(t.i)),
    "collect": (exc.OperationNotDefinedError, "ArrayCollect", lambda t: t.s.collect()),
    "nth": (exc.OperationNotDefinedError, "NthValue", lambda t: t.i.nth(2).over(order_by=t.id)),
    "first without a window": (exc.UnsupportedOperationError, r"first\(\)", lambda t: t.i.first()),
    "isnan": (exc.OperationNotDefinedError, "IsNan", lambda t: t.f.isnan()),
    "random": (exc.OperationNotDefinedError, "RandomScalar", lambda t: t.id + ibis.random()),
    "sample": (exc.OperationNotDefinedError, "Sample", lambda t: t.sample(0.5)),
    "typeof": (exc.OperationNotDefinedError, "TypeOf", lambda t: t.i.typeof()),
    "try_cast": (exc.OperationNotDefinedError, "TryCast", lambda t: t.s.try_cast("int64")),
    "arrays": (exc.UnsupportedOperationError, "array", lambda t: t.select(x=ibis.literal([1, 2]))),
    "shifts": (exc.OperationNotDefinedError, "BitwiseLeftShift", lambda t: t.i << 2),
    "modulus of floats": (exc.UnsupportedOperationError, "modulus", lambda t: t.f % 2),
    "floats as text": (exc.UnsupportedOperationError, "from float64 to string", lambda t: t.f.cast("string")),
    "text as boolean": (exc.UnsupportedOperationError, "from string to boolean", lambda t: t.s.cast("bool")),
    "timestamps as numbers": (exc.UnsupportedOperationError, "timestamp", lambda t: t.ts.cast("int64")),
    "time zones": (exc.UnsupportedOperationError, "UTC", lambda t: t.ts.cast("timestamp('UTC')")),
    "a literal's time zone": (
        exc.UnsupportedOperationError,
        "time zone",
        lambda t: t.filter(t.ts > ibis.literal(dt.datetime(2024, 1, 1, tzinfo=dt.timezone.utc)).cast("timestamp")),
    ),
    "six digits": (
        exc.UnsupportedOperationError,
        "five digits",
        lambda t: t.ts > ibis.timestamp("2024-01-01 00:00:00.000001"),
    ),
    "NaN": (exc.UnsupportedOperationError, "nan", lambda t: t.f + ibis.literal(float("nan"))),
    "differences as intervals": (exc.UnsupportedOperationError, "interval", lambda t: t.d - t.d),
    "interval columns": (exc.UnsupportedOperationError, "interval", lambda t: t.select(x=ibis.interval(days=1))),
    "milliseconds": (exc.UnsupportedOperationError, "MILLISECOND", lambda t: t.ts + ibis.interval(milliseconds=5)),
    "a format": (exc.UnsupportedOperationError, "%f", lambda t: t.ts.strftime("%H:%M:%S.%f")),
    "asof joins": (exc.UnsupportedOperationError, "asof", lambda t: t.asof_join(t.view(), "ts")),
    "any joins": (exc.UnsupportedOperationError, "any_inner", lambda t: t.any_inner_join(t.view(), "id")),
    "INTERSECT ALL": (exc.UnsupportedOperationError, "INTERSECT ALL", lambda t: t.intersect(t, distinct=False)),
    "a computed limit": (exc.UnsupportedOperationError, "limit", lambda t: t.limit(t.count() - 1)),
    "a frame without order": (
        exc.UnsupportedOperationError,
        "without an order",
        lambda t: t.mutate(x=t.i.sum().over(ibis.window(preceding=1, following=1))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_informix_lacks_is_refused_by_name(name: str) -> None:
    error, words, make = REFUSED[name]
    table = ibis.table(ROWS.schema, name="t")
    with pytest.raises(error, match=words):
        ibis.informix.compile(make(table).as_table())


def test_has_operation_says_what_is_supported() -> None:
    assert ibis.informix.has_operation(ops.StringLength)
    assert ibis.informix.has_operation(ops.WindowFunction)
    assert not ibis.informix.has_operation(ops.RegexSearch)
    assert not ibis.informix.has_operation(ops.Median)


def test_an_operation_that_a_later_ibis_adds_is_refused() -> None:
    class Novel(ops.Unary):
        shape = ibis.expr.operations.StringLength.shape
        dtype = ibis.expr.datatypes.int64

    expression = Novel(ibis.table({"a": "string"}, name="t").a).to_expr()
    with pytest.raises(exc.OperationNotDefinedError, match="Novel"):
        ibis.informix.compile(expression.as_table())
