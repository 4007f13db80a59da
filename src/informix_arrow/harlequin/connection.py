"""Run the statements of Harlequin's editor, with results as Arrow tables."""

from __future__ import annotations

import pyarrow as pa
from harlequin.adapter import HarlequinConnection, HarlequinCursor
from harlequin.catalog import Catalog
from harlequin.exception import HarlequinQueryError
from harlequin.transaction_mode import HarlequinTransactionMode

from ..connection import Connection
from ..cursor import Cursor
from ..wire.errors import Error
from . import catalog
from .labels import of_type


class InformixConnection(HarlequinConnection):  # type: ignore[misc]
    """One session for statements and the catalogue, so that the tree shows uncommitted changes.

    It has two modes. In Auto every statement is committed at once unless BEGIN WORK opened a transaction. In Manual a
    transaction is open until a button, COMMIT or ROLLBACK ends it. A database without logging has no modes.
    """

    def __init__(self, connection: Connection) -> None:
        where = connection.database or "no database. Open one with the statement DATABASE name"
        super().__init__(init_message=f"Connected to {connection.server_name}, {where}.")
        self.init_message = f"Connected to {connection.server_name}, {where}."
        self.driver = connection
        self._auto = HarlequinTransactionMode(label="Auto")
        self._manual = HarlequinTransactionMode(
            label="Manual", commit=connection.commit, rollback=connection.rollback
        )

    def execute(self, query: str) -> InformixCursor | None:
        """Run one statement. Return a cursor if it has rows.

        Raises
        ------
        HarlequinQueryError
            The server refused it, or it was cancelled. No later statement is run.
        """
        try:
            # Harlequin runs all statements before it reads their results. A COMMIT among them must not close these.
            cursor = self.driver.cursor(withhold=True)
            cursor.execute(query.strip().rstrip(";"))
        except Error as error:
            raise _query_error(error) from None
        if cursor.description is not None:
            return InformixCursor(cursor)
        cursor.close()
        return None

    def cancel(self) -> None:
        """Cancel the running statement: its worker gets an error, and the session stays usable."""
        self.driver.cancel()

    def get_catalog(self) -> Catalog:
        """Return the server's databases, the open one with its tables. Everything else is loaded on demand."""
        try:
            return Catalog(items=catalog.databases(self.driver))
        except Error as error:
            raise _query_error(error) from None

    @property
    def transaction_mode(self) -> HarlequinTransactionMode | None:
        """Auto or Manual; None if there are no transactions."""
        if not self.driver.logged:
            return None
        return self._auto if self.driver.autocommit else self._manual

    def toggle_transaction_mode(self) -> HarlequinTransactionMode | None:
        """Switch to the other mode.

        Raises
        ------
        HarlequinQueryError
            A transaction is open and has to be committed or rolled back first.
        """
        if self.transaction_mode is not None:
            try:
                self.driver.autocommit = not self.driver.autocommit
            except Error as error:
                raise _query_error(error) from None
        return self.transaction_mode

    def close(self) -> None:
        """Close the session. An open transaction is rolled back."""
        self.driver.close()


class InformixCursor(HarlequinCursor):  # type: ignore[misc]
    """The rows of one statement, which can be read once."""

    def __init__(self, cursor: Cursor[Connection]) -> None:
        self._cursor = cursor
        self._limit: int | None = None
        try:
            self._reader: pa.RecordBatchReader = cursor.fetch_record_batch()
        except Error as error:
            cursor.close()
            raise _query_error(error) from None

    def columns(self) -> list[tuple[str, str]]:
        """Return names and short labels of types."""
        return [(field.name, of_type(str(field.type))) for field in self._reader.schema]

    def set_limit(self, limit: int) -> InformixCursor:
        """Read at most ``limit`` rows. The rest stays on the server."""
        self._limit = limit
        return self

    def fetchall(self) -> pa.Table:
        """Return the rows.

        Raises
        ------
        HarlequinQueryError
            The server failed before the last row, or the query was cancelled. Rows received so far are dropped.
        """
        remaining = self._limit
        batches: list[pa.RecordBatch] = []
        try:
            while remaining is None or remaining > 0:
                batch = next(self._reader, None)
                if batch is None:
                    break
                batches.append(batch if remaining is None else batch.slice(0, remaining))
                remaining = None if remaining is None else remaining - batches[-1].num_rows
        except Error as error:
            raise _query_error(error) from None
        finally:
            self._cursor.close()
        return pa.Table.from_batches(batches, self._reader.schema)


def _query_error(error: Error) -> HarlequinQueryError:
    return HarlequinQueryError(msg=str(error), title=f"Informix: {type(error).__name__}")
