"""Reads Markdown and its dialects as blocks."""
