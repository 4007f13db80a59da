"""DDL: CREATE, DROP, ALTER, RENAME, TRUNCATE, GRANT and REVOKE, run inside a session's transaction."""
