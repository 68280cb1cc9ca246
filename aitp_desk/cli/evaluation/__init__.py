"""A site's own questions: their file, asking them, and what became of each."""
