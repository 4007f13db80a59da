select id from people limit 3
select id from people order by id limit 3 offset 2
select id from people order by id desc limit 1
select distinct kind from orders
select id, coalesce(credit, 0), coalesce(town, name, 'x') from people
select id, upper(town), lower(name), length(town) from people
select id, substring(name, 2, 3), left(town, 2), right(town, 2) from people
select id, substr(note, 1, 4), replace(note, 'a', 'b') from people
select id, trim(note), ltrim(note), rtrim(note) from people
select id, lpad(town, 8, '.'), rpad(town, 8, '.') from people
select id, town || '-' || note from people
select id, concat(town, '-', note) from people
select id, strpos(note, 'a'), instr(note, 'n') from people
select id, abs(credit), sign(credit), ceil(credit), floor(credit) from people
select id, round(credit), round(credit, 1), trunc(credit) from people
select id, sqrt(id), exp(1), ln(id), power(id, 2) from people
select id, id % 3, -id % 3, id // 2 from people
select id, id / 2, id / 4.0 from people
select id, score / 2 from people
select id, credit + 1, credit * 2, id - 1 from people
select id, credit::double / 3 from people
select id, round(score)::int from people where score is not null
select id, cast(id as varchar) from people
select id, cast('12' as int), cast(id as double) from people
select id, cast(credit as decimal(10, 1)) from people
select id, cast(seen as date), cast(born as timestamp) from people
select id, year(born), month(born), day(born), quarter(born) from people
select id, extract(year from seen), extract(month from born) from people
select id, date_trunc('month', seen), date_trunc('year', born), date_trunc('hour', seen) from people
select id, born + interval 3 day, seen - interval 2 hour from people
select id, born + 1, born - 7 from people
select id, date_diff('day', born, date '2024-12-31') from people
select id, last_day(born), make_date(2024, 2, 29) from people
select id, strftime(born, '%Y-%m-%d'), strftime(seen, '%H:%M') from people
select strptime('2024-01-31', '%Y-%m-%d') from people where id = 1
select id from people where born < current_date
select id from people where born = date '2024-02-29'
select id from people where seen > timestamp '2024-01-01 00:00:00'
select id from people where ok
select id from people where not ok
select id from people where ok = true
select id from people where ok is null
select id from people where true
select id from people where false
select id, credit > 0 from people
select id, credit > 0 and id < 5 as flag from people
select id, case when credit > 0 then 1 else 0 end from people
select id, if(credit > 0, 'plus', 'other') from people
select id, nullif(id, 3), greatest(id, 4), least(credit, 5) from people
select id, greatest(credit, salary) from people
select id from people where town = 'Bern'
select id from people where town in ('Bern', 'Aalen')
select id from people where name like 'A%'
select id from people where name ilike 'a%'
select id from people where name not like '%a'
select id from people where id between 2 and 4
select id from people where town is not distinct from 'Bern'
select id from people where town is distinct from 'Bern'
select id from people where id in (select person from orders)
select id from people p where exists (select 1 from orders o where o.person = p.id)
select id from people where credit > (select min(amount) from orders)
select count(*), count(credit), sum(credit), min(born), max(seen) from people
select count(distinct kind), sum(distinct qty) from orders
select avg(score) from people
select count(*) filter (where credit > 0), sum(id) filter (where credit > 0) from people
select stddev(id), variance(id), stddev_pop(id), var_pop(id) from people
select stddev_samp(score), var_samp(score) from people
select kind, count(*), sum(qty) from orders group by kind order by kind
select kind, count(*) n from orders group by kind having count(*) > 1 order by n, kind
select year(born) y, count(*) from people group by 1 order by 1
select p.id, o.num from people p join orders o on p.id = o.person
select p.id, o.num from people p left join orders o on p.id = o.person
select p.id, o.num from people p right join orders o on p.id = o.person
select p.id, o.num from people p full join orders o on p.id = o.person
select p.id from people p semi join orders o on p.id = o.person
select p.id from people p anti join orders o on p.id = o.person
select count(*) from people cross join towns
select p.id, q.n from people p join (select person, count(*) n from orders group by person) q on q.person = p.id
with a as (select id from people where id < 4) select id from a order by id limit 2
with a as (select id from people), b as (select num from orders) select a.id from a join b on a.id = b.num
with recursive t(n) as (select 1 union all select n + 1 from t where n < 4) select n from t
select id from people union all select num from orders
select id from people union select num from orders
select id from people union select num from orders order by 1 limit 4
select id from people except select person from orders
select id from people intersect select person from orders
select id from (select id, credit from people) x where x.credit > 0
select 1
select 1 + 2, 'x', date '2024-01-31'
select id, row_number() over (order by id) from people
select id, rank() over (partition by ok order by id) from people
select id, sum(id) over (order by id) from people
select id, sum(id) over (order by id rows between 1 preceding and current row) from people
select id, lag(id) over (order by id), lead(id, 2) over (order by id) from people
select id, first_value(id) over (order by id), count(*) over () from people
select person, num from orders qualify row_number() over (partition by person order by num) = 1
select distinct on (kind) kind, num from orders order by kind, num
select id from people order by credit nulls last, id
select id from people order by credit desc nulls first, id
select id from people order by credit, id
select string_agg(town, ',') from people
select list(id) from people
select median(id) from people
select quantile_cont(id, 0.5) from people
select regexp_matches(town, 'U.*') from people
select dayofweek(born) from people
select date_trunc('week', born) from people
select born + interval 1 month from people
select id::int, credit::int from people
select * exclude (id) from people
select unnest([1, 2])
select id from people tablesample 10 percent
select id from people using sample 2
select id from people p join orders o using (id)
select id from people natural join orders
select kind, count(*) from orders group by rollup (kind)
select kind, count(*) from orders group by cube (kind)
select hash(id) from people
select epoch(seen) from people
select md5(town) from people
select id[1] from people
select try_cast(town as int) from people
select struct_pack(a := 1) from people
pivot orders on kind using sum(qty)
select json_extract('{}', '$.a') from people
select id from people intersect all select num from orders
select (values (1, 2)) from people
select * from (values (1, 2)) t(a, b)
select mode(id) from people
select arg_max(id, credit) from people
select bool_and(ok) from people
select id, trim(note, 'x') from people
select id from people where note like '100\%%'
select log(10, 5) from people
select id, age(born) from people
create table t2 (a int)
set x = 1
use memory
select id, town collate nocase from people
select id, credit from people where credit between 0 and 100 order by credit desc, id limit 3 offset 1
select max(id) - min(id), sum(id) * 2 from people
select upper(substring(town, 1, 1)) || lower(substring(town, 2, 10)) from people
select coalesce(nullif(town, 'Bern'), 'none') from people
select length(upper(coalesce(town, 'xyz'))) from people
select case when id % 2 = 0 then 'even' else 'odd' end, count(*) from people group by 1 order by 1
select abs(round(credit, 1)) from people
select year(born + interval 31 day) from people
select id from people where year(born) = 2024 and month(born) = 2
select id from people where length(note) > 5
select id from people where round(score) = 4
select id from people where credit + salary > 10
select count(*) from (select distinct kind from orders) k
select id, (select max(num) from orders o where o.person = p.id) m from people p
select id from people where (id, size) = (1, 1)
select 'it''s' from people where id = 2
select -credit, +credit, -(-id) from people
select id from people where credit is null or not credit > 0
select id from people where not (id = 1 or id = 2)
select person, num from orders qualify row_number() over (partition by person order by num) = 1 order by num
select id from people where not (town is not distinct from 'Bern')
