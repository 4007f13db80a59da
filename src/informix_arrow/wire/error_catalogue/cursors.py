"""Statements and cursors while they run: ids, transactions, interruption."""

TABLE = """\
-208 operational S1001
    The server ran out of memory for the statement, or the statement id is already in use
-213 operational
    The statement was interrupted
    It was cancelled by the application, by a time limit or by the administrator.
-220 operational
    A savepoint could not be set
    See the ISAM code.
-237 operational
    The transaction could not be started
    See the ISAM code.
-238 operational
    The transaction could not be committed
    See the ISAM code. The transaction may have been rolled back.
-241 operational
    The transaction could not be rolled back
    See the ISAM code.
-248 operational
    A savepoint could not be released
    See the ISAM code.
-255 programming
    No transaction is open
    Execute BEGIN WORK before COMMIT WORK or ROLLBACK WORK.
-256 operational
    This database has no transactions
    It was created without a log. Use autocommit, or have logging turned on.
-257 operational
    The server's limit of open statements is reached
    Close cursors and statements.
-258 internal
    The server does not know this statement id
    The statement was released. Prepare it again.
-259 programming 24000
    The cursor is not open
    COMMIT and ROLLBACK close cursors. Read to the end first, or use a cursor WITH HOLD (cursor(withhold=True)).
-260 programming 07005
    A query was run without a cursor
    Fetch its rows instead of executing it.
-262 programming 24000
    There is no current cursor
-265 programming
    An insert cursor needs an open transaction
    Begin one before writing rows.
-266 programming 24000
    There is no current row for the cursor
    Fetch a row first.
-267 programming
    The cursor was released and can no longer be used
    Prepare and open it again.
-276 programming 24000
    The cursor was not found
    Declare and open it again.
-277 programming
    The table '{near}' is not the one that the cursor reads
    WHERE CURRENT OF changes the cursor's own table.
-278 operational
    The transaction could not be rolled back to the savepoint
    See the ISAM code.
-285 internal 24000
    The statement or cursor is not valid for this request
    Prepare it again.
-290 programming
    The cursor was not declared FOR UPDATE
    Add FOR UPDATE to its query.
-363 programming
    A cursor was opened on a statement that returns no rows
    Execute it instead.
-364 programming
    The column '{near}' is not in the cursor's FOR UPDATE OF list
-365 programming
    FOR UPDATE needs a plain query of one table
    Joins, DISTINCT, GROUP BY, UNION and aggregates are not allowed.
-368 internal
    The client and the server use incompatible protocol versions
-376 operational
    The log file exists already
-377 programming
    The transaction must end before the database is closed
    Commit it or roll it back.
-392 internal
    The server had an internal error (a null pointer)
    See the server's log.
-398 programming
    The cursor needs an open transaction
    Begin one before opening it.
-399 operational
    The log file cannot be used
    See the ISAM code.
-400 programming 24000
    A row was fetched from a cursor that is not open
-404 programming 07003
    The cursor or statement was released
    Prepare it again.
-407 internal
    The server reported an error without a number
    See the server's log.
-408 internal
    The server received a message that it does not understand
    Client and server are out of sync. Open a new connection.
-458 operational
    The transaction was too long for the logical log and was rolled back
    Commit more often, or have more log space added.
-507 programming
    The cursor '{near}' was not found
-524 programming
    LOCK TABLE needs an open transaction
    Begin one first.
-526 programming
    Rows cannot be updated through a scroll cursor
    Use a cursor without SCROLL.
-529 operational
    The transaction could not be joined
-535 programming
    A transaction is open already
    Commit it or roll it back first.
-538 programming
    A cursor '{near}' is declared already
-572 programming
    The lock wait time is too long
-582 operational
    The database has no log
-586 programming 24000
    The cursor is open already
    Close it first.
-589 operational
    One transaction cannot change tables of several servers here
-598 programming 34000
    The cursor name '{near}' is not valid
-627 operational
    A two-phase commit could not be prepared at its coordinator
-628 operational
    A two-phase commit could not be ended at its coordinator
-630 operational
    The server '{near}' could not be prepared for a two-phase commit
-640 internal
    The server made a query plan that it cannot use ('{near}')
    Run UPDATE STATISTICS. See the server's log.
-698 operational
    The transaction ended differently on several servers ('{near}')
    An administrator has to check them.
-699 operational 40000
    An administrator rolled the transaction back
-700 programming
    The statement cannot be used in a global transaction
-701 programming
    The statement cannot be used under XA
-715 operational
    The state of the transaction does not allow this
-716 operational
    The transaction may have ended differently on several servers ('{near}')
    An administrator has to check them.
-765 programming
    A statement that has a cursor cannot be executed
    Open its cursor.
-768 internal
    The server had an internal error ('{near}')
    See the server's log.
-769 internal
    The server had an internal error ('{near}')
    See the server's log.
-853 operational
    The transaction was rolled back
    Run it again.
-861 operational
    A thread for a parallel query could not be created
    Lower PDQPRIORITY, or try again.
-874 internal
    The optimizer failed
    Run UPDATE STATISTICS. See the server's log.
-876 programming
    SET TRANSACTION must be the first statement of a transaction
-877 programming
    SET TRANSACTION has set the isolation already
-878 programming
    The transaction is read-only
-890 programming
    An insert cursor needs INSERT ... VALUES
-938 programming
    The VALUES of an insert cursor cannot contain expressions
    Use question marks and constants only.
-942 operational 42000
    The commit failed and the transaction is rolled back
    Run it again.
-959 operational
    The transaction was rolled back because of an internal error
    Run it again. See the server's log.
-16398 programming
    There is no savepoint of this name
-16399 programming
    A unique savepoint of this name exists already
    Release it first, or use another name.
"""
