"""All built-in functions over values, by name."""

from __future__ import annotations

from . import conditionals, datetimes, documents, numbers, strings, type_names
from .handler import FunctionTable

BUILTIN: FunctionTable = {
    **type_names.FUNCTIONS,
    **strings.FUNCTIONS,
    **datetimes.FUNCTIONS,
    **numbers.FUNCTIONS,
    **conditionals.FUNCTIONS,
    **documents.FUNCTIONS,
}
