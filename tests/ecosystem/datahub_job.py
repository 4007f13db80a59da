"""Runs DataHub's source ``sqlalchemy`` on the database at the given URL. test_datahub.py runs it.

Arguments: the URL, and a file for DataHub's records. The source's report is printed as JSON.
"""

from __future__ import annotations

import json
import sys

from datahub.ingestion.run.pipeline import Pipeline

url, file = sys.argv[1:]
pipeline = Pipeline.create(
    {
        "source": {
            "type": "sqlalchemy",
            "config": {
                "connect_uri": url,
                "platform": "informix",
                "profiling": {"enabled": True},
            },
        },
        "sink": {"type": "file", "config": {"filename": file}},
    }
)
pipeline.run()
report = pipeline.source.get_report()
print(
    "result "
    + json.dumps(
        {
            "tables": report.tables_scanned,
            "views": report.views_scanned,
            "failures": [str(each) for each in report.failures],
            "warnings": [each.message for each in report.warnings],
        }
    )
)
