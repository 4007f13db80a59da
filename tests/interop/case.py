"""A declared type with values that are known to break drivers. All tests with reference clients share these cases.

A value is written as Python sees it after ``read_arrow(...).to_pylist()``; a case says how each reference client takes
and gives it. Expected values come from the type's documentation, never from one of our codecs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

#: The database whose code set is UTF-8, and the one whose code set is ISO 8859-1.
UTF8, LATIN1 = "stores_demo", "sysmaster"

#: What a client may be unable to do with a type. ``put`` and ``pipeline`` are the methods of our ``write_arrow``.
ABILITIES = ("jdbc reads", "jdbc writes", "peer reads", "peer writes", "put writes", "pipeline writes")


@dataclass(frozen=True, slots=True)
class Case:
    """One declared type.

    ``setter`` and ``getter`` name the JDBC methods; ``to_jdbc`` makes the text that the setter's value is
    parsed from, ``from_jdbc`` turns the getter's text into our value. ``to_peer`` and ``from_peer`` do the
    same for informix-driver, ``to_ours`` for our cursor. ``rendering`` is the server's own text of ``v::LVARCHAR``:
    an oracle that shares no codec with any client (None where Informix's text is not documented; where only its padding
    is not, ``from_rendering`` turns it into our value). ``peer_reads`` tells which values informix-driver decodes,
    ``unable`` what a client cannot do with the type at all and why, by one of ABILITIES.
    """

    sql: str
    values: tuple[object, ...]
    setter: str
    jdbc_type: str
    getter: str = ""
    database: str = UTF8
    nullable: bool = True
    label: str = ""
    to_jdbc: Callable[[object], str] = str
    from_jdbc: Callable[[str], object] = str
    rendering: Callable[[object], str] | None = None
    to_peer: Callable[[object], object] = field(default=lambda value: value)
    from_peer: Callable[[object], object] = field(default=lambda value: value)
    to_ours: Callable[[object], object] = field(default=lambda value: value)
    from_rendering: Callable[[str], object] | None = None
    peer_reads: Callable[[object], bool] = field(default=lambda value: True)
    unable: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        assert set(self.unable) <= set(ABILITIES), self.unable

    @property
    def id(self) -> str:
        """Return the case's name in pytest."""
        return f"{self.sql}{' ' + self.label if self.label else ''}"

    @property
    def rows(self) -> list[tuple[int, object, int]]:
        """Return the rows of the case's table: key, value, and a sentinel that changes if a width was misread."""
        return [(n, value, sentinel(n)) for n, value in enumerate(self.all_values)]

    @property
    def all_values(self) -> list[object]:
        """Return the values, and NULL if the column allows it."""
        return [*self.values, None] if self.nullable else list(self.values)

    @property
    def peer_values(self) -> list[object]:
        """Return the values that informix-driver decodes."""
        return [value for value in self.all_values if value is None or self.peer_reads(value)]

    @property
    def read_method(self) -> str:
        """Return the name of the JDBC getter."""
        return self.getter or self.setter


def sentinel(n: int) -> int:
    """Return the value of the sentinel column after the column under test."""
    return 1_000_000 + n
