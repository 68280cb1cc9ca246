"""Readers of values in a visitor's words: numbers, dates, ids, items, texts."""
