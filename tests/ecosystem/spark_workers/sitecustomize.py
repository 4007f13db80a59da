"""Imports the modules that Spark's Python processes of spark_kills_job.py need before they are forked.

Each would take a second for it, and a write has five of them. The job has this folder on its PYTHONPATH.
"""

import sys

if "pyspark.daemon" in sys.orig_argv:
    import pyarrow as pa
    import tests.subprocess_server  # noqa: F401

    import informix_arrow.spark
    from informix_arrow.core import connection_classes

    pa.array([1])  # pyarrow's first array imports pandas,
    # and the first connection imports ADBC's driver manager and Polars.
    connection_classes.connection_class(informix_arrow.Connection)
