"""Reads published schemas and reference data."""
