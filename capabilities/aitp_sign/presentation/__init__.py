"""Requests to sign as people read them: text, forms, exact display."""
