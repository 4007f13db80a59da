"""What the public classes are made of, blocking and asyncio alike: sessions behind a lock, what a connection and a
cursor are apart from waiting, the books of a pool. Nobody else imports it.
"""
