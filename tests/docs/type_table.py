"""Generates the table of docs/types.md from the code that it describes.

    python -m tests.docs.type_table        writes the table into docs/types.md

Every cell but the last comes from the driver, pyarrow, Polars, pandas or DuckDB itself; the last says in words
what a value can be that the Arrow type cannot hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import duckdb
import pandas  # type: ignore[import-untyped]
import polars
import pyarrow as pa

from informix_arrow.wire.describe import Column, compile_plan
from informix_arrow.wire.errors import NotSupportedError
from informix_arrow.wire.plan_ops import TypeOptions
from informix_arrow.wire.types import FLAG_DISTINCT, ColumnType, TypeCode

DOCUMENT = Path(__file__).parents[2] / "docs" / "types.md"
BEGIN, END = "<!-- made by tests/docs/type_table.py: begin -->", "<!-- end -->"
#: Columns with the types of other libraries for the Arrow type. They change with those libraries.
READERS = ("Polars", "pandas", "DuckDB")

_TEXT = {"strings": "large"}, {"strings": "view"}, {"strings": "dictionary"}, {"encoding_errors": "binary"}
_LOB = ({"lobs": "skip"},)
_NESTED = ({"nested": "text"},)
_MDN = ({"intervals": "month_day_nano"},)


@dataclass(frozen=True)
class Row:
    """Declared types that share a row of the table. ``limits`` describes values that cannot be represented.

    A type that no declaration alone makes (DISTINCT, named ROW, opaque) is given as it is described.
    """

    declared: tuple[str | ColumnType, ...]
    options: tuple[dict[str, Any], ...] = ()
    limits: str = ""
    label: str = field(default="")

    @property
    def types(self) -> tuple[ColumnType, ...]:
        """The types of the row."""
        return tuple(
            each if isinstance(each, ColumnType) else ColumnType.parse_sql(each) for each in self.declared
        )


_DOLLAR = ColumnType.distinct("dollar", ColumnType.decimal(8, 2), 2048, "informix")
_POINT = ColumnType(TypeCode.UDTVAR.value, 64, 0, 2049, "informix", "point")

ROWS = (
    Row(("SMALLINT",), limits="-32768 is Informix's NULL"),
    Row(("INTEGER", "SERIAL"), limits="-2147483648 is Informix's NULL"),
    Row(("BIGINT", "BIGSERIAL"), limits="-2^63 is Informix's NULL"),
    Row(("INT8", "SERIAL8"), limits="-2^63 is out of range"),
    Row(("SMALLFLOAT",), limits="the bits of a NaN; all bits set is Informix's NULL"),
    Row(("FLOAT",), limits="the bits of a NaN; all bits set is Informix's NULL"),
    Row(("DECIMAL(8,2)", "MONEY(8,2)"), ({"decimals": "float64"},)),
    Row(
        ("DECIMAL(15,0)",),
        ({"integer_aggregates": True},),
        "with `integer_aggregates`, more than 64 bits are a `DataError`",
        label="DECIMAL(p,0), as COUNT(*) and SUM of integers",
    ),
    Row(
        ("DECIMAL(16)",),
        ({"floating_decimals": "string"}, {"floating_decimals": pa.decimal128(38, 10)}),
        "float64 keeps 15 to 17 of up to 32 digits; `decimal128` is exact or a `DataError`",
        label="DECIMAL(p), floating",
    ),
    Row(("BOOLEAN",)),
    Row(("CHAR(10)", "NCHAR(10)"), ({"char_padding": "keep"}, *_TEXT), "trailing blanks, unless kept"),
    Row(("VARCHAR(20)", "NVARCHAR(20)"), _TEXT),
    Row(("LVARCHAR(300)",), _TEXT),
    Row(("DATE",)),
    Row(("DATETIME YEAR TO DAY",)),
    Row(
        ("DATETIME YEAR TO HOUR", "DATETIME YEAR TO MINUTE", "DATETIME YEAR TO SECOND"),
        label="DATETIME YEAR TO HOUR .. SECOND",
    ),
    Row(
        tuple(f"DATETIME YEAR TO FRACTION({n})" for n in (1, 2, 3)),
        label="DATETIME YEAR TO FRACTION(1) .. (3)",
    ),
    Row(tuple(f"DATETIME YEAR TO FRACTION({n})" for n in (4, 5)), label="DATETIME YEAR TO FRACTION(4), (5)"),
    Row(("DATETIME HOUR TO MINUTE", "DATETIME HOUR TO SECOND")),
    Row(
        tuple(f"DATETIME HOUR TO FRACTION({n})" for n in (1, 2, 3, 4, 5)),
        label="DATETIME HOUR TO FRACTION(1) .. (5)",
    ),
    Row(
        ("DATETIME YEAR TO MONTH", "DATETIME MONTH TO DAY", "DATETIME FRACTION TO FRACTION(3)"),
        label="DATETIME of any other qualifier",
        limits="nothing; you get Informix's literal, such as `12-25 08:05`",
    ),
    Row(
        ("INTERVAL YEAR(4) TO MONTH", "INTERVAL YEAR(9) TO YEAR", "INTERVAL MONTH(2) TO MONTH"),
        _MDN,
        "more than 178,956,970 years are a `DataError`",
        label="INTERVAL YEAR(n) TO MONTH and shorter",
    ),
    Row(
        ("INTERVAL DAY(3) TO FRACTION(5)", "INTERVAL HOUR(2) TO SECOND", "INTERVAL SECOND(9) TO SECOND"),
        _MDN,
        "more than 106,751,991 days are a `DataError`; `month_day_nano` holds all values",
        label="INTERVAL DAY(n) TO FRACTION(5) and shorter",
    ),
    Row(("BYTE",), _LOB),
    Row(("TEXT",), (*_LOB, {"encoding_errors": "binary"})),
    Row(("BLOB",), _LOB),
    Row(("CLOB",), (*_LOB, {"encoding_errors": "binary"})),
    Row(
        ("SET(INTEGER NOT NULL)", "MULTISET(INTEGER NOT NULL)", "LIST(INTEGER NOT NULL)"),
        _NESTED,
        "which of SET, MULTISET and LIST it is; `informix.type` says it",
        label="SET, MULTISET, LIST",
    ),
    Row(("ROW(name VARCHAR(20), age INTEGER)",), _NESTED, label="ROW, unnamed"),
    Row(
        (ColumnType.named_row("address", 2050),),
        label="ROW, named",
        limits="its fields, because the server describes only the name",
    ),
    Row(
        (_DOLLAR,),
        label="DISTINCT type, here of DECIMAL(8,2)",
        limits="nothing; it is read as its source type",
    ),
    Row(("JSON",), (*_TEXT, {"json": "arrow"})),
    Row(("BSON",), ({"bson": "json"},)),
    Row(
        (_POINT,),
        label="other opaque types",
        limits="their structure; you get the bytes that the server sends",
    ),
    Row(
        (ColumnType(TypeCode.NULL.value, 0),), label="NULL without a type", limits="cast it: `NULL::INTEGER`"
    ),
)


def _arrow(ct: ColumnType, options: TypeOptions) -> Any:
    """Return the type that a read returns, or a word if the column is left out or the type refused."""
    try:
        schema = compile_plan([Column("c", ct)], options).schema
    except NotSupportedError:
        return "refused"
    return schema.field(0).type if len(schema) else "left out"


def _only(answers: Iterable[str]) -> str:
    """Return the result that all declared types of a row share, or all results in order."""
    return " / ".join(dict.fromkeys(answers))


_NAMES = {"string": "utf8", "large_string": "large_utf8", "float": "float32", "double": "float64"}


def _name(arrow: Any) -> str:
    """Return Arrow's name of the type, with the width of numbers."""
    return re.sub(r"\b(large_string|string|float|double)\b", lambda m: _NAMES[m[1]], str(arrow)).replace(
        "item: ", ""
    )


def _wire(ct: ColumnType) -> str:
    return f"{ct.code} + 0x{FLAG_DISTINCT:04x}" if ct.flags & FLAG_DISTINCT else str(ct.code)


def _polars(arrow: Any) -> str:
    if isinstance(arrow, str):
        return ""
    try:
        frame = polars.from_arrow(pa.table({"c": pa.nulls(1, arrow)}))
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException):
        return "refused"
    assert isinstance(frame, polars.DataFrame)
    return str(frame.dtypes[0])


def _pandas(arrow: Any) -> str:
    if isinstance(arrow, str):
        return ""
    plain, with_nulls = (str(pa.table({"c": pa.nulls(n, arrow)}).to_pandas()["c"].dtype) for n in (0, 1))
    return plain if plain == with_nulls else f"{plain} ({with_nulls} with NULLs)"


def _duckdb(arrow: Any) -> str:
    if isinstance(arrow, str):
        return ""
    table = pa.table({"c": pa.nulls(1, arrow)})
    try:
        with duckdb.connect() as connection:
            connection.register("t", table)
            return str(connection.execute("SELECT typeof(c) FROM t").fetchall()[0][0])
    except duckdb.Error:
        return "refused"


def _option(option: dict[str, Any]) -> str:
    ((name, value),) = option.items()
    shown = (
        f'"{value}"' if isinstance(value, str) else f"pa.{value}" if isinstance(value, pa.DataType) else value
    )
    return f"`{name}={shown}`"


def versions() -> str:
    """Return the versions of the libraries whose types the table shows."""
    named: Mapping[str, str] = {
        "pyarrow": pa.__version__,
        "Polars": polars.__version__,
        "pandas": pandas.__version__,
        "DuckDB": duckdb.__version__,
    }
    return "Made with " + ", ".join(f"{name} {'.'.join(v.split('.')[:2])}" for name, v in named.items()) + "."


def lines() -> Iterator[str]:
    """Yield the lines of the table."""
    yield versions()
    yield ""
    yield f"| Informix | on the wire | Arrow | {' | '.join(READERS)} | options | cannot be represented |"
    yield "|---|---|---|---|---|---|---|---|"
    for row in ROWS:
        arrows = [_arrow(ct, TypeOptions()) for ct in row.types]
        options = "; ".join(
            f"{_option(option)}: {_only(_name(_arrow(ct, TypeOptions(**option))) for ct in row.types)}"
            for option in row.options
        )
        yield (
            "| "
            + " | ".join(
                (
                    row.label or ", ".join(ct.sql for ct in row.types),
                    _only(map(_wire, row.types)),
                    _only(map(_name, arrows)),
                    _only(map(_polars, arrows)),
                    _only(map(_pandas, arrows)),
                    _only(map(_duckdb, arrows)),
                    options,
                    row.limits,
                )
            )
            + " |"
        )


def document(text: str) -> str:
    """Return ``text`` with its table replaced by a new one."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n" + "\n".join(lines()) + f"\n{END}{after}"


if __name__ == "__main__":
    DOCUMENT.write_text(document(DOCUMENT.read_text()))
