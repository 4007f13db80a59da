"""IBM's JDBC driver as a witness."""
