"""The log of changes: rows before and after each change of tables whose rows are logged in full, for clients that
capture them (docs/protocol/CDC.md)."""
