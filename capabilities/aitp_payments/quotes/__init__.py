"""Quotes: built, signed, open, answered, wrapped by affiliates."""
