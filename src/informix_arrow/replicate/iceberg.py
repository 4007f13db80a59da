"""Iceberg tables as targets, in any catalogue that pyiceberg supports. Each copy is one commit.

``iceberg:DIR/`` has a catalogue of its own, called "default", in a file of that folder, and the tables next to it.
``iceberg:NAME`` or ``iceberg:NAME.NAMESPACE`` is a catalogue of pyiceberg's configuration. The state of a copy is a
property of the table. To remove rows, files are rewritten without them. There are no delete files.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyiceberg import exceptions
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.io.pyarrow import parquet_files_to_data_files
from pyiceberg.table import Table, Transaction
from sqlalchemy.exc import SQLAlchemyError

from ..wire.errors import NotSupportedError, OperationalError
from .folders import FolderLock
from .parquet_tables import stored_schema
from .state import State

STATE = "informix-arrow.copy"
CATALOGUE = "catalog.db"
NAMESPACE = "informix"
#: pyiceberg's errors have no common base class. Those of its SQL catalogue are SQLAlchemy's.
ERRORS: tuple[type[Exception], ...] = (
    SQLAlchemyError,
    *(each for each in vars(exceptions).values() if isinstance(each, type) and issubclass(each, Exception)),
)


class IcebergCatalogue:
    """A catalogue and a namespace in it."""

    def __init__(self, text: str) -> None:
        self._lock: FolderLock | None = None
        if text.endswith(("/", "\\")) or Path(text).is_dir():
            folder = Path(text).absolute()
            self._lock = FolderLock(folder)
            properties = {
                "type": "sql",
                "uri": f"sqlite:///{folder / CATALOGUE}",
                "warehouse": folder.as_uri(),
            }
            self.name, self._namespace = str(folder), NAMESPACE
            self._catalogue: Catalog = load_catalog("default", **properties)
        else:
            name, _, namespace = text.partition(".")
            self.name, self._namespace = text, namespace or NAMESPACE
            with _catalogue_errors(text):
                self._catalogue = load_catalog(name)
        self._stored_states: dict[str, str | None] = {}
        with _catalogue_errors(self.name):
            self._catalogue.create_namespace_if_not_exists(self._namespace)

    def state(self, table: str) -> State | None:
        existing = self._table(table)
        text = self._stored_states[table] = None if existing is None else existing.properties.get(STATE)
        if existing is None:
            return None
        if text is None:
            raise OperationalError(
                f"{self.name} has an Iceberg table {table} that was not created by a copy. Choose another "
                "target."
            )
        return State.from_json(text, f"{self.name}: {table}")

    def change(self, table: str, schema: pa.Schema, *, whole: bool) -> IcebergChange:
        stored = stored_schema(table, schema, _type, "Iceberg")
        existing = self._table(table)
        if self._stored_states[table] != (None if existing is None else existing.properties.get(STATE)):
            raise OperationalError(
                f"{self.name}: Another copy has written {table} in the meantime. Copy it again."
            )
        if existing is None:
            name = (*self._namespace.split("."), table)
            with _catalogue_errors(self.name):
                transaction = self._catalogue.create_table_transaction(name, stored)
            return IcebergChange(transaction, None, stored, whole=whole)
        return IcebergChange(existing.transaction(), existing, stored, whole=whole)

    def close(self) -> None:
        self._catalogue.close()
        if self._lock is not None:
            self._lock.release()

    def _table(self, table: str) -> Table | None:
        with _catalogue_errors(self.name):
            try:
                return self._catalogue.load_table((*self._namespace.split("."), table))
            except exceptions.NoSuchTableError:
                return None


class IcebergChange:
    """A change of one Iceberg table: a `TableChange`."""

    has_empty_files = False
    packed = False  # only the newest releases of Iceberg's readers for Spark support it
    partition_by: Sequence[str] = ()

    def __init__(
        self, transaction: Transaction, table: Table | None, schema: pa.Schema, *, whole: bool
    ) -> None:
        self._transaction = transaction
        self._data_files: dict[str, Any] = {}
        if table is not None:
            tasks = list(table.scan().plan_files())
            if not whole and any(task.delete_files for task in tasks):
                raise NotSupportedError(
                    "Rows were deleted with delete files, which copies do not read. Rewrite the data files "
                    "of the table, or copy it in full."
                )
            self._data_files = {task.file.file_path: task.file for task in tasks}
            _evolve(transaction, schema, whole=whole)
        self.files: Sequence[str] = tuple(self._data_files)
        # With the field ids by which Iceberg identifies columns.
        numbered = transaction.table_metadata.schema().as_arrow()
        self.schema = pa.schema([numbered.field(name) for name in schema.names])

    def create(self, name: str) -> AbstractContextManager[Any]:
        file: AbstractContextManager[Any] = self._transaction._table.io.new_output(self._path(name)).create()
        return file

    def sync(self) -> None:
        """Do nothing: the file system of the catalogue syncs."""

    def open(self, name: str) -> AbstractContextManager[Any]:
        file: AbstractContextManager[Any] = self._transaction._table.io.new_input(self._path(name)).open()
        return file

    def commit(self, state: State, adding: Sequence[str], removing: Sequence[str]) -> State:
        transaction = self._transaction
        with _catalogue_errors(str(transaction.table_metadata.location)):
            added = parquet_files_to_data_files(
                transaction._table.io, transaction.table_metadata, iter(self._path(name) for name in adding)
            )
            if adding or removing:
                with transaction.update_snapshot().overwrite() as snapshot:
                    for name in removing:
                        snapshot.delete_data_file(self._data_files[name])
                    for each in added:
                        snapshot.append_data_file(each)
            transaction.set_properties({STATE: state.to_json()})
            transaction.commit_transaction()
        return state

    def _path(self, name: str) -> str:
        return (
            name if name in self._data_files else f"{self._transaction.table_metadata.location}/data/{name}"
        )


@contextmanager
def _catalogue_errors(where: str) -> Iterator[None]:
    """Raise errors of the catalogue as ``OperationalError``."""
    try:
        yield
    except ERRORS as error:
        raise OperationalError(f"{where}: {type(error).__name__}: {error}") from error


def _evolve(transaction: Transaction, schema: pa.Schema, *, whole: bool) -> None:
    """Change the table's columns to those of the rows, within the transaction."""
    old = transaction.table_metadata.schema().as_arrow()
    if whole:  # other copies compare declared types
        kinds = {field.name: _normal(field.type) for field in old}
        new = {field.name: _normal(field.type) for field in schema}
        dropped = [name for name, kind in kinds.items() if new.get(name) != kind]
        if dropped:
            with transaction.update_schema(allow_incompatible_changes=True) as update:
                for name in dropped:
                    update.delete_column(name)
    if any(name not in old.names for name in schema.names) or whole:
        with transaction.update_schema() as update:
            update.union_by_name(schema)


def _normal(kind: pa.DataType) -> pa.DataType:
    """Return a type in the form in which two can be compared."""
    if pa.types.is_large_string(kind):
        return pa.utf8()
    if pa.types.is_large_binary(kind):
        return pa.binary()
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_normal(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(each.name, _normal(each.type)) for each in kind])
    return kind


def _type(kind: pa.DataType) -> pa.DataType | None:
    if pa.types.is_int8(kind) or pa.types.is_int16(kind):
        return pa.int32()
    if pa.types.is_timestamp(kind) and kind.tz is None:
        return pa.timestamp("us")
    if pa.types.is_time(kind):
        return pa.time64("us")
    return None if pa.types.is_duration(kind) or pa.types.is_interval(kind) else kind
