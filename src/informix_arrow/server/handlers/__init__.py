"""Handlers of a client's messages. They know the engine and the messages; a stream moves the bytes."""
