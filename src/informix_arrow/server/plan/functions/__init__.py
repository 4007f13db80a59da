"""Built-in functions over translated values, each a row of a table: arguments, DuckDB text, Informix type."""
