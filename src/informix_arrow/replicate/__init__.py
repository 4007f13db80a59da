"""Copies of tables in files and other databases, and captured changes applied to them.

A target stores the rows of a table and the state of its copy in one step, or neither. The next copy continues from that
state. `target_names` and `change_target` find the target for a text. `copy` selects and reads the rows, and compares
checksums of both sides (`checksums`). `apply` applies captured changes.
"""
