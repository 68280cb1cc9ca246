"""Reads for the operator console."""
