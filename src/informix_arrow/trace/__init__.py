"""The wire dialogue of a connection in a file, message by message: what goes into a bug report.

``connect(.., trace="dialogue.trace")`` writes it, ``python -m informix_arrow.trace dialogue.trace`` prints it.
:mod:`.dialogue` reads messages off the bytes, :mod:`.telling` says what may be told of each, :mod:`.recording` looks on
while an exchange runs and writes lines.
"""

#: The form of the lines; a reader refuses others.
FORM = 1
