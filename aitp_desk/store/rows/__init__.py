"""Rows of the database as values, and back."""
