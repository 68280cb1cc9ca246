"""AHP 0.1 at a visited site."""
