"""Replaces agents, models and remote servers in tests."""
