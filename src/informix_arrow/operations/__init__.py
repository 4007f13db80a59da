"""The client's conversations as generators that ask for bytes and give bytes: sans-I/O, written once.

``steps`` says what an exchange may ask of its transport, ``session`` how replies are kept apart; ``connect``,
``run``, ``fetch``, ``many`` and ``transaction`` hold the conversations themselves.

Large objects have rooms of their own. Reading: ``large_objects`` (the contents of a batch's rows), which uses
``object_streams`` (contents as they arrive) and ``smart_objects`` (BLOB and CLOB: open, read, close). Writing:
``object_sources`` (where contents come from), ``lob_parameters`` (how they are bound and sent) and
``object_execute`` (statements with such parameters). ``client_files`` answers servers that ask for files.
"""
