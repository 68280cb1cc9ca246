"""Pages of the desk that links in messages lead to."""
