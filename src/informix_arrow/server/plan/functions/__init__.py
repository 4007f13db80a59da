"""Built-in functions over translated values, as tables of name, arguments and translation."""
