"""Payments of calls."""
