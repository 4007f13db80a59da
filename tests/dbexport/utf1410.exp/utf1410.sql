{ DATABASE utf1410  delimiter | }

grant dba to "informix";
grant connect to "public";

{ TABLE "informix".event row size = 140 number of columns = 9 index size = 22 }

{ unload file name = event00102.unl number of rows = 3 }

create table "informix".event 
  (
    id integer not null ,
    label lvarchar(400) not null ,
    day date 
        default '2020-02-29',
    started datetime year to fraction(3),
    minute datetime hour to second,
    month datetime year to month,
    took interval day(3) to fraction(2),
    age interval year(4) to month,
    ok boolean
  ) extent size 16 next size 16 lock mode row;

revoke all on "informix".event from "public" as "informix";

{ TABLE "informix".guest row size = 30 number of columns = 3 index size = 20 }

{ unload file name = guest00103.unl number of rows = 2 }

create table "informix".guest 
  (
    event integer,
    name nvarchar(20),
    seat smallint
  ) lock mode page;

revoke all on "informix".guest from "public" as "informix";

create view "informix".recent (id,label) as 
  select x0.id ,x0.label from "informix".event x0 where (x0.day > DATE ('2019-12-31' ) ) ;

alter table "informix".event add constraint primary key (id) constraint "informix".pk_event  ;
alter table "informix".event add constraint check ((id > 0 ) AND (id < 100000 ) ) constraint "informix".ck_event;
alter table "informix".guest add constraint (foreign key (event) references "informix".event  constraint "informix".fk_guest);
create index "informix".guest_name on "informix".guest (name) using btree ;

create procedure "informix".guests(e int) returning varchar(20);
  define n varchar(20);
  foreach select name into n from guest where event = e
    return n with resume;
  end foreach;
end procedure;

grant select on "informix".event to "public" as "informix";
grant select on "informix".guest to "public" as "informix";
grant execute on procedure "informix".guests (integer) to "public" as "informix";
