"""Our Arrow path as a writer: every type by insert cursor and by pipelined executions, read by all clients; and tables
that were read, created again and written back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import informix_arrow

from .case import UTF8, Case
from .clients import READERS, Clients, Table, can_read, can_write, connected, cycled
from .extended import DISTINCT, every_type
from .jdbc.driver import Jdbc
from .qualifiers import QUALIFIERS
from .target import Target
from .values import CASES

if TYPE_CHECKING:
    from informix_arrow.connection import Connection

pytestmark = [pytest.mark.reference_client, pytest.mark.usefixtures("distinct_types")]

ConnectJdbc = Callable[..., Jdbc]
ConnectPeer = Callable[[str], Any]
ConnectOurs = Callable[[str], "Connection"]
NewTable = Callable[[str, str], str]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_what_write_arrow_writes_all_read(
    case: Case, kept_ours: ConnectOurs, kept_jdbc: ConnectJdbc, kept_peer: ConnectPeer, kept_table: NewTable
) -> None:
    clients = connected(kept_ours, kept_jdbc, kept_peer, case.database)
    table = Table(kept_table(case.database, Table.fields([case])), (case,))
    by_put = cycled([case])
    by_pipeline = [(key + len(by_put), values) for key, values in by_put]
    clients.write("put", table, [0], by_put)
    clients.write("pipeline", table, [0], by_pipeline)
    rows = [*by_put, *by_pipeline]
    for reader in READERS:
        wanted = [row for row in rows if reader != "peer" or row[1][0] in case.peer_values]
        found = clients.read(reader, table, [0], [key for key, _ in wanted])
        assert found == table.expected([0], wanted), reader


MADE_ANEW: dict[str, tuple[Case, ...]] = {**QUALIFIERS, "DISTINCT": DISTINCT, "every type": every_type()}


def declared(connection: Connection, name: str) -> list[tuple[object, ...]]:
    """Return the catalogue's columns of a table."""
    found = connection.read_arrow(
        "SELECT c.colname, c.coltype, c.collength, c.extended_id FROM syscolumns c, systables t "
        f"WHERE c.tabid = t.tabid AND t.tabname = '{name}' ORDER BY c.colno"
    )
    return [tuple(row.values()) for row in found.to_pylist()]


@pytest.fixture
def filled(clients: Clients, new_table: NewTable) -> Callable[[Sequence[Case]], Table]:
    """A function that creates a table of these columns with all their values, written by our cursor."""

    def fill(cases: Sequence[Case]) -> Table:
        table = Table(new_table(UTF8, Table.fields(cases)), tuple(cases))
        clients.write("cursor", table, range(len(cases)), cycled(cases))
        return table

    return fill


@pytest.fixture(scope="module")
def every_type_written(target: Target, distinct_types: None) -> Iterator[Table]:
    """A table of every type with all its values, written by our cursor. Several tests only read it."""
    table = Table("reference_every_type", every_type())
    with informix_arrow.connect(target.url(UTF8), autocommit=True, read_timeout=60.0) as connection:
        connection.execute(f"CREATE TABLE {table.name} ({Table.fields(table.cases)})")
        only_ours = Clients(connection, None, None)  # type: ignore[arg-type]
        only_ours.write("cursor", table, range(len(table.cases)), cycled(table.cases))
        yield table
        connection.execute(f"DROP TABLE {table.name}")


@pytest.fixture(scope="module")
def read_by_default(target: Target, every_type_written: Table) -> pa.Table:
    """The table's rows, read without options."""
    with informix_arrow.connect(target.url(UTF8), autocommit=True, read_timeout=60.0) as connection:
        return connection.read_arrow(every_type_written.select(range(len(every_type_written.cases))))


@pytest.fixture
def copy(ours: ConnectOurs) -> Iterator[str]:
    """The name of a table that a test creates."""
    yield "reference_copy"
    ours(UTF8).execute("DROP TABLE reference_copy")


@pytest.mark.parametrize("group", MADE_ANEW)
def test_a_table_that_was_read_is_made_anew_with_the_same_columns(
    group: str, clients: Clients, filled: Callable[[Sequence[Case]], Table], copy: str
) -> None:
    """``informix.type`` of each field is the declaration that re-creates its column. A floating-point DECIMAL keeps it
    if it was read exactly. A float64 of it may have lost digits and becomes a FLOAT."""
    table = filled(MADE_ANEW[group])
    order = range(len(table.cases))
    read = clients.ours.read_arrow(table.select(order), floating_decimals="string")
    report = clients.ours.write_arrow(copy, read, mode="create")
    assert report.rows == read.num_rows
    assert declared(clients.ours, copy) == declared(clients.ours, table.name)
    again = clients.ours.read_arrow(Table(copy, table.cases).select(order), floating_decimals="string")
    assert again.schema.equals(read.schema, check_metadata=True)
    assert again.equals(read)


@pytest.mark.parametrize(
    "option",
    [
        {"strings": "large"},
        {"strings": "view"},
        {"strings": "dictionary"},
        {"char_padding": "keep"},
        {"floating_decimals": "string"},
        {"intervals": "month_day_nano"},
        {"nested": "text"},
        {"encoding_errors": "binary"},
    ],
    ids=lambda option: "=".join(*option.items()),
)
def test_what_was_read_with_an_option_is_written_back_the_same(
    option: dict[str, Any],
    clients: Clients,
    every_type_written: Table,
    read_by_default: pa.Table,
    new_table: NewTable,
) -> None:
    table = every_type_written
    order = range(len(table.cases))
    read = clients.ours.read_arrow(table.select(order), **option)
    changed = [n for n in order if not read.column(f"v{n}").equals(read_by_default.column(f"v{n}"))]
    assert changed, "the option changes nothing"
    # The test above has the columns that the option does not change.
    target = Table(new_table(UTF8, Table.fields(table.cases)), table.cases)
    written = read.select(table.columns(changed))
    assert clients.ours.write_arrow(target.name, written).rows == read.num_rows
    assert clients.read("ours", target, changed) == table.expected(changed, cycled(table.cases))
    readable = [n for n in changed if can_read("jdbc", table.cases[n])]
    assert clients.read("jdbc", target, readable) == table.expected(readable, cycled(table.cases))


@pytest.mark.parametrize(
    "case", [case for case in every_type() if not can_write("put", case)], ids=lambda c: c.id
)
def test_what_an_insert_cursor_does_not_take_is_refused_by_name(
    case: Case, clients: Clients, new_table: NewTable
) -> None:
    import informix_arrow

    table = Table(new_table(UTF8, Table.fields([case])), (case,))
    with pytest.raises(informix_arrow.NotSupportedError, match=r"'v0'.*insert cursor"):
        clients.write("put", table, [0], cycled([case]))
    assert clients.read("ours", table, [0]) == []
