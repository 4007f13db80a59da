"""Tables, indexes, constraints, views, privileges, databases: errors of DDL."""

TABLE = """\
-212 operational
    An index could not be created
    See the ISAM code.
-216 operational
    An index could not be removed
    See the ISAM code.
-235 programming
    A CHAR column is too long
    The longest is CHAR(32767).
-269 programming
    The new column '{near}' must accept NULL, or have a default
    Rows that exist already need a value.
-272 programming 42000
    You have no SELECT privilege on '{near}'
    Its owner or a DBA can GRANT it.
-273 programming 42000
    You have no UPDATE privilege on '{near}'
    Its owner or a DBA can GRANT it.
-274 programming 42000
    You have no DELETE privilege on '{near}'
    Its owner or a DBA can GRANT it.
-275 programming 42000
    You have no INSERT privilege on '{near}'
    Its owner or a DBA can GRANT it.
-281 operational
    An index could not be added to a temporary table
    See the ISAM code.
-286 programming
    The default of the key column '{near}' is NULL
-287 programming
    A serial column ('{near}') cannot be added to this table
-295 programming
    Both tables of a foreign key have to be in one database
-296 programming
    The referenced table '{near}' cannot be used
    Check its name and the REFERENCES privilege.
-297 programming
    The referenced table '{near}' has no unique or primary key on these columns
    Refer to its key columns.
-302 programming
    You cannot grant this privilege
    It needs the GRANT option.
-310 programming S0001
    A table, view or synonym '{near}' exists already
    Drop it first, or use CREATE TABLE IF NOT EXISTS.
-313 programming
    Only the owner or a DBA may do this
-314 operational
    The table '{near}' is in use
    Close the cursors on it, in other sessions too.
-315 programming
    You may not create an index on this table
-316 programming S0011
    An index '{near}' exists already
-319 programming S0012
    The index '{near}' does not exist
-320 programming
    Only the owner of the index or a DBA may do this
-322 programming
    A view ('{near}') cannot be altered, renamed or given this trigger
-323 programming
    Privileges cannot be granted on a temporary table
-328 programming S0021
    The column '{near}' exists already in the table
-329 operational
    The database '{near}' was not found, or you may not use it
    Check its name. SELECT name FROM sysmaster:sysdatabases lists all databases.
-330 operational
    The database '{near}' could not be created or renamed
    The ISAM code -100 means that the name is in use.
-331 operational
    The directory of the database could not be dropped
-337 programming
    A view cannot use a temporary table ('{near}')
-349 operational
    No database is open
    Name one in the connection URL, or run DATABASE name.
-350 programming S0011
    An index on these columns exists already
-351 programming
    The database has tables of other owners
-353 programming
    GRANT and REVOKE need the name of a table or view
-355 operational
    A file of the table '{near}' could not be renamed
-356 programming
    The columns of a foreign key and of the key that it refers to have different types
-357 programming
    A table of the view '{near}' was altered
    Create the view again.
-358 programming
    The current database must be closed first
    Execute CLOSE DATABASE.
-359 programming
    The current database cannot be dropped
    Open another one, or CLOSE DATABASE first.
-361 programming
    A column is too long
-362 programming
    A table can have only one serial column of each type
-370 programming
    The last column of a table cannot be dropped
    Drop the table instead.
-371 integrity 23000
    The unique index '{near}' cannot be created, because two rows have the same key
    Find them with GROUP BY ... HAVING COUNT(*) > 1.
-382 programming
    The number of column names of the view differs from the number of columns of its query
-383 programming
    The view has to name its columns
    Computed columns have no name of their own.
-384 programming
    Rows of this view cannot be changed
    It joins, groups or computes. Change its tables instead.
-385 integrity 44000
    The row would not be visible in the view
    The view has WITH CHECK OPTION.
-386 integrity
    The column contains NULL
    Fill it before you make it NOT NULL.
-387 operational
    You may not connect to the database
    A DBA can GRANT CONNECT.
-388 programming
    You may not create objects in this database
    A DBA can GRANT RESOURCE.
-389 programming
    This needs the DBA privilege
-390 programming
    The synonym's name is in use
-394 programming
    The view '{near}' does not exist
-425 operational
    The database is open in another session
-500 programming
    The table has a clustered index already: '{near}'
-502 operational
    The table could not be clustered
    See the ISAM code.
-506 programming
    You may not update all of these columns
-508 programming
    A temporary table cannot be renamed
-509 programming
    A column of a temporary table cannot be renamed
-510 programming
    A temporary table ('{near}') cannot have a synonym
-511 programming
    The system catalog '{near}' cannot be changed this way
-512 programming
    You have no REFERENCES privilege on these columns
-514 programming
    Only a DBA may do this for another user
-515 programming
    The constraint '{near}' was dropped already
-517 programming
    The key of the index is longer than the server allows
-518 programming
    The constraint '{near}' of the child table was not found
-531 programming
    The column '{near}' is in the view twice
    Name the view's columns.
-532 programming
    A temporary table ('{near}') cannot be altered
-533 programming
    The extent is too small
-536 programming 23000
    A foreign key and the key that it refers to have different numbers of columns
-537 programming
    The column '{near}' of the constraint is not in the table
-541 programming
    You have no ALTER privilege
-542 programming
    A column is named twice in a constraint, trigger or index
-546 programming
    A view ('{near}') cannot contain parameters
-548 programming
    A temporary table cannot have a foreign key or trigger
-549 programming
    The column '{near}' of the UNIQUE constraint is not in the table
-550 programming
    The columns of the constraint are too wide in total
-551 programming 23000
    The constraint has too many columns
-556 programming
    An object of another database cannot be changed from here
    Open its database.
-557 operational
    The remote table or synonym '{near}' could not be found
-559 programming
    A synonym cannot refer to another synonym
-568 programming
    A database with a log cannot use one without
-569 programming
    A database without a log cannot use one with a log
-570 programming
    This database cannot use an ANSI database
-571 programming
    An ANSI database cannot use a database that is not ANSI
-576 programming
    Constraints of temporary tables have no names
-577 programming
    A constraint of this kind exists already on these columns
-578 programming
    The owner's name is too long
-579 programming
    Only the owner of the synonym may do this
-580 programming
    The privilege could not be revoked
-583 programming
    The privileges that the view needs no longer exist
-591 programming
    The default of '{near}' does not fit its type
-592 programming
    A column cannot be NOT NULL with NULL as its default
-593 programming
    A serial column cannot have a default
-594 programming
    The only default of a large object is NULL
-610 programming
    A BYTE or TEXT column cannot be indexed
-622 operational
    The index of the constraint '{near}' could not be found
-623 programming
    The constraint '{near}' does not exist
-624 operational
    The constraint '{near}' could not be dropped
-625 programming
    A constraint '{near}' exists already
-634 programming
    The object does not exist
-635 programming
    Only the owner of the object may do this
-650 programming
    A VARCHAR is too long
    VARCHAR has at most 255 bytes, LVARCHAR 32739.
-651 programming
    VARCHAR(m,r): the reserve is larger than the maximum
-677 programming
    A CHECK constraint cannot contain subqueries or procedures
-702 operational
    The database could not be opened exclusively
    Another session is using it.
-703 integrity
    The primary key of '{near}' has a column that contains or accepts NULL
    Make it NOT NULL.
-704 programming
    The table has a primary key already
-723 programming
    The log of an ANSI database cannot be turned off
-729 programming
    The trigger '{near}' has no actions
-730 programming
    The trigger '{near}' has REFERENCING, but no actions FOR EACH ROW
-732 programming
    The name '{near}' for old or new values cannot be used like this
    An INSERT has no old values, a DELETE no new ones. Both need names of their own.
-741 programming
    A trigger for the same event exists already
-742 programming
    A trigger and a foreign key with cascade cannot be combined here
-743 programming
    An object '{near}' exists already
-744 programming
    A trigger cannot run this statement: '{near}'
    Begin and end transactions outside of triggers.
-747 programming
    A trigger cannot change what its statement is changing: '{near}'
    To change the row itself, use EXECUTE FUNCTION ... INTO.
-748 programming
    More than 61 triggers fire each other
-775 programming
    The table or index has no fragment '{near}'
-780 programming
    The table or index has no fragments
-855 programming
    The table has no fragments, so its ROWIDs cannot be dropped
-856 programming
    The table has ROWIDs already
-857 programming
    The table has no ROWIDs
    A fragmented table has them only WITH ROWIDS.
-886 programming 42000
    The table or view cannot be dropped, because other objects depend on it
    Drop those first, or use CASCADE.
-887 programming 2B000
    The privilege cannot be revoked, because other privileges depend on it
-892 programming
    The object '{near}' cannot be disabled, because other objects use it
-893 programming
    The object '{near}' cannot be enabled, because an object that it depends on is disabled
-894 programming
    The object '{near}' was not found
-895 operational
    The violations tables could not be created
-896 programming
    START VIOLATIONS TABLE was not run for this table
-898 programming
    A table with violations tables cannot be altered
    STOP VIOLATIONS TABLE first.
-958 programming
    A temporary table '{near}' exists already in this session
    Drop it, or use another name.
-5901 programming
    TRUNCATE cannot empty a table that foreign keys refer to
    Disable the constraint, or DELETE the rows.
-5903 programming
    After TRUNCATE only COMMIT or ROLLBACK may follow in the transaction
-8300 programming
    The sequence '{near}' does not exist
-8301 programming
    A sequence '{near}' exists already
-8313 data
    The sequence '{near}' has reached its MAXVALUE
-8314 data
    The sequence '{near}' has reached its MINVALUE
-8315 programming
    CURRVAL of the sequence '{near}' is not defined before NEXTVAL
"""
