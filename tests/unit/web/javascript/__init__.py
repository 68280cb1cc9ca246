"""Shortened JavaScript."""
