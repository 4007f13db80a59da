{ DATABASE wide15  delimiter | }

{ DBDATE DMY4/  DBMONEY . }

grant dba to "informix";

{ TABLE "informix".measurement_of_temperature row size = 60 number of columns = 5 index size = 17 }

{ unload file name = measu00104.unl number of rows = 3 }

create table "informix".measurement_of_temperature 
  (
    id bigint not null ,
    sensor_with_a_rather_long_name varchar(64) not null ,
    taken date not null ,
    value decimal(32,10),
    amount money(16,2)
  ) 
  fragment by range(id) interval (1000000 ) store in (dbs1, dbs2)
  partition p0 VALUES < 1000000 in rootdbs 
  extent size 16 next size 16 lock mode row;

revoke all on "informix".measurement_of_temperature from "public" as "informix";

{ TABLE "informix".raw_lines row size = 20 number of columns = 2 index size = 0 }

{ unload file name = raw_l00105.unl number of rows = 2 }

create raw table "informix".raw_lines 
  (
    at datetime year to second,
    small smallint
  ) lock mode row;

revoke all on "informix".raw_lines from "public" as "informix";

alter table "informix".measurement_of_temperature add constraint primary key (id) constraint "informix".pk_measurement  ;
create view "informix".fresh (id) as 
  select x0.id from "informix".measurement_of_temperature x0 where (x0.taken > DATE ('01/02/2024' ) ) ;

grant select on "informix".measurement_of_temperature to "public" as "informix";

update statistics high for table "informix".measurement_of_temperature (id) resolution 0.50 ;
