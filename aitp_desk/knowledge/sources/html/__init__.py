"""Reads the visible main content of HTML pages as blocks."""
