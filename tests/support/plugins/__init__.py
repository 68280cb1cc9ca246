"""Capabilities and structured messages for tests."""
