"""Routines, user-defined types, large objects."""

TABLE = """\
-600 operational
    A BYTE or TEXT value could not be created
    See the ISAM code.
-601 operational
    A BYTE or TEXT value could not be deleted
    See the ISAM code.
-602 operational
    The large object '{near}' could not be opened
    See the ISAM code.
-603 operational
    A large object could not be closed
    See the ISAM code.
-604 operational
    A large object could not be read
    See the ISAM code.
-605 operational
    A large object could not be written
    See the ISAM code.
-606 programming
    The blobspace does not exist ('{near}')
-607 programming
    A subscript of a BYTE or TEXT value is wrong
-608 programming
    A BYTE or TEXT value cannot be converted to this type
-609 programming
    A BYTE or TEXT parameter cannot be used here
-611 programming
    A scroll cursor cannot select BYTE and TEXT columns
    Use a cursor without SCROLL.
-612 programming
    GROUP BY cannot contain a BYTE or TEXT column
-613 programming
    DISTINCT cannot be used with BYTE and TEXT columns
-614 programming
    ORDER BY cannot contain a BYTE or TEXT column
-615 programming
    A BYTE or TEXT column cannot be used in this expression
    It can be selected, and compared with NULL.
-616 programming
    A BYTE or TEXT value cannot have a subscript here
-617 programming
    A BYTE or TEXT value must come from a parameter
    Use a question mark.
-618 operational
    A BYTE or TEXT value could not be copied
    See the ISAM code.
-619 operational
    A large object failed on the client's side
-655 programming
    The number of values in RETURN differs from the number that the routine declares
-656 programming
    The routine returns no values
-661 programming
    The number of variables differs from the number of values returned
-664 programming
    The routine '{near}' was called with the wrong number of arguments
-667 programming
    The variable '{near}' is not declared
-668 operational
    A SYSTEM command failed, or could not be run
    The ISAM code is the exit status.
-669 programming
    The variable '{near}' is declared twice
-671 programming
    The argument '{near}' is named twice
-673 programming
    The routine '{near}' exists already with these argument types
    Drop it first, or give it other arguments.
-674 programming
    The routine '{near}' does not exist with these argument types
    Check its name and cast the arguments.
-675 programming
    A statement cannot be used in a routine
-676 programming 23000
    The column of a CHECK constraint is wrong
-684 programming
    The routine '{near}' returned too many values
-685 programming
    The routine '{near}' returned too few values
-686 programming
    The routine '{near}' returned more than one row
    Use it as a table, or return one row.
-694 programming
    The routine '{near}' was given too many arguments
-695 programming
    The routine '{near}' has no parameter of this name
-696 programming
    The variable '{near}' has no value
-697 programming
    STEP of a loop is zero
-705 operational
    The routine '{near}' is in use
-706 programming
    You have no EXECUTE privilege on '{near}'
    Its owner or a DBA can GRANT it.
-717 programming
    The routine '{near}' was given a wrong argument
-720 programming
    The number of values returned differs from the number of variables
-721 programming
    The routine '{near}' is no longer valid
    Create it again, because a table that it uses has changed.
-722 operational
    The stack overflowed
    A routine may call itself endlessly.
-745 operational
    A trigger failed
    See the ISAM code.
-746 database
    A routine raised an error: '{near}'
-937 operational
    A routine failed on the server
-9401 programming
    The built-in aggregate '{near}' cannot be changed
-9404 programming
    The aggregate '{near}' does not exist
-9600 internal
    The server had an internal error
    See the server's log.
-9601 programming
    The variable '{near}' is NULL
-9602 programming
    A collection cannot be converted to this type
-9606 programming
    GROUP BY cannot contain a collection
-9607 programming
    DISTINCT cannot be used with collections
-9608 programming
    ORDER BY cannot contain a collection
-9609 programming
    A collection cannot be used in this expression
-9610 programming
    A collection is needed here
-9628 programming
    The type '{near}' does not exist
-9629 programming
    Only the owner of the type may do this
-9630 programming
    The type '{near}' is in use
    Drop the tables that have columns of it first.
-9631 programming
    The opaque type '{near}' exists already
-9632 programming
    The value does not have the type of the column '{near}'
    Cast it.
-9633 programming
    The type of the column '{near}' cannot be changed, because there is no cast
-9634 programming
    There is no cast from or to '{near}'
    Cast explicitly, or convert the value.
-9635 programming
    An opaque value cannot be converted without a cast
-9636 data
    An opaque value is longer than its type allows
-9648 data
    The text is not a BOOLEAN
    Use 't' or 'f'.
-9660 data
    The JSON document is not valid
-9700 programming
    Several routines '{near}' fit these arguments
    Cast the arguments.
-9750 operational
    The routine '{near}' returns other types than when the statement was prepared
    Prepare it again.
-9791 operational
    The routine '{near}' failed
-9793 operational
    The module of the routine '{near}' could not be loaded
-9794 operational
    The routine '{near}' could not be loaded
-9810 operational
    A smart large object could not be used
    Its handle is not open, or its locator is not valid.
-9811 operational
    The handle of a smart large object is not open
-9812 operational
    A transaction for a smart large object could not be started
-9814 operational
    The default sbspace '{near}' cannot be used
-9815 programming
    The file name '{near}' is not valid
-9820 operational
    The sbspace '{near}' does not exist
-9822 operational
    A smart large object could not be deleted
-9827 operational
    The default sbspace '{near}' does not exist
    SYSSBSPACENAME in the server's configuration names it.
-9926 programming
    Collections and ROWs cannot be ordered, compared or unique here
-9978 programming
    NULL cannot be put into a collection
-9989 programming
    The number of fields of a ROW differs from its type
-9990 programming
    The ROW type '{near}' is in use
    Drop the tables that have columns of it first.
-9991 programming
    A ROW type '{near}' exists already
-9992 programming
    The ROW type '{near}' does not exist
-9993 programming
    Only the owner of the ROW type may do this
-9996 programming
    A DISTINCT type '{near}' exists already
-9997 programming
    You may not use the type '{near}'
-12031 operational
    The sbspace is full
    An administrator can add a chunk.
-12048 operational
    A smart large object no longer exists
    Its row may have been deleted since.
-12051 operational
    A smart large object was not opened for reading
-12052 operational
    A smart large object was not opened for writing
-12053 operational
    There is no sbspace for a smart large object
    Name one in PUT ... IN (sbspace), or ask an administrator for a default one.
-12097 operational
    The locator of a smart large object does not refer to an object
    Its row may have been deleted since.
-12123 operational
    The metadata area of the sbspace is full
    An administrator can add a chunk.
-19805 programming
    You may not use the role '{near}'
    A DBA can GRANT it, or create it with CREATE ROLE.
"""
