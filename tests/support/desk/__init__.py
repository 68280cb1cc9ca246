"""Starts desks and runs commands for tests."""
