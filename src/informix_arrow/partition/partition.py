"""Partition: a statement that reads one part of a table or query."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Partition:
    """One part of a table or query. All parts together contain each row exactly once.

    Made by :func:`~informix_arrow.plan_partitions`. It contains plain values only, so it can be pickled and read
    anywhere: ``conn.read_arrow(part.sql, part.parameters)``.

    Attributes
    ----------
    number
        Its number among the parts, from 0.
    sql
        The statement that reads the part.
    parameters
        A value for each ``?`` of ``sql``: those of the query, then the bounds that are text.
    condition
        The condition that its rows meet, as SQL; "" if the part is everything.
    by
        How the rows were divided: ``"fragment"``, ``"range"``, ``"rowid"``, ``"mod"``, or ``"one"`` for a single part.
    reason
        Why they were divided this way, in words.
    rows
        Approximate number of rows according to the server's statistics. None = not known.
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
        """The name of the part in errors: ``part 2 (order_num >= 500 AND order_num < 1000)``."""
        return f"part {self.number} ({self.condition or 'all rows'})"
