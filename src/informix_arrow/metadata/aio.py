"""The metadata methods of an asyncio connection: the very same exchanges, awaited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from ..exchange.session import Session
from ..exchange.steps import Exchange
from . import adbc, catalog
from .names import TableName

T = TypeVar("T")


class AsyncMetadata:
    """:class:`~informix_arrow.metadata.api.Metadata` for asyncio; arguments, results and errors are described there."""

    if TYPE_CHECKING:

        @property
        def _session(self) -> Session: ...

        async def _run(self, exchange: Exchange[T], timeout: float | None = None) -> T: ...

    async def tables(
        self,
        pattern: str | None = None,
        *,
        owner: str | None = None,
        types: Sequence[str] | None = None,
        database: str = "",
    ) -> pa.Table:
        """Tables, views and synonyms, by owner and name."""
        return await self._run(catalog.tables(self._session, pattern, owner, types, database))

    async def columns(self, table: str) -> pa.Table:
        """The columns of a table in their order."""
        return await self._run(catalog.columns(self._session, TableName.parse(table)))

    async def primary_key(self, table: str) -> pa.Table:
        """The columns of a table's primary key in their order."""
        return await self._run(catalog.primary_key(self._session, TableName.parse(table)))

    async def foreign_keys(self, table: str) -> pa.Table:
        """The foreign keys of a table, a row for each column."""
        return await self._run(catalog.foreign_keys(self._session, TableName.parse(table)))

    async def indexes(self, table: str) -> pa.Table:
        """The indexes of a table, a row for each column."""
        return await self._run(catalog.indexes(self._session, TableName.parse(table)))

    async def fragments(self, table: str) -> pa.Table:
        """The fragments of a table and its indexes."""
        return await self._run(catalog.fragments(self._session, TableName.parse(table)))

    async def procedures(self, pattern: str | None = None, *, database: str = "") -> pa.Table:
        """Procedures and functions that users have made."""
        return await self._run(catalog.procedures(self._session, pattern, database))

    async def databases(self) -> pa.Table:
        """The databases of the server."""
        return await self._run(catalog.databases(self._session))

    async def adbc_get_objects(
        self,
        *,
        depth: adbc.Depth = "all",
        catalog_filter: str | None = None,
        db_schema_filter: str | None = None,
        table_name_filter: str | None = None,
        table_types_filter: Sequence[str] | None = None,
        column_name_filter: str | None = None,
    ) -> pa.RecordBatchReader:
        """Databases, owners, tables, columns and constraints in ADBC's nested schema."""
        return await self._run(
            adbc.get_objects(
                self._session,
                depth=depth,
                catalog_filter=catalog_filter,
                db_schema_filter=db_schema_filter,
                table_name_filter=table_name_filter,
                table_types_filter=table_types_filter,
                column_name_filter=column_name_filter,
            )
        )

    async def adbc_get_table_schema(
        self, table_name: str, *, catalog_filter: str | None = None, db_schema_filter: str | None = None
    ) -> pa.Schema:
        """The Arrow schema that reading the table gives, unread."""
        return await self._run(adbc.table_schema(self._session, table_name, catalog_filter, db_schema_filter))

    async def adbc_get_info(self) -> dict[str | int, Any]:
        """Names and versions of the server and of this package."""
        return await self._run(adbc.info(self._session))

    def adbc_get_table_types(self) -> list[str]:
        """``TABLE``, ``VIEW`` and so on."""
        return adbc.table_types()

    @property
    def adbc_current_catalog(self) -> str:
        """The current database, "" when none is open."""
        return self._session.database
