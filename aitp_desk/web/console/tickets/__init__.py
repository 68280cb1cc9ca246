"""Tickets in the console."""
