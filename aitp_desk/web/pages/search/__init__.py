"""Serves the search for pages and sections, as JSON and as a page."""
