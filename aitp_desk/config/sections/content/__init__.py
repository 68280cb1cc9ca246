"""The settings of the content and of what answers from it."""
