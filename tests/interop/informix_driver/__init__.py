"""informix-driver (PyPI, module ``informix_db``) as a reference client."""
