"""All built-in functions of values, by name."""

from __future__ import annotations

from . import choices, numbers, texts, times, type_words
from .handler import FunctionTable

BUILTIN: FunctionTable = {
    **type_words.FUNCTIONS,
    **texts.FUNCTIONS,
    **times.FUNCTIONS,
    **numbers.FUNCTIONS,
    **choices.FUNCTIONS,
}
