"""A2A at a visited site."""
