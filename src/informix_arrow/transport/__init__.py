"""Who runs the exchanges: each transport moves the bytes that an exchange asks for and knows nothing of
SQLI.
"""
