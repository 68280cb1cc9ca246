"""Settings of the content and of the answers from it."""
