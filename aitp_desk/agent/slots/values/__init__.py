"""Reads values in a visitor's text: numbers, dates, ids, items, strings."""
