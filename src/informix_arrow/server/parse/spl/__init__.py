"""Informix SPL: routines read, kept in the catalogue, and interpreted (docs/spl.md says what of it there is).

`parser` makes `nodes` of a routine's text, `catalog` keeps the text, `calls` finds the routine that a call means,
`interpreter` runs it; the SQL inside goes the way of every other statement (`embedded`).
"""
