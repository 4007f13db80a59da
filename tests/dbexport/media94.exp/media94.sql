{ DATABASE media94  delimiter | }

grant dba to "pia";
grant resource to "tom";

{ TABLE "pia".disc row size = 152 number of columns = 5 index size = 15 }
{ unload file name = disc_00100.unl number of rows = 4 }

create table "pia".disc 
  (
    id integer not null ,
    title varchar(80) not null ,
    sleeve byte,
    notes text,
    price money(8,2)
  ) 
  fragment by expression 
    (id < 100 ) in rootdbs ,
    ((id >= 100 ) AND (id < 1000 ) ) in dbs2 ,
    remainder in dbs3  
  extent size 64 next size 32 lock mode row;
revoke all on "pia".disc from "public";

{ TABLE "pia".track row size = 40 number of columns = 4 index size = 20 }
{ unload file name = track00101.unl number of rows = 3 }

create table "pia".track 
  (
    disc integer,
    at smallint,
    title char(30),
    played interval minute(3) to second
  ) 
  fragment by round robin in rootdbs , dbs2 
  extent size 16 next size 16 lock mode page;
revoke all on "pia".track from "public";

create unique index "pia".disc_pk on "pia".disc (id) using btree  in rootdbs ;
create index "pia".disc_title on "pia".disc (title) using btree ;
alter table "pia".disc add constraint primary key (id) constraint "pia".pk_disc  ;
alter table "pia".track add constraint (foreign key (disc) references "pia".disc  on delete cascade constraint "pia".fk_track);

grant select on "pia".disc to "tom" with grant option as "pia";
grant select on "pia".track to "public" as "pia";
