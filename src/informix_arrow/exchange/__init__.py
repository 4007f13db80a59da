"""The client's conversations as generators that ask for bytes and give bytes: sans-I/O, written once.

``steps`` says what an exchange may ask of its transport, ``session`` how replies are kept apart; ``connect``,
``run``, ``fetch``, ``many`` and ``transaction`` hold the conversations themselves.
"""
