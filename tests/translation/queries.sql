select id, name from people
select * from people
select * from orders where num < 5
select p.* from people p where p.id = 3
select id from people where town = 'Ulm'
select id from people where town = 'Ulm   '
select id from people where town <> 'Ulm'
select id from people where town != 'Bern'
select id from people where name = 'Anna'
select id from people where name = 'Anna '
select id from people where name = ''
select id from people where note = ''
select id from people where note = ' '
select id from people where town > 'Ulm'
select id from people where town >= 'Ulm'
select id from people where town < 'b'
select id from people where name between 'A' and 'D'
select id from people where town between 'B' and 'Ulm'
select id from people where town in ('Ulm', 'Bern ')
select id from people where town not in ('Ulm', 'Bern')
select id from people where name in ('Bea', 'Zoe', 'anna')
select id from people where credit = 10.5
select id from people where credit = '10.50'
select id from people where salary = 2.5
select id from people where salary = '$2.50'
select id from people where id = '3'
select id from people where credit > 0
select id from people where credit >= -2.5 and credit <= 10.5
select id from people where credit between -2.5 and 10.5
select id from people where not (credit > 0)
select id from people where credit is null
select id from people where credit is not null and town is not null
select id from people where town is null or credit < 0
select id from people where born = '02/29/2024'
select id from people where born = '2024-02-29'
select id from people where born > '12/31/1999'
select id from people where born between '01/01/2024' and '03/31/2024'
select id from people where born in ('01/31/2024', '12/31/1999')
select id from people where seen = '2024-01-31 23:59:59'
select id from people where seen > datetime (2023-12-31 23:59:59) year to second
select id from people where seen > datetime (2024-01-31) year to day
select id from people where stamp = '2024-01-31 23:59:59.999'
select id from people where stamp > datetime (2024-02-29 12:30:00.0) year to fraction(3)
select id from people where born < seen
select id from people where extend(born, year to second) = seen
select id from people where ok = 't'
select id from people where ok = 'f'
select id from people where ok <> 't'
select id from people where ok
select id from people where not ok
select id from people where score > 1
select id from people where score = 2.5
select id from people where size < big
select id from people where credit > score
select id from people where (id, name) = (1, 'Anna')
select id from people where (id, town) in ((1, 'Ulm'), (2, 'Ulm'), (4, 'Rom'))
select id from people where name like 'A%'
select id from people where name like '%a'
select id from people where name like '_ea'
select id from people where town like '%m'
select id from people where note like '100\%\_%'
select id from people where note like '%@%%' escape '@'
select id from people where note not like '%a%'
select id from people where name matches 'A*'
select id from people where name matches '*a'
select id from people where name matches '?ea'
select id from people where name matches '[A-C]*'
select id from people where name matches '[^A-C]*'
select id from people where name matches '[aA]nna'
select id from people where name not matches '*a*'
select id from people where town matches '[A-Z]???*'
select id from people where note matches '*%_*'
select id from people where note matches 'a\*b\?c'
select id from people where note matches 'x\[y]z'
select id, id + 1, id - 1, id * 2, -id from people
select id, size + size, size * 2, size - big from people where id <> 5
select id, credit + 1, credit - 0.5, credit * 2, -credit from people
select id, credit + salary, credit * salary, salary * 1.1 from people
select id, score + 1, score * 2, score - credit from people
select id, score / 2, score / 4.0 from people
select id, credit / 4 from people
select id, id / 3, id / 7 from people
select id, (credit + 1) / 3 from people
select id, salary / 3, 1 / id from people
select id, big / 7, big * 2 from people
select id, (id + 1) * 2, -(credit - 1) from people
select id, 7 - id * 2 + 1 from people
select id, credit::int, (-credit)::int from people
select id, credit::smallint, salary::bigint from people where id <> 5
select id, score::int from people where id <> 5
select id, credit::decimal(8,1), salary::decimal(10,1) from people
select id, credit::decimal(10,0), amount::decimal(10,2) from people, orders where id = num
select id, amount::decimal(12,1), amount::decimal(12,0) from people, orders where id = num
select id, id::decimal(10,2), size::float, credit::float from people
select id, credit::money(10,1) from people
select '2.5'::int, '-2.5'::int, 2.5::int, '7'::smallint from people where id = 1
select 2.45::decimal(5,1), -2.45::decimal(5,1), '1.005'::decimal(5,2), 0.5::int from people where id = 1
select '12.34'::money, '$1,234.5'::money from people where id = 1
select id, id::char(5), id::varchar(12), id::char(11) from people
select id, name::char(2), town::char(3), town::varchar(3) from people
select id, note::char(4), note::lvarchar(300) from people
select id, credit::varchar(20) from people
select id, born::char(10) from people
select '01/31/2024'::date, '2024-02-29'::date from people where id = 1
select id, born::datetime year to second, seen::date from people
select '2024-01-31 10:00:00'::datetime year to second from people where id = 1
select cast(seen as datetime year to day), cast(seen as datetime year to minute) from people
select id, round(credit), round(credit, 1), round(credit, 2) from people
select id, round(salary, 1), round(-salary, 1), round(amount, 2) from people, orders where id = num
select num, round(amount), round(amount, 1), round(amount, 2) from orders
select id, trunc(credit), trunc(credit, 1), trunc(-credit, 1) from people
select num, trunc(amount), trunc(amount, 2) from orders
select id, round(id), round(id, 2), trunc(id) from people
select round(2.5), round(-2.5), round(0.005, 2), round(1.125, 2), round(3.5) from people where id = 1
select id, abs(credit), abs(id - 5), abs(score) from people
select id, ceil(credit), floor(credit) from people
select id, ceil(score), floor(score) from people
select id, mod(id, 3), mod(-id, 3), mod(big, 7) from people
select id, mod(credit, 3), mod(size, 5) from people
select id, sign(credit), sign(id - 5) from people
select id, sqrt(id), exp(1), ln(id), log10(id) from people
select id, pow(id, 2), power(2, id) from people
select id, sin(score), cos(score), atan(score) from people
select id, atan2(score, 1), degrees(score), radians(score) from people
select id, greatest(id, 5), least(id, 5), greatest(credit, salary) from people
select id, greatest(born, '01/01/2024') from people
select id, bitand(id, 3), bitor(id, 8) from people
select id, nvl(credit, 0), nvl(town, 'none'), nvl(name, 'x') from people
select id, nvl(born, '01/01/2000') from people
select id, nvl(born, mdy(1, 1, 2000)) from people
select id, nvl(seen, datetime (2000-01-01 00:00:00) year to second) from people
select id, nvl(credit, id), nvl(score, credit) from people
select id, nvl(nvl(credit, salary), 0) from people
select id, coalesce(credit, salary, id), coalesce(town, name, 'x') from people
select id, nvl2(credit, 1, 0), nvl2(town, 'yes', 'no') from people
select id, decode(id, 1, 'one', 2, 'two', 'more') from people
select id, decode(town, 'Ulm', 1, 'Bern', 2, null, 3, 4) from people
select id, decode(town, null, 'none', town) from people
select id, decode(ok, 't', 'true', 'f', 'false') from people
select id, decode(credit, 10.5, 'x', 0, 'y') from people
select id, decode(size, id, 'same', null, 'null', 'other') from people
select id, decode(born, '01/31/2024', 'a', '12/31/1999', 'b', 'c') from people
select id, nvl(decode(id, 1, credit, 2, salary), 0) from people
select id, nullif(id, 3), nullif(town, 'Ulm'), nullif(credit, 0) from people
select id, case when credit > 0 then 'plus' when credit < 0 then 'minus' else 'none' end from people
select id, case id when 1 then 'a' when 2 then 'b' end from people
select id, case town when 'Ulm' then 1 else 0 end from people
select id, case when credit is null then 0 else credit end from people
select id, case when id > 3 then born else '01/01/2001' end from people
select id, case when id > 3 then 1 else 2.5 end from people
select id, case when name like 'A%' or town = 'Bern' then name else town end from people
select id, upper(name), lower(town) from people
select id, length(name), length(town), length(note), len(name) from people
select id, char_length(name), char_length(town) from people
select id, name[1,3], town[2,3], note[3] from people
select id, name[1,1], town[1] from people where name[1,1] = 'A'
select id, name[5,8] from people
select id from people where town[1,1] = 'U' and name[2,2] <> 'n'
select id, substr(name, 2), substr(town, 2, 2), substr(note, 1, 5) from people
select id, substring(name from 2 for 3), substring(note from 3) from people
select id, left(name, 2), right(town, 2), left(note, 3) from people
select id, trim(note), trim(name), trim(town) from people
select id, trim(leading from note), trim(trailing from note), trim(both ' ' from note) from people
select id, ltrim(note), rtrim(note) from people
select id, lpad(town, 8, '.'), rpad(town, 8, '.'), lpad(note, 3), rpad(note, 12) from people
select id, lpad(name, 6, '*') from people
select id, replace(note, 'a', 'AA'), replace(town, 'm') from people
select id, name || '|', town || '|', '<' || note || '>' from people
select id, trim(name) || ', ' || town from people
select id, concat(town, note), id || ': ' || trim(name) from people
select id, instr(note, 'a'), charindex('n', note), instr(town, 'm') from people
select id, reverse(town), reverse(trim(name)) from people
select id, ascii(town), chr(65), space(3) || 'x' from people
select id, initcap(town) from people
select id, upper(trim(name) || nvl(town, '?')) from people
select id, upper(nvl(name[1,3], 'x')) from people
select id, length(trim(note)), length(name || 'x') from people
select year(born), month(born), day(born), weekday(born), quarter(born) from people
select id, year(seen), month(seen), day(stamp), weekday(seen) from people
select id, born + 1, born - 1, born + id, 1 + born from people
select id, born - mdy(1, 1, 2024), born - '01/01/2024'::date from people
select id, placed - born from people, orders where id = num
select id, born + 1 units day, born - 30 units day from people
select id, born + id units day from people
select id, born + 1 units month from people where id in (4, 5, 6, 3)
select id, born - 1 units month from people where id in (1, 6, 7, 3)
select id, born + 1 units year from people where id <> 2
select id, seen + 1 units hour, seen - 90 units minute, seen + 1 units second from people
select id, seen + 1 units day, stamp - 36 units hour from people
select id, seen + interval (1 02:03:04) day to second from people
select id, seen - interval (5) day to day, seen + interval (90) minute(4) to minute from people
select id, born + interval (3) day to day, born + interval (1-2) year to month from people where id in (5, 3, 6)
select id, stamp + interval (1.5) second to fraction(1) from people
select id, born + 12 units hour from people
select id, extend(seen, year to day), extend(seen, year to hour), extend(seen, year to minute) from people
select id, extend(born, year to second), extend(born, year to minute) from people
select id, extend(stamp, year to second), extend(seen, year to fraction(3)) from people
select id, extend(born, year to hour) + 6 units hour from people
select id, date(seen), date(stamp) from people
select date('02/29/2024'), date('2024-01-31') from people where id = 1
select mdy(2, 29, 2024), mdy(12, 31, 1999), mdy(1, 1, 2024) + 59 from people where id = 1
select id, mdy(month(born), 1, year(born)) from people
select id, add_months(born, 1), add_months(born, -1), add_months(born, 12) from people
select id, add_months(born, id) from people
select id, add_months('01/31/2024', 1), add_months(mdy(2, 29, 2024), 12) from people where id = 1
select num, add_months(placed, 1), add_months(due, -1) from orders
select id, last_day(born) from people
select id, last_day(add_months(born, 1)) from people
select id, trunc(born, 'MONTH'), trunc(born, 'YEAR'), trunc(seen, 'MM'), trunc(seen) from people
select id, trunc(seen, 'HH'), trunc(seen, 'DD'), trunc(born, 'Q') from people
select id, to_char(born, '%Y-%m-%d'), to_char(born, '%d.%m.%y') from people
select id, to_char(seen, '%Y-%m-%d %H:%M:%S'), to_char(seen, '%H:%M') from people
select id, to_char(seen, 'YYYY-MM-DD HH24:MI:SS'), to_char(born, 'YYYYMMDD') from people
select id, to_char(born, '%B %d, %Y'), to_char(born, '%b %a %A') from people
select id, to_char(born, '%j'), to_char(seen, '%I:%M %p') from people
select to_date('2024-01-31 10:20:30', '%Y-%m-%d %H:%M:%S') from people where id = 1
select to_date('31.01.2024', '%d.%m.%Y') from people where id = 1
select id, weekday(born + 1), year(add_months(born, 1)) from people
select count(*) from people where born < today
select count(*) from people where today - born > 365
select count(*) from people where seen < current
select count(*) from people where seen < current year to second and born <= today
select count(*) from people where extend(current, year to day) >= today
select weekday(today) - weekday(today + 7), today - (today - 3) from people where id = 1
select count(*) from people where year(born) < year(today)
select count(*), count(town), count(credit) from people
select count(distinct town), count(unique name), count(distinct credit) from people
select sum(id), sum(credit), sum(size), sum(big) from people
select sum(score), avg(score) from people
select avg(id), avg(credit), avg(salary) from people
select avg(amount), avg(qty) from orders
select min(id), max(credit), min(born), max(seen) from people
select min(town), max(town), min(name), max(name) from people
select sum(credit * 2), sum(id) + 1, max(id) - min(id) from people
select sum(credit) / count(*), sum(id) / 3 from people
select stdev(id), variance(id) from people
select range(id), range(credit) from people
select count(*) from people where 1 = 2
select sum(id), max(town) from people where id > 100
select nvl(sum(credit), 0) from people where id > 100
select sum(case when credit > 0 then 1 else 0 end) from people
select sum(nvl(credit, 0)), count(nvl(credit, 0)) from people
select town, count(*) from people group by town
select town, count(*), sum(credit) from people group by town order by town
select town, count(*) n from people group by 1 order by n desc, town
select name, max(id) from people group by name order by name
select kind, sum(qty), min(placed) from orders group by kind order by kind
select code, count(*) from orders group by code order by code
select kind, code, sum(amount) from orders group by kind, code order by 1, 2
select ok, count(*) from people group by ok order by ok
select year(born), count(*) from people group by 1 order by 1
select upper(town), count(*) from people group by 1 order by 1
select upper(town) u, count(*) from people group by upper(town) order by u
select town, count(*) from people group by town having count(*) > 1
select kind, avg(score) from people, orders where id = person group by kind order by kind
select town, sum(credit) from people group by town having sum(credit) > 0 order by 2, 1
select mod(id, 3), count(*), sum(credit) from people group by 1 order by 1
select case when id > 4 then 'b' else 'a' end, count(*) from people group by 1 order by 1
select distinct town from people
select unique town from people order by town
select distinct name from people order by name desc
select distinct kind, code from orders
select distinct credit from people order by 1
select distinct ok, mod(id, 2) from people order by 1, 2
select distinct upper(town) from people order by 1
select distinct year(born) y from people order by y desc
select id, town from people order by town, id
select id, town from people order by town desc, id desc
select id, name from people order by name, id
select id, credit from people order by credit, id
select id, credit from people order by credit desc, id
select id, born from people order by born desc, id
select id, credit * 2 d from people order by d, id
select id from people order by credit, id desc
select id, name from people order by 2, 1
select first 3 id from people order by id
select skip 2 first 3 id from people order by id
select skip 5 id from people order by id
select id from people order by id limit 2
select limit 2 id from people order by id desc
select first 2 id, credit from people order by credit desc, id
select first 3 town from people order by town, id
select p.name, o.num from people p, orders o where p.id = o.person
select p.name, o.num, o.amount * p.credit from people p, orders o where p.id = o.person and o.amount > 0
select p.id, t.region from people p, towns t where p.town = t.town
select p.id, t.region from people p join towns t on p.town = t.town order by 1, 2
select p.id, o.num from people p left join orders o on o.person = p.id
select p.id, o.num from people p left outer join orders o on o.person = p.id and o.amount > 0
select p.id, o.num from people p right join orders o on o.person = p.id
select p.id, o.num from people p full join orders o on o.person = p.id
select p.id, t.region, o.num from people p inner join towns t on t.town = p.town left join orders o on o.person = p.id
select count(*) from people cross join towns
select p.id from people p left join orders o on o.person = p.id where o.num is null
select p.id, o.num from people p, outer orders o where p.id = o.person
select p.id, o.num from people p, outer orders o where p.id = o.person and o.amount > 0
select p.id, o.num from people p, outer orders o where p.id = o.person and amount > 0
select id, num from people, outer orders where id = person
select id, num from people, outer orders where id = person and kind = 'A' and credit > 0
select id, num from people, outer orders where id = person and placed > '01/31/2024'
select p.id, o.num, t.region from people p, outer orders o, outer towns t where p.id = o.person and p.town = t.town
select id, num from people, outer orders where id = person and num is null
select a.id, b.id from people a, people b where a.town = b.town and a.id < b.id
select a.id, b.id from people a, people b where a.born = b.born + 1
select id from people where id in (select person from orders)
select id from people where id not in (select person from orders where person is not null)
select id from people where town in (select town from towns)
select id from people where exists (select 1 from orders where person = people.id)
select id from people where not exists (select 1 from orders o where o.person = people.id and o.amount > 0)
select id from people where credit > (select avg(amount) from orders)
select id from people where credit = (select max(credit) from people)
select id, (select count(*) from orders o where o.person = people.id) n from people
select id, (select sum(amount) from orders o where o.person = p.id) from people p
select id from people where id = any (select person from orders)
select id from people where id >= all (select person from orders where person < 9)
select id from people where town = any (select town from towns)
select t.a, t.b from (select id, town from people) as t(a, b) where t.a < 3
select x.town, x.n from (select town, count(*) n from people group by town) x where x.n > 1
select x.id from (select id, credit from people where credit > 0) x order by x.id
select avg(n) from (select count(*) n from orders group by kind) x
with rich as (select id, credit from people where credit > 1) select id from rich order by id
with t(a) as (select town from people) select a, count(*) from t group by a order by a
with a as (select id from people where id < 4), b as (select id from a where id > 1) select * from b
with numbers(n) as (select 1 from people where id = 1 union all select n + 1 from numbers where n < 5) select n from numbers
select id from people union select num from orders order by 1
select id from people union all select person from orders
select town from people union select town from towns
select town from people union all select town from towns
select name from people union select region from towns order by 1
select id, town from people union select people, town from towns order by 1, 2
select id from people minus select person from orders
select id from people intersect select person from orders
select name from people minus select 'Anna' from people
select kind from orders intersect select 'A' from orders
select town from people minus select town from towns
select id from people where id < 3 union select num from orders where num > 6 union all select 1 from people where id = 1
select credit from people union select amount from orders
select id, row_number() over (order by id) from people
select id, rank() over (order by credit) from people
select id, dense_rank() over (order by town) from people
select id, rank() over (partition by town order by id) from people
select id, count(*) over (partition by town) from people
select id, sum(credit) over (order by id) from people
select id, sum(credit) over (order by id rows between 1 preceding and current row) from people
select id, avg(score) over (partition by ok) from people
select id, avg(credit) over (partition by ok) from people
select id, lag(id) over (order by id), lead(town) over (order by id) from people
select id, lag(credit, 2) over (order by id), lead(id, 1, 0) over (order by id) from people
select id, first_value(name) over (order by id), max(credit) over (partition by town) from people
select id, ntile(3) over (order by id) from people
select id, percent_rank() over (order by id), cume_dist() over (order by id) from people
select id, row_number() over (order by town desc, id) from people
select 1 from sysmaster:sysdual
select 1, 'x', mdy(1, 2, 2024) from systables where tabid = 1
select 2 + 3 * 4, (2 + 3) * 4, 7 - -2 from sysmaster:sysdual
select null from people where id = 1
select 'it''s', 'a\b', "double" from people where id = 1
select 1.50, 0.1 + 0.2, 1e3, 12345678901 from people where id = 1
select count(*) from orders where due = '2024-02-29'
select num, due + 1 units day, last_day(due) from orders
select num, placed - due from orders
select num, extend(due, year to second) from orders
select id from people where rowid = 1
select id from people where name = town
select id from people where credit = score
select id, id from people where id + 1 = 3 or id * 2 > 12
select id from people where trim(name) = 'Anna' and length(town) = 3
select id from people where upper(town) = 'BERN'
select id from people where nvl(town, '') = ''
select id from people where decode(town, 'Ulm', 1, 0) = 1
select id from people where case when credit > 0 then 1 else 0 end = 1
select id from people where month(born) = 2 and day(born) > 27
select id from people where born + 1 = '03/01/2024'
select id from people where credit * 2 > salary
select id from people where abs(credit) > 10
select id from people where mod(id, 2) = 0
select id from people where seen between datetime (2024-01-01 00:00) year to minute and datetime (2024-12-31 23:59) year to minute
select name, substr(town, 1, 1) || '.' from people where town is not null
select kind || code from orders
select num from orders where kind = 'A' and code = 'x1'
select num from orders where code = 'x1'
select num from orders where code <> 'x1'
select num from orders where code >= 'x1'
select num, qty * amount, qty + num from orders
select person, sum(qty * amount) from orders group by person order by person
select placed, sum(amount) from orders where placed is not null group by placed order by placed
select p.town, sum(o.amount), count(*) from people p, orders o where p.id = o.person group by p.town order by 2
select t.region, count(*) from people p, towns t where p.town = t.town group by t.region order by 1
select max(o.placed) - min(p.born) from people p, orders o where p.id = o.person
select id from people where id in (1, 2, null)
select id from people where town = name or credit is null
