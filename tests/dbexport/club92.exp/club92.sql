{ DATABASE club92  delimiter | }

grant dba to "informix";
grant connect to "public";

create distinct type 'informix'.points as decimal(8,2);

{ TABLE "informix".member row size = 2089 number of columns = 7 index size = 13 }
{ unload file name = membe00100.unl number of rows = 3 }

create table "informix".member 
  (
    id serial8 not null ,
    nick nvarchar(20),
    active "informix".boolean 
        default 't',
    notes "informix".lvarchar(300),
    visits int8,
    score 'informix'.points,
    seen datetime year to fraction(5)
  );
revoke all on "informix".member from "public";

{ TABLE "informix".visit row size = 24 number of columns = 4 index size = 13 }
{ unload file name = visit00101.unl number of rows = 3 }

create table "informix".visit 
  (
    member int8 not null ,
    came datetime hour to minute,
    stayed interval hour(4) to minute,
    tail integer 
        default -1
  );
revoke all on "informix".visit from "public";


create view "informix".active_members (id,nick) as 
  select x0.id ,x0.nick from "informix".member x0 where (x0.active = 't' ) ;

create view "informix".came (nick,tail) as 
  select x0.nick ,x1.tail from "informix".member x0 ,"informix".visit x1 where (x0.id = x1.member ) ;

create synonym "informix".people for "informix".member;
create private synonym "informix".mine for "informix".visit;

create unique index "informix".member_id on "informix".member (id) using btree ;
create index "informix".visit_member on "informix".visit (member) using btree ;
alter table "informix".member add constraint primary key (id) constraint "informix".pk_member  ;

grant select on "informix".member to "public" as "informix";
grant select on "informix".visit to "public" as "informix";
grant insert on "informix".visit to "public" as "informix";
grant select on "informix".active_members to "public" as "informix";
