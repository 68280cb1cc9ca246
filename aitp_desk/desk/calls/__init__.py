"""Calls of actions, from the request to the result."""
