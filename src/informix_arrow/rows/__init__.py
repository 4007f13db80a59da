"""Statements, parameters and rows on this side, with no server in sight: placeholders and the values for them, final
record batches of decoded ones, Python rows, what PEP 249 says of columns.
"""
