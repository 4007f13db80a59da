"""Parsing of Informix SQL, DDL and SPL to syntax trees. This package knows no tables: names are not resolved here."""
