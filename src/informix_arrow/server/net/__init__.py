"""Connections of clients: sockets, threads, TLS, limits, fault injection and the query log."""
