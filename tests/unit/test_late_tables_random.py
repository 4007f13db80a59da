"""Random work on small temporary tables, held against a session that tells DuckDB of everything at once."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest
from tests.soaking import seeds

from informix_arrow.server.engine.engine import Engine
from informix_arrow.server.errors import SqlError

from .engine_support import Db, connect

STEPS = 60

# Those that are made, filled and read without DuckDB come often: each of the others tells it of all that waits.
STATEMENTS = [
    (6, "create temp table {t} (k integer, name varchar(5), n smallint)"),
    (2, "create temp table {t} (k integer not null, name char(4))"),
    (1, "create temp table {t} (k serial, d decimal(5,2))"),
    (4, "drop table {t}"),
    (10, "insert into {t} values ({k}, 'r{k}', {n})"),
    (3, "insert into {t} values ({n}, 'longer than it')"),
    (3, "insert into {t} (k) values ({k})"),
    (5, "select * from {t}"),
    (4, "select distinct name, k from {t} order by name desc, k"),
    (4, "select k from {t} order by k"),
    (2, "select count(*), max(k) from {t}"),
    (1, "select a.k, b.k from {t} a, u b order by 1, 2"),
    (2, "update {t} set k = k + 1 where k < {k}"),
    (2, "delete from {t} where k = {k}"),
    (1, "truncate table {t}"),
    (1, "alter table {t} add (m integer)"),
    (1, "create unique index i{t} on {t} (k)"),
    (1, "rename column {t}.k to kk"),
    (1, "select k from {t} into temp {u}"),
    (1, "insert into {t} select k, 'x', 1 from u"),
    (2, "insert into perm values ({k}, 1)"),
    (2, "insert into perm select k, 1 from {t}"),
    (1, "select k from perm order by k"),
    (1, "select tabname from systables where tabid = 1"),
]
CONTROLS: dict[str, Callable[[Db], object]] = {
    "begin": lambda db: db.session.begin(),
    "commit": lambda db: db.session.commit(),
    "rollback": lambda db: db.session.rollback(),
    "savepoint": lambda db: db.session.savepoint("s"),
    "rollback to savepoint": lambda db: db.session.rollback_to_savepoint("s"),
    "forty rows": lambda db: [db.run(f"insert into t values ({k}, 'm', 1)").rows for k in range(40)],
}
CHOICES = [*STATEMENTS, *((1, name) for name in CONTROLS)]


def answer(db: Db, statement: str) -> object:
    """What a statement gives: rows in their order where it asks for one, what it did, or its error."""
    try:
        if statement in CONTROLS:
            return CONTROLS[statement](db)
        prepared = db.session.prepare(statement)
        if not prepared.returns_rows:
            outcome = db.session.execute(prepared, ())
            return outcome.rows, outcome.warnings
        rows = db.rows(statement)
        return rows if "order by" in statement else sorted(rows, key=repr)
    except SqlError as problem:
        return problem.sqlcode, problem.isamcode


@pytest.mark.soak
def test_nobody_can_tell_when_duckdb_is_told(fresh_engine: Engine) -> None:
    fresh_engine.create_database("another", ("log",), "en_US.utf8")
    waited = 0
    for seed in seeds(1, 2):
        chance = random.Random(seed)
        late, told = connect(fresh_engine), connect(fresh_engine, "another")
        for db in (late, told):
            answer(db, "create table perm (k integer primary key, tail integer)")
            db.run("delete from perm where k >= 0")
        history = []
        for _ in range(STEPS):
            (text,) = chance.choices([text for _, text in CHOICES], [weight for weight, _ in CHOICES])
            t, u = chance.choices(("t", "u", "v"), k=2)
            statement = text.format(t=t, u=u, k=chance.randrange(6), n=chance.choice(("null", "3", "99999")))
            history.append(statement)
            answers = answer(late, statement), answer(told, statement)
            assert answers[0] == answers[1], history
            waited += bool(late.session._duck._late)
            assert told.session._duck.con  # asking for it is what tells DuckDB
        for db in (late, told):
            answer(db, "rollback")
            db.session.close()
    assert waited > 10
