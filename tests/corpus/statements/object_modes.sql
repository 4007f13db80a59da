-- SET CONSTRAINTS, INDEXES and TRIGGERS with their modes, as load scripts use them.
create table parent (id int primary key constraint pk_parent, code char(3), last int)
=> ok
create table child (id int, parent_id int references parent constraint fk_child, n int check (n > 0) constraint ck_n, u int unique constraint uq_u, txt varchar(10))
=> ok
create unique index ix_txt on child (txt)
=> ok
create index ix_n on child (n)
=> ok
create table trail (n int)
=> ok
create trigger child_ins insert on child for each row (insert into trail values (1))
=> ok
insert into parent values (1, 'a', 9)
=> 1 row
insert into child values (1, 1, 5, 1, 'x')
=> 1 row
insert into child values (2, 7, 5, 2, 'y')
=> -691
set constraints for child disabled
=> ok
insert into child values (2, 7, -5, 1, 'y')
=> 1 row
insert into child values (3, 1, 5, 3, 'y')
=> -239
select name, objtype, state from sysobjstate o, systables t where o.tabid = t.tabid and tabname = 'child' and objtype = 'C' and name not matches 'n[0-9]*' order by name
=> [('ck_n', 'C', 'D'), ('fk_child', 'C', 'D'), ('uq_u', 'C', 'D')]
select constrname from sysconstraints c, systables t where c.tabid = t.tabid and tabname = 'child' and constrtype <> 'N' order by 1
=> [('ck_n',), ('fk_child',), ('uq_u',)]
select checktext from syschecks k, sysconstraints c where k.constrid = c.constrid and constrname = 'ck_n'
=> [('(n > 0)',)]
set constraints for child enabled
=> -530
set constraints uq_u enabled
=> -371
update child set u = 2, n = 6 where id = 2
=> 1 row
set constraints uq_u, ck_n enabled
=> ok
set constraints fk_child enabled
=> -525
insert into child values (4, 99, -1, 4, 'q')
=> -530
insert into child values (4, 99, 1, 1, 'q')
=> -268
insert into child values (4, 99, 1, 4, 'q')
=> 1 row
delete from child where parent_id <> 1
=> 2 rows
set constraints for child enabled
=> ok
insert into child values (4, 99, 1, 4, 'q')
=> -691
set indexes for child disabled
=> ok
insert into child values (5, 1, 5, 5, 'x')
=> 1 row
set indexes ix_txt enabled
=> -371
delete from child where id = 5
=> 1 row
set indexes ix_txt, ix_n enabled
=> ok
insert into child values (5, 1, 5, 5, 'x')
=> -239
set indexes ix_txt disabled
=> ok
drop index ix_txt
=> ok
select idxname from sysindexes where idxname matches 'ix_*' order by 1
=> [('ix_n',)]
set constraints, indexes, triggers for child disabled
=> ok
alter table child drop n
=> -201
rename column child.n to m
=> -201
alter table child drop constraint ck_n
=> ok
insert into child values (6, 1, -1, 6, 'z')
=> 1 row
select count(*) from trail
=> [(4,)]
set constraints, indexes, triggers for child enabled
=> ok
set constraints fk_child filtering without error
=> ok
set constraints fk_child filtering with error novalidate
=> ok
insert into child values (7, 99, 1, 7, 'z')
=> -691
insert into child values (8, 1, 1, 8, 'w')
=> 1 row
select count(*) from trail
=> [(5,)]
set triggers child_ins disabled
=> ok
set constraints no_such_one disabled
=> -623
set indexes no_such_one disabled
=> -319
set constraints for no_table disabled
=> -206
set constraints for child
=> -201
select id, n, u, txt from child order by id
=> [(1, 5, 1, 'x'), (6, -1, 6, 'z'), (8, 1, 8, 'w')]
begin work
=> ok
set constraints for child disabled
=> ok
insert into child values (9, 99, 1, 9, 'v')
=> 1 row
rollback work
=> ok
insert into child values (9, 99, 1, 9, 'v')
=> -691
drop table child
=> ok
drop table parent
=> ok
create table made (id int, code char(4), amount int, check (amount > 0) constraint ck_made disabled)
=> ok
alter table made add constraint unique (code) constraint uq_made disabled
=> ok
create unique index ix_made on made (id) disabled
=> ok
create index ix_made2 on made (amount) using btree filtering without error
=> ok
insert into made values (1, 'a', -1)
=> 1 row
insert into made values (1, 'a', 5)
=> 1 row
select name, objtype, state from sysobjstate where name in ('ck_made', 'uq_made', 'ix_made', 'ix_made2') order by 1
=> [('ck_made', 'C', 'D'), ('ix_made', 'I', 'D'), ('ix_made2', 'I', 'E'), ('uq_made', 'C', 'D')]
set constraints ck_made enabled
=> -530
set indexes ix_made enabled
=> -371
delete from made where amount = -1
=> 1 row
set constraints ck_made, uq_made enabled
=> ok
set indexes ix_made enabled
=> ok
insert into made values (2, 'b', -1)
=> -530
insert into made values (1, 'b', 1)
=> -239
insert into made values (2, 'a', 1)
=> -268
create table refers (made char(4) references made (code) constraint fk_refers disabled)
=> ok
insert into refers values ('no')
=> 1 row
set constraints fk_refers enabled
=> -525
