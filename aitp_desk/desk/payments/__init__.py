"""Payments for calls."""
