"""The owner's test questions: their file, conversations and verdicts."""
