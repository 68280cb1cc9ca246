"""A random history of who may see what, and a walk through all addresses after its steps."""
