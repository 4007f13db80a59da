"""Written files are read back equal, for every type, in any pieces, with a column after it that detects a shift."""

from __future__ import annotations

import datetime as dt
import io
from decimal import Context, Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.stress import examples

import informix_arrow as ifx
from informix_arrow.unl import raw_rows, read_unl, write_unl

TEXT = st.text(
    st.one_of(st.sampled_from("|\\\n\r \t,{}'é表\U0001f600"), st.characters(exclude_categories=["Cs"])),
    max_size=20,
)
ALL_DIGITS = Context(prec=40)
DECIMALS = st.integers(-(10**8) + 1, 10**8 - 1).map(lambda n: Decimal(n).scaleb(-2))
SECONDS = st.datetimes(dt.datetime(1, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59))
TIMES = st.times()

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "SMALLINT": st.integers(-32767, 32767),
    "INTEGER": st.integers(-(2**31) + 1, 2**31 - 1),
    "SERIAL": st.integers(1, 2**31 - 1),
    "BIGINT": st.integers(-(2**63) + 1, 2**63 - 1),
    "INT8": st.integers(-(2**63) + 1, 2**63 - 1),
    "FLOAT": st.floats(allow_nan=False, allow_infinity=False),
    "SMALLFLOAT": st.floats(allow_nan=False, allow_infinity=False, width=32),
    "DECIMAL(8,2)": DECIMALS.filter(lambda d: abs(d) < 10**6),
    "MONEY(10,2)": DECIMALS,
    "DECIMAL(32,32)": st.integers(-(10**32) + 1, 10**32 - 1).map(
        lambda n: Decimal(n).scaleb(-32, ALL_DIGITS)
    ),
    "DECIMAL(32,0)": st.integers(-(10**32) + 1, 10**32 - 1).map(Decimal),
    "BOOLEAN": st.booleans(),
    "CHAR(20)": TEXT.map(lambda text: text.rstrip(" ")),
    "NCHAR(20)": TEXT.map(lambda text: text.rstrip(" ")),
    "VARCHAR(200)": TEXT,
    "NVARCHAR(200)": TEXT,
    "LVARCHAR(300)": TEXT,
    "TEXT": TEXT,
    "BYTE": st.binary(max_size=20),
    "DATE": st.dates(),
    "DATETIME YEAR TO DAY": st.dates(),
    "DATETIME YEAR TO SECOND": SECONDS.map(lambda t: t.replace(microsecond=0)),
    "DATETIME YEAR TO FRACTION(3)": SECONDS.map(
        lambda t: t.replace(microsecond=t.microsecond // 1000 * 1000)
    ),
    "DATETIME YEAR TO FRACTION(5)": SECONDS.map(lambda t: t.replace(microsecond=t.microsecond // 10 * 10)),
    "DATETIME HOUR TO SECOND": TIMES.map(lambda t: t.replace(microsecond=0)),
    "DATETIME HOUR TO FRACTION(5)": TIMES.map(lambda t: t.replace(microsecond=t.microsecond // 10 * 10)),
    "DATETIME DAY TO MINUTE": SECONDS.map(lambda t: f"{t:%d %H:%M}"),
    "INTERVAL YEAR(5) TO MONTH": st.integers(-99_999 * 12, 99_999 * 12),
    "INTERVAL DAY(8) TO FRACTION(5)": st.integers(-(10**17), 10**17).map(
        lambda n: dt.timedelta(microseconds=n // 20 * 10)
    ),
    "INTERVAL FRACTION TO FRACTION(3)": st.integers(-999, 999).map(lambda n: dt.timedelta(milliseconds=n)),
    "SET(INTEGER NOT NULL)": st.lists(st.integers(-5, 5), max_size=4),
    "LIST(VARCHAR(30) NOT NULL)": st.lists(TEXT.map(lambda text: text[:7]), max_size=3),
    "ROW(a INTEGER, b DATE)": st.fixed_dictionaries(
        {"a": st.none() | st.integers(-5, 5), "b": st.none() | st.dates()}
    ),
}


def table_of(declared: str, values: list[Any]) -> pa.Table:
    schema = read_unl(io.BytesIO(b""), {"value": declared, "after": "INTEGER"}).schema
    return pa.table({"value": values, "after": list(range(len(values)))}, schema=schema)


@pytest.mark.parametrize("declared", VALUES)
@settings(max_examples=examples(10), deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_a_column_of_any_type_is_read_as_it_was_written(declared: str, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.none() | VALUES[declared], max_size=12))
    table = table_of(declared, values)
    file = io.BytesIO()
    assert write_unl(table, file) == len(values)
    again = read_unl(io.BytesIO(file.getvalue()), table.schema).read_all()
    again.validate(full=True)
    assert again.equals(table)


class Dripping(io.RawIOBase):
    """A file whose reads return the given numbers of bytes, whatever size is requested."""

    def __init__(self, data: bytes, sizes: list[int]) -> None:
        self.data = data
        self.sizes = sizes
        self.calls = 0
        self.position = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        self.calls += 1
        end = self.position + self.sizes[self.calls % len(self.sizes)]
        piece, self.position = self.data[self.position : end], min(end, len(self.data))
        return piece


@settings(max_examples=examples(15), deadline=None, suppress_health_check=list(HealthCheck))
@given(
    texts=st.lists(st.tuples(TEXT, st.none() | TEXT), min_size=1, max_size=12),
    sizes=st.lists(st.integers(1, 40), min_size=1, max_size=5),
    rows=st.integers(1, 5),
    encoding=st.sampled_from(["utf-8", "utf-16-le", "gb18030"]),
)
def test_any_pieces_of_a_file_and_any_batches_give_the_same_rows(
    texts: list[tuple[str, str | None]], sizes: list[int], rows: int, encoding: str
) -> None:
    schema = pa.schema({"a": pa.utf8(), "b": pa.utf8(), "n": pa.int64()})
    columns = {"a": [a for a, _ in texts], "b": [b for _, b in texts], "n": range(len(texts))}
    table = pa.table(columns, schema=schema)
    file = io.BytesIO()
    write_unl(table, file, encoding=encoding)
    whole = file.getvalue()
    reader = read_unl(Dripping(whole, sizes), table.schema, encoding=encoding, batch_rows=rows)  # type: ignore[arg-type]
    batches = list(reader)
    assert pa.Table.from_batches(batches, table.schema).equals(table)
    assert all(batch.num_rows <= rows for batch in batches)
    raw = list(raw_rows(io.BytesIO(whole), table.schema, range(len(texts)), encoding=encoding))
    assert "".join(row.text for row in raw).encode(encoding) == whole


@settings(max_examples=examples(40), deadline=None)
@given(
    data=st.binary(max_size=60) | st.text("|\\\n\r 01-aé", max_size=60).map(str.encode),
    join=st.booleans(),
    old=st.booleans(),
)
def test_any_bytes_are_rows_or_an_error_that_names_a_line(data: bytes, join: bool, old: bool) -> None:
    types = {"a": "VARCHAR(20)", "n": "DECIMAL(5,1)", "d": "DATE", "b": "BYTE"}
    message = None
    try:
        read_unl(io.BytesIO(data), types, join_lines=join, empty_text=old).read_all().validate(full=True)
    except ifx.DataError as error:
        message = str(error)
    assert message is None or "the file, line " in message


@settings(max_examples=examples(20), deadline=None)
@given(cut=st.integers(0, 200))
def test_a_file_that_is_cut_off_is_not_taken_for_a_whole_one(cut: int) -> None:
    """A cut is noticed unless it is at the end of a line, or only the end of the last line is missing."""
    table = pa.table(
        {"n": range(9), "t": ["alpha", None, "be|ta", "", "x\ny"] + ["z"] * 4, "k": range(100, 109)}
    )
    file = io.BytesIO()
    write_unl(table, file)
    whole = file.getvalue()
    first = whole.index(b"\n") + 1
    data = whole[: min(first + cut, len(whole))]
    found = message = None
    try:
        found = read_unl(io.BytesIO(data), table.schema).read_all()
    except ifx.DataError as error:
        message = str(error)
    if found is None:
        assert "It is truncated." in str(message)
    else:
        assert found.equals(table.slice(0, found.num_rows))
        assert data.endswith((b"|\n", b"|"))
