"""Generators of documentation, and tests that the documentation matches the code."""
