"""A Singer tap for the database at the given URL, written as in its SDK's documentation. test_singer.py runs it.

Its messages go to standard output, its log to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import Any

from singer_sdk.sql import SQLConnector, SQLStream, SQLTap


class InformixConnector(SQLConnector):
    def get_sqlalchemy_url(self, config: Mapping[str, Any]) -> str:
        return str(config["url"])


class InformixStream(SQLStream):
    connector_class = InformixConnector


class InformixTap(SQLTap):
    name = "tap-informix"
    default_stream_class = InformixStream
    config_jsonschema = {"type": "object", "properties": {"url": {"type": "string"}}}  # noqa: RUF012


settings = {"url": sys.argv[1]}
catalog = json.loads(json.dumps(InformixTap(config=settings).catalog_dict))
for stream in catalog["streams"]:
    for entry in stream["metadata"]:
        if not entry["breadcrumb"]:
            entry["metadata"]["selected"] = True
InformixTap(config=settings, catalog=catalog).sync_all()
