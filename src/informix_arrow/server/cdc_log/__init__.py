"""The change log: rows before and after each change of fully logged tables, for clients that capture them
(docs/protocol/CDC.md)."""
