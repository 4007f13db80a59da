"""Partition: a statement that reads one part of a table or query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Partition:
    """One part of a table or query. All parts together hold each row exactly once.

    Made by :func:`~informix_arrow.plan_partitions`. It holds plain values only, so it can be pickled and read anywhere:
    ``conn.read_arrow(part.sql, part.parameters)``.

    Attributes
    ----------
    number
        Its place among the parts, from 0.
    sql
        The statement that reads it.
    parameters
        A value for each ``?`` of ``sql``: those of the query, then the bounds that are text.
    condition
        What its rows have in common, as SQL; "" for a part that is everything.
    by
        How the whole was divided: ``"fragment"``, ``"range"``, ``"rowid"``, ``"mod"``, or ``"one"`` for a single part.
    reason
        Why so, in words.
    rows
        About how many rows it has, as far as the server's statistics know; None = not known.
    """

    number: int
    sql: str
    parameters: tuple[object, ...] = ()
    condition: str = ""
    by: str = "one"
    reason: str = ""
    rows: int | None = None

    @property
    def name(self) -> str:
        """What it is called in errors: ``part 2 (order_num >= 500 AND order_num < 1000)``."""
        return f"part {self.number} ({self.condition or 'all rows'})"
