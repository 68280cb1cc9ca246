"""Reads single file formats."""
