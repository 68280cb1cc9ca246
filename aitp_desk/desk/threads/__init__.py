"""Threads: what callers may do with them."""
