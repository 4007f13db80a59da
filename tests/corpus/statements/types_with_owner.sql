-- Types as dbexport and dbschema write them, and views, triggers and routines with owners.
create distinct type price as decimal(10,2)
=> ok
create table "informix".goods
  (
    code serial not null ,
    on_sale "informix".boolean default 'f',
    label "informix".lvarchar(300),
    picture "informix".blob,
    manual "informix".clob,
    stock "informix".int8,
    flag boolean(1),
    cost "informix".price,
    last_column integer
  ) extent size 16 next size 16 lock mode row
=> ok
select colno, coltype, collength, extended_id > 0 from syscolumns c, systables t where c.tabid = t.tabid and tabname = 'goods' and colname in ('on_sale', 'flag', 'label', 'last_column') order by 1
=> [(2, 41, 1, True), (3, 40, 300, True), (7, 41, 1, True), (9, 2, 4, False)]
insert into goods (label, stock, flag, cost, last_column) values ('pen', 9, 't', 1.5, 7)
=> 1 row
select on_sale, label, stock, flag, cost, last_column from goods
=> [(False, 'pen', 9, True, 1.5, 7)]
create table wrong (a boolean(2))
=> -201
select 't'::"informix".boolean, 'pencil'::informix.lvarchar(3), cast('12' as "informix".int8), 2.5::"informix".price from systables where tabid = 1
=> [(True, 'pen', 12, 2.5)]
create table note (id int, txt varchar(20), at datetime year to second, code char(8))
=> ok
create function "informix".stamp() returning datetime year to second; return datetime(2020-01-02 03:04:05) year to second; end function
=> ok
create trigger "informix".note_upd update of txt on "informix".note for each row (execute function "informix".stamp() into "informix".note.at)
=> ok
create trigger "informix".note_ins insert on "informix".note referencing new as n for each row (execute function "informix".stamp() into note.at)
=> ok
insert into note (id, txt) values (1, 'a')
=> 1 row
select id, at from note
=> [(1, '2020-01-02 03:04:05')]
update note set at = null
=> 1 row
update note set txt = 'b'
=> 1 row
select txt, at from note
=> [('b', '2020-01-02 03:04:05')]
create trigger wrong insert on note for each row (execute function stamp() into a.b.c.at)
=> -201
rename column "informix".note.code to code2
=> ok
rename column informix.note.code2 to code3
=> ok
rename column note.code3 to code4
=> ok
rename column code4 to code5
=> -201
select count(code4) from note
=> [(0,)]
create function width(p like "informix".note.txt) returning int;
  define a like sysmaster:systabnames.dbsname;
  define b, c like note.id;
  define d "informix".lvarchar(30);
  define e like "informix".note.at;
  define f "informix".boolean;
  let a = 'db'; let b = 2; let c = b; let d = p; let e = current; let f = 't';
  return length(trim(a)) + c + length(d);
end function
=> ok
execute function width('xyz')
=> [(7,)]
create procedure lost() define v like nowhere:a.b; end procedure
=> ok
execute procedure lost()
=> -329
create view label_view as select label from goods
=> ok
create view over_view as select label from label_view
=> ok
rename table label_view to label_view2
=> ok
select label from over_view
=> [('pen',)]
select label from label_view
=> -206
create synonym goods_s for goods
=> ok
rename table goods_s to other_s
=> -206
rename column label_view2.label to x
=> -313
drop view "informix".over_view
=> ok
drop table "informix".goods
=> ok
select label from label_view2
=> -206
