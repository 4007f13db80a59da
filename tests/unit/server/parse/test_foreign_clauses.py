"""Clauses of other products are refused with -201, however sqlglot parses them. None is ignored or passed on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import pytest
from sqlglot import exp
from tests.cases import parametrize_in_one_test
from tests.unit.server.sql_session import Copies, Db, connect

from informix_arrow.server.errors import SqlError
from informix_arrow.server.parse.clauses import ALLOWED_CLAUSES, reject_foreign_clauses
from informix_arrow.server.parse.parse_query import parse
from informix_arrow.server.session.engine import Engine

FOREIGN = """\
select a from t semi join u on t.a = u.a
select a from t anti join u on t.a = u.a
select a from t left semi join u on t.a = u.a
select a from t left anti join u on t.a = u.a
select a from t asof join u on t.a >= u.a
select a from t natural join u
select a from t join u using (a)
select a from t left join u
select a from t cross join u on t.a = u.a
select a from t inner join u
select a from t cross apply u
select a from t outer apply (select 1 from u)
select a from t straight_join u on t.a = u.a
select a from t tablesample (10 percent)
select a from t tablesample reservoir(10)
select a from t using sample 10
select a from t using sample 10 percent (bernoulli)
select a from t for system_time as of '2026-01-01'
select a from t for version as of 3
select a from t at (version => 1)
select a from t x at (version => 1)
select a from t before (timestamp => 1)
select a from t with (nolock)
select a from t with ordinality
select a from t partition (p1)
select a from t indexed by i
select a from t not indexed
select a from t pivot (sum(b) for c in (1, 2))
select a from t unpivot (b for c in (x, y))
select a from t match_recognize (order by a pattern (x) define x as a > 1)
select a from unnest(t)
select a from (values (1)) as v(a)
select a from lateral flatten(t)
select a from t lateral view explode(b) as c
select distinct on (a) a, b from t
select as struct a from t
select a into u from t
select a into temp u from t
select a from t limit 3 percent
select a from t limit 10%
select a from t limit 3 with ties
select a from t limit 1, 2
select a from t limit 1 by a
select a from t order by a limit 2 offset 1
select a from t order by a offset 1
select a from t order by a offset 1 rows fetch next 1 rows only
select a from t fetch first 2 rows only
select a from t fetch first 2 rows with ties
select top 2 a from t
select a from t order by a with fill
select a from t order siblings by a
select a from t sort by a
select a from t cluster by a
select a from t distribute by a
select a from t group by all
select a from t group by rollup (a)
select a from t group by cube (a)
select a from t group by grouping sets ((a), ())
select a from t group by a with rollup
select a from t group by a with totals
select a from t group by distinct a
select a from t qualify row_number() over (order by a) = 1
select a from t prewhere a = 1
select sum(a) over w from t window w as (order by a)
select prior a from t
select connect_by_root a from t
select a from t start with a = 1
select a from t for share
select a from t for update nowait
select a from t for update skip locked
select a from t for update wait 3
select a from t for no key update
select a from t for key share
select a from t lock in share mode
select a from t for xml path
select a from t for json auto
select a from t settings max_threads = 1
select a from t format json
select a from t option (recompile)
select a from t union by name select a from u
select a from t union all by name select a from u
select a from t union distinct select a from u
select a from t union corresponding select a from u
select a from t intersect corresponding select a from u
select a from t intersect corresponding by (a) select a from u
select a from t except strict corresponding select a from u
select a from t left union all by name select a from u
select a from t full outer union by name select a from u
select a from t intersect all select a from u
select a from t minus all select a from u
select a from t except all select a from u
select a from t intersect distinct select a from u
with x as materialized (select a from t) select a from x
with x as not materialized (select a from t) select a from x
with x(a) as (select 1 from t) using key (a) select a from x
with recursive x(a) using key (a) as (select 1 from t union select a from x) select a from x
with x as (select a from t) insert into u select a from x
with x as (select a from t) update u set a = 1
with x as (select a from t) delete from u
with x as (select a from t) merge into u using x on u.a = x.a when matched then delete
insert into t by name select a from u
insert into t default values
insert or replace into t values (1)
insert or ignore into t values (1)
insert ignore into t values (1)
insert overwrite t values (1)
insert overwrite into t values (1)
insert into t values (1) on conflict do nothing
insert into t values (1) on conflict (a) do update set a = 2
insert into t values (1) on duplicate key update a = 2
insert into t values (1) returning a
insert into t set a = 1
insert into table t values (1)
insert into function f() values (1)
insert t values (1)
insert into t table u
insert into t (a) values (1), (2)
insert all into t values (1) select 1 from u
insert into t partition (p) values (1)
insert into t if exists values (1)
insert into t as x values (1)
update t set a = 1 from u
update t set a = 1 order by a
update t set a = 1 limit 1
update t set a = 1 returning a
update t, u set t.a = 1
update t join u on t.a = u.a set t.a = 1
delete from t using u where t.a = u.a
delete from t where a = 1 limit 1
delete from t order by a
delete from t returning a
delete t from t where a = 1
delete t where a = 1 limit 1
merge into t using u on t.a = u.a when matched and t.a > 1 then delete
merge into t using u on t.a = u.a when not matched and u.a > 1 then insert values (1)
merge into t using u on t.a = u.a when not matched by source then delete
merge into t using u on t.a = u.a when not matched by target then insert values (1)
merge into t using u on t.a = u.a when matched then do nothing
merge into t using u on t.a = u.a when not matched then delete
merge into t using u on t.a = u.a when not matched then update set a = 1
merge into t using u on t.a = u.a when matched then insert values (1)
merge into t using u on t.a = u.a when matched then update set *
merge into t using u on t.a = u.a when matched then update all by name
merge into t using u on t.a = u.a when matched then update set a = 1 where t.a = 2
merge into t using u on t.a = u.a when not matched then insert *
merge into t using u on t.a = u.a when not matched then insert row
merge into t using u on t.a = u.a when not matched then insert all by name
merge into t using u on t.a = u.a when not matched then insert (a) values (1) where u.a = 1
merge into t using u on t.a = u.a when matched then delete returning a
merge into t using u using (a) when matched then delete
merge t using u on t.a = u.a when matched then delete
merge into t using u on t.a = u.a
select count(distinct a, b) from t
select count(a, b) from t
select max(a, 2) from t
select min(a, b) from t
select sum(a, b) from t
select avg(distinct a, b) from t
select count(a) filter (where a > 1) from t
select sum(a order by b) from t
select sum(a) within group (order by b) from t
select sum(a) ignore nulls from t
select cast(a as int format 'x') from t
select cast(a as int default 1 on conversion error) from t
select a between symmetric 1 and 2 from t
select 1 from t where a between symmetric 1 and 2
select 1 from t where a between asymmetric 1 and 2
select trim(both 'x' from a collate c) from t
select a collate nocase from t
select sum(a) over (order by a rows between 1 preceding and 1 following exclude ties) from t
select sum(a) over (order by a groups between 1 preceding and 1 following) from t
select * exclude (a) from t
select * except (a) from t
select * replace (1 as a) from t
select * rename (a as b) from t
select * like 'a%' from t
select t.* exclude (a) from t
select a from t where a ilike 'x'
select a from t where a similar to 'x'
select a from t where a rlike 'x'
select a from t where a regexp 'x'
select a from t where a ~ 'x'
select a from t where a like any ('x', 'y')
select a from t where a like all ('x', 'y')
select a from t where a is distinct from 1
select a from t where a is not distinct from 1
select a from t where a <=> 1
select a from t where a is true
select a from t where a is unknown
select a from t where a isnull
select a from t where a notnull
select a from t where a in unnest(b)
select a from t where a global in (select a from u)
select a from t where a overlaps b
select a from t where a glob 'x'
select a from t where a & 1 = 1
select a from t where a << 1 = 1
select a from t where a ^ 1 = 1
select a from t where a // 2 = 1
select a from t where a % 2 = 1
select a from t where a div 2 = 1
select a from t where a && b
select a from t where a xor b
select a from t where a ! = 1
select a from t where a -> 'x' = 1
select a from t where a[1:2] = 1
select x -> x + 1 from t
select [1, 2] from t
select {'a': 1} from t
select date '2026-01-01' from t
select timestamp '2026-01-01' from t
select interval '1' day from t
select interval 1 day from t
select x'00' from t
select e'a' from t
select b'a' from t
select r'a' from t
select n'a' from t
select a at time zone 'x' from t
select extract(year from a) from t
select :a from t
select @a from t
select a from t where a = all(select 1 from u) escape 'x'
select a from t qualify 1
select a, from t
select a from t,
select a from t as (b)
select a from t |> where a = 1
select row_number() over (order by a) qualify from t
select next value for s from t
select a from t@u
select a from t where a like 'x' escape 'y' escape 'z'
select a from t where a = 1 where a = 2
select a from t order by a order by b
select a from t limit 1 limit 2
select first 1 a from t limit 2
select a from (t join u on t.a = u.a) x
select a from t join u join v on u.a = v.a on t.a = u.a
select a from t, u on t.a = u.a
select a from t cross join u tablesample (10 percent)
select a from (select a from t) tablesample (10 percent)
select a from (select a from t) pivot (sum(a) for a in (1)) p
select a from rows from (f())
select a from t for read only for update
select a from (select a from t for update) x
select a from (select a from t into temp u) x
select a from t *
update t set a += 1
"""

OWN = """\
select a from t start with a = 1 connect by nocycle prior a = c order siblings by a
select a from t
select skip 1 first 2 distinct t.a x, count(*) from t, u where t.a = u.a group by 1 having count(*) > 1 order by 1 desc
select unique a from t order by a nulls last limit 3
select all a from t x left outer join u y on x.a = y.a cross join u z
select a from t for update of a
select a from t for read only
select a from t union select a from u union all select a from t order by 1
select a from t intersect select a from u minus select a from u order by 1 limit 2
select a from t union all select a from u into temp both with no log
select a from t into raw made
select a from t union (select a from u) into temp both
with x as (select a from t) select a from x minus select a from u
select x.a from ((select a from t) x join u on u.a = x.a)
select t.a from "informix".t
with x(k) as (select a from t union all select k + 1 from x where k < 5) select k from x
with recursive x(k) as (select a from t) select k from x
select * from (t join u on t.a = u.a), lateral (select c from u where u.a = t.a) as l(c)
select x.k from (select a from t) as x(k) where k between 1 and 2 and k in (1, 2) and k in (select a from u) and 1 in c
select case a when 1 then 'x' else 'y' end, cast(b as char(3)), b || 'x', trim(leading 'x' from b) from t
select substring(b from 1 for 2), count(distinct a), min(b), max(b) from t group by 1
select sum(a) over (partition by b order by a rows between 1 preceding and 1 following) from t
select o.t.a, d.o.t.a from db:owner.t
insert into t (a, b) values (1, 'x')
insert into t select a, b, c from u
update t set a = 1, (b, c) = ('x', 2) where a == 1
delete from t as x where x.a = 1
delete t where b is not null
merge into t using u s on t.a = s.a when matched then update set b = 'x' when not matched then insert (a) values (s.a)
merge into t using u on t.a = u.a when matched then delete
"""

_FOREIGN, _OWN = FOREIGN.splitlines(), OWN.splitlines()


@pytest.fixture(scope="module")
def engine(empty: Copies) -> Iterator[Engine]:
    yield from empty.engine()


@pytest.fixture(scope="module")
def db(engine: Engine) -> Db:
    db = connect(engine)
    for name in ("t", "u"):
        db.run(f"create table {name} (a int, b char(10), c int)")
        db.run(f"insert into {name} values (1, 'x', 2)")
    return db


@parametrize_in_one_test("sql", _FOREIGN)
def test_a_clause_of_another_product_is_a_syntax_error(db: Db, sql: str) -> None:
    problem = db.fails(sql)
    assert problem.sqlcode == -201, problem
    assert 1 <= problem.offset <= len(sql) + 1
    assert db.rows("select a, b, c from t") == [(1, "x", 2)]


@parametrize_in_one_test("sql", _OWN)
def test_what_informix_has_is_read(sql: str) -> None:
    assert parse(sql).find(exp.Table) is not None


def _sets(tree: exp.Expression) -> Iterator[tuple[type[exp.Expression], str]]:
    for node in tree.walk():
        yield from ((type(node), name) for name, value in node.args.items() if value not in (None, [], False))


def test_every_argument_that_a_node_could_have_and_the_translator_does_not_read_is_refused() -> None:
    """Each argument of each node of Informix's statements is set in turn, whether sqlglot's parser sets it now or
    not."""
    tried = set()
    for sql in _OWN:
        whole = parse(sql)
        for number, node in enumerate(whole.copy().walk()):
            kind = type(node)
            read = ALLOWED_CLAUSES.get(kind, {"this", "expression", "expressions"})
            if not kind.__module__.startswith("sqlglot."):
                continue
            for name in set(kind.arg_types) - set(read):
                if (kind, name) in tried:
                    continue
                tried.add((kind, name))
                for value in (True, exp.Var(this="X"), [exp.Var(this="X")]):
                    tree = whole.copy()
                    next(islice(tree.walk(), number, None)).set(name, value)
                    with pytest.raises(SqlError) as caught:
                        reject_foreign_clauses(tree)
                    assert caught.value.sqlcode == -201, (kind, name)
                    assert "not Informix" in caught.value.detail
    assert len(tried) > 200
    assert {exp.Select, exp.Table, exp.Join, exp.Merge, exp.Union, exp.CTE} <= {kind for kind, _ in tried}


def test_everything_that_is_said_to_be_read_is_written_in_some_statement() -> None:
    """The lists contain only what Informix has."""
    written = {pair for sql in _OWN for pair in _sets(parse(sql))}
    for kind in (exp.Union, exp.Except, exp.Intersect):  # the three share one list
        written |= {
            (other, name)
            for k, name in written
            if k is kind
            for other in (exp.Union, exp.Except, exp.Intersect)
        }
    listed = {(kind, name) for kind, names in ALLOWED_CLAUSES.items() for name in names}
    assert sorted(f"{kind.__name__}.{name}" for kind, name in listed - written) == []
