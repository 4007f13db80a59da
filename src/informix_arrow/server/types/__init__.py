"""How values of Informix's types are stored and computed with. Knows no table, no statement and no session."""
