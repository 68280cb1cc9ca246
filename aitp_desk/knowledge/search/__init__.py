"""Ranks passages for a question."""
