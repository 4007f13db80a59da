"""SPL routines kept, found and run, each statement of theirs by the engine.

From the ground up: registry (which there are), plain and embedded (their SQL), conversions, frames (variables),
evaluation (what a call computes), interpreter (its statements, and calls of other routines); then who calls: sql_calls,
calls, fast_path; catalog (CREATE and DROP); session_routines (all that a session has of them).
"""
