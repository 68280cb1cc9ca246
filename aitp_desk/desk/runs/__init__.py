"""Runs: an agent's work on a thread."""
