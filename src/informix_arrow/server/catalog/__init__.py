"""What is declared in a database: tables, columns, routines, how the catalogue shows them. Knows no statement's plan
and no session."""
