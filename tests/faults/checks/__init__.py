"""Compares what a database holds with what the desk acknowledged."""
