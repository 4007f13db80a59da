"""What is answered to each message of a client. Knows the engine and the messages; a stream moves the bytes."""
