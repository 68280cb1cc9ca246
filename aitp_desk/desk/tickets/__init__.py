"""Tickets: what waits for a person."""
