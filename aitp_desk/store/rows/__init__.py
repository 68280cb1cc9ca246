"""Converts between database rows and values."""
