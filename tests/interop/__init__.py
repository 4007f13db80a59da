"""Interoperability tests: reference clients by others and our client agree on the bytes on the wire."""
