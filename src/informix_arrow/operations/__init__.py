"""The client side of SQLI as generators, one per request, without I/O.

``io_steps`` lists what an operation may ask of its transport. ``session`` keeps track of the replies that are
still to come. ``connect``, ``execute``, ``fetch``, ``executemany`` and ``transaction`` hold the main
operations.

Large objects have modules of their own. Reading: ``large_objects`` (the contents of a batch's rows), which uses
``object_streams`` (contents as they arrive) and ``smart_objects`` (BLOB and CLOB: open, read, close). Writing:
``object_sources`` (where contents come from), ``lob_parameters`` (how they are bound and sent) and
``object_execute`` (statements with such parameters). ``client_files`` replies to servers that request files.
"""
