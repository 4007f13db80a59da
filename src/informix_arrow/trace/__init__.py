"""Traces: the messages of a connection, written to a file, for bug reports.

``connect(.., trace="dialogue.trace")`` writes a trace, ``python -m informix_arrow.trace dialogue.trace`` prints it.
:mod:`.recorder` observes a running operation and writes lines, :mod:`.dialogue` parses its bytes as messages,
:mod:`.message_format` formats each message, and :mod:`.redactor` hides passwords and values.
"""

#: Version of the line format. A reader refuses others.
FORM = 1
