"""Python rows from record batches, without I/O.

A cursor, blocking or asyncio, adds batches to a :class:`RowBuffer` and fetches rows from it.
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal, TypeAlias, cast

import pyarrow as pa

from .._decode import rows
from ..wire.errors import InterfaceError, ProgrammingError
from .dbapi_types import DescriptionItem

_Types = pa.types

Description: TypeAlias = Sequence[DescriptionItem]
MakeRow: TypeAlias = Callable[[tuple[Any, ...]], Any]
RowFactory: TypeAlias = (
    Literal["tuple", "namedtuple", "dict"]
    | type[tuple[Any, ...]]
    | type[dict[str, Any]]
    | Callable[[Description], MakeRow]
)
"""The form of rows: a name, or a function that takes ``Cursor.description`` and returns a function of a row's
values, a tuple.

The classes ``tuple``, ``dict`` and :class:`Row` stand for their names.
"""
MakeValues: TypeAlias = Callable[[pa.Array], list[Any]]
OpenLazily: TypeAlias = Callable[[list[Any]], list[Any]]
"""Makes the values of a large-object column from its handles."""

# Python rows are made in pieces of this size, so that a batch of Arrow rows does not become objects all at once.
ROWS_AT_ONCE = 1024
_SMALL_COLUMN = 64  # rows; for fewer, finding the fastest conversion costs more than it saves


_NONE: Iterator[Any] = iter(())


class _NoRow:
    """The type of :data:`NO_ROW`, a sentinel: a row may be any object that a factory makes, also None."""


NO_ROW = _NoRow()
"""Returned by :meth:`RowBuffer.next_row` if another batch is needed."""


class DecodedRows:
    """Decoded rows that C converts to Python rows. A pyarrow batch is created only on demand.

    Parameters
    ----------
    schema, c_schema
        The schema, for pyarrow and for C.
    capsule
        The rows, a PyCapsule ``arrow_array``.
    num_rows
        The number of rows.
    """

    __slots__ = ("_capsules", "_schema", "num_rows", "python_rows")

    def __init__(self, schema: pa.Schema, c_schema: object, capsule: object, num_rows: int) -> None:
        self._schema, self.num_rows = schema, num_rows
        self._capsules: tuple[Any, Any] | None = (c_schema, capsule)
        self.python_rows: list[tuple[Any, ...]] | None = None  # the Python rows, once made

    def __arrow_c_array__(self) -> tuple[Any, Any]:
        if self._capsules is None:
            self._capsules = self._build_capsules()
        return self._capsules

    def _build_capsules(self) -> tuple[Any, Any]:
        """Return ``c_schema`` and ``capsule`` if they were not passed."""
        raise NotImplementedError

    def slice(self, first: int) -> pa.RecordBatch:
        """Remove the rows and return those from ``first`` on."""
        capsule = self.__arrow_c_array__()[1]
        return pa.RecordBatch._import_from_c_capsule(self._schema.__arrow_c_schema__(), capsule).slice(first)


def as_batch(rows: pa.RecordBatch | DecodedRows) -> pa.RecordBatch:
    """Return the rows as an Arrow batch; ``rows`` is used up."""
    return rows.slice(0) if isinstance(rows, DecodedRows) else rows


class RowBuffer:
    """Makes Python rows from batches, in order.

    Parameters
    ----------
    make
        Makes a row from its values; None leaves the tuples as they are.
    lazy
        By column index, functions that make the column's values from those of the batch.
    """

    # Class attributes until they are set: each statement with rows has a buffer, and seldom needs them all.
    _batch: pa.RecordBatch | DecodedRows | None = None  # the batch that rows are made from
    _capsules: tuple[Any, Any] | None = None  # the same, for C
    _python_columns: list[tuple[int, MakeValues]] | None = (
        None  # columns that are not converted in C, and their converters
    )
    _offset = 0  # its rows already in _tuples
    _first = 0  # number of its first row
    _tuples: Iterator[tuple[Any, ...]] = _NONE
    _rows: Iterator[Any] = _NONE  # the same, made by the factory
    rows_returned = 0  # rows returned so far

    def __init__(self, make: MakeRow | None = None, lazy: Mapping[int, OpenLazily] | None = None) -> None:
        self._make = make
        self._lazy = lazy or {}

    def add(self, batch: pa.RecordBatch | DecodedRows) -> None:
        """Add the next batch. Earlier ones must be used up: :meth:`next_row` returned :data:`NO_ROW`."""
        self._batch, self._offset, self._first = batch, 0, self.rows_returned
        self._capsules = None
        if isinstance(batch, DecodedRows):
            if batch.python_rows is not None:
                self._tuples, self._offset = iter(batch.python_rows), batch.num_rows
                self._rows = self._tuples if self._make is None else map(self._make, self._tuples)
            return
        if self._python_columns is None:  # the first batch: all have one schema
            self._python_columns = [
                (index, values_maker(kind))
                for index, kind in enumerate(batch.schema.types)
                if index in self._lazy or not is_made_in_c(kind)
            ]

    def all_rows(self, decoded: DecodedRows) -> list[Any]:
        """Return all rows of a complete result; nothing was added before."""
        if decoded.python_rows is None or self._make is not None:
            self.add(decoded)
            return self.fetch()
        self.rows_returned = decoded.num_rows
        return decoded.python_rows

    def next_row(self) -> Any:
        """Return the next row, or :data:`NO_ROW` if there is none here."""
        try:
            row = next(self._rows, NO_ROW)
            if row is NO_ROW and self._load_chunk():
                row = next(self._rows, NO_ROW)
        except BaseException:
            self._rewind()
            raise
        if row is not NO_ROW:
            self.rows_returned += 1
        return row

    def fetch(self, count: int | None = None) -> list[Any]:
        """Return the next ``count`` rows, or fewer if there are not as many here; None: all that are here."""
        fetched: list[Any] = []
        try:
            if count is None:
                fetched = list(self._rows)
                while self._load_chunk():
                    fetched += self._rows
            while count is not None and len(fetched) < count:
                before = len(fetched)
                fetched += itertools.islice(self._rows, count - before)
                if len(fetched) == before and not self._load_chunk():
                    break
        except BaseException:
            self._rewind()
            raise
        self.rows_returned += len(fetched)
        return fetched

    def _rewind(self) -> None:
        """Return to the first row not returned, after making a row failed, so that no row is skipped."""
        self._offset = self.rows_returned - self._first
        self._tuples = self._rows = _NONE

    def remaining_batch(self) -> pa.RecordBatch | None:
        """Remove and return the part of the batch of which no row was returned; None if nothing is left."""
        batch, self._batch, self._capsules = self._batch, None, None
        if batch is None:
            return None
        unread = sum(1 for _ in self._tuples)
        rest = batch.slice(self._offset - unread)
        return rest if rest.num_rows else None

    def _load_chunk(self) -> bool:
        """Make the tuples of the next piece of the batch. Returns False at its end."""
        if self._batch is None:
            return False
        remaining = self._batch.num_rows - self._offset
        if not remaining:
            self._batch = self._capsules = None
            return False
        capsules: tuple[Any, Any] = self._capsules or self._batch.__arrow_c_array__()
        self._capsules = capsules
        first, count = self._offset, min(remaining, ROWS_AT_ONCE)
        ready = (
            None if isinstance(self._batch, DecodedRows) else self._convert_columns(self._batch, first, count)
        )
        self._tuples = iter(rows(*capsules, first, count, ready))
        self._offset += count
        self._rows = self._tuples if self._make is None else map(self._make, self._tuples)
        return True

    def _convert_columns(
        self, batch: pa.RecordBatch, first: int, count: int
    ) -> tuple[list[Any] | None, ...] | None:
        """Return the values of the columns that are not converted in C, or None if there are none."""
        if not self._python_columns:
            return None
        ready: list[list[Any] | None] = [None] * batch.num_columns
        for index, make in self._python_columns:
            values = make(batch.column(index).slice(first, count))
            open_lazily = self._lazy.get(index)
            ready[index] = values if open_lazily is None else open_lazily(values)
        return tuple(ready)


NO_ROWS = RowBuffer()
"""The buffer without a result: nothing is ever added to it."""


def is_made_in_c(kind: pa.DataType) -> bool:
    """Return whether :func:`~.._decode.rows` converts this type."""
    return str(kind) in _IN_C or _Types.is_decimal128(kind)


_IN_C = frozenset({"int16", "int32", "int64", "float", "double", "bool", "string", "date32[day]"})


def values_maker(kind: pa.DataType) -> MakeValues:
    """Return the fastest function with the same result as ``to_pylist()`` of a column of a type."""
    if _Types.is_timestamp(kind) and kind.tz is None and kind.unit != "ns":
        return _to_datetimes
    if _Types.is_duration(kind) and kind.unit != "ns":
        return _to_datetimes
    return _to_objects if _Types.is_time(kind) and kind.unit != "ns" else _to_pylist


# pyarrow creates a scalar for each of these values; numpy, and pyarrow on the way there, make them in C.


def _to_datetimes(column: pa.Array) -> list[Any]:
    if len(column) <= _SMALL_COLUMN:
        return _to_pylist(column)
    return cast("list[Any]", column.to_numpy(zero_copy_only=False).astype(object).tolist())


def _to_objects(column: pa.Array) -> list[Any]:
    if len(column) <= _SMALL_COLUMN:
        return _to_pylist(column)
    return cast("list[Any]", column.to_numpy(zero_copy_only=False).tolist())


def _to_pylist(column: pa.Array) -> list[Any]:
    return cast("list[Any]", column.to_pylist())


def decimals(texts: list[Any]) -> list[Any]:
    """Return Decimals from the texts of a column, None for None."""
    return [None if text is None else Decimal(text) for text in texts]


def row_maker(factory: RowFactory, description: Description) -> MakeRow | None:
    """Return the function that makes a row from its values; None for tuples, which need none.

    Raises ``InterfaceError`` for an invalid factory, and ``ProgrammingError`` for dicts if two columns have the
    same name, because one value would be lost.
    """
    if factory in ("tuple", tuple):
        return None
    check_factory(factory)
    names = tuple([item[0] for item in description])
    if factory in ("namedtuple", Row):
        return row_class(names)
    if factory in ("dict", dict):
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ProgrammingError(
                f"Two columns are called {twice!r}, but a dict can hold only one. Rename one in the query "
                "(AS), or use another row_factory."
            )
        return lambda values: dict(zip(names, values, strict=True))
    make = cast("Callable[[Description], MakeRow]", factory)(description)
    if not callable(make):
        raise InterfaceError(
            f"row_factory returned {type(make).__name__}. It must take a description and return a function "
            "of a row's values."
        )
    return make


def check_factory(factory: object) -> None:
    """Raise ``InterfaceError`` for a value that cannot be a ``row_factory``."""
    if factory not in ("tuple", "namedtuple", "dict") and (isinstance(factory, str) or not callable(factory)):
        raise InterfaceError(
            'row_factory must be "tuple", "namedtuple", "dict" or a function of a description, got '
            f"{factory!r}."
        )


class Row(tuple[Any, ...]):
    """A row whose values have names: ``row[0]``, ``row["price"]``, ``row.price``.

    A tuple in every respect. A column's name has precedence over a method of tuples (``row.count``), but not over the
    methods defined here. Columns whose names are not Python names, such as ``(expression)``, are available as
    ``row["(expression)"]``. A name that two columns share raises ``KeyError`` (as an attribute, ``AttributeError``):
    use their positions.
    """

    __slots__ = ()
    _fields: tuple[str, ...] = ()
    _index: Mapping[str, int] = {}

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, str):
            return tuple.__getitem__(self, key)
        at = self._index.get(key)
        if at is None:
            raise KeyError(_no_such_name(self._fields, key))
        return tuple.__getitem__(self, at)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(_no_such_name(self._fields, name))

    def keys(self) -> tuple[str, ...]:
        """Return the columns' names in order, which makes ``dict(row)`` work."""
        return self._fields

    def _asdict(self) -> dict[str, Any]:
        """Return a dict of names to values. Raises ``KeyError`` if two columns have the same name."""
        return {name: self[name] for name in self._fields}

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._fields, tuple(self))

    def __repr__(self) -> str:
        return (
            f"Row({', '.join(f'{name}={value!r}' for name, value in zip(self._fields, self, strict=True))})"
        )


_OURS = frozenset({"_fields", "_index", "_asdict"})


@lru_cache(maxsize=256)
def row_class(names: tuple[str, ...]) -> type[Row]:
    """Return the class of rows with columns of these names; the same class for the same names."""
    index = {name: at for at, name in enumerate(names) if names.count(name) == 1}
    space: dict[str, Any] = {"__slots__": (), "_fields": names, "_index": index, "__doc__": Row.__doc__}
    for name, at in index.items():
        if (
            name.isidentifier()
            and not keyword.iskeyword(name)
            and not name.startswith("__")
            and name not in _OURS
        ):
            space[name] = property(itemgetter(at))
    return type("Row", (Row,), space)


def _no_such_name(names: tuple[str, ...], name: str) -> str:
    places = [str(at) for at, other in enumerate(names) if other == name]
    if places:
        return f"Columns {', '.join(places)} are all called {name!r}. Use their positions."
    return f"There is no column {name!r}. The columns are {', '.join(map(repr, names))}."


def _unpickle(names: tuple[str, ...], values: tuple[Any, ...]) -> Row:
    return row_class(names)(values)
