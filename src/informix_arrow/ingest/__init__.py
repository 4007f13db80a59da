"""Writing Arrow data: what is done before the first byte leaves, and what is told afterwards.

``target`` describes the table and maps columns, ``ddl`` makes tables, ``convert`` brings columns into a form
that the encoder takes, ``feed`` makes groups of encoded rows, ``writer`` strings it all together as one
exchange, ``report`` and ``progress`` tell what happened. The conversation itself is ``exchange.load``.
"""
