"""Statements of Harlequin's editor, and their results as Arrow tables."""

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
    """One session, for statements and the catalogue alike, so that the tree shows what a transaction has made.

    Two modes: Auto, in which every statement is final unless BEGIN WORK opened a transaction, and Manual, in which a
    transaction is open until the buttons, or COMMIT and ROLLBACK, end it. An unlogged database has no modes.
    """

    def __init__(self, connection: Connection) -> None:
        where = connection.database or "no database: open one by the statement DATABASE name"
        super().__init__(init_message=f"Connected to {connection.server_name}, {where}.")
        self.init_message = f"Connected to {connection.server_name}, {where}."
        self.driver = connection
        self._auto = HarlequinTransactionMode(label="Auto")
        self._manual = HarlequinTransactionMode(
            label="Manual", commit=connection.commit, rollback=connection.rollback
        )

    def execute(self, query: str) -> InformixCursor | None:
        """Run one statement; what gives rows comes back as a cursor.

        Raises
        ------
        HarlequinQueryError
            The server refused it, or it was cancelled: no statement behind it is run.
        """
        try:
            # Harlequin runs all statements before it reads their results: a COMMIT among them must not close these.
            cursor = self.driver.cursor(withhold=True)
            cursor.execute(query.strip().rstrip(";"))
        except Error as error:
            raise _query_error(error) from None
        if cursor.description is not None:
            return InformixCursor(cursor)
        cursor.close()
        return None

    def cancel(self) -> None:
        """End the statement that runs now: its worker gets an error, and the session stays as it is."""
        self.driver.cancel()

    def get_catalog(self) -> Catalog:
        """The server's databases; the open one with its tables, everything else when it is asked for."""
        try:
            return Catalog(items=catalog.databases(self.driver))
        except Error as error:
            raise _query_error(error) from None

    @property
    def transaction_mode(self) -> HarlequinTransactionMode | None:
        """Auto or Manual; None where there are no transactions."""
        if not self.driver.logged:
            return None
        return self._auto if self.driver.autocommit else self._manual

    def toggle_transaction_mode(self) -> HarlequinTransactionMode | None:
        """The other mode, from now on.

        Raises
        ------
        HarlequinQueryError
            A transaction is open: nobody has said yet what is to become of it.
        """
        if self.transaction_mode is not None:
            try:
                self.driver.autocommit = not self.driver.autocommit
            except Error as error:
                raise _query_error(error) from None
        return self.transaction_mode

    def close(self) -> None:
        """End the session. An open transaction is rolled back."""
        self.driver.close()


class InformixCursor(HarlequinCursor):  # type: ignore[misc]
    """The rows of one statement, read once."""

    def __init__(self, cursor: Cursor[Connection]) -> None:
        self._cursor = cursor
        self._limit: int | None = None
        try:
            self._reader: pa.RecordBatchReader = cursor.fetch_record_batch()
        except Error as error:
            cursor.close()
            raise _query_error(error) from None

    def columns(self) -> list[tuple[str, str]]:
        """Names, and types in a few signs."""
        return [(field.name, of_type(str(field.type))) for field in self._reader.schema]

    def set_limit(self, limit: int) -> InformixCursor:
        """Read ``limit`` rows at most; the rest stays on the server."""
        self._limit = limit
        return self

    def fetchall(self) -> pa.Table:
        """The rows.

        Raises
        ------
        HarlequinQueryError
            The server could not give all of them, or the query was cancelled: what came is dropped.
        """
        left = self._limit
        batches: list[pa.RecordBatch] = []
        try:
            while left is None or left > 0:
                batch = next(self._reader, None)
                if batch is None:
                    break
                batches.append(batch if left is None else batch.slice(0, left))
                left = None if left is None else left - batches[-1].num_rows
        except Error as error:
            raise _query_error(error) from None
        finally:
            self._cursor.close()
        return pa.Table.from_batches(batches, self._reader.schema)


def _query_error(error: Error) -> HarlequinQueryError:
    return HarlequinQueryError(msg=str(error), title=f"Informix: {type(error).__name__}")
