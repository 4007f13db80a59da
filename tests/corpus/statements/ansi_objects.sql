-- Indexes, constraints, routines, triggers and sequences of a MODE ANSI database, and owners with and without quotes.
--! ansi
create sequence "bob".numbers
=> ok
create sequence "ann".numbers start with 50
=> ok
create sequence numbers start with 500 increment by 5
=> ok
create sequence "ann".numbers
=> -8301
select "bob".numbers.nextval, "ann".numbers.nextval, numbers.nextval from "informix".systables where tabid = 1
=> [(1, 50, 500)]
select zoe.numbers.nextval from "informix".systables where tabid = 1
=> -522
alter sequence "ann".numbers restart with 70
=> ok
rename sequence "ann".numbers to counter
=> ok
select "ann".counter.nextval, "bob".numbers.nextval from "informix".systables where tabid = 1
=> [(70, 2)]
drop sequence "bob".numbers
=> ok
select numbers.nextval from "informix".systables where tabid = 1
=> [(505,)]
select owner, tabname from "informix".systables where tabtype = 'Q' order by 1
=> [('ann', 'counter'), ('informix', 'numbers')]
create function "bob".add_one(x int) returning int; return x + 1; end function
=> ok
create function "ann".add_one(x int) returning int; return x + 100; end function
=> ok
create function "ann".add_one(x int) returning int; return x + 7; end function
=> -673
select "bob".add_one(1), "ann".add_one(1) from "informix".systables where tabid = 1
=> [(2, 101)]
execute function "ann".add_one(5)
=> [(105,)]
execute function add_one(5)
=> -674
select add_one(5) from "informix".systables where tabid = 1
=> -674
create function add_one(x int) returning int; return "bob".add_one(x) + 1000; end function
=> ok
select add_one(5) from "informix".systables where tabid = 1
=> [(1006,)]
drop function "bob".add_one(int)
=> ok
execute function add_one(5)
=> -674
drop function "zoe".add_one
=> -674
select owner from "informix".sysprocedures where procname = 'add_one' order by 1
=> [('ann',), ('informix',)]
grant execute on function "ann".add_one to public
=> ok
grant execute on function "bob".add_one to public
=> -674
create table "bob".orders (id int, note char(5))
=> ok
create table bob.orders (id int, note varchar(9))
=> ok
select owner from "informix".systables where tabname = 'orders' order by 1
=> [('BOB',), ('bob',)]
insert into bob.orders values (1, 'upper')
=> 1 row
insert into "bob".orders values (2, 'lower')
=> 1 row
select note from "BOB".orders
=> [('upper',)]
select "bob".orders.note from "bob".orders where "bob".orders.id > 1
=> [('lower',)]
select count(*) from Informix.systables where tabid = 1
=> [(1,)]
create procedure likes() returning char(5), varchar(9); define c like "bob".orders.note; define v like bob.orders.note; let c = 'abcdefgh'; let v = 'abcdefgh'; return c, v; end procedure
=> ok
execute procedure likes()
=> [('abcde', 'abcdefgh')]
select * from orders
=> -206
create index "bob".ix on "bob".orders (id)
=> ok
create unique index "ann".ix on "bob".orders (note)
=> ok
create index ix on "bob".orders (id, note)
=> ok
create index ix on bob.orders (id)
=> -316
select idxname, owner from "informix".sysindexes where idxname = 'ix' order by 2
=> [('ix', 'ann'), ('ix', 'bob'), ('ix', 'informix')]
insert into "bob".orders values (3, 'lower')
=> -239
drop index "ann".ix
=> ok
drop index "ann".ix
=> -319
insert into "bob".orders values (3, 'lower')
=> 1 row
rename index "bob".ix to by_id
=> ok
set indexes "bob".by_id disabled
=> ok
select name, owner, state from "informix".sysobjstate where objtype = 'I' and tabid >= 100 order by 2
=> [('by_id', 'bob', 'D'), ('ix', 'informix', 'E')]
set indexes "bob".by_id enabled
=> ok
drop index ix
=> ok
drop index "bob".by_id
=> ok
alter table "bob".orders add constraint check (id < 10) constraint "bob".valid
=> ok
alter table "BOB".orders add constraint check (id < 20) constraint valid
=> ok
alter table "BOB".orders add constraint unique (note) constraint "ann".valid
=> ok
alter table "BOB".orders add constraint check (id < 30) constraint valid
=> -625
select constrname, owner, constrtype from "informix".sysconstraints where constrname = 'valid' order by 2
=> [('valid', 'ann', 'U'), ('valid', 'bob', 'C'), ('valid', 'informix', 'C')]
select c.owner, k.checktext from "informix".sysconstraints c, "informix".syschecks k where c.constrid = k.constrid and c.constrname = 'valid' order by 1
=> [('bob', '(id < 10)'), ('informix', '(id < 20)')]
insert into "bob".orders values (15, 'x')
=> -530
insert into bob.orders values (15, 'x')
=> 1 row
insert into bob.orders values (16, 'x')
=> -268
set constraints "ann".valid disabled
=> ok
insert into bob.orders values (16, 'x')
=> 1 row
alter table "bob".orders drop constraint valid
=> -623
alter table "bob".orders drop constraint "bob".valid
=> ok
delete from bob.orders where id = 16
=> 1 row
set constraints "ann".valid enabled
=> ok
rename constraint "ann".valid to once
=> ok
select constrname, owner from "informix".sysconstraints where tabid >= 100 order by 1
=> [('once', 'ann'), ('valid', 'informix')]
create table "bob".log (what char(8))
=> ok
create table "ann".log (what char(8))
=> ok
create trigger "bob".watch insert on "bob".orders for each row (insert into log values ('bob'))
=> ok
create trigger "ann".watch insert on "bob".orders for each row (insert into log values ('ann'))
=> ok
create trigger "ann".watch delete on "bob".orders for each row (insert into log values ('ann'))
=> -743
insert into "bob".orders values (4, 'new')
=> 1 row
select what from "bob".log
=> [('bob',)]
select what from "ann".log
=> [('ann',)]
drop trigger watch
=> -634
set triggers "bob".watch disabled
=> ok
drop trigger "ann".watch
=> ok
insert into "bob".orders values (5, 'new')
=> 1 row
select count(*) from "bob".log
=> [(1,)]
select trigname, owner from "informix".systriggers
=> [('watch', 'bob')]
create table "bob".item (a int, b int)
=> ok
create table "ann".item (a int, b int)
=> ok
insert into "ann".item values (1, 7)
=> 1 row
create view "ann".items as select item.a, b from item
=> ok
create view "ann".large as select * from items where b > 5
=> ok
update "ann".items set b = 8 where a = 1
=> 1 row
select * from "ann".large
=> [(1, 8)]
rename table "ann".item to thing
=> ok
rename column "ann".thing.b to c
=> ok
select * from "ann".items
=> [(1, 8)]
drop table "bob".item
=> ok
select * from "ann".large
=> [(1, 8)]
drop table "ann".thing
=> ok
select * from "ann".large
=> -206
