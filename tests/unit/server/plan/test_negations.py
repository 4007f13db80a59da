"""NOT inside a condition negates it, whatever the condition is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Copies, Db, connect


@pytest.fixture(scope="module")
def db(empty: Copies) -> Iterator[Db]:
    for engine in empty.engine():
        db = connect(engine)
        db.run("create table words (id integer, word varchar(10), tail integer)")
        for row in [(1, "apple"), (2, "berry"), (3, "50%"), (4, None)]:
            db.run("insert into words values (?, ?, 12345)", *row)
        yield db


@parametrize_in_one_test(
    ("condition", "found"),
    [
        ("word like 'a%'", [1]),
        ("word not like 'a%'", [2, 3]),
        ("not word like 'a%'", [2, 3]),
        ("not word not like 'a%'", [1]),
        ("word is not null and word not like 'a%'", [2, 3]),
        ("id = 1 or word not like '%%'", [1]),
        ("word like '%!%' escape '!'", [3]),
        ("word not like '%!%' escape '!'", [1, 2]),
        ("word not like '%!%' escape '!' and id > 1", [2]),
        ("word not matches 'b*'", [1, 3]),
        ("word not matches '[ab]*'", [3]),
        ("id not in (1, 2)", [3, 4]),
        ("id not between 2 and 3", [1, 4]),
        ("word is not null", [1, 2, 3]),
        ("word is null", [4]),
        ("not exists (select 1 from words w where w.id = words.id and w.word is null)", [1, 2, 3]),
    ],
)
def test_a_condition_and_its_opposite(db: Db, condition: str, found: list[int]) -> None:
    rows = db.rows(f"select id, tail from words where {condition} order by id")
    assert rows == [(number, 12345) for number in found]
