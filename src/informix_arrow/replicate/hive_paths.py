"""Hive's folder names, ``col=value/``: write values as names and read values from names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.compute as pc

from ..wire.errors import DataError, InterfaceError, NotSupportedError, error_at
from .state import find_column

NULL = "__HIVE_DEFAULT_PARTITION__"
#: The characters that Hive writes as %XX. Others stand for themselves.
_ESCAPED = re.compile("[\x00-\x1f\x7f\"#%'*/:=?\\\\{}<>|\\[\\]^]")


def columns_of(table: str, schema: pa.Schema, requested: Sequence[str]) -> tuple[str, ...]:
    """Return the columns with these names. Raises an error for those that are missing or cannot name folders."""
    names = []
    for name in requested:
        column = find_column(table, schema.names, name)
        kind = schema.field(column).type
        t = pa.types
        if not (
            t.is_integer(kind) or t.is_string(kind) or t.is_large_string(kind) or t.is_boolean(kind)
            or t.is_date32(kind) or t.is_timestamp(kind) or t.is_decimal128(kind)
        ):  # fmt: skip
            raise NotSupportedError(f"{table}.{column}: Directories cannot be named after values of {kind}.")
        names.append(column)
    if len(set(names)) < len(names):
        raise error_at(InterfaceError, table, "partition_by= names a column twice.")
    if names and len(names) == len(schema.names):
        raise error_at(
            InterfaceError, table, "partition_by= names all columns. At least one must remain for the files."
        )
    return tuple(names)


def split(table: str, batch: pa.RecordBatch, by: Sequence[str]) -> Iterator[tuple[str, pa.RecordBatch]]:
    """Yield the path of each folder, ``a=1/b=2``, and its rows in their order. Without columns the path is ""."""
    if not by:
        yield "", batch
        return
    paths = [_folder_names(table, name, batch.column(name)) for name in by]
    joined = paths[0] if len(paths) == 1 else pc.binary_join_element_wise(*paths, "/")
    encoded = joined.dictionary_encode()
    rest = batch.drop_columns(list(by))
    for code, path in enumerate(encoded.dictionary.to_pylist()):
        if len(encoded.dictionary) == 1:
            yield path, rest
        else:
            yield path, rest.filter(pc.equal(encoded.indices, code))


def _folder_names(table: str, name: str, column: pa.Array) -> pa.Array:
    """Return the name of the folder for each value."""
    encoded = column.dictionary_encode()
    texts = encoded.dictionary.cast(pa.utf8()).to_pylist()
    for text in texts:
        if text in ("", NULL):
            raise error_at(
                DataError,
                table,
                f"{name} has the value {text!r}, which as a directory name means NULL.",
                column=name,
            )
    named = [f"{_escaped(name)}={_escaped(text)}" for text in texts] + [f"{_escaped(name)}={NULL}"]
    codes = pc.fill_null(encoded.indices, len(texts))
    return pa.array(named, pa.utf8()).take(codes)


def add_partition_columns(
    path: str, rows: pa.RecordBatch, schema: pa.Schema, by: Sequence[str]
) -> pa.RecordBatch:
    """Return rows of a file with the columns from its path added, in the order of the schema."""
    if not by:
        return rows
    values = dict(part.split("=", 1) for part in path.split("/")[:-1])
    columns = []
    for field in schema:
        if field.name not in by:
            columns.append(rows.column(field.name))
            continue
        text = values.get(_escaped(field.name), NULL)
        value = pa.scalar(None if text == NULL else unquote(text), pa.utf8()).cast(field.type)
        columns.append(pa.repeat(value, rows.num_rows))
    return pa.RecordBatch.from_arrays(columns, names=schema.names)


def _escaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: f"%{ord(found[0]):02X}", text)
