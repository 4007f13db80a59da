"""Documents that are made by code, and the tests that they say what the code does."""
