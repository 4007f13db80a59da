"""Expressions by the kinds of their nodes: each is translated by a function that is handed the translator."""
