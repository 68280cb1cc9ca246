"""One client for each protocol of a visited site."""
