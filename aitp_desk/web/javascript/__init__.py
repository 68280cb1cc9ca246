"""Shortens the JavaScript that the desk serves."""
