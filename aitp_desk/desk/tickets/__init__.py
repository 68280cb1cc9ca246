"""Tickets: requests that wait for an operator."""
