"""Storage of and computation with values of Informix types. This package knows no table, statement or session."""
