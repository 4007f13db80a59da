"""Names, column mapping, CREATE TABLE, data sources, reports, advice: the decisions of a load that need no server."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from informix_arrow.ingest.batch_sources import open_source
from informix_arrow.ingest.create_table import create_table, declared_type, merge_statement, staging_table
from informix_arrow.ingest.error_hints import hint_for
from informix_arrow.ingest.progress import Bar
from informix_arrow.ingest.report import RejectedRows, describe_row
from informix_arrow.ingest.target_table import (
    bare_name,
    check_table,
    insert_statement,
    map_columns,
    quote,
    quote_new,
)
from informix_arrow.wire.describe import Column
from informix_arrow.wire.errors import DataError, InterfaceError, ProgrammingError, database_error
from informix_arrow.wire.types import ColumnType

TARGET = (
    Column("a", ColumnType.integer()),
    Column("b", ColumnType.integer()),
    Column("Mixed", ColumnType.integer()),
    Column("tail", ColumnType.integer()),
)


def schema(*names: str) -> pa.Schema:
    return pa.schema([(name, pa.int32()) for name in names])


@pytest.mark.parametrize(
    ("table", "bare"),
    [
        ("t", "t"),
        ("T1", "t1"),
        ("joe.t", "t"),
        ("db:joe.t", "t"),
        ("db@srv:t", "t"),
        ("'joe'.t", "t"),
        ('"Tab le"', "Tab le"),
    ],
)
def test_table_names_are_taken_in_informix_forms(table: str, bare: str) -> None:
    assert check_table(table) == table
    assert bare_name(table) == bare


def mapped(
    names: Sequence[str], columns: Sequence[str] | Mapping[str, str] | None = None
) -> list[tuple[str, str]]:
    return [(name, column.name) for name, column in map_columns(schema(*names), TARGET, columns, "t")]


def test_columns_go_by_exact_name_first_and_folded_else() -> None:
    assert mapped(["TAIL", "Mixed", "A"]) == [("TAIL", "tail"), ("Mixed", "Mixed"), ("A", "a")]
    assert mapped(["mixed"]) == [("mixed", "Mixed")]
    assert mapped(["x", "y"], ["b", "A"]) == [("x", "b"), ("y", "a")]
    assert mapped(["x", "y", "z"], {"z": "a", "x": "tail"}) == [("z", "a"), ("x", "tail")]


@pytest.mark.parametrize(
    ("names", "columns", "text"),
    [
        (["a", "x", "y"], None, "no columns x, y. It has a, b, Mixed, tail"),
        (["a", "A"], None, "table named twice: a"),
        (["a", "a"], None, "named twice"),
        (["a"], ["a", "b"], "columns= names 2 columns, but the data has 1"),
        (["a"], {"x": "a"}, "The data has no column x"),
        (["a", "b"], {"a": "b", "b": "B"}, "table named twice: b"),
        ([], None, "no columns"),
    ],
    ids=str,
)
def test_mappings_that_cannot_be_are_refused(
    names: list[str], columns: Sequence[str] | Mapping[str, str] | None, text: str
) -> None:
    with pytest.raises(ProgrammingError, match=text):
        mapped(names, columns)


def test_column_names_are_quoted_where_they_must_and_can_be() -> None:
    assert [quote(name, True) for name in ("a", "Mixed", "with blank", 'q"')] == [
        '"a"',
        '"Mixed"',
        '"with blank"',
        '"q"""',
    ]
    assert [quote_new(name, False) for name in ("a", "Mixed")] == ["a", "mixed"]
    assert [quote_new(name, True) for name in ("order", "Mixed")] == ['"order"', '"Mixed"']
    for name in ("with blank", "a; DROP TABLE t", "", "1a", "a-b"):
        with pytest.raises(ProgrammingError, match="DELIMIDENT"):
            quote(name, False)
    assert insert_statement("t", TARGET[:2], False) == "INSERT INTO t (a, b) VALUES (?, ?)"


TYPES: list[tuple[pa.DataType, str]] = [
    (pa.bool_(), "BOOLEAN"),
    (pa.int8(), "SMALLINT"),
    (pa.uint16(), "INTEGER"),
    (pa.int64(), "BIGINT"),
    (pa.uint64(), "DECIMAL(20,0)"),
    (pa.float32(), "SMALLFLOAT"),
    (pa.float64(), "FLOAT"),
    (pa.decimal128(12, 3), "DECIMAL(12,3)"),
    (pa.decimal128(3, -2), "DECIMAL(5,0)"),
    (pa.decimal256(32, 4), "DECIMAL(32,4)"),
    (pa.string_view(), "LVARCHAR(2048)"),
    (pa.dictionary(pa.int8(), pa.utf8()), "LVARCHAR(2048)"),
    (pa.large_binary(), "BYTE"),
    (pa.binary(16), "BYTE"),
    (pa.date64(), "DATE"),
    (pa.timestamp("s"), "DATETIME YEAR TO SECOND"),
    (pa.timestamp("ns"), "DATETIME YEAR TO FRACTION(5)"),
    (pa.time32("ms"), "DATETIME HOUR TO FRACTION(3)"),
    (pa.duration("ns"), "INTERVAL DAY(9) TO FRACTION(5)"),
    (pa.list_(pa.int32()), "LIST(INTEGER NOT NULL)"),
    (pa.struct([("x", pa.int32()), ("y", pa.date32())]), "ROW(x INTEGER, y DATE)"),
]


@pytest.mark.parametrize(("arrow", "declared"), TYPES, ids=str)
def test_arrow_types_have_an_informix_type_that_holds_them(arrow: pa.DataType, declared: str) -> None:
    assert declared_type(pa.field("c", arrow)) == (declared, False)
    ColumnType.parse_sql(declared)


@pytest.mark.parametrize(
    "arrow",
    [pa.decimal128(38, 4), pa.timestamp("s", "UTC"), pa.null(), pa.month_day_nano_interval()],
    ids=str,
)
def test_arrow_types_without_one_ask_for_it(arrow: pa.DataType) -> None:
    with pytest.raises(ProgrammingError, match=r"Name one for it with types="):
        declared_type(pa.field("c", arrow))


def test_declared_types_of_the_metadata_and_overrides_come_first() -> None:
    metadata = {"informix.type": "VARCHAR(40,10)", "informix.not_null": "true"}
    made = create_table(
        "t",
        pa.schema(
            [
                pa.field("Name", pa.utf8(), metadata=metadata),
                pa.field("qty", pa.int64(), nullable=False),
                ("v", pa.utf8()),
            ]
        ),
        types={"V": "char(3) not null"},
        primary_key=["name"],
        serial="id",
    )
    assert made == (
        "CREATE TABLE t (id SERIAL NOT NULL, name VARCHAR(40,10) NOT NULL, qty BIGINT NOT NULL, v char(3) NOT NULL, "
        "PRIMARY KEY (name))"
    )


@pytest.mark.parametrize(
    "text",
    [
        "INTEGER); DROP TABLE x; --",
        "INTEGER DEFAULT 5",
        "VARCHAR(9999)",
        "SET(INTEGER NOT NULL)) x (",
        "LIST(a;b)",
        "'x'",
        "",
    ],
    ids=repr,
)
def test_nothing_but_a_type_gets_into_a_statement_by_way_of_metadata(text: str) -> None:
    field = pa.field("c", pa.int32(), metadata={"informix.type": text})
    with pytest.raises(ProgrammingError):
        create_table("t", pa.schema([field]))
    with pytest.raises(ProgrammingError):
        create_table("t", schema("c"), types={"c": text})


def test_options_that_name_columns_the_data_lacks_are_refused() -> None:
    with pytest.raises(ProgrammingError, match="x, y"):
        create_table("t", schema("a"), types={"x": "DATE"}, primary_key=["y"])
    with pytest.raises(ProgrammingError, match="whole numbers"):
        create_table("t", pa.schema([("id", pa.utf8())]), serial="id")
    with pytest.raises(ProgrammingError, match="no columns"):
        create_table("t", pa.schema([]))


def test_an_upsert_stages_plain_columns_and_merges_them() -> None:
    types = [ColumnType.serial(), ColumnType.varchar(9), ColumnType.bigserial(not_null=True)]
    assert staging_table("s", types, ["id", "v", "n"], ["id"]) == (
        "CREATE TEMP TABLE s (id INTEGER NOT NULL, v VARCHAR(9), n BIGINT, UNIQUE (id)) WITH NO LOG"
    )
    assert merge_statement("t", "s", ["id", "v"], ["id"]) == (
        "MERGE INTO t t USING s s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.v = s.v "
        "WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)"
    )
    assert "UPDATE" not in merge_statement("t", "s", ["id"], ["id"])


class ArrayOnly:
    """Exports one record batch, but no stream."""

    def __init__(self, batch: pa.RecordBatch) -> None:
        self.batch = batch

    def __arrow_c_array__(self, requested_schema: object = None) -> object:
        return self.batch.__arrow_c_array__()


class StreamOnly:
    """Exports a stream."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__()


TABLE = pa.table({"a": [1, 2, 3]})


@pytest.mark.parametrize(
    "data",
    [
        TABLE, TABLE.to_batches()[0], TABLE.to_reader(), ArrayOnly(TABLE.to_batches()[0]), StreamOnly(TABLE),
        iter(TABLE.to_batches(max_chunksize=1)), [ArrayOnly(TABLE.to_batches()[0])],
    ],
    ids=lambda data: type(data).__name__,
)  # fmt: skip
def test_whatever_hands_out_arrow_data_is_a_source(data: object) -> None:
    source = open_source(data)
    assert pa.Table.from_batches(list(source.batches), source.schema).to_pydict() == {"a": [1, 2, 3]}


def test_batches_of_another_schema_are_refused_when_they_come() -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        yield TABLE.to_batches()[0]
        yield pa.record_batch({"b": [1]})

    source = open_source(batches())
    assert next(source.batches).num_rows == 3
    with pytest.raises(InterfaceError, match="Record batch 1"):
        next(source.batches)


def test_rejects_are_in_the_order_of_the_data_and_keep_no_batch_alive() -> None:
    one = pa.record_batch({"row": ["a", "b", "c"], "v": pa.array([1, 2, 3]).dictionary_encode()})
    two = pa.record_batch({"row": ["d", "e"], "v": pa.array([4, 5]).dictionary_encode()})
    rejects = RejectedRows(one.schema)
    rejects.add(two, 1, 4, DataError("client"))
    rejects.add(one, 0, 0, database_error(-268, -100, 0, "u1"))
    rejects.add(one, 2, 2, database_error(-391, 0, 0, "v"))
    rejects.add(two, 0, 3, DataError("client too"))
    assert len(rejects) == 4
    table = rejects.table()
    assert table.schema.names == ["row", "column", "sqlcode", "isam", "message", "data_row", "v"]
    assert table.drop_columns("message").to_pydict() == {
        "row": [0, 2, 3, 4], "column": [None] * 4, "sqlcode": [-268, -391, None, None],
       "isam": [-100, None, None, None],
        "data_row": ["a", "c", "d", "e"], "v": [1, 3, 4, 5],
    }  # fmt: skip
    assert RejectedRows(one.schema).table().schema == table.schema


@pytest.mark.parametrize(
    "array",
    [
        pa.array(["x", None, "y", "z"], pa.string_view()),
        pa.array(["x", None, "y", "z"]).dictionary_encode(),
        pc.run_end_encode(pa.array([1, 1, None, 2])),
        pa.array([[1], [], None, [2]]),
        pa.array([{"a": 1}, None, {"a": 2}, {"a": 3}]),
        pa.array([1, 2, 3, 4], pa.int32()).cast(pa.date32()),
    ],
    ids=lambda array: str(array.type),
)
def test_rejects_of_any_type_are_reported_in_order(array: pa.Array) -> None:
    """Rejected rows may be added out of order, and from batches with different dictionaries."""
    batch = pa.record_batch({"c": array})
    more = pa.record_batch({"c": pa.concat_arrays([array.slice(2), array.slice(0, 2)])})
    rejects = RejectedRows(batch.schema)
    for place in (3, 0, 1):
        rejects.add(batch, place, place, DataError("no"))
    for place in (2, 1):
        rejects.add(more, place, 4 + place, DataError("no"))
    found = rejects.table()
    assert found.column("row").to_pylist() == [0, 1, 3, 5, 6]
    expected = [batch.column(0)[k].as_py() for k in (0, 1, 3)] + [more.column(0)[k].as_py() for k in (1, 2)]
    assert found.column("c").to_pylist() == expected


def test_names_that_differ_in_case_only_are_no_guess() -> None:
    target = [Column("Ab", ColumnType.integer()), Column("aB", ColumnType.integer())]
    with pytest.raises(ProgrammingError, match="ab matches several columns"):
        map_columns(pa.schema([("ab", pa.int32())]), target, None, "t")
    assert map_columns(pa.schema([("aB", pa.int32())]), target, None, "t")[0][1].name == "aB"


def test_a_merge_leaves_serials_of_rows_that_are_there_alone() -> None:
    assert merge_statement("t", "s", ["k", "id", "v"], ["k"], ["id"]) == (
        "MERGE INTO t t USING s s ON t.k = s.k WHEN MATCHED THEN UPDATE SET t.v = s.v "
        "WHEN NOT MATCHED THEN INSERT (k, id, v) VALUES (s.k, NVL(s.id, 0), s.v)"
    )


def test_a_row_is_named_by_its_key_or_its_first_columns_and_long_values_are_shortened() -> None:
    batch = pa.record_batch({"a": [1], "b": ["x" * 100], "c": [2], "d": [3], "e": [4]})
    assert describe_row(batch, 0, ["e", "a"]) == "e=4, a=1"
    assert describe_row(batch, 0, [], ["e", "a"]) == "e=4, a=1"
    shown = describe_row(batch, 0, [])
    assert shown == f"a=1, b='{'x' * 56}..., c=2, d=3, e=4"
    wide = pa.record_batch({name: ["x" * 100] for name in "abcdef"})
    assert describe_row(wide, 0, []).endswith(f"c='{'x' * 56}..., ...")
    assert describe_row(batch, 0, ["nosuch"]) == shown


@pytest.mark.parametrize(
    ("sqlcode", "isam", "text"),
    [
        (-458, 0, "commit_every"),
        (-244, -107, "lock_wait"),
        (-243, -113, "whole table"),
        (-245, -143, "waited for each other"),
        (-263, -154, "Wait longer"),
        (-271, -134, "lock table is full"),
        (-268, -100, ""),
        (-244, 0, ""),
    ],
)
def test_locks_and_long_transactions_come_with_advice(sqlcode: int, isam: int, text: str) -> None:
    given = hint_for(database_error(sqlcode, isam))
    assert text in given
    assert bool(given) == bool(text)


def test_the_bar_shows_a_share_where_the_total_is_known_and_a_count_else() -> None:
    out = io.StringIO()
    bar = Bar(200, out)
    bar(50, 1000, 0.5)
    bar(60, 1200, 0.6)  # too soon after the last update
    assert out.getvalue().startswith("\r[########......................]  25%  50 of 200 rows  100 rows/s")
    assert "60" not in out.getvalue()
    bar.finish(200, 4000, 1.0)
    assert out.getvalue().endswith("\n")
    assert "100%" in out.getvalue()
    out = io.StringIO()
    Bar(None, out)(50, 1000, 0.5)
    assert out.getvalue() == "\r50 rows  100 rows/s, 0.0 MB/s"
