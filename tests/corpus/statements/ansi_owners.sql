-- Tables, views and synonyms of a MODE ANSI database: owner.name is unique there, and not name.
--! ansi
create table "bob".t (a int primary key)
=> ok
create table "ann".t (b int, c char(3), unique (b))
=> ok
create table "ann".t (z int)
=> -310
create table if not exists "ann".t (z int)
=> ok
create table t (mine int)
=> ok
create view "bob".t (x) as select tabid from "informix".systables
=> -310
create synonym "ann".t for "bob".t
=> -310
insert into "bob".t values (1)
=> 1 row
insert into "ann".t values (2, 'x')
=> 1 row
insert into t values (3)
=> 1 row
select * from t
=> [(3,)]
select * from "bob".t
=> [(1,)]
select t.b, t.c from "ann".t
=> [(2, 'x')]
select x.a, y.b from "bob".t x, "ann".t y
=> [(1, 2)]
select * from "zoe".t
=> -206
select a from "ann".t
=> -217
update "ann".t set b = 5 where c = 'x'
=> 1 row
update statistics for table "ann".t (b)
=> ok
select * from "ann".t
=> [(5, 'x')]
create table "bob".child (x int references "bob".t (a), y int)
=> ok
insert into "bob".child values (5, 0)
=> -691
insert into "bob".child values (1, 0)
=> 1 row
create table "ann".child (x int, y int)
=> ok
alter table "ann".child add constraint (foreign key (x) references "ann".t (b) constraint "ann".to_t)
=> ok
insert into "ann".child values (1, 0)
=> -691
insert into "ann".child values (5, 0)
=> 1 row
create view "ann".v (b) as select b from "ann".t
=> ok
create view "bob".v (a) as select a from "bob".t where a > 0
=> ok
select * from "ann".v
=> [(5,)]
select * from "bob".v
=> [(1,)]
update "ann".v set b = 6 where b = 7
=> 0 rows
create synonym "ann".s for "ann".t
=> ok
create synonym "bob".s for "bob".t
=> ok
select * from "ann".s
=> [(5, 'x')]
select * from "bob".s
=> [(1,)]
create index "ann".ix_t on "ann".t (c)
=> ok
create trigger "ann".tr insert on "ann".t referencing new as n for each row (insert into "bob".child values (null, n.b))
=> ok
insert into "ann".t values (7, 'q')
=> 1 row
select y from "bob".child where x is null
=> [(7,)]
select owner, tabtype from "informix".systables where tabname = 't' order by 1
=> [('ann', 'T'), ('bob', 'T'), ('informix', 'T')]
select owner, tabtype from "informix".systables where tabname in ('s', 'v') order by 2, 1
=> [('ann', 'S'), ('bob', 'S'), ('ann', 'V'), ('bob', 'V')]
select c.colname from "informix".syscolumns c, "informix".systables t where c.tabid = t.tabid and t.tabname = 't' order by 1
=> [('a',), ('b',), ('c',), ('mine',)]
select count(*) from "informix".systables where tabname matches '*[^a-z]*' and tabid >= 100
=> [(0,)]
alter table "ann".t add (d int)
=> ok
rename column "ann".t.d to e
=> ok
select e from "ann".t where b = 5
=> [(None,)]
rename table "ann".child to other
=> ok
select x from "ann".other
=> [(5,)]
select x from "ann".child
=> -206
create table "cid".other (k int)
=> ok
rename table "cid".other to child
=> ok
truncate table "cid".child
=> ok
select count(*) from "bob".child
=> [(2,)]
lock table "bob".t in share mode
=> ok
drop view "ann".v
=> ok
select * from "bob".v
=> [(1,)]
drop synonym "bob".s
=> ok
select b from "ann".s where b = 7
=> [(7,)]
drop table "bob".child
=> ok
select k from "cid".child
=> []
drop table "bob".t
=> ok
select * from "bob".t
=> -206
select mine from t
=> [(3,)]
create table "bob".t (again int)
=> ok
select again from "bob".t
=> []
