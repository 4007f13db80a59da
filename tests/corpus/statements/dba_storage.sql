-- Storage, object modes, functional indexes and types of DataBlades, as DBA scripts have them.
create table "informix".note (id int, code char(8), at datetime year to second, last int)
=> ok
create function code_key(x char(8)) returning char(8) with (not variant); return lower(x); end function
=> ok
create index "informix".ix_low on "informix".note (code_key(code)) using btree
=> ok
create index ix_low2 on note ("informix".code_key(code) desc, id)
=> ok
create unique index ix_low3 on note (code_key(code))
=> -201
create index ix_low4 on note (no_such_function(code))
=> -674
create index ix_low5 on note (code_key(nothing))
=> -217
select idxname, idxtype from sysindexes where idxname matches 'ix_low*' order by 1
=> [('ix_low', 'D'), ('ix_low2', 'D')]
insert into note values (1, 'ABC', current, 2)
=> 1 row
select id from note where code_key(code) = 'abc'
=> [(1,)]
alter fragment on table note init in dbspace2
=> ok
alter fragment on table "informix".note init fragment by round robin in dbspace1, dbspace2
=> ok
select strategy, dbspace from sysfragments f, systables t where f.tabid = t.tabid and tabname = 'note' order by dbspace
=> [('R', 'dbspace1'), ('R', 'dbspace2')]
alter fragment on table note init fragment by expression id < 10 in dbspace1, remainder in dbspace2
=> ok
alter fragment on table note init in rootdbs
=> ok
select count(*) from sysfragments f, systables t where f.tabid = t.tabid and tabname = 'note'
=> [(0,)]
alter fragment on index ix_low init in dbspace2
=> ok
alter fragment on index no_index init in dbspace2
=> -319
alter fragment on table no_table init in dbspace2
=> -206
alter fragment on table note detach dbspace2 rest
=> -201
select id, last from note
=> [(1, 2)]
set constraints for note enabled
=> ok
set indexes, constraints, triggers for "informix".note enabled
=> ok
set indexes ix_low enabled
=> ok
set constraints all deferred
=> -255
create table "o12345678901234567890123456789012".t (a int)
=> -201
create table "o1234567890123456789012345678901".t (a int)
=> ok
select owner from systables where tabname = 't'
=> [('o1234567890123456789012345678901',)]
create table series (id int, readings timeseries(reading_t))
=> -9628
create table places (id int, place st_point)
=> -9628
create table areas (id int, area st_geometry)
=> -9628
