"""IBM's JDBC driver as a reference client."""
