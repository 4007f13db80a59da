"""The declarations of a database: tables, columns, routines, and their rows in the system catalogue. This package knows
no statement plan and no session."""
