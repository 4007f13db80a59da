"""The text of a statement: syntax, names, queries, expressions, parameters."""

TABLE = """\
100 database 02000
    No row was found
    The cursor is past its last row, or no row met the condition.
-200 programming
    A name in the statement is too long
-201 programming 42000
    The statement has a syntax error
    Check the marked position and the word before it. A reserved word as a name needs DELIMIDENT=y and double quotes.
-202 programming
    The statement contains a character that is not valid in SQL
    Look for typographic quotes and characters outside the session's code set.
-203 programming
    A whole number in the statement is badly formed or too large
    Write it as a decimal number.
-204 programming
    A number with fraction or exponent in the statement is badly formed or too large
-205 programming
    ROWID cannot be used with this view
    Select the key columns of the underlying table.
-206 programming 42000
    The table '{near}' does not exist in this database
    Check the spelling, the owner (owner.table) and the current database. Unquoted names are lower case.
-207 programming
    A query with INTO cannot be declared FOR UPDATE
-217 programming
    The column '{near}' is in none of the tables of the statement
    Check its spelling. Put text in single quotes. With DELIMIDENT, "..." is a name.
-218 programming
    The synonym '{near}' does not exist
-219 programming
    LIKE and MATCHES need text or numbers
    Cast the column, as in column::VARCHAR(40).
-223 programming
    The table name '{near}' is given twice
    Give each occurrence its own alias.
-231 programming
    An aggregate cannot be computed over DISTINCT of this expression
    Compute the distinct values in a derived table first.
-236 programming 21S01
    The number of columns in the INSERT differs from the number of values
    Name the columns after the table and count the values.
-249 programming
    A computed column needs a name
    Add AS name after the expression.
-251 programming
    A column number in ORDER BY or GROUP BY is higher than the number of selected columns
-253 programming
    A name is longer than the server allows
-254 programming 07001
    The number of parameters differs from the number of question marks in the statement
    Give one value for each question mark.
-280 programming
    A quoted text is longer than 256 bytes
    Use a parameter for it.
-282 programming
    A quoted string is not closed
    Write a quote inside the string twice.
-283 programming
    A comment that starts with { is not closed
-284 programming 21000
    A subquery that must return one row returned several, or none
    Use IN, or make the subquery unique.
-293 programming
    IS NULL can be used with plain columns only
    Compute the expression in a derived table first.
-294 programming
    The column '{near}' must be in the GROUP BY list
    Add it, or aggregate it.
-300 programming
    There are too many GROUP BY columns
-301 programming
    The GROUP BY columns are too wide in total
    Group by fewer or shorter columns.
-303 programming
    Aggregates and plain columns are mixed without GROUP BY
    Put the plain columns into GROUP BY.
-304 programming
    HAVING has a column that is neither grouped nor aggregated
    Move the condition to WHERE, or group by the column.
-305 programming
    The column '{near}' has no subscripts
    Only text and BYTE columns have them, as in column[1,3].
-306 programming 22003
    A subscript is out of range
-307 programming
    A subscript is outside the column's length
-308 programming
    The columns of the parts of a UNION have different types
    Cast them to one type.
-309 programming
    The ORDER BY column '{near}' is not among the selected columns
    Select it as well.
-317 programming
    The parts of a UNION have different numbers of columns
-321 programming
    GROUP BY cannot contain an aggregate
-324 programming
    The column '{near}' is in several tables
    Write table.column.
-352 programming S0002
    The column '{near}' was not found
-354 programming
    The name of the database or cursor is badly formed
-360 programming
    A table cannot be changed while a subquery of the statement reads it
    Put the subquery's rows into a temporary table first.
-366 programming
    The scale is higher than the precision
-367 programming
    SUM and AVG need numbers
    Cast the column to a number.
-374 programming
    After a UNION, ORDER BY takes column numbers only
    Write ORDER BY 1, 2.
-393 programming
    The WHERE clause makes two tables OUTER of each other
    Rewrite it with LEFT OUTER JOIN ... ON.
-395 programming
    A table in OUTER is not joined to the others
    Add a join condition for it.
-396 programming
    A table nested in OUTER is joined to one outside of it
    Rewrite it with LEFT OUTER JOIN ... ON.
-406 operational S1001
    Memory ran out
-410 programming 37000
    The statement was not prepared, or was released
    Prepare it again.
-505 programming
    The number of columns in the UPDATE differs from the number of values
-513 programming
    The server does not support this statement
-522 programming
    The table '{near}' is not in the FROM list
    List it, or correct the alias.
-528 programming
    A row of the result is wider than the server allows
    Select fewer columns.
-543 programming 22019
    The ESCAPE character must be one byte
-544 programming
    An aggregate is inside another aggregate
    Compute the inner one in a derived table.
-554 programming
    The server does not support this syntax
-555 programming
    A text with several statements contains a query or a database statement
    Run them one by one.
-561 programming
    SUM and AVG cannot be computed over DATETIME values
-574 programming
    A subquery that must return one column returned several
-575 programming
    LENGTH needs text
-588 programming
    A parameter number is wrong
-595 programming
    An aggregate cannot be used here
    Aggregates belong in the select list and in HAVING.
-659 programming
    A query that returns rows needs INTO TEMP here
-681 programming
    A column is named twice in the INSERT
-728 programming
    DBINFO does not know this argument: '{near}'
-800 programming
    The results of CASE or DECODE have different types
    Cast them to one type.
-809 programming
    The statement has a syntax error
    Check the marked position and the word before it.
-879 programming 22027
    TRIM takes one character, or none
-880 programming
    TRIM needs text
    Cast the value to text.
-881 data
    The result of a text function is longer than the server allows
-943 programming
    A comment that starts with /* is not closed
-944 programming
    FIRST, LIMIT and SKIP cannot be used here
    Put the query into a derived table.
-946 programming
    UPPER, LOWER and INITCAP need text
    Cast the value to text.
-999 unsupported
    This feature is not implemented by the server
-26079 data
    The hierarchical query has a loop, because a row is its own ancestor
    Use CONNECT BY NOCYCLE, which leaves out the row that closes the loop.
"""
