-- A schema as dbexport and dbschema write it, with its rows and the queries over them.
--! env DBDATE=DMY4/
grant dba to "informix"
=> ok
grant connect to "public"
=> ok
create role "clerk"
=> ok
create row type "informix".address (street varchar(30), zip char(5))
=> ok
create table "informix".customers
  (
    customer_num serial not null ,
    fname char(15),
    lname char(15) not null ,
    company varchar(40,10),
    since date default today,
    entered datetime year to fraction(3) default current year to fraction(3),
    entered_by char(32) default user,
    credit money(10,2) default 100.00,
    rating decimal(3,1),
    active char(1) default 'y' not null ,
    home "informix".address,
    primary key (customer_num) constraint "informix".pk_customers,
    check (active in ('y' ,'n' )) constraint "informix".ck_active
  ) in rootdbs extent size 32 next size 16 lock mode row
=> ok
revoke all on "informix".customers from "public" as "informix"
=> ok
create table "informix".orders
  (
    order_num serial(1001) not null ,
    order_date date not null ,
    customer_num integer not null ,
    ship_instruct lvarchar(200),
    ship_weight decimal(8,2),
    paid_date date,
    last_column smallint,
    unique (order_num) constraint "informix".uq_orders
  ) extent size 16 next size 16 lock mode page
=> ok
create table "informix".lines
  (
    line_num smallint,
    order_num integer,
    qty smallint default 1,
    price money(8,2),
    note text,
    primary key (line_num,order_num) constraint "informix".pk_lines
  ) extent size 16 next size 16 lock mode row
=> ok
create index "informix".ix_orders_cust on "informix".orders (customer_num) using btree in rootdbs
=> ok
create unique index "informix".ix_cust_name on "informix".customers (lname,fname,customer_num desc) using btree
=> ok
create cluster index "informix".ix_date on "informix".orders (order_date)
=> ok
alter table "informix".orders add constraint (foreign key (customer_num) references "informix".customers constraint "informix".fk_orders)
=> ok
alter table "informix".lines add constraint (foreign key (order_num) references "informix".orders (order_num) on delete cascade constraint "informix".fk_lines)
=> ok
create synonym "informix".cust for "informix".customers
=> ok
create private synonym "informix".ord for "informix".orders
=> ok
create sequence "informix".seq_ticket increment by 5 start with 100 maxvalue 1000 minvalue 1 cache 20 cycle noorder
=> ok
create view "informix".open_orders (num,who,days) as select x0.order_num ,(x1.fname || x1.lname ) ,(TODAY - x0.order_date ) from ("informix".orders x0 join "informix".customers x1 on (x0.customer_num = x1.customer_num ) )where (x0.paid_date IS NULL )
=> ok
create view "informix".totals (order_num,total) as select x0.order_num ,sum((x0.qty * x0.price ) ) from "informix".lines x0 group by x0.order_num
=> ok
grant select on "informix".customers to "clerk" as "informix"
=> ok
grant update (fname, lname) on "informix".customers to "clerk" as "informix"
=> ok
grant insert, delete, index, alter, references on "informix".orders to "public" as "informix"
=> ok
grant "clerk" to "informix"
=> ok
insert into customers (fname, lname, company, since, home) values ('Ludwig', 'Pauli', 'All Sports', '31/12/1999', row('Main 1', '94086')::address)
=> 1 row
insert into customers (customer_num, fname, lname, rating, active) values (0, 'Carole', 'Sadler', 9.5, 'n')
=> 1 row
insert into customers (lname, active) values ('Wrong', 'x')
=> -530
insert into customers (fname) values ('Nobody')
=> -292
insert into orders (order_date, customer_num, last_column) values ('01/02/2020', 1, 7)
=> 1 row
insert into orders values (0, today, 2, 'fragile', 10.5, null, 8)
=> 1 row
insert into orders (order_num, order_date, customer_num) values (1001, today, 1)
=> -268
insert into orders (order_date, customer_num) values (today, 99)
=> -691
insert into lines (line_num, order_num, price) values (1, 1001, 20.25)
=> 1 row
insert into lines (line_num, order_num, qty, price) values (2, 1001, 3, '$1.50')
=> 1 row
insert into lines (line_num, order_num, qty, price) values (1, 1002, 2, 5)
=> 1 row
select customer_num, lname, case when since < today then since end, credit, active, entered_by, home.zip from customers order by 1
=> [(1, 'Pauli', '1999-12-31', 100, 'y', 'informix', '94086'), (2, 'Sadler', None, 100, 'n', 'informix', None)]
select num, who from open_orders where days > 0
=> [(1001, 'Ludwig         Pauli          ')]
select order_num, total from totals order by 1
=> [(1001, 24.75), (1002, 10)]
select c.lname, o.order_num, sum(l.qty * l.price) from customers c, orders o, outer lines l where c.customer_num = o.customer_num and o.order_num = l.order_num group by 1, 2 having count(*) > 1 order by 1
=> [('Pauli', 1001, 24.75)]
select seq_ticket.nextval, seq_ticket.nextval from systables where tabid = 1
=> [(100, 100)]
delete from customers where customer_num = 1
=> -692
delete from orders where order_num = 1001
=> 1 row
select count(*) from lines
=> [(1,)]
select tabname, tabtype, locklevel, fextsize from systables where tabid >= 100 and tabtype in ('T', 'V') order by tabname
=> [('customers', 'T', 'R', 32), ('lines', 'T', 'R', 16), ('open_orders', 'V', 'P', 16), ('orders', 'T', 'P', 16), ('totals', 'V', 'P', 16)]
select constrname, constrtype from sysconstraints where constrtype <> 'N' order by 1
=> [('ck_active', 'C'), ('fk_lines', 'R'), ('fk_orders', 'R'), ('pk_customers', 'P'), ('pk_lines', 'P'), ('uq_orders', 'U')]
select grantee, tabauth from systabauth a, systables t where a.tabid = t.tabid and tabname = 'customers' and grantee = 'clerk'
=> [('clerk', 's-*------')]
select c.colname from syscolauth a, syscolumns c where a.tabid = c.tabid and a.colno = c.colno and grantee = 'clerk' order by 1
=> [('fname',), ('lname',)]
update statistics medium for table "informix".customers (customer_num, lname) resolution 2.0 0.95
=> ok
update statistics high for table orders (order_num) distributions only
=> ok
update statistics low for table lines drop distributions
=> ok
update statistics for procedure
=> ok
update statistics
=> ok
alter table orders modify next size 64
=> ok
alter table orders lock mode (row)
=> ok
alter table "informix".orders add (channel char(3) default 'web' before last_column, rank smallint)
=> ok
alter table orders modify (ship_instruct lvarchar(300)), drop rank
=> ok
select order_num, channel, last_column from orders
=> [(1002, 'web', 8)]
alter index ix_date to not cluster
=> ok
rename index ix_date to ix_order_date
=> ok
drop index "informix".ix_order_date
=> ok
alter table lines drop constraint fk_lines
=> ok
rename table "informix".lines to order_lines
=> ok
select count(*) from totals
=> [(1,)]
drop synonym "informix".cust
=> ok
drop view "informix".open_orders
=> ok
revoke "clerk" from "informix"
=> ok
drop role "clerk"
=> ok
drop sequence "informix".seq_ticket
=> ok
truncate table order_lines
=> ok
drop table "informix".orders
=> ok
drop table customers cascade
=> ok
drop row type "informix".address restrict
=> ok
select count(*) from systables where tabid >= 100 and tabtype = 'T'
=> [(1,)]
