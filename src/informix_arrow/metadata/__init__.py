"""Metadata: what is in a database, as Arrow tables: tables, columns, keys, indexes, fragments, routines, databases.

Each method is one operation that reads the system catalogue tables, which every server has. The methods of the
connections only call these operations.
"""
