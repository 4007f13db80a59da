"""Captured changes: the records of a log put together to committed transactions, as Arrow record batches.

No server is asked anything here; :mod:`informix_arrow.capture` reads the records.
"""
