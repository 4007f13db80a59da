"""The metadata methods of a connection, for asyncio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ..core.connection_base import ConnectionBase
from ..core.session_runner import AsyncSessionRunner
from ..metadata import adbc, catalog
from ..metadata.table_names import TableName
from ..wire.errors import NotSupportedError


class AsyncMetadata(ConnectionBase):
    """A connection as far as it tells what is in a database. :class:`AsyncConnection` adds the rest.

    A table is named as in SQL: ``table``, ``owner.table``, ``database:owner.table``; in lower case unless it is in
    double quotes. A pattern is one of LIKE, ``%`` for any text and ``_`` for any character, and takes upper and lower
    case for the same. The columns of each result are fixed and listed in the documentation, "Metadata".

    Each method is one exchange. Errors: ``ProgrammingError`` with SQLCODE -206 for a table that does not exist,
    ``InterfaceError`` for what is no name of a table, ``DataError`` for rows of the catalogue that nothing can be made
    of, and what the server reports.
    """

    _runner: AsyncSessionRunner

    async def tables(
        self,
        pattern: str | None = None,
        *,
        owner: str | None = None,
        types: Sequence[str] | None = None,
        database: str = "",
    ) -> pa.Table:
        """Tables, views and synonyms, by owner and name.

        ``conn.tables("order%")``. ``types`` such as ``("TABLE", "VIEW")``; without it everything but the tables of the
        system catalogue, ``"SYSTEM TABLE"``. ``database`` looks into another database of the server.
        """
        return await self._runner.run(catalog.tables(self._runner.session, pattern, owner, types, database))

    async def columns(self, table: str) -> pa.Table:
        """The columns of a table in their order: declared types, defaults, the Arrow types that reading gives."""
        return await self._runner.run(catalog.columns(self._runner.session, TableName.parse(table)))

    async def primary_key(self, table: str) -> pa.Table:
        """The columns of a table's primary key in their order; no rows without one."""
        return await self._runner.run(catalog.primary_key(self._runner.session, TableName.parse(table)))

    async def foreign_keys(self, table: str) -> pa.Table:
        """The foreign keys of a table, a row for each column with the column that it refers to."""
        return await self._runner.run(catalog.foreign_keys(self._runner.session, TableName.parse(table)))

    async def indexes(self, table: str) -> pa.Table:
        """The indexes of a table, a row for each column; those that constraints have made included."""
        return await self._runner.run(catalog.indexes(self._runner.session, TableName.parse(table)))

    async def fragments(self, table: str) -> pa.Table:
        """The fragments of a table and its indexes; no rows for a table that has none."""
        return await self._runner.run(catalog.fragments(self._runner.session, TableName.parse(table)))

    async def procedures(self, pattern: str | None = None, *, database: str = "") -> pa.Table:
        """Procedures and functions that users have made, by owner and name."""
        return await self._runner.run(catalog.procedures(self._runner.session, pattern, database))

    async def databases(self) -> pa.Table:
        """The databases of the server."""
        return await self._runner.run(catalog.databases(self._runner.session))

    # ---- ADBC's names ---------------------------------------------------------------------------

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
        """Databases, owners, tables, columns and constraints in ADBC's nested schema.

        Catalogs are databases, schemas are owners. Filters are patterns of LIKE that tell upper from lower case. What
        other databases hold is told when ``catalog_filter`` is given; without it only the current one's content is,
        and the others' ``catalog_db_schemas`` are NULL. Table types are those of :meth:`adbc_get_table_types`.
        """
        return await self._runner.run(
            adbc.get_objects(
                self._runner.session,
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
        """The Arrow schema that reading the table gives, ``read_arrow("SELECT * FROM table").schema``, unread.

        ``catalog_filter`` and ``db_schema_filter`` are the names of the database and the owner.
        """
        return await self._runner.run(
            adbc.table_schema(self._runner.session, table_name, catalog_filter, db_schema_filter)
        )

    def adbc_get_table_types(self) -> list[str]:
        """``TABLE``, ``VIEW`` and so on; nothing is asked of the server."""
        return adbc.table_types()

    async def adbc_get_info(self) -> dict[str | int, Any]:
        """Names and versions of the server and of this package."""
        return await self._runner.run(adbc.info(self._runner.session))

    @property
    def adbc_current_catalog(self) -> str:
        """The current database, "" when none is open."""
        return self._runner.session.database

    @property
    def adbc_current_db_schema(self) -> str:
        """Informix has no current schema: tables are found by their names, in an ANSI database by the user's.

        Raises ``NotSupportedError``.
        """
        raise NotSupportedError("Informix has no current schema: write owner.table where it matters")
