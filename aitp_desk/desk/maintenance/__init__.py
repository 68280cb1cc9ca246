"""Retention, erasure and integrity of stored data."""
