"""Reads the site's content and finds passages in a full-text index."""
