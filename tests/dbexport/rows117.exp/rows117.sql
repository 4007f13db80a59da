{ DATABASE rows117  delimiter | }

grant dba to "ida";

create role "reader";
grant "reader" to "max" ;

{ TABLE "ida".person row size = 300 number of columns = 6 index size = 9 }

{ unload file name = perso00100.unl number of rows = 3 }

create table "ida".person 
  (
    id serial not null ,
    home row(street varchar(30), zip char(5)),
    tags set(integer not null),
    marks list(varchar(10) not null),
    born date,
    tail char(4)
  ) extent size 16 next size 16 lock mode row;

revoke all on "ida".person from "public" as "ida";

create view "ida".grown (id) as 
  select x0.id from "ida".person x0 where (x0.born < DATE ('31.12.2000' ) ) ;

create unique index "ida".ix_person on "ida".person (id) using btree ;
alter table "ida".person add constraint primary key (id) constraint "ida".pk_person  ;

grant select on "ida".person to "reader" as "ida";

update statistics medium for table "ida".person (born) resolution 2.00 0.95 ;
