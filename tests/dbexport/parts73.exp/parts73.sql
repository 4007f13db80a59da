{ DATABASE parts73  delimiter | }

grant dba to "stock";
grant resource to "public";
grant connect to "lena";









 


 

{ TABLE "stock".part row size = 61 number of columns = 7 index size = 25 }
{ unload file name = part_00100.unl number of rows = 3 }

create table "stock".part 
  (
    p_id serial not null ,
    p_label varchar(30,15) not null ,
    p_state char(1) not null ,
    p_rate decimal(4,2) not null ,
    p_number decimal(15,0),
    p_user varchar(10,5) not null ,
    p_made datetime year to second not null ,
    
    check (p_state IN ('A' ,'B' )),
    
    check (p_rate >= 0. )
  )  extent size 16 next size 16 lock mode row;
revoke all on "stock".part from "public";

{ TABLE "stock".move row size = 40 number of columns = 5 index size = 30 }
{ unload file name = move_00101.unl number of rows = 4 }

create table "stock".move 
  (
    m_id integer not null ,
    m_part integer not null ,
    m_count smallint,
    m_value decimal(12,2),
    m_day date
  )  extent size 32 next size 16 lock mode page;
revoke all on "stock".move from "public";

create unique index "stock".i01_pk_part on "stock".part (p_id);
create unique index "stock".i01_pk_move on "stock".move (m_id);
create index "stock".i02_fk_move on "stock".move (m_part,m_day desc);
alter table "stock".part add constraint primary key (p_id) constraint 
    "stock".pk_part  ;
alter table "stock".move add constraint primary key (m_id) constraint 
    "stock".pk_move  ;

grant select on "stock".part to "public";
grant select on "stock".move to "lena";
grant update on "stock".move to "lena";

CREATE PROCEDURE "stock".check_digit(code CHAR(15)) RETURNING INT;
DEFINE total, at SMALLINT;
LET total = 0;
FOR at = 1 TO LENGTH(code)
    LET total = total + MOD(at, 7);
END FOR;
RETURN total;
END PROCEDURE;

alter table "stock".move add constraint (foreign key (m_part) 
    references "stock".part  constraint "stock".fk_move);
