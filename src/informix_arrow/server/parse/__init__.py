"""Informix text read into syntax trees: SQL, DDL, SPL. Knows no table: a name is only a name here."""
