"""Visitors on other platforms: what they write, and what they choose."""
