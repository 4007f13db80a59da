{ DATABASE latin115  delimiter | }

grant dba to "informix";












{ TABLE "informix".tienda row size = 60 number of columns = 4 index size = 9 }

{ unload file name = tiend00100.unl number of rows = 3 }

create table "informix".tienda 
  (
    id integer not null ,
    nombre varchar(12) 
        default 'Peña',
    ciudad nchar(10),
    fin integer
  );

revoke all on "informix".tienda from "public" as "informix";

{ TABLE "informix".pais row size = 13 number of columns = 2 index size = 0 }

{ unload file name = pa__s00101.unl number of rows = 1 }

create table "informix".pais 
  (
    sigla char(3),
    nombre char(10)
  );

revoke all on "informix".pais from "public" as "informix";




grant select on "informix".tienda to "public" as "informix";
grant update on "informix".tienda to "public" as "informix";
grant select on "informix".pais to "public" as "informix";
