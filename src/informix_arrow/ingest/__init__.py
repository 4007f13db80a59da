"""Writing Arrow data to a table, from the arguments of ``write_arrow`` to its report.

* ``arguments`` checks the arguments, ``batch_sources`` opens the data.
* ``target_table`` describes the table and maps columns, ``create_table`` creates tables.
* ``convert`` casts columns to types that the encoder takes, ``row_feed`` makes groups of encoded rows.
* ``write`` runs a load, ``merge`` is the last step of an upsert.
* ``report`` and ``progress`` report the outcome.

The messages of a load are in ``operations.bulk_insert``.
"""
