-- Operators without blanks around them, as generated SQL and old 4GL programs write them.
create table note (id int, n int, txt varchar(20))
=> ok
insert into note values(5,2,'a')
=> 1 row
insert into note values(6,-1,'b ')
=> 1 row
select id from note where txt!='a'
=> [(6,)]
select id from note where id!=6
=> [(5,)]
select id from note where id!=n and n!=-1
=> [(5,)]
select id from note where(id!=5)or(n<>2)
=> [(6,)]
select id from note where id<>6and n>=2
=> [(5,)]
select id from note where n<=-1
=> [(6,)]
select id from note where n==2
=> [(5,)]
select id from note where txt||'x'!='ax'
=> [(6,)]
select id-n,id+n,id*n,-n from note where id=5
=> [(3, 7, 10, -2)]
select id from note where n*-1>0
=> [(6,)]
select id from note where not(id=5)
=> [(6,)]
select id from note where id in(5,7)and n between 1and 3
=> [(5,)]
select id from note where txt like'a%'or txt matches'b*'order by id desc
=> [(6,), (5,)]
select id::char(2)||txt from note where id=5
=> [('5 a',)]
select case when id!=5 then'other'else'five'end from note order by id
=> [('five',), ('other',)]
select count(*)from note where'a'!=txt
=> [(1,)]
create table checked (a char(4), b int, check (a!='x'), check(b!=0and b<=9))
=> ok
insert into checked values ('x', 1)
=> -530
insert into checked values ('y', 0)
=> -530
insert into checked values ('y', 9)
=> 1 row
select id from note where id!
=> -201
select id from note where !id=5
=> -201
select id!n from note
=> -201
update note set n=n+1where id!=5
=> 1 row
delete from note where n!=0
=> 1 row
select id, n from note
=> [(6, 0)]
