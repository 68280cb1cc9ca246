"""Converts between a thread's messages and a turn of the agent."""
