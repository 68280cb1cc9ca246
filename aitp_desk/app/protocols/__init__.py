"""Builds the routes of every protocol from desks, settings and shared services."""
