-- Catalogue tables that have no rows here, statistics of them as dbexport writes them, and sysmaster's counters.
create table base (a int, b varchar(10))
=> ok
create view over_base as select a from base
=> ok
create view over_view as select a from over_base
=> ok
update statistics medium for table sysopclasses (owner) resolution 2.0 0.95
=> ok
update statistics low for table "informix".sysdepend
=> ok
update statistics high for table syscolattribs (sbspace)
=> ok
update statistics for table sysdomains (nothing)
=> -217
grant select on sysdepend to public
=> ok
grant select on "informix".sysopclasses to "public" as "informix"
=> ok
select b.tabname, b.tabtype, v.tabname from sysdepend d, systables b, systables v where d.btabid = b.tabid and d.dtabid = v.tabid order by 3
=> [('base', 'T', 'over_base'), ('over_base', 'V', 'over_view')]
select opclassname, amid, opclassid from sysopclasses
=> [('btree_ops', 1, 1)]
select count(*) from sysopclstr
=> [(0,)]
select count(*) from syscolattribs
=> [(0,)]
select count(*) from syslogmap
=> [(0,)]
select count(*) from sysxtdtypeauth
=> [(0,)]
select count(*) from syslangauth
=> [(0,)]
select count(*) from systabamdata
=> [(0,)]
select * from syserrors
=> []
select * from systraceclasses
=> []
select * from systracemsgs
=> []
select * from sysxasourcetypes
=> []
select * from sysxadatasources
=> []
select * from sysseclabelcomponents
=> []
select * from sysseclabelcomponentelements
=> []
select * from syssecpolicies
=> []
select * from syssecpolicycomponents
=> []
select * from syssecpolicyexemptions
=> []
select * from sysseclabels
=> []
select * from sysseclabelnames
=> []
select * from syssecpolicyauth
=> []
select * from syssurrogateauth
=> []
select * from sysdomains
=> []
select name, value from sysmaster:sysprofile where name in ('isreads', 'deadlks') order by name
=> [('deadlks', 0), ('isreads', 0)]
select sid, lockreqs, locksheld, isreads, bufreads from sysmaster:syssesprof where sid = dbinfo('sessionid')
=> 1 row returned
select s.sid, s.username, p.iscommits from sysmaster:syssessions s, sysmaster:syssesprof p where s.sid = p.sid and s.sid = dbinfo('sessionid')
=> 1 row returned
select tx_id, tx_addr, tx_owner, tx_nlocks from sysmaster:systrans
=> []
select lk_type, lk_partnum, lk_rowid from sysmaster:syslocktab
=> []
select dbsname, tabname, chunk, offset from sysmaster:sysextents where dbsname = 'corpus_catalog_tables' and tabname = 'base'
=> [('corpus_catalog_tables', 'base', 1, 0)]
select first 1 dbsname, isreads, bufwrites, seqscans, pagreads from sysmaster:sysptprof where tabname = 'base' and dbsname = 'corpus_catalog_tables'
=> [('corpus_catalog_tables', 0, 0, 0, 0)]
select p.pf_isread, p.pf_dskreads from sysmaster:sysptntab p, sysmaster:systabnames n where p.partnum = n.partnum and n.tabname = 'base' and n.dbsname = 'corpus_catalog_tables'
=> [(0, 0)]
select r.nreads, r.nwrites, r.upf_rqlock from sysmaster:sysrstcb r, sysmaster:syssessions s where r.sid = s.sid and s.sid = dbinfo('sessionid')
=> [(0, 0, 0)]
select username, memtotal from sysmaster:sysscblst where sid = dbinfo('sessionid')
=> [('informix', 0)]
select dbsnum, name, owner, pagesize from sysmaster:sysdbstab
=> [(1, 'rootdbs', 'informix', 2048)]
select cf_effective from sysmaster:syscfgtab where cf_name = 'ROOTNAME'
=> [('rootdbs',)]
select name from sysadmin:ph_threshold
=> []
select tk_name, tk_next_execution, tk_start_time, tk_frequency from sysadmin:ph_task
=> []
select run_retcode from sysadmin:ph_run
=> []
select alert_message from sysadmin:ph_alert
=> []
select group_name from sysadmin:ph_group
=> []
select cmd_executed, cmd_ret_msg from sysadmin:command_history
=> []
select value from sysadmin:ph_version
=> []
select count(*) from sysmaster:sysdatabases where name = 'sysadmin'
=> [(1,)]
