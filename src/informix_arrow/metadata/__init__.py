"""What is in a database, as Arrow tables: tables, columns, keys, indexes, fragments, routines, databases.

Each question is one exchange over the catalogue tables that every server has; the connections are thin fronts.
"""
