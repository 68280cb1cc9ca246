"""Answers questions within their request."""
