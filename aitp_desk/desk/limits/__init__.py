"""Limits of requests, tokens and concurrent work."""
