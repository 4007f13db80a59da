"""BSON columns as JSON text or as dicts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ..wire.bson import to_json
from ..wire.errors import DataError, InterfaceError


def bson_decoder() -> Callable[[bytes], dict[str, Any]]:
    """Return pymongo's ``bson.decode``. Raises ``InterfaceError`` if pymongo is missing."""
    try:
        from bson import decode
    except ImportError:
        raise InterfaceError(
            "Reading BSON as dicts needs pymongo's bson. Run pip install 'informix-arrow[bson]'"
        ) from None
    return decode


def json_of_bson(values: pa.Array, name: str, first_row: int) -> pa.Array:
    """Return BSON documents as relaxed Extended JSON. Makes one Python object per value.

    Raises ``DataError`` with row and column for bytes that are not BSON.
    """
    texts: list[str | None] = []
    for number, document in enumerate(values.to_pylist(), first_row):
        try:
            texts.append(None if document is None else to_json(document))
        except DataError as error:
            raise DataError(f"Column {name!r}, row {number}: {error}", row=number, column=name) from None
    return pa.array(texts, pa.utf8())
