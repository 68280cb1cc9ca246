"""Reads of the store, each bounded and indexed."""
