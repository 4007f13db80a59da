"""Our three ways of writing and two reference clients behind one interface, which writes and reads rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

import pyarrow as pa

from .case import UTF8, Case, sentinel
from .jdbc.driver import Jdbc

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

#: Our cursor, our ``write_arrow`` by insert cursor and by pipelined executions, IBM's driver, and informix-driver.
WRITERS = ("cursor", "put", "pipeline", "jdbc", "peer")
READERS = ("ours", "jdbc", "peer")

#: One row: its key, then a value for each column, in the order of the columns.
Row = tuple[int, Sequence[object]]


def can_write(writer: str, case: Case) -> bool:
    return f"{writer} writes" not in case.unable


def can_read(reader: str, case: Case) -> bool:
    return f"{reader} reads" not in case.unable


@dataclass(frozen=True)
class Table:
    """A table with a column ``vN`` for each case and a sentinel ``sN`` after each."""

    name: str
    cases: tuple[Case, ...]

    @staticmethod
    def fields(cases: Sequence[Case]) -> str:
        """Return the column definitions for CREATE TABLE."""
        return "id INTEGER, " + ", ".join(f"v{n} {case.sql}, s{n} INTEGER" for n, case in enumerate(cases))

    def columns(self, order: Sequence[int], *, form: str = "v{}") -> list[str]:
        """Return the key, then the columns of ``order``, each with its sentinel. ``form`` is a format for column
        names."""
        return ["id", *(name for n in order for name in (form.format(n), f"s{n}"))]

    def select(self, order: Sequence[int], keys: Sequence[int] | None = None, *, form: str = "v{}") -> str:
        """Return the query for these columns, limited to the rows of ``keys`` if given."""
        where = "" if keys is None else f" WHERE id IN ({', '.join(map(str, keys))})"
        return f"SELECT {', '.join(self.columns(order, form=form))} FROM {self.name}{where} ORDER BY id"

    def insert(self, order: Sequence[int]) -> str:
        """Return the INSERT with these columns in this order."""
        names = self.columns(order)
        return f"INSERT INTO {self.name} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})"

    def expected(self, order: Sequence[int], rows: Sequence[Row]) -> list[tuple[object, ...]]:
        """Return the rows that every reader must return for these columns. ``rows`` have the values of all columns."""
        return [(key, *(v for n in order for v in (values[n], sentinel(n)))) for key, values in rows]


def cycled(
    cases: Sequence[Case], of: Callable[[Case], list[object]] = lambda case: case.all_values
) -> list[Row]:
    """Return as many rows as the longest list of values has. Shorter lists repeat, from another position each time."""
    lists = [of(case) for case in cases]
    count = max(map(len, lists))
    return [
        (row, [values[(row + n) % len(values)] for n, values in enumerate(lists)]) for row in range(count)
    ]


@dataclass(frozen=True)
class Clients:
    """All clients, connected to one database."""

    ours: Connection
    jdbc: Jdbc
    peer: Any

    # ---- writing

    def write(self, writer: str, table: Table, order: Sequence[int], rows: Sequence[Row]) -> None:
        """Write the columns of ``order``, in that order, with one of WRITERS."""
        if writer == "cursor":
            cursor = self.ours.cursor()
            cursor.executemany(table.insert(order), self.given(table, order, rows, lambda c: c.to_ours))
            assert cursor.rowcount == len(rows)
        elif writer == "jdbc":
            self.write_with_jdbc(table, order, rows)
        elif writer == "peer":
            given = self.given(table, order, rows, lambda case: case.to_peer)
            self.peer.cursor().executemany(table.insert(order), given)
        else:
            self.write_with_write_arrow(cast("Literal['put', 'pipeline']", writer), table, order, rows)

    @staticmethod
    def given(
        table: Table,
        order: Sequence[int],
        rows: Sequence[Row],
        form: Callable[[Case], Callable[[object], object]],
    ) -> list[tuple[object, ...]]:
        forms = {n: form(table.cases[n]) for n in order}
        return [
            (
                key,
                *(
                    v
                    for n in order
                    for v in (None if values[n] is None else forms[n](values[n]), sentinel(n))
                ),
            )
            for key, values in rows
        ]

    def write_with_jdbc(self, table: Table, order: Sequence[int], rows: Sequence[Row]) -> None:
        setters = ["Int", *(s for n in order for s in (table.cases[n].setter, "Int"))]
        given = self.given(table, order, rows, lambda case: case.to_jdbc)
        texts = [[None if v is None else str(v) for v in row] for row in given]
        assert self.jdbc.insert(table.insert(order), setters, texts) == [1] * len(rows)

    def write_with_write_arrow(
        self, method: Literal["put", "pipeline"], table: Table, order: Sequence[int], rows: Sequence[Row]
    ) -> None:
        """Write an Arrow table of the types that ``read_arrow`` returns."""
        schema = self.ours.read_arrow(table.select(order, [-1])).schema
        columns = zip(*table.expected(order, rows), strict=True)
        arrays = [pa.array(values, field.type) for values, field in zip(columns, schema, strict=True)]
        report = self.ours.write_arrow(table.name, pa.table(arrays, schema), method=method)
        smart = any(table.cases[n].sql in ("BLOB", "CLOB") for n in order)
        assert (report.rows, report.method) == (len(rows), "pipeline" if smart else method)

    # ---- reading

    def read(
        self, reader: str, table: Table, order: Sequence[int], keys: Sequence[int] | None = None
    ) -> list[tuple[object, ...]]:
        """Read the columns of ``order`` and return them as our values."""
        sql = table.select(order, keys)
        back: list[Callable[[Any], object]]
        if reader == "ours":
            return [tuple(row.values()) for row in self.ours.read_arrow(sql).to_pylist()]
        if reader == "peer":
            cursor = self.peer.cursor()
            cursor.execute(sql)
            back = [_same, *(f for n in order for f in (table.cases[n].from_peer, _same))]
            answers: Sequence[Sequence[object]] = cursor.fetchall()
        else:
            getters = ["Int", *(g for n in order for g in (table.cases[n].read_method, "Int"))]
            _, answers = self.jdbc.query(sql, getters)
            back = [int, *(f for n in order for f in (table.cases[n].from_jdbc, int))]
        return [
            tuple(None if v is None else f(v) for f, v in zip(back, answer, strict=True))
            for answer in answers
        ]

    def renderings(self, reader: str, table: Table, keys: Sequence[int]) -> list[tuple[object, ...]]:
        """Read each column as ``v::LVARCHAR``. A text is kept if it is documented completely; if only its padding is
        not, it is converted to our value."""
        order = rendered(table.cases)
        sql = table.select(order, keys, form="v{}::LVARCHAR")
        if reader == "ours":
            answers = [tuple(column) for column in zip(*self.columns_of(sql), strict=True)]
        else:
            getters = ["Int", *(g for _ in order for g in ("String", "Int"))]
            _, texts = self.jdbc.query(sql, getters)
            answers = [
                tuple(text if n % 2 and n else int(text or "") for n, text in enumerate(row)) for row in texts
            ]
        back = [_same, *(f for n in order for f in (table.cases[n].from_rendering or _same, _same))]
        return [tuple(None if v is None else f(v) for f, v in zip(back, row, strict=True)) for row in answers]

    def columns_of(self, sql: str) -> list[list[object]]:
        return [column.to_pylist() for column in self.ours.read_arrow(sql).columns]


def rendered(cases: Sequence[Case]) -> list[int]:
    """Return the columns for which the server's text is documented."""
    return [n for n, case in enumerate(cases) if case.rendering or case.from_rendering]


def expected_renderings(table: Table, rows: Sequence[Row]) -> list[tuple[object, ...]]:
    """Return the rows that :meth:`Clients.renderings` must return."""

    def text(n: int, value: object) -> object:
        rendering = table.cases[n].rendering
        return value if value is None or rendering is None else rendering(value)

    order = rendered(table.cases)
    return [(key, *(v for n in order for v in (text(n, values[n]), sentinel(n)))) for key, values in rows]


def _same(value: object) -> object:
    return value


def connected(
    ours: Callable[[str], Connection],
    jdbc: Callable[..., Jdbc],
    peer: Callable[[str], Any],
    database: str = UTF8,
) -> Clients:
    """Connect all clients with the fixtures of conftest.py."""
    return Clients(ours(database), jdbc(database), peer(database))
