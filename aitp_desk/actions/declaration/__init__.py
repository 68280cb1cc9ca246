"""Actions and resources declared in Python: what an owner writes, and what becomes of it."""
