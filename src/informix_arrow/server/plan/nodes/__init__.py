"""Translation of expressions by the kind of their node. Each function receives the translator."""
