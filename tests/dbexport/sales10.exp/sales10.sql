{ DATABASE sales10  delimiter | }

grant dba to "boss";
grant connect to "clerk";

create sequence "boss".receipt increment by 5 start with 10 maxvalue 9223372036854775807 minvalue 1 cache 20  order;

{ TABLE "boss".orders row size = 41 number of columns = 6 index size = 26 }
{ unload file name = order00100.unl number of rows = 3 }

create table "boss".orders 
  (
    num serial not null ,
    placed date 
        default today,
    paid date 
        default '02/16/2004',
    by char(8) 
        default user,
    total decimal(16),
    stamp datetime year to minute 
        default current year to minute,
    unique (placed,num)  constraint "boss".u_orders
  ) extent size 16 next size 16 lock mode row;
revoke all on "boss".orders from "public" as "boss";

{ TABLE "boss".journal row size = 24 number of columns = 3 index size = 0 }
{ unload file name = journ00101.unl number of rows = 2 }

create table "boss".journal 
  (
    num integer,
    what char(12),
    total decimal(16)
  );
revoke all on "boss".journal from "public" as "boss";

create view "boss".late (num,paid) as 
  select x0.num ,x0.paid from "boss".orders x0 where (x0.paid > DATE ('12/31/2003' ) ) ;

create function "boss".doubled(x decimal(16)) returning decimal(16);
  return x * 2;
end function;

create procedure "boss".note(n int, w char(12), t decimal(16))
  insert into journal values (n, w, t);
end procedure;

create trigger "boss".orders_in insert on "boss".orders referencing 
    new as n
    for each row
        (
        execute procedure "boss".note(n.num ,'in' ,n.total ));

create trigger "boss".orders_out delete on "boss".orders referencing 
    old as o
    for each row
        (
        insert into "boss".journal (num,what,total)  values (o.num 
    ,'out' ,o.total ));

alter table "boss".orders add constraint check (total > 0 ) constraint "boss".positive;
create index "boss".orders_paid on "boss".orders (paid desc,num) using btree ;
create cluster index "boss".journal_num on "boss".journal (num) using btree ;

grant select on "boss".orders to "clerk" as "boss";
grant insert on "boss".orders to "clerk" as "boss";
grant execute on function "boss".doubled (decimal) to "clerk" as "boss";
grant execute on procedure "boss".note (integer,char,decimal) to "clerk" as "boss";
