"""Connections: login, network, locales."""

TABLE = """\
-461 operational
    A file could not be opened
    See the ISAM code.
-753 operational
    The server's limit of users is reached
    Try again later.
-758 operational
    The session could not be moved to the new server '{near}'
    Connect again.
-759 programming
    The connection has a database already that it may not change
    Open a new connection for the other database.
-761 operational
    The server name in the request is not the name of the server that answered
    Set server= to the server's DBSERVERNAME or one of its aliases.
-802 operational
    A file for the statement could not be opened
-805 operational
    The file for LOAD could not be opened
-806 operational
    The file for UNLOAD could not be opened
-839 programming S0002
    The table was not found
-840 programming S0000
    A name is too long
-841 programming S0000
    A name is badly formed
-901 operational 28000
    The user is not in the network authorization file
-902 operational 28000
    The user is not authorized
-905 operational
    The service of the server is not known
    Give host and port.
-908 operational 08004
    The server could not be reached ('{near}')
    Check host and port, and that the server is up.
-909 programming
    The database name is badly formed
-912 operational
    The server could not be written to
    Connect again.
-913 operational
    The server could not be read from
    Connect again.
-917 programming
    The current database must be closed first
    Execute CLOSE DATABASE.
-927 operational
    One session cannot use so many servers
-929 operational
    The session was ended, because client and server are out of sync
    Connect again.
-930 operational 08004
    The server '{near}' could not be reached
    Check host and port.
-931 operational
    The service '{near}' is not known
    Give host and port.
-932 operational
    The network failed ('{near}')
    Connect again.
-934 operational 08006
    The connection to the remote server broke
    Connect again.
-936 operational
    The connection to the remote server failed ('{near}')
-950 operational
    The user '{near}' is not known to the server
-951 operational
    The server refused the user or the password
    Check both. The user must be known on the server's machine.
-952 operational
    The password is wrong for this user
-953 operational
    The server process could not be started
-954 operational
    The client is not known to the server
-955 operational
    The server received nothing from the client
-956 operational
    The client's host or user is not trusted by the server
    Give a password, or have the host added to the server's trusted hosts.
-1800 programming 25000
    The state of the transaction does not allow this
-1801 unsupported 0A001
    One transaction cannot use several servers
-1802 programming 08002
    The name of the connection is in use
-1803 programming 08003
    The connection does not exist
-1805 programming 2E000
    The name of the connection is badly formed
-1806 operational 08006
    The connection failed
    Connect again.
-1809 operational 08004
    The server refused the connection
-1810 operational 01002
    The connection could not be ended properly
-1811 programming
    The connection has to be opened explicitly
-1820 programming
    A parameter's type changed between two executions of one statement
    Prepare the statement again.
-1821 data
    A value does not fit its variable
-5009 operational
    The secure connection could not be authenticated
-23100 operational
    The locale could not be set up
-23101 operational
    The locale is not known to the server
    Check CLIENT_LOCALE and DB_LOCALE, e.g. en_US.utf8.
-23103 data
    A character does not exist in the other code set
-23104 operational
    The server has no conversion between the two code sets
    Set CLIENT_LOCALE to the database's code set.
-23109 operational
    The locale is badly formed
    Write it as language_TERRITORY.codeset, such as en_US.utf8.
-23115 operational
    The parts of the locale have different code sets
-23195 operational
    The connection was refused because of its locale
-23196 operational
    The locale of the database is not known
-23197 operational
    DB_LOCALE is not the locale of the database
    Leave it out, or give the locale that the database was created with.
-23198 internal
    The collation of the database is not known
-23199 internal
    The code set of the database is not known
-25552 operational
    A network service is in use already
-25553 operational
    The sqlhosts file was not found or cannot be read
-25555 operational
    The server '{near}' is not in the sqlhosts file
    Give host and port, or add it there.
-25556 operational
    The sqlhosts file is badly formed
-25560 operational
    No server name was given
    Set server= or INFORMIXSERVER.
-25569 operational
    Client and server have no protocol version in common
-25571 operational
    The server could not create a thread for the session
    Its limits may be reached. Try again.
-25580 operational
    The network failed
    Connect again.
-25582 operational
    The network connection broke
    Connect again.
-25583 operational
    The network failed
    Connect again.
-25586 operational
    Sending to the server failed
    Connect again.
-25587 operational
    Receiving from the server failed
    Connect again.
-25588 operational
    The server '{near}' could not be reached
    Check that the server is up.
-25590 operational
    The server could not authenticate the client
    Check user, password and the kind of connection.
-25591 operational
    The server's address is wrong
-25596 operational
    The server's name is not in the sqlhosts file
-25599 operational
    Nothing listens at the server's address
    Check host and port.
"""
