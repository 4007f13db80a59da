"""Conversion of values between types, and of several values to a common type, as DuckDB SQL. Knows no syntax tree."""
