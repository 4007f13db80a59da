"""Change capture: errors of the routines of syscdcv1."""

TABLE = """\
-83701 operational
    The server has no database syscdcv1, through which changes are captured
    An administrator has to run the installation's script syscdcv1.sql as user informix.
-83702 operational
    The server has another version of the change capture API
-83703 programming
    The database '{near}' does not exist, so its changes cannot be captured
-83704 unsupported
    The database '{near}' has no log, so its changes cannot be captured
    An administrator can turn logging on with ontape -s -B database.
-83705 programming
    The table '{near}' does not exist, so its changes cannot be captured
    Check database, owner and name.
-83706 programming
    Changes of '{near}' cannot be captured
    It must be a table with full row logging that is neither RAW nor temporary. Use set_full_row_logging=True.
-83707 programming
    A column to be captured does not exist, or is of a type that cannot be captured ('{near}')
    Leave out columns of BYTE, TEXT, BLOB, CLOB, collections, ROW, DISTINCT and opaque types.
-83708 operational
    The capture session does not exist on the server
    Start a new one from the last token.
-83709 operational
    A capture session cannot be opened again
-83710 programming
    The table '{near}' is captured twice in one session
-83711 programming
    The table '{near}' is not captured in this session
-83712 programming
    An argument for the capture of changes is NULL
-83713 operational
    The position is no longer in the log, or never was ('{near}')
    The capture has missed changes. Copy the tables again, start without a token, and keep more logs on disk.
-83714 operational
    The log cannot be read in this direction
-83715 operational
    The capture session is active already
-83720 programming
    An argument for the capture of changes is wrong
-83721 programming
    The first argument for the capture of changes is wrong
-83722 programming
    The second argument for the capture of changes is wrong
-83723 programming
    The third argument for the capture of changes is wrong
-83724 programming
    The fourth argument for the capture of changes is wrong
    In cdc_opensess it is the number of records for each read. Use max_records up to 100.
-83725 programming
    The fifth argument for the capture of changes is wrong
-83726 programming
    The sixth argument for the capture of changes is wrong
-19816 operational
    The rows of a table are logged in full for the capture of changes
    End its captures, then switch logging off with capture_off() or `informix-arrow capture --off`.
"""
