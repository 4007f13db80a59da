"""A copy of tables that is kept equal to them by their captured changes."""
