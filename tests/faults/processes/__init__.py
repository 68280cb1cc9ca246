"""Processes that run next to a desk until it is killed."""
