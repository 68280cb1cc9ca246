"""Reads the site's content into documents and passages, and finds them by a full-text index."""
