"""Every type, qualifier and position in a row, written by each client and read by each of the others.

A sentinel follows each column under test: one wrong width would shift all that follow. What a client cannot do with a
type is in the type's case (``unable``), and test_reference_client_faults checks that it is true.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from tests.stress import LONG

from .case import UTF8, Case, sentinel
from .clients import (
    READERS,
    WRITERS,
    Clients,
    Row,
    Table,
    can_read,
    can_write,
    cycled,
    expected_renderings,
    rendered,
)
from .extended import DISTINCT, DOCUMENTS, LARGE, NESTED, every_type
from .qualifiers import QUALIFIERS

pytestmark = [pytest.mark.reference_client, pytest.mark.usefixtures("distinct_types")]

NewTable = Callable[[str, str], str]

GROUPS: dict[str, tuple[Case, ...]] = {
    **QUALIFIERS,
    "DISTINCT": DISTINCT,
    "collections and ROW": NESTED,
    "large objects": LARGE,
    "JSON and BSON": DOCUMENTS,
}
#: Step between tested positions: a long ``make soak`` tests all, otherwise odd and even ones near both ends.
STEP = 1 if LONG else 13
every_writer = pytest.mark.parametrize("writer", WRITERS)


def writers_by_cases(cases: Sequence[Case]) -> list[tuple[list[Case], list[str]]]:
    """Group the writers that can write the same cases. They share a table, which all clients read once."""
    found: dict[tuple[int, ...], list[str]] = {}
    for writer in WRITERS:
        if able := tuple(n for n, case in enumerate(cases) if can_write(writer, case)):
            found.setdefault(able, []).append(writer)
    return [([cases[n] for n in able], writers) for able, writers in found.items()]


WRITABLE = [
    pytest.param(able, writers, id=f"{group}-{'+'.join(writers)}")
    for group, cases in GROUPS.items()
    for able, writers in writers_by_cases(cases)
]
#: The keys of each writer's rows begin at a multiple of this.
KEYS_OF_A_WRITER = 1000


def made(new_table: NewTable, cases: Sequence[Case]) -> Table:
    return Table(new_table(UTF8, Table.fields(cases)), tuple(cases))


def peers_rows(cases: Sequence[Case], behind: int) -> list[Row]:
    """Return rows of values that informix-driver decodes, with keys after those of the other clients."""
    return [(key + behind, values) for key, values in cycled(cases, lambda case: case.peer_values)]


def with_keys_from(start: int, rows: Sequence[Row]) -> list[Row]:
    return [(start + key, values) for key, values in rows]


def assert_all_read(clients: Clients, table: Table, rows: Sequence[Row], for_peer: Sequence[Row]) -> None:
    """Check that every client reads what it can, and that the server's text agrees. informix-driver reads only its
    rows."""
    everything = sorted([*rows, *for_peer], key=lambda row: row[0])
    for reader in READERS:
        order = [n for n, case in enumerate(table.cases) if can_read(reader, case)]
        wanted = for_peer if reader == "peer" else everything
        if order:
            found = clients.read(reader, table, order, [key for key, _ in wanted])
            assert found == table.expected(order, wanted), reader
    if rendered(table.cases):
        wanted_texts = expected_renderings(table, everything)
        keys = [key for key, _ in everything]
        assert clients.renderings("ours", table, keys) == wanted_texts
        assert clients.renderings("jdbc", table, keys) == wanted_texts


@pytest.mark.parametrize(("cases", "writers"), WRITABLE)
def test_what_each_client_writes_all_read(
    cases: Sequence[Case], writers: Sequence[str], clients: Clients, new_table: NewTable
) -> None:
    table = made(new_table, cases)
    rows: list[Row] = []
    for_peer: list[Row] = []
    for number, writer in enumerate(writers):
        own = with_keys_from(KEYS_OF_A_WRITER * number, cycled(cases))
        own_for_peer = with_keys_from(KEYS_OF_A_WRITER * number, peers_rows(cases, len(own)))
        if all(case.peer_values == case.all_values for case in cases):
            own, own_for_peer = [], own  # informix-driver reads all of them: no rows of others are needed
        clients.write(writer, table, range(len(cases)), [*own, *own_for_peer])
        rows += own
        for_peer += own_for_peer
    assert_all_read(clients, table, rows, for_peer)


@pytest.mark.soak
@every_writer
def test_a_value_of_every_type_is_written_in_every_position(
    writer: str, clients: Clients, new_table: NewTable
) -> None:
    """One INSERT for each position, with the list of columns rotated by STEP each time."""
    cases = [case for case in every_type() if can_write(writer, case)]
    random.Random(f"columns of {writer}").shuffle(cases)
    table = made(new_table, cases)
    rows: list[Row] = []
    for shift in range(0, len(cases), STEP):
        order = [*range(shift, len(cases)), *range(shift)]
        values = [case.peer_values[(shift + n) % len(case.peer_values)] for n, case in enumerate(cases)]
        rows.append((shift, values))
        clients.write(writer, table, order, rows[-1:])
    assert_all_read(clients, table, [], rows)


@pytest.mark.soak
@pytest.mark.parametrize("reader", READERS)
def test_a_value_of_every_type_is_read_in_every_position(
    reader: str, clients: Clients, new_table: NewTable
) -> None:
    """One query for each position, with the select list rotated by STEP each time."""
    cases = [case for case in every_type() if can_read(reader, case)]
    random.Random(f"columns for {reader}").shuffle(cases)
    table = made(new_table, cases)
    rows = cycled(cases, lambda case: case.peer_values if reader == "peer" else case.all_values)
    clients.write("cursor", table, range(len(cases)), rows)
    for shift in range(0, len(cases), STEP):
        order = [*range(shift, len(cases)), *range(shift)]
        wanted = [rows[shift % len(rows)], rows[(shift + 1) % len(rows)]]
        wanted.sort(key=lambda row: row[0])
        found = clients.read(reader, table, order, [key for key, _ in wanted])
        assert found == table.expected(order, wanted), f"first column: {cases[shift].sql}"


def test_null_literals_of_every_type_are_null_for_all(clients: Clients, new_table: NewTable) -> None:
    """``INSERT .. VALUES (NULL, ..)``, and ``NULL::T`` in a select list if a cast to T exists."""
    cases = [case for case in every_type() if case.nullable]
    table = made(new_table, cases)
    literals = ", ".join(f"NULL, {sentinel(n)}" for n in range(len(cases)))
    clients.ours.execute(f"INSERT INTO {table.name} VALUES (1, {literals})")
    nulls: list[Row] = [(1, [None] * len(cases))]
    scalars = [n for n, case in enumerate(cases) if case not in LARGE]  # there are no casts to large objects
    found = clients.ours.read_arrow(null_casts(cases, scalars)).to_pylist()
    assert [tuple(row.values()) for row in found] == table.expected(scalars, nulls)
    readable = [n for n in scalars if can_read("jdbc", cases[n])]
    getters = ["Int", *(how for _ in readable for how in ("Object", "Int"))]
    _, texts = clients.jdbc.query(null_casts(cases, readable), getters)
    assert texts == [["1", *(text for n in readable for text in (None, str(sentinel(n))))]]


def null_casts(cases: Sequence[Case], order: Sequence[int]) -> str:
    """Return a query for a NULL of each type, with its sentinel."""
    items = ", ".join(f"NULL::{cases[n].sql} AS v{n}, {sentinel(n)} AS s{n}" for n in order)
    return f"SELECT 1 AS id, {items} FROM systables WHERE tabid = 1"
