"""From a syntax tree and the schema to a plan: DuckDB text with Informix types. Nothing is run here.

From the ground up: plans (data), scope and context (what a translation is told and finds out), values (brought to
types), functions (over values), the translator's protocol, nodes (one function for each kind), expressions, queries,
and the plans of each statement: selecting, inserting, modifying, merging, planner.
"""
