"""Absent, as where only aitp-desk is installed: what the checks need brings it."""

raise ImportError("Servers that are measured do without it.")
