"""Readers that turn a format into the HTML or the Markdown that all other code works on."""
