"""Quotes: built, signed, waiting, answered, wrapped by affiliates."""
