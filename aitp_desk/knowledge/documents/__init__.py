"""Defines documents and the passages of answers."""
