"""Change data capture: assemble the records of a server's log into committed transactions, as Arrow record batches.

`capture` has the public function and the class `Changes`, and `requests` reads the log. The other modules work without
a server.
"""
