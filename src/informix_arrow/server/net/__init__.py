"""Sockets, threads, TLS, PAM, limits, faults and logs: how a client gets in, and what a tester sees of it."""
