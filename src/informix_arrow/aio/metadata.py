"""The metadata methods of a connection, for asyncio."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from ..core.connection_base import ConnectionBase
from ..core.session_runner import AsyncSessionRunner
from ..metadata import adbc, catalog, statistics
from ..metadata.table_names import TableName
from ..wire.errors import NotSupportedError


class AsyncMetadata(ConnectionBase):
    """The methods of a connection that list what is in a database. :class:`AsyncConnection` adds the rest.

    A table is named as in SQL: ``table``, ``owner.table``, ``database:owner.table``. Names are lower case unless they
    are in double quotes. A pattern is a LIKE pattern, ``%`` for any text and ``_`` for any character, and ignores case.
    The columns of each result are fixed and listed in the documentation, "Metadata".

    Errors: ``ProgrammingError`` with SQLCODE -206 for a table that does not exist, ``InterfaceError`` for text that is
    not a table name, ``DataError`` for catalogue rows that cannot be interpreted, and the errors that the server
    reports.
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
        """Return tables, views and synonyms, by owner and name.

        ``conn.tables("order%")``. ``types`` is a sequence such as ``("TABLE", "VIEW")``. Without it the result has
        everything except the tables of the system catalogue, ``"SYSTEM TABLE"``. ``database`` selects another database
        of the server.
        """
        return await self._runner.run(catalog.tables(self._runner.session, pattern, owner, types, database))

    async def columns(self, table: str | None = None) -> pa.Table:
        """Return the columns of a table in order: declared types, defaults, and the Arrow types that reading gives.

        Without ``table``, the result covers all tables and views of the database, by table number.
        """
        return await self._runner.run(catalog.columns(self._runner.session, _table_name(table)))

    async def primary_key(self, table: str | None = None) -> pa.Table:
        """Return the columns of a table's primary key in order. No rows if there is none.

        Without ``table``, the result covers all tables of the database.
        """
        return await self._runner.run(catalog.primary_key(self._runner.session, _table_name(table)))

    async def foreign_keys(self, table: str | None = None) -> pa.Table:
        """Return the foreign keys of a table, one row for each column with the column that it refers to.

        Without ``table``, the result covers all tables of the database.
        """
        return await self._runner.run(catalog.foreign_keys(self._runner.session, _table_name(table)))

    async def indexes(self, table: str | None = None) -> pa.Table:
        """Return the indexes of a table, one row for each column, including indexes that constraints created.

        Without ``table``, the result covers all tables of the database.
        """
        return await self._runner.run(catalog.indexes(self._runner.session, _table_name(table)))

    async def fragments(self, table: str | None = None) -> pa.Table:
        """Return the fragments of a table and its indexes. No rows for a table without fragments.

        Without ``table``, the result covers all tables of the database.
        """
        return await self._runner.run(catalog.fragments(self._runner.session, _table_name(table)))

    async def procedures(self, pattern: str | None = None, *, database: str = "") -> pa.Table:
        """Return the procedures and functions that users created, by owner and name."""
        return await self._runner.run(catalog.procedures(self._runner.session, pattern, database))

    async def databases(self) -> pa.Table:
        """Return the databases of the server."""
        return await self._runner.run(catalog.databases(self._runner.session))

    # ---- methods with ADBC's names ---------------------------------------------------------------------------

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
        """Return databases, owners, tables, columns and constraints in ADBC's nested schema.

        Catalogs are databases, schemas are owners. Filters are case-sensitive LIKE patterns. The contents of other
        databases are included if ``catalog_filter`` is given. Without it only the current database has contents, and
        ``catalog_db_schemas`` of the others is empty. Table types are those of :meth:`adbc_get_table_types`.
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
        """Return the Arrow schema of the table, as in ``read_arrow("SELECT * FROM table").schema``, without reading it.

        ``catalog_filter`` and ``db_schema_filter`` are the names of the database and the owner.
        """
        return await self._runner.run(
            adbc.table_schema(self._runner.session, table_name, catalog_filter, db_schema_filter)
        )

    def adbc_get_table_types(self) -> list[str]:
        """Return the table types: ``TABLE``, ``VIEW`` and so on. No request is sent."""
        return adbc.table_types()

    async def adbc_get_statistics(
        self,
        *,
        catalog_filter: str | None = None,
        db_schema_filter: str | None = None,
        table_name_filter: str | None = None,
        approximate: bool = True,
    ) -> pa.RecordBatchReader:
        """Return row counts of tables and distinct counts of columns in ADBC's nested schema of GetStatistics.

        They are the server's estimates, as of the last UPDATE STATISTICS: ``nrows`` of systables, and ``nunique`` of
        sysindexes for the first column of each index. A table without statistics is left out. Filters are as in
        :meth:`adbc_get_objects`. ``approximate`` has no effect: the catalogue has estimates only.
        """
        return await self._runner.run(
            statistics.get_statistics(
                self._runner.session,
                catalog_filter=catalog_filter,
                db_schema_filter=db_schema_filter,
                table_name_filter=table_name_filter,
            )
        )

    def adbc_get_statistic_names(self) -> pa.RecordBatchReader:
        """Return the names of statistics that ADBC does not define. There are none."""
        return statistics.statistic_names()

    async def adbc_get_info(self) -> dict[str | int, Any]:
        """Return the names and versions of the server and of this package."""
        return await self._runner.run(adbc.info(self._runner.session))

    @property
    def adbc_current_catalog(self) -> str:
        """The current database, "" if none is open."""
        return self._runner.session.database

    @property
    def adbc_current_db_schema(self) -> str:
        """Not supported: raises ``NotSupportedError``, because Informix has no current schema.

        The server finds a table by its name. In an ANSI database a name without an owner means the user's own table.
        """
        raise NotSupportedError("Informix has no current schema. Write owner.table where the owner matters.")


def _table_name(table: str | None) -> TableName | None:
    return None if table is None else TableName.parse(table)
