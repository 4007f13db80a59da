"""Statements that define: CREATE, DROP, ALTER, RENAME and TRUNCATE, run inside a session's transaction."""
