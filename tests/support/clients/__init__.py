"""Clients of a desk, one for each protocol."""
