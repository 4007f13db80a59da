{ DATABASE shop72  delimiter | }

grant dba to "anna";
grant connect to "public";

{ TABLE "anna".region row size = 34 number of columns = 2 index size = 7 }
{ unload file name = region100.unl number of rows = 3 }

create table "anna".region 
  (
    code char(2),
    label char(32) not null,
    primary key (code) constraint "anna".u100_1
  );
revoke all on "anna".region from "public";

{ TABLE "anna".shop row size = 66 number of columns = 6 index size = 21 }
{ unload file name = shop__101.unl number of rows = 4 }

create table "anna".shop 
  (
    shopnr serial not null,
    name char(24) not null,
    street char(24),
    code char(2),
    opened date,
    turnover decimal(10,2),
    primary key (shopnr) constraint "anna".u101_2
  );
revoke all on "anna".shop from "public";


grant select on "anna".region to "public";
grant update on "anna".region to "public";
grant insert on "anna".region to "public";
grant delete on "anna".region to "public";
grant index on "anna".region to "public";
grant select on "anna".shop to "public";

alter table "anna".shop add constraint (foreign key (code) 
    references "anna".region );

create index "anna".shopname on "anna".shop (name);
