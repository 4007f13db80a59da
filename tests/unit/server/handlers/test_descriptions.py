"""The cache of column descriptions: its messages equal newly created ones, and an encoder has one user at a time."""

from __future__ import annotations

import pytest

from informix_arrow.server.errors import SqlError
from informix_arrow.server.handlers import descriptions
from informix_arrow.server.handlers.cursors import TupleEncoder
from informix_arrow.server.handlers.descriptions import DescriptionCache
from informix_arrow.server.handlers.statements import StatementHandles
from informix_arrow.server.session.prepared_plan import PreparedPlan
from informix_arrow.wire import messages as m
from informix_arrow.wire.capabilities import Framing
from informix_arrow.wire.describe import Column, StatementType
from informix_arrow.wire.messages import Describe
from informix_arrow.wire.types import ColumnType

COLUMNS = (Column("k", ColumnType.integer()), Column("n\u00e4me", ColumnType.varchar(20)))
FRAMINGS = (
    Framing(),
    Framing(encoding="utf-8"),
    Framing(large_tuple=True, usver=True, four_byte_offset=True),
)


def query(columns: tuple[Column, ...] = COLUMNS) -> PreparedPlan:
    return PreparedPlan("SELECT ..", StatementType.SELECT, columns, returns_rows=True)


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("number", [0, 1, 32767])
def test_the_answer_to_prepare_is_that_of_its_messages(framing: Framing, number: int) -> None:
    made = DescriptionCache()
    insert = PreparedPlan("INSERT ..", StatementType.INSERT, COLUMNS)
    nothing = PreparedPlan("UPDATE ..", StatementType.UPDATE)
    for prepared in (query(), insert, nothing) * 2:
        messages: list[m.Message] = [Describe.of_columns(prepared.statement_type, number, prepared.columns)]
        if prepared is insert:
            messages.append(m.InsertDone(0, 0))
        messages += [m.Done(0, 0, 0, 0), m.Cost(1, 1)]
        wanted = b"".join(message.encode(framing) for message in messages)
        assert made.get(prepared, framing).message(number) == wanted


def test_the_framing_may_change_between_two_of_one_text() -> None:
    made = DescriptionCache()
    latin, utf8 = (made.get(query(), Framing(encoding=code)).message(1) for code in ("latin-1", "utf-8"))
    assert "n\u00e4me".encode("latin-1") in latin
    assert "n\u00e4me".encode() in utf8


def test_an_encoder_is_one_statements_at_a_time() -> None:
    statements = StatementHandles()
    prepared, framing = query(), Framing()
    first, second = (
        statements.add(prepared, statements.descriptions.get(prepared, framing)) for _ in range(2)
    )
    encoder = first.encoder = TupleEncoder(COLUMNS, "utf-8", {})
    statements.remove(first)
    third, fourth = (
        statements.add(prepared, statements.descriptions.get(prepared, framing)) for _ in range(2)
    )
    assert (second.encoder, third.encoder, fourth.encoder) == (None, encoder, None)


def test_encoders_of_wide_rows_are_not_kept() -> None:
    statements = StatementHandles()
    wide = (Column("x", ColumnType.lvarchar(32000)), COLUMNS[0])
    prepared = query(wide)
    statement = statements.add(prepared, statements.descriptions.get(prepared, Framing()))
    statement.encoder = TupleEncoder(wide, "utf-8", {})
    statements.remove(statement)
    assert statements.add(prepared, statements.descriptions.get(prepared, Framing())).encoder is None


def test_only_the_last_ones_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(descriptions, "CACHE_SIZE", 2)
    made, framing = DescriptionCache(), Framing()
    queries = [query((COLUMNS[0], Column(f"c{number}", ColumnType.integer()))) for number in range(3)]
    first = [made.get(prepared, framing) for prepared in queries]
    again = [made.get(prepared, framing) for prepared in reversed(queries)]
    assert [a is b for a, b in zip(first, reversed(again), strict=True)] == [False, True, True]


def test_a_type_that_cannot_be_sent_is_refused_each_time() -> None:
    odd = query((COLUMNS[0], Column("x", ColumnType(99, 4))))
    made = DescriptionCache()
    for _ in range(2):
        with pytest.raises(SqlError) as refused:
            made.get(odd, Framing())
        assert refused.value.sqlcode == -9628
