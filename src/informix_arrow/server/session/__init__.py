"""Sessions of the server: transactions, locks, journal, execution of plans, rows written, large objects.

This layer knows no messages and no sockets. It uses routines only through the protocols of `routine_protocols`.

Modules, the lower ones first:

- shared by all sessions: locks, serials, numbers, plan_cache, sessions, schema_version
- state of one session: environment, session_values, current_database, lock_owner
- its transaction: spool and open_result (rows that a query still produces), duck_transaction (DuckDB's own), journal,
  transaction
- names in its statements: sql_reader, session_tables, user_types, smart_object_store, lob_calls
- planning and running: statement_planner, duck_executor, streamed_result, isolation
- rows: table_appender, insert, foreign_keys, update_delete, update_cursor
- DDL: ddl; statements about the session: database_statements, session_statements
- engine (the state that sessions share), engine_session (one session, put together), session_services (the parts of a
  session that routines use)
"""
