"""Reads files of all formats as HTML or Markdown."""
