"""Rows of tables: reading, writing, locks, space, constraints."""

TABLE = """\
-211 operational
    The system catalog could not be read ('{near}')
    See the ISAM code.
-214 operational
    A file of the table '{near}' could not be removed
    See the ISAM code.
-215 operational
    A file of the table '{near}' could not be opened
    See the ISAM code.
-221 operational
    A temporary file for the new table '{near}' could not be created
    See the ISAM code.
-222 operational
    A temporary file for the new table '{near}' could not be written
    See the ISAM code. The disk may be full.
-227 programming
    The structure of '{near}' may not be changed
-228 programming
    Rows of '{near}' may not be changed
-229 operational
    A temporary file could not be created or opened
    See the ISAM code. Check DBSPACETEMP and the free space there.
-230 operational
    A temporary file could not be read
    See the ISAM code.
-232 programming
    A serial column ('{near}') cannot be set or changed this way
    Leave it out, or insert 0 to get the next value.
-233 operational
    A row is locked by another session
    SET LOCK MODE TO WAIT n waits for it.
-234 programming
    The column '{near}' of the view is computed and cannot be inserted into
-239 integrity 23000
    A row with the same key exists already (unique index '{near}')
    Change the key, or update the row that is there.
-240 operational
    A row could not be deleted
    See the ISAM code. The row may be locked.
-242 operational
    The table '{near}' could not be opened
    See the ISAM code. Another session may have it open exclusively.
-243 operational
    A row of the table '{near}' could not be accessed
    Usually another session has it locked. SET LOCK MODE TO WAIT n waits for it.
-244 operational
    The next row of the table '{near}' could not be read
    Usually another session has it locked. Use SET LOCK MODE TO WAIT n, or SET ISOLATION TO DIRTY READ.
-245 operational
    A row could not be accessed through an index ('{near}')
    Usually another session has it locked. SET LOCK MODE TO WAIT n waits for it.
-246 operational
    The next row could not be read through an index ('{near}')
    Usually another session has it locked. SET LOCK MODE TO WAIT n waits for it.
-250 operational
    The row to be updated could not be read
    See the ISAM code. The row may be locked.
-252 operational
    The state of the table could not be read
    See the ISAM code.
-261 operational
    A file of the table '{near}' could not be created
    See the ISAM code.
-263 operational
    A row could not be locked for update
    Another session holds it. SET LOCK MODE TO WAIT n waits for it.
-264 operational
    A temporary file could not be written
    See the ISAM code. The disk may be full.
-268 integrity 23000
    A row with the same key exists already (constraint '{near}')
    Change the key, or update the row that is there.
-270 operational
    A row of a temporary file could not be accessed
    See the ISAM code.
-271 operational
    A row could not be inserted
    See the ISAM code. The dbspace may be full.
-288 programming
    The table '{near}' was not locked by this session
-289 operational
    The table '{near}' could not be locked
    Another session is using it. SET LOCK MODE TO WAIT n waits for it.
-291 operational
    The lock mode of the table could not be changed
    See the ISAM code. Another session may be using the table.
-292 integrity
    The column '{near}' does not accept NULL and got no value
    Give it a value, or define a default.
-311 operational
    The system catalog could not be opened ('{near}')
    See the ISAM code.
-312 operational
    The system catalog could not be changed ('{near}')
    See the ISAM code.
-327 programming
    The table '{near}' cannot be unlocked within a transaction
    COMMIT or ROLLBACK unlocks it.
-342 operational
    The remote server could not run the statement
-346 operational
    A row could not be updated
    See the ISAM code. The row may be locked.
-347 operational
    The table could not be opened exclusively
    Another session is using it.
-348 operational
    A row of the table could not be read
    See the ISAM code.
-378 operational
    The row is locked by another session
    SET LOCK MODE TO WAIT n waits for it.
-391 integrity 23000
    The column '{near}' does not accept NULL
    Give it a value.
-397 internal
    The system catalog is damaged ('{near}')
    An administrator has to run oncheck.
-503 operational
    Too many tables are locked
    Commit to unlock them.
-504 programming
    A view cannot be locked
    Lock its tables instead.
-516 internal
    A temporary output file is missing
    See the server's log.
-519 data
    The UPDATE assigns a value that the column cannot hold
-520 operational
    The space of the database could not be opened
    See the ISAM code.
-521 programming
    The system catalog '{near}' cannot be locked
-525 integrity 23000
    A foreign key has no matching row (constraint '{near}')
    Insert the parent row first.
-527 operational
    This lock mode is not available here
-530 integrity 23000
    A value violates the CHECK constraint '{near}'
    To see the condition, run SELECT checktext FROM syschecks.
-540 operational
    The violations of a constraint could not be written
    See the ISAM code.
-545 programming
    The table '{near}' may not be written
-564 operational
    Rows could not be sorted
    See the ISAM code. DBSPACETEMP may be full.
-565 operational
    Sorted rows could not be read
    See the ISAM code.
-566 operational
    Sorting could not be started
    See the ISAM code.
-567 operational
    Sorted rows could not be written
    See the ISAM code. DBSPACETEMP may be full.
-626 operational
    The next serial value could not be read or set
    See the ISAM code.
-679 operational
    The violations of the constraint '{near}' could not be read
-682 operational
    The index of a constraint of the table '{near}' could not be read
    See the ISAM code.
-690 operational
    The keys of the referencing table '{near}' could not be read
    See the ISAM code. Its rows may be locked.
-691 integrity 23000
    There is no matching row in the referenced table (constraint '{near}')
    Insert the parent row first.
-692 integrity 23000
    Other rows still refer to this row (constraint '{near}')
    Delete or change those first, or define ON DELETE CASCADE.
-710 operational
    The table '{near}' was dropped, altered or renamed since the statement was prepared
    Prepare it again.
-772 integrity
    The row belongs to none of the table's fragments
    Add a fragment for it, or a REMAINDER fragment.
-776 operational
    Rows could not be moved to the new fragments
    See the ISAM code.
-790 operational
    A new interval fragment could not be created
    See the ISAM code.
-791 integrity
    There is no fragment for the row
    Add a fragment for it, or a REMAINDER fragment.
-846 data
    The number of values in a load line differs from the number of columns
-847 data
    A line of the load file could not be loaded ('{near}')
-867 operational
    A new ROWID could not be created
-971 integrity
    Rows violate constraints and were written to the violations table
    Read the table's violations table.
-7350 operational
    The row was changed by another session since it was read
    Read it again.
-7351 operational
    The secondary server has lost its primary
-7352 operational
    The secondary server cannot do this: '{near}'
    Run it on the primary server.
"""
