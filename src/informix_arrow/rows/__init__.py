"""Parameters and rows of the client: placeholders and values, final record batches, Python rows, PEP 249's types."""
