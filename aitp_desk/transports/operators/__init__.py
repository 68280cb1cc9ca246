"""Operators on other platforms: tickets arrive there, and are answered from there."""
