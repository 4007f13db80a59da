"""Storage, lookup and execution of SPL routines. The session executes each of their statements.

The modules build on each other in this order: registry (lookup), python_expressions and sql_compiler (the SQL inside),
conversions, frames (variables), evaluator (the expressions of a call), interpreter (the statements, and calls of other
routines). The callers are sql_calls, calls and fast_path. catalog implements CREATE and DROP, session_routines combines
everything for a session.
"""
