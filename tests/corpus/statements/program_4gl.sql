-- The statements of 4GL programs: temporary tables, FIRST and SKIP, matching, dates, outer joins, transactions.
--! env DBDATE=MDY4/
create table emp (id serial, name char(20), dept smallint, salary money(9,2), hired date, boss integer, last_col char(1))
=> ok
create table dept (no smallint, title varchar(20))
=> ok
insert into dept values (10, 'Sales')
=> 1 row
insert into dept values (20, 'Stores')
=> 1 row
insert into dept values (30, 'Empty')
=> 1 row
insert into emp values (0, 'Ann', 10, 1000, '01/15/2001', null, 'a')
=> 1 row
insert into emp values (0, 'Bob', 10, 800.50, '02/28/2004', 1, 'b')
=> 1 row
insert into emp values (0, 'Cid O''Hara', 20, 900, '12/31/1999', 1, 'c')
=> 1 row
insert into emp (name, dept, salary) values ("Dora ""D""", 20, 700)
=> 1 row
select first 2 name from emp order by salary desc
=> [('Ann',), ('Cid O\'Hara',)]
select skip 1 first 2 id from emp order by id
=> [(2,), (3,)]
select limit 1 id from emp order by id desc
=> [(4,)]
select unique dept from emp order by dept
=> [(10,), (20,)]
select distinct dept, count(*) from emp group by dept order by 1
=> [(10, 2), (20, 2)]
select dept, count(*), sum(salary), avg(salary), min(hired), max(name) from emp group by dept order by 1
=> [(10, 2, 1800.5, 900.25, '2001-01-15', 'Bob'), (20, 2, 1600, 800, '1999-12-31', 'Dora "D"')]
select id from emp where name matches "[AB]*" order by id
=> [(1,), (2,)]
select id from emp where name matches "*O'H*"
=> [(3,)]
select id from emp where name not like "%o%" order by id
=> [(1,), (3,)]
select id from emp where name[1,3] = "Bob"
=> [(2,)]
select id from emp where hired between "01/01/2000" and "12/31/2003"
=> [(1,)]
select id from emp where hired = mdy(2, 28, 2004) and year(hired) = 2004 and month(hired) = 2 and day(hired) = 28
=> [(2,)]
select id, hired + 1, hired + 1 units month, weekday(hired) from emp where id = 3
=> [(3, '2000-01-01', '2000-01-31', 5)]
select id, hired - mdy(1, 1, 1999) from emp where id = 3
=> [(3, 364)]
select e.name, d.title from emp e, outer dept d where e.dept = d.no and d.no = 10 order by 1
=> [('Ann', 'Sales'), ('Bob', 'Sales'), ("Cid O'Hara", None), ('Dora "D"', None)]
select d.title, e.id from dept d left outer join emp e on d.no = e.dept where e.id is null
=> [('Empty', None)]
select title from dept where no not in (select dept from emp)
=> [('Empty',)]
select title from dept d where exists (select 1 from emp where dept = d.no and salary > 950)
=> [('Sales',)]
select id from emp where salary >= all (select salary from emp)
=> [(1,)]
select id from emp e where salary > (select avg(salary) from emp where dept = e.dept) order by 1
=> [(1,), (3,)]
select e.name, b.name from emp e, emp b where e.boss = b.id order by e.id
=> [('Bob', 'Ann'), ("Cid O'Hara", 'Ann')]
select dept, name from emp where dept = 10 union select no, title from dept where no = 30 order by 1, 2
=> [(10, 'Ann'), (10, 'Bob'), (30, 'Empty')]
select dept from emp union all select no from dept order by 1
=> [(10,), (10,), (10,), (20,), (20,), (20,), (30,)]
select id, level from emp start with boss is null and id = 1 connect by prior id = boss order by id
=> [(1, 1), (2, 2), (3, 2)]
select name as clipped from emp where id = 1
=> [('Ann',)]
select id, salary * 1.1, salary / 3, -salary from emp where id = 1
=> [(1, 1100, 333.3333333333333, -1000)]
select id, case when salary < 800 then "low" when salary < 950 then "mid" else "high" end from emp order by id
=> [(1, 'high'), (2, 'mid'), (3, 'mid'), (4, 'low')]
select nvl(boss, 0), decode(dept, 10, "ten", 20, "twenty"), upper(name), length(name) from emp where id = 2
=> [(1, 'ten', 'BOB', 3)]
select trim(name) || "/" || dept, substr(name, 2, 2), replace(trim(name), "n", "m"), lpad(dept, 4, "0") from emp where id = 1
=> [('Ann/10', 'nn', 'Amm', '0010')]
select dbinfo("sqlca.sqlerrd1"), dbinfo("sqlca.sqlerrd2") from systables where tabid = 1
=> [(4, 1)]
select * from emp where dept = 10 into temp t_emp with no log
=> ok
create index ix_t_emp on t_emp (id)
=> ok
update t_emp set (name, salary) = ("Zoe", 1) where id = 2
=> 1 row
update t_emp set salary = (select max(salary) from emp), boss = null where id = 1
=> 1 row
select id, name, salary from t_emp order by id
=> [(1, 'Ann', 1000), (2, 'Zoe', 1)]
insert into emp (name, dept) select title, no from dept where no = 30
=> 1 row
delete from t_emp where id in (select id from emp where dept = 10)
=> 2 rows
drop table t_emp
=> ok
begin work
=> ok
lock table emp in exclusive mode
=> ok
update emp set salary = salary * 2 where dept = 10
=> 2 rows
savepoint before_delete
=> ok
delete from emp
=> 5 rows
rollback to savepoint before_delete
=> ok
commit work
=> ok
select sum(salary) from emp where dept = 10
=> [(3601,)]
begin work
=> ok
delete from emp where 1 = 1
=> 5 rows
rollback work
=> ok
select count(*) from emp
=> [(5,)]
commit work
=> -255
set isolation to dirty read
=> ok
set isolation to committed read last committed
=> ok
set isolation to cursor stability
=> ok
set isolation to repeatable read
=> ok
set lock mode to wait 10
=> ok
set lock mode to not wait
=> ok
set explain off
=> ok
set pdqpriority low
=> ok
set optimization first_rows
=> ok
update emp set name = "far too long a name for this column" where id = 1
=> 1 row
select name from emp where id = 1
=> [('far too long a name',)]
select today - hired from emp where id = 99
=> []
select max(id), min(id), count(boss) from emp where id > 99
=> [(None, None, 0)]
select nothing from emp
=> -217
select id from nowhere
=> -206
select id id2, x.id from emp x where y.id = 1
=> -522
select id from emp, dept d, emp
=> -223
insert into emp (id) values (1, 2)
=> -236
selekt id from emp
=> -201
select id from emp where id = 'abc'
=> -1213
select id from emp where hired = '13/45/2001'
=> -1205
update emp set hired = '2001-02-30'
=> -1206
insert into dept values (99999, 'x')
=> -1214
select 1/0 from systables where tabid = 1
=> -1202
merge into dept d using (select 40 no, 'New' title from systables where tabid = 1) s on d.no = s.no when matched then update set d.title = s.title when not matched then insert (no, title) values (s.no, s.title)
=> 1 row
select title from dept where no = 40
=> [('New',)]
unlock table emp
=> -288
drop table emp
=> ok
drop table emp
=> -206
drop table if exists emp
=> ok
