"""From Informix SQL text to DuckDB SQL with Informix types: read, resolve, translate. Nothing is run here."""
