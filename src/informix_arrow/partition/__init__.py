"""A table or a query in parts that are read by themselves: how it is divided, and which statement reads which part.

Planning is one exchange (`planner`), for both fronts; reading parts at the same time is the business of those above.
"""
