-- Built-in casts between operands of different types, the same in every form of comparison.
--! env DBDATE=MDY4/
create table note (id int, txt varchar(20), at datetime year to second, hm datetime hour to minute, d date, code char(8), fd decimal(12), pay money(8,2), span interval day to second, ok boolean, last int)
=> ok
insert into note values (5, '5', '2004-02-03 10:00:00', '10:00', '01/05/1900', '00005', 5, 5, interval(1 00:00:00) day to second, 't', 1)
=> 1 row
insert into note values (6, ' 7 ', '1900-01-06 00:00:00', '11:30', '01/06/1900', '-3', -2.5, 7.25, null, 'f', 2)
=> 1 row
insert into note (id) values (7)
=> 1 row
select id from note where id = code
=> [(5,)]
select id from note where id in (select code from note)
=> [(5,)]
select id from note where id not in (select code from note where code is not null) order by id
=> [(6,), (7,)]
select id from note where code in (select id from note)
=> [(5,)]
select id from note where code = any (select id from note)
=> [(5,)]
select id from note where id >= all (select code from note where code is not null) order by id
=> [(5,), (6,), (7,)]
select id from note where code = (select min(id) from note)
=> [(5,)]
select id from note where txt between 5 and 7 order by id
=> [(5,), (6,)]
select id from note where txt < 6
=> [(5,)]
select id from note where 6 < (select max(code) from note)
=> []
select id from note where txt = fd
=> [(5,)]
select id from note where code in (select fd from note)
=> [(5,)]
select id from note where fd in (select code from note)
=> [(5,)]
select id from note where pay = txt
=> [(5,)]
select id from note where pay = '$7.25'
=> [(6,)]
select id from note where id = d order by id
=> [(5,), (6,)]
select id from note where d = id and d in (select id from note) and d between 5 and 5
=> [(5,)]
select id from note where 5 < (select max(d) from note) order by id
=> [(5,), (6,), (7,)]
select id from note where fd = d
=> [(5,)]
select id from note where d > 5
=> [(6,)]
select id from note where d = '01/06/1900'
=> [(6,)]
select id from note where txt = d
=> -1218
select id from note where d = at
=> [(6,)]
select id from note where at in (select d from note)
=> [(6,)]
select id from note where at > d order by id
=> [(5,)]
select id from note where at < hm order by id
=> [(5,), (6,)]
select id from note where hm = '10:00'
=> [(5,)]
select id from note where at > 5
=> -1260
select id from note where span > 5
=> -1260
select id from note where span = d
=> -1260
select id from note where ok = 1
=> -9634
select id from note where ok = txt
=> []
select id from note where ok = 't'
=> [(5,)]
select id from note where nvl(d, 0) <> 0 order by id
=> [(5,), (6,)]
select nvl(d, 2), nvl(id, d) from note where id = 7
=> [('1900-01-02', '1900-01-07')]
select nvl(code, 0), nvl(id, 'none') from note where id = 7
=> [('0', '7')]
select nvl(d, 'no date') from note where id > 5 order by id
=> [('01/06/1900',), ('no date',)]
select nvl(txt, id), nvl(fd, 1), nvl(pay, 2) from note where id = 7
=> [('7', 1, 2)]
select decode(code, 5, 'five', -3, 'minus', 'none') from note order by id
=> [('five',), ('minus',), ('none',)]
select case code when 5 then 'five' else 'other' end from note where id = 5
=> [('five',)]
select case when id = 5 then d else 0 end from note order by id
=> [('1900-01-05',), ('1899-12-31',), ('1899-12-31',)]
select nullif(code, 5) from note where id = 5
=> [(None,)]
select greatest(d, 5), least(id, fd) from note where id = 6
=> [('1900-01-06', -2.5)]
select id from note where id matches '[56]*' and id like '5%'
=> [(5,)]
select id from note where d matches '*06/1900'
=> [(6,)]
select code + 1, txt * 2, code || id from note where id = 5
=> [(6, 10, '00005   5')]
select sum(code), max(code + 0), count(distinct code) from note
=> [(2, 5, 2)]
select id from note where (id, code) in (select code, id from note)
=> [(5,)]
select id from note where (code, id) = (5, '5')
=> [(5,)]
select n.id from note n, note m where n.id = m.code
=> [(5,)]
select n.id, m.last from note n left join note m on n.code = m.id order by n.id
=> [(5, 1), (6, None), (7, None)]
select id from note group by id, code having max(code) = 5
=> [(5,)]
update note set txt = id, code = id, d = id where id = 5
=> 1 row
select txt, code, d from note where id = 5
=> [('5', '5', '1900-01-05')]
update note set txt = d, last = code, fd = code where id = 6
=> 1 row
select txt, last, fd from note where id = 6
=> [('01/06/1900', -3, -3)]
delete from note where code in (-3)
=> 1 row
select id from note where txt = 5 or txt = 'x'
=> [(5,)]
select id from note where id = 'x'
=> -1213
