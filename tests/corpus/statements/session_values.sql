-- Views and tables over TODAY, CURRENT and USER; queries and views without FROM.
create table note (id int, at datetime year to second, d date)
=> ok
insert into note values (1, current year to second, today)
=> 1 row
insert into note values (2, current year to second - 40 units day, today - 40)
=> 1 row
create view recent as select id from note where d > today - 30
=> ok
create view fresh (id, minute) as select id, current year to minute from note where at > current year to second - interval(7) day to day
=> ok
create view aged as select id, today - d days, (current - at)::interval day(4) to day span from note
=> ok
create view mine as select id, user who from note
=> ok
select id from recent
=> [(1,)]
select id from fresh where minute > current - 1 units hour
=> [(1,)]
select id, days from aged order by id
=> [(1, 0), (2, 40)]
select id, who from mine where who = user order by id
=> [(1, 'informix'), (2, 'informix')]
create view over_recent as select n.id, n.d from note n, recent r where n.id = r.id
=> ok
select count(*) from over_recent where d = today
=> [(1,)]
select r.id from recent r, outer note n where r.id = n.id + 1
=> [(1,)]
update recent set id = 3
=> 1 row
insert into recent values (9)
=> 1 row
select id from note order by id
=> [(2,), (3,), (9,)]
create view guarded as select id, d from note where d >= today with check option
=> ok
insert into guarded values (50, today)
=> 1 row
insert into guarded values (51, today - 1)
=> -385
rename table recent to recent2
=> ok
select count(*) from over_recent
=> [(2,)]
rename column note.id to ident
=> ok
select id from recent2 order by 1
=> [(3,), (50,)]
create synonym rec for recent2
=> ok
select count(*) from rec
=> [(2,)]
create table snapshot as select current year to fraction(5) at, today d, ident, user who from note
=> ok
select count(*) from snapshot where d = today and who = user and at <= current
=> [(4,)]
create table one as select 1 as a, 'x' as b
=> ok
select a, b from one
=> [(1, 'x')]
create view two as select 2 as id
=> ok
create view pair (a, b) as select 1, 'x'
=> ok
select id, a, b from two, pair
=> [(2, 1, 'x')]
insert into two values (3)
=> -274
rename table two to three
=> ok
select id from three
=> [(2,)]
select exists (select 1 from note)
=> [(True,)]
select not exists (select 1 from note), 1 = 2
=> [(False, False)]
select exists (select 1 from note where ident = 99) from systables where tabid = 1
=> [(False,)]
select today - today, 1 + 1, user
=> [(0, 2, 'informix')]
select d from over_recent where d < today into temp old_ones with no log
=> ok
select count(*) from old_ones
=> [(0,)]
drop view recent2
=> ok
select id from over_recent
=> -206
