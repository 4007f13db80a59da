"""Translation of a syntax tree to a plan: DuckDB SQL with Informix types. Nothing is executed here.

The modules build on each other in this order: plans (data), scope and context (inputs and results of a translation),
values (conversion between types), functions (over values), the translator's protocol, nodes (one function for each kind
of node), expressions, queries, and the plans of each statement: select_plan, insert_plan, modify_plan, merge_plan,
planner.
"""
