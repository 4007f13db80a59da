"""The Spark session of the jobs beside this, and of benchmarks/peers/spark_job.py."""

from __future__ import annotations

import os
from collections.abc import Sequence

from pyspark.sql import SparkSession


def session(
    *, jars: Sequence[str] = (), time_zone: str = "UTC", long: bool = False, **settings: object
) -> SparkSession:
    """Return a Spark session with two threads of this machine, which other machines cannot reach. The JVM's time zone
    is UTC.

    ``jars`` are added to the driver's class path. ``time_zone`` is that of the session. With ``long`` the JVM optimises
    fully, for a job that is timed; otherwise it starts sooner. ``settings`` are further options, without ``spark.`` and
    with ``_`` for each dot.
    """
    compiler = () if long else ("-XX:TieredStopAtLevel=1",)
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.extraJavaOptions", " ".join((*compiler, "-Duser.timezone=UTC")))
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", time_zone)
    )
    if jars:
        builder = builder.config("spark.driver.extraClassPath", os.pathsep.join(jars))
    for name, value in settings.items():
        builder = builder.config(f"spark.{name.replace('_', '.')}", str(value))
    return builder.getOrCreate()
