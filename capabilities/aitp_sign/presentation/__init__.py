"""Renders requests to sign for people: text, forms, exact display."""
