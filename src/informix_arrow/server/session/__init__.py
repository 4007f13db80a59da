"""Plans run: sessions, transactions, locks, rows written, large objects. Knows no message and no socket.

Of routines it knows only what it asks of whoever runs them (calling.py).

From the ground up:

- shared by all sessions: locks, serials, numbers, plan_cache, sessions, schema_changes (a version)
- of one session: environment, session_values, current_database, lock_owner
- its transaction: spool and open_rows (rows that a query still makes), duck_transaction (DuckDB's own), journal,
  transaction
- what its statements name: reading, session_tables, user_types, lobs and lob_calls
- what plans and runs them: statement_planner, running, streamed_result, isolation
- rows: appending, row_inserts, references, modifying, positioned
- statements that define: ddl; about the session: opening, controls
- engine (what sessions share, put together), session (a session, put together), parts (what routines have of it)
"""
