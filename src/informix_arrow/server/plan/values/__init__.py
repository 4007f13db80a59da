"""A value brought to another type, or together with another value, as DuckDB text. Knows no syntax tree."""
