"""Transports run operations: they move the bytes that an operation asks for and know nothing of SQLI."""
