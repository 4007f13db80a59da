"""The hidden table of large objects: SQL that the holder of the transaction executes (session/smart_object_store.py).

row     id, start (offset of its bytes), size, data; each object has one row with start -1; data is NULL where a
        client has left a gap: size zero bytes that occupy no space
"""

from __future__ import annotations

from collections.abc import Sequence

from .catalog import SqlConnection, duck_database

MARKER_START = -1
"""The start of the row that marks an existing object."""


class LobSql:
    """SQL texts over the objects of one database. Each text lists its parameters in order."""

    def __init__(self, database: str) -> None:
        table = f"{duck_database(database)}._ifx.lob_chunks"
        touched = "id = ? AND start >= 0 AND start < ? AND start + size > ?"
        self.exists = f"SELECT 1 FROM {table} WHERE id = ? AND start = {MARKER_START}"
        """id: a row when the object is there."""
        end = f"CASE WHEN start = {MARKER_START} THEN 0 ELSE start + size END"
        self.size = f"SELECT max({end}) FROM {table} WHERE id = ?"
        """id: one row, NULL when there is no object."""
        self.select_range = (
            "SELECT start, size, CASE WHEN start < ? AND start + size > ? THEN data END "
            f"FROM {table} WHERE id = ?"
        )
        """end, begin, id: start and size of all rows, and the data of those with bytes between begin and end."""
        self.create = f"INSERT INTO {table} VALUES (?, {MARKER_START}, 0, NULL)"
        """id: an empty object."""
        self.insert_hole = (
            f"INSERT INTO {table} SELECT ?, s, least(?, ? - s), NULL FROM range(?, ?, ?) holes(s)"
        )
        """id, most, end, begin, end, most: rows of zero bytes from begin to end, of at most so many each."""
        self.select_overlapping = f"SELECT start, size, data FROM {table} WHERE {touched}"
        """id, end, begin: the rows with bytes between begin and end."""
        self.delete_overlapping = f"DELETE FROM {table} WHERE {touched}"
        """id, end, begin: deletes the rows with bytes between begin and end."""
        self._insert = f"INSERT INTO {table} VALUES "

    def insert(self, rows: int) -> str:
        """Return an INSERT of several rows. Parameters of each row: id, start, size and data."""
        return self._insert + ", ".join(["(?, ?, ?, ?)"] * rows)


def delete(con: SqlConnection, database: str, numbers: Sequence[int]) -> None:
    """Delete objects by number."""
    table = f"{duck_database(database)}._ifx.lob_chunks"
    for at in range(0, len(numbers), 1000):
        places = ", ".join(map(str, numbers[at : at + 1000]))
        con.execute(f"DELETE FROM {table} WHERE id IN ({places})")
