"""Retention, erasure and integrity of what is stored."""
