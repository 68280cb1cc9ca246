"""Reads what is stored about a person."""
