"""The chat on pages of other sites: over HTTP, and in a browser."""
