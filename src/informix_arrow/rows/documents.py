"""JSON and BSON columns as Arrow's JSON type, and BSON as JSON text by pymongo's ``bson``, the extra ``[bson]``."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pyarrow as pa

from ..wire.errors import DataError, InterfaceError


@lru_cache(maxsize=1)
def bson_reader() -> Callable[[bytes], str]:
    """Return the function that makes relaxed Extended JSON of a BSON document.

    Raises ``InterfaceError`` if pymongo is missing.
    """
    try:
        import bson
        from bson import json_util
        from bson.errors import BSONError
    except ImportError:
        raise InterfaceError(
            "bson=\"json\" needs pymongo's bson: pip install 'informix-arrow[bson]'"
        ) from None
    options = json_util.RELAXED_JSON_OPTIONS.with_options(
        datetime_representation=json_util.DatetimeRepresentation.ISO8601
    )

    def read(document: bytes) -> str:
        try:
            return str(json_util.dumps(bson.decode(document), json_options=options, ensure_ascii=False))
        except (BSONError, ValueError, OverflowError) as error:
            raise DataError(f"the value is not a valid BSON document: {error}") from None

    return read


def json_of_bson(values: pa.Array, name: str, first_row: int) -> pa.Array:
    """Return BSON documents as text. Makes one Python object per value.

    Raises ``DataError`` with row and column for bytes that are not BSON.
    """
    read = bson_reader()
    texts: list[str | None] = []
    for number, document in enumerate(values.to_pylist(), first_row):
        try:
            texts.append(None if document is None else read(document))
        except DataError as error:
            raise DataError(f"column {name!r}, row {number}: {error}", row=number, column=name) from None
    return pa.array(texts, pa.utf8())
