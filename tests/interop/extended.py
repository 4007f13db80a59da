"""Cases of types that are built from other types, and of large objects: DISTINCT, collections, ROW, BYTE, TEXT, BLOB,
CLOB."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

from .case import Case
from .qualifiers import interval
from .values import CASES, wide_table

# ---- DISTINCT ----------------------------------------------------------------------------------------------------

#: The source types, and the limits of reference clients with a DISTINCT type of them. test_reference_client_faults
#: checks each limit.
_SOURCES: dict[str, dict[str, str]] = {
    "SMALLINT": {},
    "INTEGER": {},
    "BIGINT": {"jdbc reads": "-79714, Type not supported"},  # setLong fails, too
    "INT8": {},
    "SMALLFLOAT": {},
    "FLOAT": {},
    "DECIMAL(8,2)": {},
    "DECIMAL(32,16)": {},
    "DECIMAL(16)": {},
    "MONEY(16,2)": {},
    "BOOLEAN": {"peer reads": "goes by the type's name and takes the length alone for the value"},
    "CHAR(7)": {},
    "NCHAR(7)": {},
    "VARCHAR(20)": {},
    "NVARCHAR(40)": {},
    "LVARCHAR(300)": {"peer reads": "goes by the type's name and loses its place in the row"},
    "DATE": {},
    "DATETIME YEAR TO DAY": {},
    "DATETIME YEAR TO FRACTION(5)": {},
    "DATETIME HOUR TO SECOND": {},
    "DATETIME MONTH TO DAY": {},
}
_INTERVAL_SOURCES = ("YEAR(4) TO MONTH", "DAY(3) TO FRACTION(5)")


def _distinct(name: str, source: Case, unable: dict[str, str]) -> tuple[Case, str]:
    case = replace(source, sql=name, jdbc_type=name, label="", unable=unable)
    return case, f"CREATE DISTINCT TYPE IF NOT EXISTS {name} AS {source.sql}"


def _distincts() -> Iterable[tuple[Case, str]]:
    by_sql = {case.sql: case for case in CASES}
    for number, (sql, unable) in enumerate(_SOURCES.items()):
        source = replace(by_sql[sql], setter="BigDecimal", getter="Long") if sql == "BIGINT" else by_sql[sql]
        yield _distinct(f"distinct_{number}", source, unable)
    for number, qualifier in enumerate(_INTERVAL_SOURCES):
        unable = {"jdbc reads": "-79716, System or internal error"}
        yield _distinct(f"distinct_interval_{number}", interval(qualifier), unable)
    # A DISTINCT type of a DISTINCT type.
    yield _distinct("distinct_of_distinct", replace(by_sql["DECIMAL(8,2)"], sql="distinct_6"), {})


_MADE = tuple(_distincts())
#: A column of each needs its type. DISTINCT_TYPES creates the types in order.
DISTINCT = tuple(case for case, _ in _MADE)
DISTINCT_TYPES = tuple(statement for _, statement in _MADE)

# ---- collections and ROW -------------------------------------------------------------------------------------------

_NESTED_UNABLE = {
    "jdbc reads": "-79716, System or internal error",
    "put writes": "an insert cursor takes no collections; write_arrow refuses them by name",
}


def nested(sql: str, *pairs: tuple[object, str]) -> Case:
    """Return the case of a collection or ROW. ``pairs`` are our value and the server's text of it. SETs and MULTISETs
    are in order, as the server keeps them."""
    texts = {repr(value): text for value, text in pairs}
    values = {text: value for value, text in pairs}
    return Case(
        sql,
        tuple(value for value, _ in pairs),
        "String",
        sql.lower(),
        to_jdbc=lambda v: texts[repr(v)],
        rendering=lambda v: texts[repr(v)],
        to_peer=lambda v: None if v is None else texts[repr(v)],
        # informix-driver's CollectionValue and RowValue hold the bytes of the text.
        from_peer=lambda v: None if v is None else values.get(v.raw.decode(), v),  # type: ignore[attr-defined]
        unable=_NESTED_UNABLE,
    )


def _padded(number: int) -> str:
    """Return a whole number as in a literal, padded to the width of the longest INTEGER (TYPES section 11)."""
    return f"{number:<11}"


NESTED = (
    nested(
        "SET(INTEGER NOT NULL)",
        ([], "SET{}"),
        ([7], f"SET{{{_padded(7)}}}"),
        ([-2147483647, 0, 2147483647], f"SET{{{_padded(-2147483647)},{_padded(0)},{_padded(2147483647)}}}"),
    ),
    nested(
        "MULTISET(DECIMAL(8,2) NOT NULL)",
        ([], "MULTISET{}"),
        ([Decimal("-3.10"), Decimal("1.25"), Decimal("1.25")], "MULTISET{-3.10,1.25,1.25}"),
    ),
    nested(
        "LIST(VARCHAR(20) NOT NULL)",
        ([], "LIST{}"),
        ([""], "LIST{''}"),
        (
            ["b", "a'b", 'say "so"', "é日", "a,b}", "tail  "],
            "LIST{'b','a''b','say \"so\"','é日','a,b}','tail  '}",
        ),
    ),
    nested("LIST(BOOLEAN NOT NULL)", ([True, False, True], "LIST{'t','f','t'}")),
    nested("LIST(DATE NOT NULL)", ([date(9999, 12, 31), date(1, 1, 1)], "LIST{'9999-12-31','0001-01-01'}")),
    nested(
        "LIST(DATETIME YEAR TO FRACTION(3) NOT NULL)",
        ([datetime(2026, 1, 2, 3, 4, 5, 678000)], "LIST{'2026-01-02 03:04:05.678'}"),
    ),
    nested(
        "LIST(INTERVAL DAY(3) TO SECOND NOT NULL)",
        ([timedelta(days=1, seconds=2), -timedelta(seconds=1)], "LIST{'1 00:00:02','-0 00:00:01'}"),
    ),
    nested(
        "LIST(SET(INTEGER NOT NULL) NOT NULL)",
        ([[1], [], [2, 3]], f"LIST{{SET{{{_padded(1)}}},SET{{}},SET{{{_padded(2)},{_padded(3)}}}}}"),
    ),
    nested(
        "ROW(name VARCHAR(20), age INTEGER)",
        ({"name": "O'Neil", "age": 30}, f"ROW('O''Neil',{_padded(30)})"),
        ({"name": "", "age": None}, "ROW('',NULL)"),
        ({"name": None, "age": -1}, f"ROW(NULL,{_padded(-1)})"),
    ),
    nested(
        "LIST(ROW(a INTEGER, b VARCHAR(5)) NOT NULL)",
        (
            [{"a": 1, "b": "x"}, {"a": None, "b": "(,)"}],
            f"LIST{{ROW({_padded(1)},'x'),ROW(NULL,'(,)')}}",
        ),
    ),
    nested(
        "ROW(t DATETIME YEAR TO SECOND, l LIST(INTEGER NOT NULL), d DECIMAL(5,1))",
        (
            {"t": datetime(2026, 1, 2, 3, 4, 5), "l": [2, 1], "d": Decimal("-12.5")},
            f"ROW('2026-01-02 03:04:05',LIST{{{_padded(2)},{_padded(1)}}},-12.5)",
        ),
    ),
)

# ---- large objects -------------------------------------------------------------------------------------------------

_SIZES = (0, 1, 2, 255, 256, 1024, 5001)


def _large(sql: str, *, text: bool, setter: str, unable: dict[str, str]) -> Case:
    def content(size: int) -> object:
        data = bytes((7 * k + k // 251) & 0xFF for k in range(size))
        return ("aé€ z" * (size // 8 + 1)).encode()[:size].decode("utf-8", "ignore") if text else data

    def from_jdbc(digits: str) -> object:
        data = bytes.fromhex(digits)
        return data.decode() if text else data

    to_jdbc: Callable[[Any], str] = str if text else lambda v: v.hex()
    return Case(
        sql,
        tuple(content(size) for size in _SIZES),
        setter,
        sql.lower(),
        getter="Bytes",
        to_jdbc=to_jdbc,
        from_jdbc=from_jdbc,
        to_peer=lambda v: v.encode() if isinstance(v, str) else v,
        unable=unable,
    )


_SIMPLE = {"put writes": "an insert cursor takes no BYTE and TEXT; write_arrow refuses them by name"}
_SMART = {
    "put writes": "an insert cursor takes no BLOB and CLOB; write_arrow refuses them by name",
    "peer writes": "it has write_blob_column, for one value and no batch (test_large_objects)",
    "peer reads": "it has read_blob_column, for one value and no batch (test_large_objects)",
}
LARGE = (
    _large("BYTE", text=False, setter="Bytes", unable=_SIMPLE),
    _large("TEXT", text=True, setter="String", unable=_SIMPLE),
    _large("BLOB", text=False, setter="Bytes", unable=_SMART),
    _large("CLOB", text=True, setter="String", unable=_SMART),
)

# ---- JSON and BSON -------------------------------------------------------------------------------------------------

_DOCUMENTS = {
    "put writes": "an insert cursor takes no opaque types; write_arrow refuses them by name",
    "peer reads": "takes the described length of an opaque type for the value's and loses its place in the row",
}
_HELLO = bytes.fromhex("16000000 02 68656c6c6f 00 06000000 776f726c64 00 00")
#: The documents of bsonspec.org, and others: a number, a string of two-byte characters, an array in a document.
_BSON = (
    bytes.fromhex("05000000 00"),
    _HELLO,
    bytes.fromhex(
        "31000000 04 42534f4e 00 26000000 02 30 00 08000000 617765736f6d65 00"
        "01 31 00 333333333333 1440 10 32 00 c2070000 00 00"
    ),
    bytes.fromhex("10000000 12 6c 00 ffffffffffffff7f 00"),
    bytes.fromhex("10000000 02 c3a9 00 03000000 c3a9 00 00"),
)
DOCUMENTS = (
    Case(
        "JSON",
        ('{"a":1}', "{}", "[]", '{"é": "日本 \\u0041", "l": [1, 2.50, null]}', f'{{"x":"{"y" * 40000}"}}'),
        "String",
        "json",
        rendering=lambda v: str(v)[:2048],
        unable=_DOCUMENTS,
    ),
    Case(
        "BSON",
        _BSON,
        "Bytes",
        "bson",
        to_jdbc=lambda v: v.hex(),  # type: ignore[attr-defined]
        from_jdbc=bytes.fromhex,
        unable=_DOCUMENTS,
    ),
)

_INTERVALS = (
    "YEAR(4) TO MONTH",
    "MONTH(3) TO MONTH",
    "DAY(3) TO FRACTION(5)",
    "HOUR(4) TO SECOND",
    "SECOND(9) TO SECOND",
)
_LAYOUTS = (" INTEGER", " DECIMAL(8,2)", " VARCHAR(20)", " LVARCHAR(300)", " BOOLEAN")


def every_type() -> tuple[Case, ...]:
    """Return one case of every type, in the UTF-8 database. A table may have them all, but needs DISTINCT_TYPES first.

    Of DISTINCT types those with a layout of their own, of nested ones one of each kind.
    """
    made = [case for case, statement in _MADE if statement.endswith(_LAYOUTS)]
    kinds = {case.sql.split("(")[0]: case for case in NESTED}
    return (*wide_table(), *map(interval, _INTERVALS), *made, *kinds.values(), *LARGE, *DOCUMENTS)
