"""Change data capture: assemble the records of a server's log into committed transactions, as Arrow record batches.

`capture` is the public function and class, `requests` reads the log, and the other modules work without a server.
"""
