"""A site's own questions: their file, their conversations, their verdicts."""
