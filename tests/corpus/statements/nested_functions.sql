-- Functions of long expressions, as report generators write them.
--! env DBDATE=MDY4/
create table seen (id int, at datetime year to second, n decimal(10,2), txt varchar(40))
=> ok
insert into seen values (1, '2026-11-28 10:00:00', 1234.5, 'abc')
=> 1 row
select lpad(trunc((date(at) - mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)) + weekday(mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)))) / 7, 0), 3, '0') || '-' || year(at) from seen
=> [('047-2026',)]
select lpad(trunc((date(at) - mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)) + weekday(mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)))) / 7, 0), 2, 0) w, count(*) from seen group by 1 union select lpad(trunc((date(at) - mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)) + weekday(mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)))) / 7, 0), 2, 0) w, count(*) from seen group by 1 union select lpad(trunc((date(at) - mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)) + weekday(mdy(1, 1, year(date(at) - weekday(date(at) - 1 units day) + 4 units day)))) / 7, 0), 2, 0) w, count(*) from seen group by 1
=> [('47', 1)]
select rpad(replace(upper(trim(replace(replace(txt, 'a', 'x'), 'b', 'y'))), 'X', to_char(at, '%Y-%m-%d')), 20, '.') from seen
=> [('2026-11-28YC........',)]
select nvl(to_char(at, '%d/%m/%Y') || ' ' || lpad(to_char(n), 12, ' '), 'never') from seen
=> [('28/11/2026      1234.50',)]
select substr(lpad(rpad(lpad(rpad(lpad(txt, 5, '*'), 6, '-'), 7, '*'), 8, '-'), 9, '*'), 3, 4) from seen
=> [('**ab',)]
select extend(extend(extend(at, year to minute), year to hour), year to second) + 1 units day + 1 units hour - 1 units day from seen
=> [('2026-11-28 11:00:00',)]
select round(round(round(n / 7 * 3 + 1, 3) / 7 * 3 + 1, 3) / 7 * 3 + 1, 2)::char(10) || '|' from seen
=> [('98.79     |',)]
select decode(lpad(weekday(at), 2, '0'), '06', 'Saturday', '00', 'Sunday', 'weekday') from seen
=> [('Saturday',)]
select sum(case when lpad(trunc(n / 100, 0), 4, '0') between '0001' and '0099' then 1 else 0 end), max(lpad(id, 5, '0')) from seen
=> [(1, '00001')]
select greatest(lpad(trunc(sum(n) / 100, 0), 8, '0'), lpad(max(id), 8, '0')) from seen
=> [('00000012',)]
create table guarded (a varchar(40), check (lpad(replace(replace(replace(trim(a), 'a', 'b'), 'c', 'd'), 'e', 'f'), 12, lpad(replace(trim(a), ' ', ''), 3, '0')) <> 'x'))
=> ok
insert into guarded values ('abc')
=> 1 row
select a from guarded
=> [('abc',)]
