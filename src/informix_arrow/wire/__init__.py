"""The SQLI protocol, sans-I/O: messages, descriptors, types and single values.

No module here uses sockets, threads, clocks or loggers.
"""
