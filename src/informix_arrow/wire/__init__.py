"""SQLI itself, sans-I/O: messages, descriptors, types and single values. No sockets, threads, clocks or
loggers."""
