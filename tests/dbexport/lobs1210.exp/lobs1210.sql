{ DATABASE lobs1210  delimiter ; }

grant dba to "informix";

{ TABLE "informix".document row size = 200 number of columns = 5 index size = 13 }

{ unload file name = docum00102.unl number of rows = 4 }

create table "informix".document 
  (
    id bigserial not null ,
    body "informix".clob,
    scan "informix".blob,
    sized bigint,
    kind varchar(10)
  )  PUT body in 
    ( 
    sbspace1 
    ) 
    (extent size 32, keep access time), scan in 
    ( 
    sbspace1 
    )  extent size 16 next size 16 lock mode row;

revoke all on "informix".document from "public" as "informix";

create unique index "informix".ix_document on "informix".document (id) using btree  in rootdbs ;
alter table "informix".document add constraint primary key (id) constraint "informix".pk_document  ;

grant select on "informix".document to "public" as "informix";
