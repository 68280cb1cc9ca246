"""Matches a visitor's words to the action that they ask for."""
