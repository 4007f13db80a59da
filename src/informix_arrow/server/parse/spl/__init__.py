"""Parsing of Informix SPL (docs/spl.md lists the supported statements).

`parser` converts a routine's text to `nodes`, `triggers` that of a trigger. server/routines finds and executes
routines.
"""
